"""What is said in other words: p as a fraction, several kernels, pipelines in front of stability selection."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from banach import (
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    SparseRegressor,
    gram_tensor,
    kernels,
    lp_path,
    stability_selection,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4))
    return X, X[:, 0] - 2 * X[:, 1] * X[:, 2] + 0.1 * rng.standard_normal(60)


@pytest.mark.parametrize(("text", "p"), [("4/3", 4 / 3), (" 6/5 ", 1.2), ("1.05", 1.05), ("2", 2.0), ("1", 1.0)])
def test_p_is_read_as_the_command_reads_it(data, text, p):
    X, y = data
    model = LpRegressor(p=text).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), LpRegressor(p=p).fit(X, y).predict(X))
    assert model.get_params()["p"] == text and clone(model).p == text


def test_p_as_a_fraction_is_taken_wherever_p_is(data):
    X, y = data
    label = np.where(y > 0, "up", "down")
    assert LpClassifier(p="4/3").fit(X, label).dual_coef_.tolist() == LpClassifier().fit(X, label).dual_coef_.tolist()
    for estimator, target in ((LpRegressorCV, y), (LpClassifierCV, label)):
        one, several = (estimator(p=p, Cs=3).fit(X, target) for p in ("4/3", ["4/3", 1.5, "1.1"]))
        assert one.best_params_["p"] == 4 / 3
        assert set(several.cv_results_["param_p"]) == {4 / 3, 1.5, 1.1}
        assert several.get_params()["p"] == ["4/3", 1.5, "1.1"]
    np.testing.assert_array_equal(lp_path(X, y, p="4/3", Cs=2).coefs, lp_path(X, y, Cs=2).coefs)
    np.testing.assert_array_equal(gram_tensor(X[:4], p="6/5"), gram_tensor(X[:4], p=1.2))
    assert stability_selection(LpRegressor("4/3"), X, y, k=1, n_pairs=2).n_fits == 4


@pytest.mark.parametrize("wrong", ["4/0", "three", "3", "0.5", "", "4/3/2", None, [1.5], True])
def test_a_wrong_p_is_refused(data, wrong):
    for estimator in (LpRegressor(p=wrong), LpRegressorCV(p=wrong if wrong != [1.5] else [[1.5]])):
        with pytest.raises(ValueError, match=r"p = |p:.*allowed|allowed.*4/3"):
            estimator.fit(*data)


def test_kernels_are_searched(data):
    X, y = data
    cv = KFold(3)
    listed = ["linear", "poly", kernels.Anova(1, 2), "exp"]
    search = LpRegressorCV(p=1.5, kernel=listed, degree=[2, (1, 2)], scale=0.1, Cs=[0.1, 1.0, 10.0], cv=cv).fit(X, y)
    results = search.cv_results_
    named = [str(kernel) for kernel in results["param_kernel"]]
    # One of linear, two degrees of poly, one object, and exp with the pair of degrees.
    assert [named.count(str(kernel)) for kernel in listed] == [3, 6, 3, 3]
    for kernel in listed:
        told = {"degree": [2, (1, 2)], "scale": 0.1} if isinstance(kernel, str) else {}
        alone = LpRegressorCV(p=1.5, kernel=kernel, Cs=[0.1, 1.0, 10.0], cv=cv, **told).fit(X, y)
        own = [at for at, name in enumerate(named) if name == str(kernel)]
        np.testing.assert_allclose(results["mean_test_score"][own], alone.cv_results_["mean_test_score"], rtol=1e-6)
    assert search.best_index_ == np.argmax(results["mean_test_score"])
    assert search.best_params_["kernel"] == listed[2] or search.best_params_["kernel"] in ("poly", "exp")
    # A degree is none of linear's.
    assert results["param_degree"].mask[:3].all() and "degree" not in results["params"][0]
    assert search.get_params()["kernel"] is listed
    plain = LpRegressor(**search.best_params_).fit(X, y)
    np.testing.assert_allclose(plain.predict(X), search.predict(X), rtol=1e-4, atol=1e-4)
    labels = [label for label, *_ in search.plot_cv().curves]
    assert any("kernel = linear" in label for label in labels) and len(set(labels)) == 5


def test_kernels_of_a_list_have_their_own_exponents(data):
    search = LpRegressorCV(kernel=["linear", "exp"], Cs=2, cv=3).fit(*data)
    tried = {
        (kernel, p) for kernel, p in zip(search.cv_results_["param_kernel"], search.cv_results_["param_p"], strict=True)
    }
    assert tried == {("linear", 4 / 3), ("exp", 4 / 3), ("exp", 1.1), ("exp", 1.05)}


@pytest.mark.parametrize("wrong", [[], ["linear", "rbf"], ["linear", 3]])
def test_a_wrong_list_of_kernels_is_refused(data, wrong):
    with pytest.raises(ValueError, match="kernel"):
        LpRegressorCV(kernel=wrong, Cs=2).fit(*data)
    with pytest.raises(ValueError, match="kernel = "):
        LpRegressor(kernel=["linear", "poly"]).fit(*data)


def test_stability_selection_takes_pipelines(data):
    X, y = data
    frame = pd.DataFrame(X * [1.0, 50.0, 0.02, 7.0], columns=list("abcd"))
    pipe = make_pipeline(StandardScaler(), LpRegressor("4/3", kernel="poly"))
    found = stability_selection(pipe, frame, y, k=3, n_pairs=4)
    assert set(found["monomial"][:2]) == {"a", "b * c"}
    assert found.n_fits == 8
    assert not hasattr(pipe[-1], "_model")
    pipe.fit(frame, y)
    again = stability_selection(pipe, frame, y, k=3, n_pairs=4)
    np.testing.assert_array_equal(again["frequency"], found["frequency"])
    # A fitted pipeline does not keep the columns that its steps are to be fitted to again.
    with pytest.raises(ValueError, match="give the data"):
        stability_selection(pipe, k=3, n_pairs=4)
    weights = np.where(np.arange(60) < 50, 1.0, 0.0)
    fewer = stability_selection(pipe, frame[:50], y[:50], k=3, n_pairs=4, sample_weight=weights[:50])
    assert set(fewer["monomial"][:2]) == {"a", "b * c"}


def test_stability_selection_names_what_encoders_make(data):
    X, _ = data
    frame = pd.DataFrame({"dose": X[:, 0], "drug": np.where(X[:, 1] > 0, "new", "old")})
    steps = make_column_transformer((StandardScaler(), ["dose"]), (OneHotEncoder(drop="if_binary"), ["drug"]))
    found = stability_selection(
        make_pipeline(steps, LpRegressor()), frame, 3 * (frame["drug"] == "old") + frame["dose"], k=2, n_pairs=3
    )
    assert set(found["monomial"]) == {"standardscaler__dose", "onehotencoder__drug_old"}


def test_stability_selection_refuses_pipelines_of_others(data):
    for wrong in (make_pipeline(StandardScaler(), SparseRegressor()), StandardScaler()):
        with pytest.raises(ValueError, match="or a Pipeline that ends with one"):
            stability_selection(wrong, *data)
