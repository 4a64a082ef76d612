"""At p = 2 the models are the classical ones of scikit-learn, to 1e-6."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.svm import SVC, SVR

from banach import LpClassifier, LpRegressor

CLOSE = {"rtol": 1e-6, "atol": 1e-6}
# libsvm keeps its Gram matrix in single precision. The data are multiples of 1/4, so that this rounds nothing, but for exp.
CLOSE_TO_LIBSVM = {
    "linear": CLOSE,
    "poly": CLOSE,
    "homogeneous": CLOSE,
    "anova": CLOSE,
    "exp": {"rtol": 1e-5, "atol": 1e-5},
}
KERNELS = {
    "linear": ({"kernel": "linear"}, lambda A, B: A @ B.T),
    "poly": ({"kernel": "poly", "degree": 2, "coef0": 1.0, "scale": 0.5}, lambda A, B: (1 + 0.5 * A @ B.T) ** 2),
    "homogeneous": ({"kernel": "poly", "degree": 2, "scale": 0.25}, lambda A, B: (0.25 * A @ B.T) ** 2),
    "exp": ({"kernel": "exp", "scale": 0.2}, lambda A, B: np.exp(0.2 * A @ B.T)),
    "anova": (
        {"kernel": "anova", "degree": 2},
        lambda A, B: ((A @ B.T) ** 2 - (A**2) @ (B**2).T) / 2,
    ),
}


@pytest.fixture(params=KERNELS)
def kernel(request):
    return request.param, *KERNELS[request.param]


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X, new = np.round(4 * rng.standard_normal((40, 5))) / 4, rng.standard_normal((15, 5))
    y = X[:, 0] - 0.5 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(40)
    weights = rng.uniform(0.2, 2.0, 40)
    return X, y, weights, new


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_loss_without_intercept_is_kernel_ridge(kernel, data, weighted):
    _, parameters, gram = kernel
    X, y, weights, new = data
    weights = weights if weighted else None
    C = 3.0
    model = LpRegressor(2.0, C=C, fit_intercept=False, tol=1e-14, **parameters).fit(X, y, weights)
    oracle = KernelRidge(alpha=1 / C, kernel="precomputed").fit(gram(X, X), y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(new), oracle.predict(gram(new, X)), **CLOSE)
    np.testing.assert_allclose(model.dual_coef_, oracle.dual_coef_, **CLOSE)


@pytest.mark.parametrize("weighted", [False, True])
def test_squared_loss_with_intercept_is_ridge(data, weighted):
    X, y, weights, new = data
    weights = weights if weighted else None
    C = 0.7
    model = LpRegressor(2.0, C=C, tol=1e-14).fit(X, y, weights)
    oracle = Ridge(alpha=1 / C).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, oracle.coef_, **CLOSE)
    np.testing.assert_allclose(model.intercept_, oracle.intercept_, **CLOSE)
    np.testing.assert_allclose(model.predict(new), oracle.predict(new), **CLOSE)


def test_many_outputs_are_many_ridges(data):
    X, y, weights, new = data
    Y = np.column_stack([y, X[:, 3], np.ones_like(y)])
    model = LpRegressor(2.0, C=2.0, tol=1e-14).fit(X, Y, weights)
    oracle = Ridge(alpha=0.5).fit(X, Y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, oracle.coef_, **CLOSE)
    np.testing.assert_allclose(model.predict(new), oracle.predict(new), **CLOSE)


# Six digits of a prediction are twelve of the objective and more: as many as doubles hold, whether or not tol is reached.
@pytest.mark.filterwarnings("ignore:The fit did not converge")
@pytest.mark.parametrize("weighted", [False, True])
def test_epsilon_insensitive_loss_is_svr(kernel, data, weighted):
    name, parameters, gram = kernel
    X, y, weights, new = data
    weights = weights if weighted else None
    model = LpRegressor(2.0, C=1.5, loss="epsilon_insensitive", epsilon=0.2, tol=1e-15, **parameters).fit(X, y, weights)
    oracle = SVR(kernel="precomputed", C=1.5, epsilon=0.2, tol=1e-10).fit(gram(X, X), y, sample_weight=weights)
    np.testing.assert_allclose(model.predict(new), oracle.predict(gram(new, X)), **CLOSE_TO_LIBSVM[name])


# Six digits of a prediction are twelve of the objective and more: as many as doubles hold, whether or not tol is reached.
@pytest.mark.filterwarnings("ignore:The fit did not converge")
@pytest.mark.parametrize("weighted", [False, True])
def test_hinge_loss_is_svc(kernel, data, weighted):
    name, parameters, gram = kernel
    X, y, weights, new = data
    weights = weights if weighted else None
    labels = np.where(y > 0.1, "yes", "no")
    model = LpClassifier(2.0, C=1.5, loss="hinge", tol=1e-15, **parameters).fit(X, labels, weights)
    oracle = SVC(kernel="precomputed", C=1.5, tol=1e-10).fit(gram(X, X), labels, sample_weight=weights)
    np.testing.assert_allclose(
        model.decision_function(new), oracle.decision_function(gram(new, X)), **CLOSE_TO_LIBSVM[name]
    )
    assert (model.predict(new) == oracle.predict(gram(new, X))).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_logistic_loss_is_logistic_regression(data, weighted, fit_intercept):
    X, y, weights, new = data
    weights = weights if weighted else None
    labels = (y > 0.1).astype(int)
    model = LpClassifier(2.0, C=1.5, fit_intercept=fit_intercept, tol=1e-14).fit(X, labels, weights)
    oracle = LogisticRegression(
        C=1.5, fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000, solver="newton-cholesky"
    )
    oracle.fit(X, labels, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, oracle.coef_, **CLOSE)
    np.testing.assert_allclose(model.intercept_, oracle.intercept_, **CLOSE)
    np.testing.assert_allclose(model.predict_proba(new), oracle.predict_proba(new), **CLOSE)


def test_class_weights_are_those_of_scikit_learn(data):
    X, y, _, new = data
    labels = np.where(y > 0.8, "rare", "usual")
    for class_weight in ("balanced", {"rare": 3.0, "usual": 0.5}):
        model = LpClassifier(2.0, class_weight=class_weight, tol=1e-14).fit(X, labels)
        oracle = LogisticRegression(class_weight=class_weight, tol=1e-12, solver="newton-cholesky").fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(new), oracle.predict_proba(new), **CLOSE)


def test_many_classes_are_one_against_the_rest(data):
    X, y, weights, new = data
    labels = np.digitize(y, [-0.5, 0.5])
    model = LpClassifier(2.0, tol=1e-14).fit(X, labels, weights)
    each = []
    for label in np.unique(labels):
        oracle = LogisticRegression(tol=1e-12, solver="newton-cholesky")
        each.append(oracle.fit(X, labels == label, sample_weight=weights).predict_proba(new)[:, 1])
    positive = np.column_stack(each)
    np.testing.assert_allclose(model.predict_proba(new), positive / positive.sum(axis=1, keepdims=True), **CLOSE)
    assert (model.predict(new) == model.classes_[positive.argmax(axis=1)]).all()


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_samples_are_left_out_as_by_ridge_regression_without_them(data, fit_intercept):
    X, y, _, _ = data
    model = LpRegressor(2.0, C=0.7, fit_intercept=fit_intercept, tol=1e-14).fit(X, y)
    ridge = Ridge(alpha=1 / 0.7, fit_intercept=fit_intercept)
    np.testing.assert_allclose(model.leave_one_out(), cross_val_predict(ridge, X, y, cv=LeaveOneOut()), **CLOSE)
    found = model.report(0, relevance=False)["leave_one_out"]
    assert (found["metric"], found["exact"]) == ("r2", True)
    np.testing.assert_allclose(found["score"], r2_score(y, model.leave_one_out()))


def test_left_out_predictions_have_the_shape_of_predictions(data):
    X, y, _, _ = data
    assert LpRegressor(1.5).fit(X, np.column_stack([y, -y])).leave_one_out().shape == (len(y), 2)
    assert LpRegressor(1.5).fit(X, y[:, None]).leave_one_out().shape == (len(y), 1)
    labels = np.digitize(y, [-0.5, 0.5])
    many = LpClassifier(1.5).fit(X, labels)
    assert many.leave_one_out().shape == (len(y), 3)
    found = many.report(0, relevance=False)["leave_one_out"]
    right = many.classes_[many.leave_one_out().argmax(axis=1)] == labels
    assert (found["metric"], found["exact"], found["score"]) == ("accuracy", False, pytest.approx(right.mean()))
    two = LpClassifier(1.5, loss="hinge").fit(X, y > 0).leave_one_out()
    assert two.shape == y.shape
    with pytest.raises(ValueError, match="p = 1"):
        LpRegressor(1.0).fit(X, y).leave_one_out()
    assert LpRegressor(1.05).fit(X, y).report(0, relevance=False)["leave_one_out"] is None
