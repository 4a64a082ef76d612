"""p = 1: exact zeros, and the solutions of scikit-learn's Lasso, logistic regression and support vector machine."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from banach import LpClassifier, LpClassifierCV, LpRegressor, LpRegressorCV, lp_path


def draw(n=60, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] - 2 * X[:, 1] * X[:, 2] + 0.5 * X[:, 3] + 0.3 * rng.standard_normal(n)


@pytest.mark.parametrize("C", [0.02, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_it_is_the_lasso(C, fit_intercept):
    X, y = draw()
    model = LpRegressor(p=1, C=C, fit_intercept=fit_intercept, tol=1e-11).fit(X, y)
    lasso = Lasso(alpha=1 / (C * len(y)), fit_intercept=fit_intercept, tol=1e-13, max_iter=1_000_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, lasso.coef_, atol=1e-6)
    assert ((model.coef_ != 0) == (lasso.coef_ != 0)).all()
    assert model.n_nonzero_ == np.count_nonzero(lasso.coef_)
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)


@pytest.mark.parametrize("monomials", ["raw", "unit", "standardized"])
def test_it_is_the_lasso_on_all_monomials(monomials):
    X, y = draw(d=12)
    model = LpRegressor(p=1, C=0.3, kernel="poly", degree=(1, 2), monomials=monomials, tol=1e-11).fit(X, y)
    expanded = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    if monomials == "unit":
        expanded /= np.sqrt((expanded**2).mean(axis=0))
    if monomials == "standardized":
        expanded = StandardScaler().fit_transform(expanded)
    lasso = Lasso(alpha=1 / (0.3 * len(y)), tol=1e-13, max_iter=1_000_000).fit(expanded, y)
    objective = 0.3 * ((y - lasso.predict(expanded)) ** 2).sum() / 2 + np.abs(lasso.coef_).sum()
    assert model.primal_value_ == pytest.approx(objective, rel=1e-9)
    # By the gap, predictions are within sqrt(2 gap/C) = sqrt(2e-11 objective/C) of the optimal ones, which is 3e-5.
    np.testing.assert_allclose(model.predict(X), lasso.predict(expanded), atol=3e-5)
    # scikit-learn lists the monomials of a degree in the same order.
    np.testing.assert_allclose(model.sparse_coef_.toarray()[0], lasso.coef_, atol=3e-5)
    assert model.sparse_coef_.shape == (1, expanded.shape[1])


def test_classes_are_those_of_scikit_learn():
    X, y = draw()
    y = np.where(y > 0, "yes", "no")
    model = LpClassifier(p=1, C=0.5, fit_intercept=False, tol=1e-10).fit(X, y)
    other = LogisticRegression(l1_ratio=1, C=0.5, solver="saga", fit_intercept=False, tol=1e-12, max_iter=1_000_000)
    np.testing.assert_allclose(model.coef_, other.fit(X, y).coef_, atol=1e-5)
    assert 0 < model.n_nonzero_ < X.shape[1]
    machine = LpClassifier(p=1, C=0.5, loss="squared_hinge", fit_intercept=False, tol=1e-10).fit(X, y)
    # Its loss has no factor of a half.
    other = LinearSVC(penalty="l1", loss="squared_hinge", C=0.25, dual=False, fit_intercept=False, tol=1e-10)
    np.testing.assert_allclose(machine.coef_, other.set_params(max_iter=1_000_000).fit(X, y).coef_, atol=1e-5)


def test_searches_paths_classes_and_pickles_know_it():
    X, y = draw(d=200)
    search = LpRegressorCV(p=1).fit(X, y)
    assert search.status_ == "converged" and 0 < search.n_nonzero_ < 60
    path = lp_path(X, y, p=1, Cs=6)
    counts = (path.coefs != 0).sum(axis=1)
    assert counts[0] <= 1 and counts[-1] > 10 and (path.duality_gaps <= 1e-8).all()
    several = LpRegressor(p=1).fit(X, np.column_stack([y, -2 * y]))
    assert several.sparse_coef_.shape == (2, 200) and several.n_nonzero_.shape == (2,)
    labels = np.digitize(y, [-1, 1])
    classes = LpClassifierCV(p=1).fit(X, labels)
    assert classes.sparse_coef_.shape == (3, 200)
    again = pickle.loads(pickle.dumps(classes))
    np.testing.assert_array_equal(again.predict_proba(X), classes.predict_proba(X))
    dense = LpRegressor(p=1.5).fit(X, y)
    assert not hasattr(dense, "n_nonzero_")


def test_what_a_model_is_made_of_is_its_few_weights():
    X, y = draw()
    model = LpRegressor(p=1, C=0.2, kernel="poly", degree=(1, 2)).fit(X, y)
    top = model.top_features(100)
    assert len(top["weight"]) == model.n_nonzero_
    assert top["monomial"][0] == "x1 * x2"
    assert sum(top["share"]) == pytest.approx(1)
    relevance = model.relevance()
    assert max(relevance["share"]) == relevance["share"][0]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"p": 0.99}, "1 <= p <= 2"),
        ({"p": 1, "kernel": "exp"}, "infinitely many"),
        ({"p": 1, "solver": "paper"}, "auto for p = 1"),
        ({"p": 1, "route": "gram"}, "p = 1"),
        ({"p": 1, "kernel": "poly", "normalize_kernel": True}, "normalised"),
    ],
)
def test_what_p_1_cannot_do_is_said(said, message):
    X, y = draw(20, 4)
    with pytest.raises(ValueError, match=message):
        LpRegressor(**said).fit(X, y)
