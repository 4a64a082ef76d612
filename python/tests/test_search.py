"""The CV estimators find what GridSearchCV finds over the plain ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from banach import LpClassifier, LpClassifierCV, LpRegressor, LpRegressorCV, SparseRegressor, _core, datasets

CS = [0.01, 0.1, 1.0, 10.0]
GROUPS = np.arange(48) // 6
SPLITTERS = {
    "folds": KFold(4),
    "shuffled folds": KFold(3, shuffle=True, random_state=0),
    "groups": GroupKFold(4),
    "time": TimeSeriesSplit(3),
    "overlapping": ShuffleSplit(4, test_size=0.3, random_state=0),
    "predefined": PredefinedSplit(np.arange(48) % 3 - 1),
    "pairs": list(KFold(3).split(np.zeros(48))),
}


# Fits of a search stop at a gap of 1e-6, which is three digits of a score. What is compared here is the search.
TOL = 1e-9


@pytest.fixture
def exact(monkeypatch):
    monkeypatch.setattr("banach._cv._Search._search_tol", TOL)


@pytest.fixture
def data():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((48, 6))
    y = X[:, 0] - 0.6 * X[:, 1] * X[:, 2] + 0.4 * rng.standard_normal(48)
    return X, y


def assert_same_search(search, grid, n_splits, rtol=1e-4):
    ours, theirs = search.cv_results_, grid.cv_results_
    for split in range(n_splits):
        name = f"split{split}_test_score"
        np.testing.assert_allclose(ours[name], theirs[name], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours["mean_test_score"], theirs["mean_test_score"], rtol=rtol, atol=rtol)
    np.testing.assert_allclose(ours["std_test_score"], theirs["std_test_score"], rtol=rtol, atol=rtol)
    assert search.C_ == search.best_params_["C"] == grid.best_params_["C"]
    assert search.best_score_ == pytest.approx(grid.best_score_, abs=rtol)


@pytest.mark.parametrize("name", SPLITTERS)
def test_every_splitter_gives_the_search_of_a_grid(exact, name, data):
    X, y = data
    cv = SPLITTERS[name]
    groups = GROUPS if name == "groups" else None
    search = LpRegressorCV(tol=TOL, Cs=CS, cv=cv, scoring="r2").fit(X, y, groups=groups)
    grid = GridSearchCV(LpRegressor(tol=TOL), {"C": CS}, cv=cv, scoring="r2").fit(X, y, groups=groups)
    assert_same_search(search, grid, search.n_splits_)
    np.testing.assert_array_equal(search.dual_coef_, grid.best_estimator_.dual_coef_)
    np.testing.assert_array_equal(search.predict(X), grid.predict(X))


PARAMETERS = [
    {"p": 1.2},
    {"kernel": "poly", "degree": (1, 2)},
    {"kernel": "anova", "degree": (1, 2), "p": 1.1},
    {"kernel": "exp", "scale": 0.05},
    {"loss": "absolute"},
    {"loss": "epsilon_insensitive", "epsilon": 0.2},
    {"loss": "huber", "rho": 0.5},
    {"loss": "quantile", "quantile": 0.4},
    {"fit_intercept": False},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@pytest.mark.parametrize("scoring", ["neg_mean_absolute_error", "neg_mean_squared_error"])
def test_every_kernel_and_loss_gives_the_search_of_a_grid(exact, parameters, scoring, data):
    X, y = data
    parameters = {"p": 4 / 3, "normalize_kernel": False, **parameters}
    search = LpRegressorCV(tol=TOL, Cs=CS, cv=KFold(3), scoring=scoring, **parameters).fit(X, y)
    grid = GridSearchCV(LpRegressor(tol=TOL, **parameters), {"C": CS}, cv=KFold(3), scoring=scoring).fit(X, y)
    assert_same_search(search, grid, 3)


def test_the_gap_of_a_search_is_good_for_three_digits_of_a_score(data):
    X, y = data
    search = LpRegressorCV(Cs=CS, cv=KFold(4), scoring="r2").fit(X, y)
    grid = GridSearchCV(LpRegressor(), {"C": CS}, cv=KFold(4), scoring="r2").fit(X, y)
    assert_same_search(search, grid, 4, rtol=5e-3)


def test_the_default_score_is_minus_the_held_out_loss(exact, data):
    X, y = data
    search = LpRegressorCV(tol=TOL, Cs=CS, cv=KFold(4)).fit(X, y)
    grid = GridSearchCV(LpRegressor(tol=TOL), {"C": CS}, cv=KFold(4), scoring="neg_mean_squared_error").fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"] / 2, rtol=1e-4
    )
    assert grid.best_params_["C"] == search.C_


@pytest.mark.parametrize("loss", _core.losses("classification"))
@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_two_classes_give_the_search_of_a_grid(exact, loss, scoring, data):
    X, y = data
    labels = np.where(y > 0, "up", "down")
    search = LpClassifierCV(tol=TOL, loss=loss, Cs=CS, cv=StratifiedKFold(3), scoring=scoring).fit(X, labels)
    grid = GridSearchCV(LpClassifier(tol=TOL, loss=loss), {"C": CS}, cv=StratifiedKFold(3), scoring=scoring).fit(
        X, labels
    )
    assert_same_search(search, grid, 3)
    assert set(search.predict(X)) <= {"up", "down"}


@pytest.mark.parametrize("scoring", ["accuracy", "neg_log_loss", "roc_auc_ovr", "f1_macro"])
def test_many_classes_give_the_search_of_a_grid(exact, scoring, data):
    X, y = data
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [-0.5, 0.5])]
    cv = StratifiedKFold(3, shuffle=True, random_state=1)
    search = LpClassifierCV(tol=TOL, Cs=CS, cv=cv, scoring=scoring).fit(X, labels)
    grid = GridSearchCV(LpClassifier(tol=TOL), {"C": CS}, cv=cv, scoring=scoring).fit(X, labels)
    assert_same_search(search, grid, 3)
    np.testing.assert_array_equal(search.predict_proba(X), grid.predict_proba(X))


def test_class_weights_take_part_in_the_search(exact, data):
    X, y = data
    labels = (y > 0.7).astype(int)
    parameters = {"class_weight": {0: 1.0, 1: 3.0}}
    search = LpClassifierCV(tol=TOL, Cs=CS, cv=StratifiedKFold(3), scoring="balanced_accuracy", **parameters).fit(
        X, labels
    )
    grid = GridSearchCV(
        LpClassifier(tol=TOL, **parameters), {"C": CS}, cv=StratifiedKFold(3), scoring="balanced_accuracy"
    ).fit(X, labels)
    assert_same_search(search, grid, 3)


def test_many_outputs_give_the_search_of_a_grid(exact, data):
    X, y = data
    Y = np.column_stack([y, X[:, 3] + 0.1 * y])
    search = LpRegressorCV(tol=TOL, Cs=CS, cv=KFold(3), scoring="r2").fit(X, Y)
    grid = GridSearchCV(LpRegressor(tol=TOL), {"C": CS}, cv=KFold(3), scoring="r2").fit(X, Y)
    assert_same_search(search, grid, 3)
    assert search.predict(X).shape == Y.shape


def test_a_scorer_may_be_a_function(exact, data):
    X, y = data

    def scorer(model, X, y):
        return -np.median(np.abs(model.predict(X) - y))

    search = LpRegressorCV(tol=TOL, Cs=CS, cv=KFold(3), scoring=scorer).fit(X, y)
    grid = GridSearchCV(LpRegressor(tol=TOL), {"C": CS}, cv=KFold(3), scoring=scorer).fit(X, y)
    assert_same_search(search, grid, 3)


def test_lists_are_searched_in_every_combination(exact, data):
    X, y = data
    lists = {"p": [1.2, 1.5], "degree": [1, 2], "scale": [0.5, 1.0], "normalize_kernel": [False]}
    search = LpRegressorCV(
        tol=TOL,
        kernel="poly",
        coef0=1.0,
        Cs=[0.1, 1.0],
        cv=KFold(3),
        scoring="r2",
        **{**lists, "normalize_kernel": "auto"},
    ).fit(X, y)
    model = LpRegressor(tol=TOL, kernel="poly", coef0=1.0)
    grid = GridSearchCV(model, {"C": [0.1, 1.0], **lists}, cv=KFold(3), scoring="r2").fit(X, y)
    assert len(search.cv_results_["params"]) == 16
    assert search.best_params_ == grid.best_params_
    ours = {
        str(sorted(p.items())): s
        for p, s in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    }
    for params, score in zip(grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True):
        assert ours[str(sorted(params.items()))] == pytest.approx(score, abs=1e-4)
    np.testing.assert_array_equal(search.predict(X), grid.predict(X))


def test_pairs_of_degrees_are_searched(data):
    X, y = data
    search = LpRegressorCV(kernel="poly", degree=[(1, 1), (1, 2)], Cs=CS, cv=3).fit(X, y)
    assert search.best_params_["degree"] == (1, 2)
    assert search.top_features(3)["exponents"]


def test_results_have_the_structure_of_a_grid_search(data):
    X, y = data
    search = LpRegressorCV(Cs=3, cv=4, p=[1.2, 1.4]).fit(X, y)
    results = search.cv_results_
    names = {f"split{at}_test_score" for at in range(4)} | {
        "mean_test_score",
        "std_test_score",
        "rank_test_score",
        "params",
    }
    assert names <= set(results)
    assert all(len(column) == 6 for column in results.values())
    for name in ("C", "p", "normalize_kernel"):
        assert list(results[f"param_{name}"]) == [params[name] for params in results["params"]]
    assert results["rank_test_score"][search.best_index_] == 1
    assert results["params"][search.best_index_] == search.best_params_
    assert results["mean_test_score"][search.best_index_] == search.best_score_
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(results)) == 6


def test_the_grid_of_the_data_is_increasing_and_has_the_size_that_was_asked_for(data):
    X, y = data
    search = LpRegressorCV(Cs=7, cv=3).fit(X, y)
    Cs = [params["C"] for params in search.cv_results_["params"]]
    assert len(Cs) == 7
    assert Cs == sorted(Cs)


def test_the_rule_of_one_standard_error_takes_the_smallest_C_within_it(data):
    X, y = data
    best = LpRegressorCV(Cs=15, cv=5).fit(X, y)
    rule = LpRegressorCV(Cs=15, cv=5, one_standard_error=True).fit(X, y)
    results = rule.cv_results_
    mean, std = results["mean_test_score"], results["std_test_score"]
    top = int(np.argmax(mean))
    limit = mean[top] - std[top] / np.sqrt(5 - 1)
    assert rule.best_index_ == np.flatnonzero(mean >= limit)[0]
    assert rule.C_ <= best.C_
    assert rule.best_score_ >= limit


def test_without_refit_there_are_results_but_no_model(data):
    X, y = data
    search = LpRegressorCV(Cs=CS, cv=3, refit=False).fit(X, y)
    assert search.C_ in CS
    assert not hasattr(search, "coef_")
    with pytest.raises(NotFittedError, match="refit=False"):
        search.predict(X)


def test_a_search_that_is_fitted_again_without_refit_forgets_its_model(data):
    X, y = data
    search = LpRegressorCV(Cs=CS, cv=3).fit(X, y)
    search.set_params(refit=False).fit(X, y)
    with pytest.raises(NotFittedError, match="refit=False"):
        search.predict(X)
    assert not hasattr(search, "dual_coef_")
    assert not hasattr(search, "coef_")


def test_weights_count_in_fits_and_in_the_default_score(data):
    X, y = data
    weights = np.where(np.arange(48) % 4 == 0, 0.0, 1.0)
    kept = weights > 0
    fold = np.arange(48) % 3
    whole = LpRegressorCV(Cs=CS, cv=PredefinedSplit(fold)).fit(X, y, sample_weight=weights)
    part = LpRegressorCV(Cs=CS, cv=PredefinedSplit(fold[kept])).fit(X[kept], y[kept])
    np.testing.assert_allclose(whole.cv_results_["mean_test_score"], part.cv_results_["mean_test_score"], rtol=1e-4)
    assert whole.C_ == part.C_


def test_folds_of_one_sample_work(data):
    X, y = data
    search = LpRegressorCV(Cs=CS, cv=LeaveOneOut()).fit(X[:12], y[:12])
    assert search.n_splits_ == 12


def test_a_fold_that_leaves_one_class_to_fit_is_refused_with_advice():
    X = np.vstack([np.eye(3)] * 4)
    labels = ["a"] * 6 + ["b"] * 6
    cv = [(np.arange(6), np.arange(6, 12)), (np.arange(6, 12), np.arange(6))]
    with pytest.raises(ValueError, match="split 0 has no sample of class b"):
        LpClassifierCV(Cs=CS, cv=cv).fit(X, labels)


def test_a_fold_whose_samples_all_weigh_nothing_does_not_count(data):
    X, y = data
    weights = np.where(np.arange(48) < 12, 0.0, 1.0)
    search = LpRegressorCV(Cs=CS, cv=KFold(4)).fit(X, y, sample_weight=weights)
    assert np.isnan(search.cv_results_["split0_test_score"]).all()
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_search_works_in_a_pipeline(data):
    X, y = data
    model = make_pipeline(StandardScaler(), LpRegressorCV(kernel="exp", Cs=6)).fit(X, y)
    assert model.score(X, y) > 0.5
    assert len(model[-1].cv_results_["params"]) == 3 * 4 * 6


def test_a_search_of_exp_follows_the_size_of_the_data(data):
    X, y = data
    X = StandardScaler().fit_transform(X)
    one, ten = (LpRegressorCV(kernel="exp", Cs=3, cv=3).fit(factor * X, y) for factor in (1, 10))
    options = [
        [(params["p"], params["degree"], params["scale"]) for params in search.cv_results_["params"]]
        for search in (one, ten)
    ]
    assert {p for p, _, _ in options[0]} == {4 / 3, 1.1, 1.05} and len(set(options[0])) == 12
    for (p, degree, scale), (same_p, same_degree, smaller) in zip(*options, strict=True):
        assert (p, degree) == (same_p, same_degree)
        np.testing.assert_allclose(smaller, scale / 10 ** (p / (p - 1)), rtol=1e-5)
    np.testing.assert_allclose(one.predict(X), ten.predict(10 * X), rtol=1e-3, atol=1e-3)


def test_exp_has_all_degrees_where_p_allows_it_and_the_lower_ones_elsewhere(data):
    X, y = data
    for p, degree in [(4 / 3, None), (2, None), (1.1, (0, 15)), ("auto", (0, 15))]:
        search = LpRegressorCV(p, kernel="exp", Cs=[1.0], cv=2, scale=0.01).fit(X[:, :4], y)
        assert search.best_params_.get("degree") == degree, p


def test_what_was_chosen_makes_the_same_model_of_the_plain_estimator(data):
    X, y = data
    for kernel in ("linear", "poly", "anova", "exp"):
        search = LpRegressorCV(kernel=kernel, Cs=3, cv=3).fit(X, y)
        plain = LpRegressor(kernel=kernel, **search.best_params_).fit(X, y)
        np.testing.assert_array_equal(plain.predict(X), search.predict(X))


def test_columns_that_do_not_vary_leave_the_mean(data):
    _, y = data
    for X in (np.ones((len(y), 3)), np.full((len(y), 1), 0.1)):
        for p in (4 / 3, 2):
            np.testing.assert_allclose(LpRegressorCV(p, cv=3).fit(X, y).predict(X), y.mean(), rtol=1e-6)


def test_splits_may_be_lists_negative_or_masks(data):
    X, y = data
    rows = np.arange(len(y))
    train, test = rows[:-6], rows[-6:]
    expected = LpRegressorCV(Cs=[1.0], cv=[(train, test)]).fit(X, y).best_score_
    for given in [
        (train.tolist(), test.tolist()),
        (train, list(range(-6, 0))),
        (rows < len(y) - 6, rows >= len(y) - 6),
    ]:
        assert LpRegressorCV(Cs=[1.0], cv=[given]).fit(X, y).best_score_ == expected


def test_a_search_without_a_refit_says_why_it_cannot_predict(data):
    X, y = data
    with pytest.raises(NotFittedError, match="refit=False"):
        LpRegressorCV(Cs=[1.0], refit=False).fit(X, y).predict(X)


def test_a_number_of_folds_means_the_librarys_own_which_the_command_takes_too(data):
    X, y = data
    folds = _core.folds(y[None, :], len(y), 4)
    assert sorted(i for fold in folds for i in fold) == list(range(len(y))) and len(folds) == 4
    splits = [(np.setdiff1d(np.arange(len(y)), fold), np.array(fold)) for fold in folds]
    number, given = (LpRegressorCV(Cs=CS, cv=cv).fit(X, y) for cv in (4, splits))
    np.testing.assert_array_equal(number.cv_results_["mean_test_score"], given.cv_results_["mean_test_score"])


def test_a_search_that_fails_leaves_nothing_of_the_one_before():
    X, y, _ = datasets.make_sparse_linear(n_samples=30, n_features=5, n_informative=2, random_state=0)
    model = LpRegressorCV(1.1, Cs=3).fit(X, y)
    with pytest.raises(ValueError, match="Cs"):
        model.set_params(Cs=-1).fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_") and name not in ("n_features_in_",)]


def test_an_equation_of_a_report_is_that_of_the_evidence_on_all_rows():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 3)
    X, y = rng.standard_normal((20, 6))[groups], rng.standard_normal(20)[groups]
    model = LpRegressorCV(1.1, Cs=5, cv=GroupKFold(5)).fit(X, y, groups=groups)
    selection = model.report(0, select=4)["functions"][0]["selection"]
    sparse = SparseRegressor(max_terms=4).fit(X, y)
    assert selection["criterion"] == sparse.criterion_
    assert [term["coefficient"] for term in selection["terms"]] == list(sparse.terms_["coefficient"])
    assert selection == LpRegressorCV(1.5, Cs=3, cv=3).fit(X, y).report(0, select=4)["functions"][0]["selection"]
