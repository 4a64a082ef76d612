"""A few terms, each with what is known of it: against numpy's least squares, and against what was planted."""

from __future__ import annotations

import os
import pickle
import re
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import scipy.stats
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.multioutput import MultiOutputRegressor
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import banach
from banach import LpRegressor, SparseClassifier, SparseRegressor, datasets, kernels

QUADRATIC = {"kernel": "poly", "degree": (1, 2)}
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 12))
Y = 4 + 2 * X[:, 1] * X[:, 2] - 1.5 * X[:, 3] ** 2 + X[:, 5] + 0.1 * rng.standard_normal(60)


def columns(model, X):
    """The named monomials at the rows of X."""
    X = X if model.means_ is None else X - model.means_
    return np.column_stack(
        [np.prod([X[:, j] ** power for j, power in term], axis=0) for term in model.terms_["exponents"]]
    )


def least_squares(model, X, y, weights=None):
    """The constant, the coefficients and the textbook's standard errors of the named monomials."""
    weights = np.ones(len(y)) if weights is None else weights
    design = np.column_stack([np.ones(len(y)), columns(model, X)])
    root = np.sqrt(weights)
    solution, *_ = np.linalg.lstsq(design * root[:, None], y * root, rcond=None)
    residual = y - design @ solution
    variance = weights @ residual**2 / (weights.sum() - design.shape[1])
    covariance = variance * np.linalg.inv(design.T @ (design * weights[:, None]))
    return solution[0], solution[1:], np.sqrt(np.diag(covariance))[1:]


@pytest.mark.parametrize("seed", range(3))
def test_planted_terms_are_found(seed):
    X, y, truth = datasets.make_sparse_quadratic(n_samples=100, n_features=50, n_informative=6, random_state=seed)
    model = SparseRegressor(**QUADRATIC).fit(X, y)
    assert set(model.terms_["exponents"]) == {monomial for monomial, _ in truth}
    assert model.n_terms_ == 6 and model.n_monomials_ == 50 * 51 // 2 + 50
    assert model.certificate_.holds and model.criterion_ < 0
    certificate = model.certificate_
    assert min(certificate.addition, certificate.removal, certificate.exchange) >= 0
    assert certificate.removal == pytest.approx(model.terms_["evidence"].min())
    assert np.all(np.diff(model.terms_["evidence"]) <= 0)


@pytest.mark.parametrize("offset", [0.0, 3.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers_are_those_of_least_squares(offset, weighted):
    # Far from 0, monomials of the variables less their means are better. Their means are not quite those that were planted, so that
    # variables may come beside their products; with weights the means are farther off, and either kind may be better.
    shifted = X + offset
    weights = rng.integers(1, 4, 60).astype(float) if weighted else None
    model = SparseRegressor(**QUADRATIC).fit(shifted, Y, weights)
    assert {"x1 * x2", "x3^2", "x5"} <= set(model.terms_["monomial"])
    assert offset == 0 or weighted or model.means_ is not None
    intercept, coefficients, errors = least_squares(model, shifted, Y, weights)
    assert model.intercept_ == pytest.approx(intercept, rel=1e-9)
    np.testing.assert_allclose(model.terms_["coefficient"], coefficients, rtol=1e-9)
    np.testing.assert_allclose(model.terms_["std_error"], errors, rtol=1e-9)
    predicted = intercept + columns(model, shifted) @ coefficients
    np.testing.assert_allclose(model.predict(shifted), predicted, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 3.0, -1000.0])
@pytest.mark.parametrize("degree", [(1, 2), (1, 3)])
def test_the_equation_says_the_same_in_the_units_of_the_data(offset, degree):
    y = Y + X[:, 0] * X[:, 1] ** 2 if degree == (1, 3) else Y
    model = SparseRegressor("poly", degree=degree).fit(X + offset, y)
    assert model.n_terms_ >= 3
    equation = model.equation()
    new = rng.standard_normal((20, 12)) + offset
    np.testing.assert_allclose(equation.predict(new), model.predict(new), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(equation.to_pipeline().predict(new), equation.predict(new), rtol=1e-9, atol=1e-9)
    far = abs(offset) > 10
    assert bool(equation.substitutions) == far, "products of differences, or multiplied out"
    assert (model.means_ is None or far) == (len(equation.monomials) == model.n_terms_)


def test_the_path_has_the_best_of_every_size_and_the_smallest_criterion_is_taken():
    model = SparseRegressor(**QUADRATIC).fit(X, Y)
    path = model.path_
    assert list(path["terms"]) == list(range(path.n_rows)) and path["terms"].dtype.kind == "i"
    assert path["unexplained"][0] == pytest.approx(1) and path["criterion"][0] == 0
    assert np.all(np.diff(path["unexplained"]) <= 0)
    assert path["criterion"].min() == path["criterion"][model.n_terms_] == model.criterion_
    share = np.var(Y - model.predict(X)) / np.var(Y)
    assert path["unexplained"][model.n_terms_] == pytest.approx(share, rel=1e-9)
    assert model.score(X, Y) == pytest.approx(1 - share, rel=1e-9)


def test_noise_seldom_has_a_term():
    # Of 200 other draws, 5 had one.
    draws = [np.random.default_rng(seed).standard_normal((40, 31)) for seed in range(10)]
    models = [SparseRegressor(**QUADRATIC).fit(noise[:, 1:], noise[:, 0]) for noise in draws]
    assert all(model.certificate_.holds and model.criterion_ <= 0 for model in models)
    empty = [(model, noise) for model, noise in zip(models, draws, strict=True) if model.n_terms_ == 0]
    assert len(empty) >= 8
    for model, noise in empty:
        assert model.criterion_ == 0 and model.terms_.n_rows == 0
        assert model.certificate_.removal == np.inf == model.certificate_.exchange
        np.testing.assert_allclose(model.predict(noise[:3, 1:]), noise[:, 0].mean())
        assert model.equation().monomials == []
        caption = "None of the 495 monomials can be named with 40 rows; to predict, use LpRegressorCV."
        assert model.terms_.caption == caption


def test_weights_of_one_sample_name_nothing_and_say_so():
    model = SparseRegressor().fit(X, X[:, 0], sample_weight=np.full(60, 1 / 60))
    assert model.n_terms_ == 0 and "60 rows of the total weight 1;" in model.terms_.caption


def test_what_holds_is_said_below_the_terms():
    model = SparseRegressor(kernel="linear").fit(X, 2 * X[:, 1] - X[:, 4] + 0.1 * rng.standard_normal(60))
    errors = "standard errors and intervals are conditional on the selection."
    assert (
        model.terms_.caption
        == f"No addition, removal or exchange of any of 12 monomials improves the criterion; {errors}"
    )
    one = SparseRegressor(max_terms=1).fit(X, 2 * X[:, 1] - X[:, 4])
    assert one.n_terms_ == 1 and one.certificate_.addition == np.inf
    assert one.terms_.caption.startswith("No removal or exchange of any of 12 monomials")
    assert one.terms_.caption.endswith("More than 1 term was not looked for.")
    far = SparseRegressor(**QUADRATIC).fit(X + 3, Y)
    assert far.terms_.caption.endswith("Products are those of the variables less their means.")


def test_weights_are_repetitions():
    counts = np.arange(60) % 3
    model = SparseRegressor(**QUADRATIC).fit(X, Y, sample_weight=counts)
    repeated = SparseRegressor(**QUADRATIC).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    assert model.terms_["monomial"] == repeated.terms_["monomial"]
    for name in ("coefficient", "std_error", "evidence"):
        np.testing.assert_allclose(model.terms_[name], repeated.terms_[name], rtol=1e-8)
    with pytest.raises(ValueError, match="weight"):
        SparseRegressor().fit(X, Y, sample_weight=np.zeros(60))
    with pytest.raises(ValueError, match=r"[Nn]egative"):
        SparseRegressor().fit(X, Y, sample_weight=np.full(60, -1.0))


def test_names_come_from_data_frames():
    names = [f"gene{j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    model = SparseRegressor(**QUADRATIC).fit(frame, Y)
    assert list(model.feature_names_in_) == names and model.n_features_in_ == 12
    assert sorted(model.terms_["monomial"]) == ["gene1 * gene2", "gene3^2", "gene5"]
    assert "gene1 * gene2" in str(model.equation())
    assert model.terms_.to_pandas().shape == (3, 8)
    assert model.terms_.to_polars().shape == (3, 8)
    np.testing.assert_allclose(model.predict(frame), model.equation().predict(frame), rtol=1e-9)


def test_units_do_not_matter():
    units = 10.0 ** np.linspace(-9, 9, 12)
    model, other = SparseRegressor(**QUADRATIC).fit(X, Y), SparseRegressor(**QUADRATIC).fit(X * units, 1e6 * Y)
    assert model.terms_["monomial"] == other.terms_["monomial"]
    assert model.criterion_ == pytest.approx(other.criterion_, abs=1e-6)
    np.testing.assert_allclose(model.terms_["evidence"], other.terms_["evidence"], rtol=1e-6)
    np.testing.assert_allclose(1e6 * model.predict(X), other.predict(X * units), rtol=1e-8)


def test_a_copy_of_a_column_is_told_as_an_alternative():
    doubled = X.copy()
    doubled[:, 7] = doubled[:, 5]
    model = SparseRegressor().fit(doubled, doubled[:, 5] + 0.2 * rng.standard_normal(60))
    assert model.n_terms_ == 1
    name, evidence = model.terms_["alternatives"][0][0]
    assert {model.terms_["monomial"][0], name} == {"x5", "x7"}
    assert evidence == pytest.approx(0, abs=1e-6)
    assert f"{name} (0.00)" in str(model.terms_)


def test_kernels_are_those_of_the_other_estimators():
    for kernel, degree in [
        ("anova", (1, 2)),
        (kernels.Anova(1, 2), 2),
        (kernels.Exponential(0.1, (1, 2)), 2),
        ("exp", (1, 2)),
    ]:
        model = SparseRegressor(kernel, degree=degree).fit(X[:, :6], X[:, 1] * X[:, 2] + 0.01 * X[:, 0])
        assert model.terms_["monomial"][0] == "x1 * x2", kernel
    # A constant is no term where there is an intercept, and may be one where there is none.
    constant = kernels.Polynomial(degree=2, coef0=1.0)
    assert SparseRegressor(constant).fit(X, Y).n_monomials_ == 12 * 13 // 2 + 12
    model = SparseRegressor(constant, fit_intercept=False).fit(X, Y)
    assert "1" in model.terms_["monomial"] and model.intercept_ == 0
    np.testing.assert_allclose(model.predict(X), model.equation().predict(X), rtol=1e-9)


def test_sparse_matrices_are_read():
    holes = np.where(np.abs(X) > 0.4, X, 0.0)
    y = holes[:, 1] * holes[:, 2] + holes[:, 4] + 0.05 * rng.standard_normal(60)
    dense = SparseRegressor(**QUADRATIC).fit(holes, y)
    for form in (scipy.sparse.csc_array, scipy.sparse.csr_matrix, scipy.sparse.coo_array):
        model = SparseRegressor(**QUADRATIC).fit(form(holes), y)
        assert model.terms_["monomial"] == dense.terms_["monomial"]
        np.testing.assert_allclose(model.predict(form(holes)), dense.predict(holes), rtol=1e-9)


def test_many_columns_are_searched_in_passes():
    wide = np.random.default_rng(2).standard_normal((60, 300))
    y = wide[:, 10] * wide[:, 200] + wide[:, 3] + 0.1 * rng.standard_normal(60)
    model = SparseRegressor(**QUADRATIC).fit(wide, y)
    assert model._model.functions[0].passes > 0 and model.n_monomials_ == 45_450
    assert sorted(model.terms_["monomial"]) == ["x10 * x200", "x3"]
    assert model.certificate_.holds


def test_threads_do_not_matter():
    one, two = (SparseRegressor(n_jobs=jobs, **QUADRATIC).fit(X, Y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.terms_["coefficient"], two.terms_["coefficient"])
    np.testing.assert_array_equal(one.predict(X), two.predict(X))


@pytest.mark.parametrize("offset", [0.0, 3.0])
def test_a_pickle_says_the_same_to_the_last_bit(offset):
    model = SparseRegressor(**QUADRATIC).fit(pd.DataFrame(X + offset).rename(columns=str), Y)
    other = pickle.loads(pickle.dumps(model))
    new = pd.DataFrame(X[::-1] * 1.1 + offset).rename(columns=str)
    np.testing.assert_array_equal(model.predict(new), other.predict(new))
    assert str(other.terms_) == str(model.terms_) and str(other.path_) == str(model.path_)
    assert other.certificate_ == model.certificate_
    assert other.equation() == model.equation()
    empty = SparseRegressor().fit(X[:8], rng.standard_normal(8))
    assert pickle.loads(pickle.dumps(empty)).certificate_ == empty.certificate_
    assert pickle.loads(pickle.dumps(empty._model)).functions[0].certificate == empty._model.functions[0].certificate


WRONG = {
    "kernel": ["rbf", None, 3],
    "degree": ["two", -1, 1.5, (2, 1)],
    "monomials": ["large", None],
    "penalty": ["ridge", None, 1],
    "hierarchy": ["both", 1],
    "max_terms": [0, -1, 1.5, "few", True],
    "fit_intercept": [None, 1, "yes"],
    "memory_limit": ["much", 0, "2XB"],
    "n_jobs": [0, 1.5, 5000],
    "verbose": [-1, "much"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_wrong_parameter_is_named(name, value):
    told = {"kernel": "poly", name: value}
    for estimator in (SparseRegressor, SparseClassifier):
        with pytest.raises(ValueError, match=f"{name} = .*; allowed"):
            estimator(**told).fit(X, Y > 4)


def test_what_cannot_be_searched_is_refused_in_words_that_help():
    with pytest.raises(ValueError, match=r"exp.*infinitely many"):
        SparseRegressor("exp").fit(X, Y)
    with pytest.raises(ValueError, match="kernel = .*normalised"):
        SparseRegressor(kernels.Normalized(kernels.Anova(1, 2))).fit(X, Y)
    with pytest.raises(MemoryError, match=r"the search for terms.*memory_limit"):
        SparseRegressor(memory_limit="1kB", **QUADRATIC).fit(X, Y)
    with pytest.raises(ValueError, match=r"y has 2 columns; .*MultiOutputRegressor"):
        SparseRegressor().fit(X, np.column_stack([Y, Y]))
    with pytest.warns(DataConversionWarning):
        SparseRegressor().fit(X, Y[:, None])
    assert MultiOutputRegressor(SparseRegressor()).fit(X, np.column_stack([Y, -Y])).predict(X).shape == (60, 2)
    for bad in (np.nan, np.inf):
        broken, target = X.copy(), Y.copy()
        broken[3, 4], target[5] = bad, bad
        with pytest.raises(ValueError, match=r"X contains (NaN|infinity)"):
            SparseRegressor().fit(broken, Y)
        with pytest.raises(ValueError, match=r"y contains (NaN|infinity)"):
            SparseRegressor().fit(X, target)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SparseRegressor().fit(X, Y[:-1])
    with pytest.raises(ValueError, match="12 features"):
        SparseRegressor().fit(X, Y).predict(X[:, :5])
    for ask in (lambda: SparseRegressor().predict(X), lambda: SparseRegressor().equation()):
        with pytest.raises(NotFittedError):
            ask()


def test_what_takes_other_estimators_says_which():
    model = SparseRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="LpRegressor, LpClassifier or one of their CV kin"):
        banach.stability_selection(model)
    with pytest.raises(ValueError, match="SparseRegressor or SparseClassifier"):
        banach.TopFeatures(banach.LpRegressor()).fit(X, Y)


def test_a_fit_that_fails_leaves_nothing_that_looks_fitted():
    model = SparseRegressor().fit(X, Y)
    with pytest.raises(ValueError):
        model.set_params(max_terms=0).fit(X, Y)
    assert not [name for name in vars(model) if name.endswith("_") and "feature" not in name]


def standardised(X, degree=1):
    """The monomials of a degree, in the order of their names, with mean 0 and mean square 1."""
    expanded = PolynomialFeatures(degree, include_bias=False).fit(X)
    return StandardScaler().fit_transform(expanded.transform(X)), expanded


def weights_in_deviations(model, expanded, variables):
    """What a deviation of each monomial adds to the decision."""
    raw = dict.fromkeys(map(tuple, expanded.powers_), 0.0)
    for monomial, coefficient in zip(model.terms_["exponents"], model.terms_["coefficient"], strict=True):
        powers = np.zeros(variables.shape[1], dtype=int)
        for j, power in monomial:
            powers[j] = power
        raw[tuple(powers)] = coefficient
    return np.array([raw[tuple(powers)] for powers in expanded.powers_]) * expanded.transform(variables).std(axis=0)


@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_lasso_is_that_of_scikit_learn(degree, weighted):
    counts = rng.integers(1, 4, 60) if weighted else np.ones(60, dtype=int)
    y = Y + 5 * X[:, 7]
    model = SparseRegressor("poly", degree=(1, degree), penalty="l1").fit(X, y, counts.astype(float))
    assert model.n_terms_ > 0 and model.certificate_.relative_gap < 1e-9 and model.certificate_.holds
    rows = np.repeat(np.arange(60), counts)
    # The variables as the model has them: as they are, or less their means.
    variables = X[rows] - (0 if model.means_ is None else model.means_)
    features, expanded = standardised(variables, degree)
    lasso = Lasso(alpha=model.certificate_.strength, tol=1e-14, max_iter=1_000_000).fit(features, y[rows])
    np.testing.assert_allclose(weights_in_deviations(model, expanded, variables), lasso.coef_, atol=1e-7)
    np.testing.assert_allclose(model.predict(X)[rows], lasso.predict(features), atol=1e-6)


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_concave_penalties_are_stationary_over_all_monomials(penalty):
    model = SparseRegressor(penalty=penalty, **QUADRATIC).fit(X, Y)
    assert {"x1 * x2", "x3^2", "x5"} <= set(model.terms_["monomial"])
    assert model.certificate_.violation < 1e-9 and model.certificate_.holds and "Stationary" in model.terms_.caption
    variables = X - (0 if model.means_ is None else model.means_)
    features, _ = standardised(variables, 2)
    slopes = features.T @ (Y - model.predict(X)) / 60
    strength = model.certificate_.strength
    # Large weights are not shrunk, so that no feature is left with more than the strength.
    assert np.abs(slopes).max() <= strength * (1 + 1e-6)
    np.testing.assert_allclose(model.terms_["refit"], least_squares(model, X, Y)[1], rtol=1e-8)


def test_intervals_are_those_of_the_textbook():
    model = SparseRegressor(**QUADRATIC).fit(X, Y)
    _, coefficients, errors = least_squares(model, X, Y)
    reach = scipy.stats.t.ppf(0.975, 60 - 1 - model.n_terms_) * errors
    np.testing.assert_allclose(model.terms_["lower"], coefficients - reach, rtol=1e-6)
    np.testing.assert_allclose(model.terms_["upper"], coefficients + reach, rtol=1e-6)


@pytest.mark.parametrize("hierarchy", ["weak", "strong"])
def test_a_hierarchy_has_the_factors_of_its_products(hierarchy):
    for estimator, (features, y) in ((SparseRegressor, (X, Y)), (SparseClassifier, classes())):
        model = estimator(hierarchy=hierarchy, **QUADRATIC).fit(features, y)
        terms = set(model.terms_["monomial"])
        assert model.certificate_.holds and model.certificate_.proven and terms
        for term in terms:
            factors = [factor.split("^")[0] for factor in term.split(" * ")]
            if len(factors) > 1 or "^" in term:
                assert (all if hierarchy == "strong" else any)(factor in terms for factor in factors), terms
    free = SparseRegressor(**QUADRATIC).fit(X, Y)
    assert free.criterion_ <= SparseRegressor(hierarchy=hierarchy, **QUADRATIC).fit(X, Y).criterion_ + 1e-6


def test_what_does_not_go_together_is_refused():
    with pytest.raises(ValueError, match="hierarchy = .*; allowed"):
        SparseRegressor(penalty="l1", hierarchy="weak").fit(X, Y)
    with pytest.raises(ValueError, match="hierarchy = .*; allowed"):
        SparseClassifier(penalty="mcp", hierarchy="strong").fit(X, Y > 4)
    with pytest.raises(ValueError, match="monomials = .*; allowed: standardized"):
        SparseRegressor(penalty="l1", monomials="raw").fit(X, Y)
    same = [SparseRegressor(monomials=size).fit(X, Y).criterion_ for size in ("raw", "unit", "standardized")]
    assert same[0] == same[1] == same[2]


def classes(n=300, seed=3):
    """Two classes by the odds of 2 x3 + 3 x5 x8."""
    draw = np.random.default_rng(seed)
    X = draw.standard_normal((n, 12))
    return X, np.where(2 * X[:, 3] + 3 * X[:, 5] * X[:, 8] + draw.logistic(size=n) > 0, "ill", "well")


@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_told_apart_as_an_unpenalised_fit_has_it(weighted):
    X, y = classes()
    weights = np.random.default_rng(1).integers(0, 4, 300).astype(float) if weighted else None
    model = SparseClassifier(**QUADRATIC).fit(X, y, weights)
    assert set(model.terms_["monomial"]) == {"x3", "x5 * x8"} and model.means_ is None
    assert list(model.classes_) == ["ill", "well"] and model.certificate_.proven and model.certificate_.holds
    rows = np.repeat(np.arange(300), 1 if weights is None else weights.astype(int))
    features = columns(model, X)
    other = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(features[rows], y[rows])
    np.testing.assert_allclose(model.terms_["coefficient"], other.coef_[0], rtol=1e-5)
    assert model.intercept_ == pytest.approx(other.intercept_[0], abs=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(features), atol=1e-5)
    assert (model.predict(X) == other.predict(features)).all()
    # The inverse of the information is the covariance, and the deviance decides.
    odds = model.decision_function(X)[rows]
    design = np.column_stack([np.ones(len(rows)), features[rows]])
    share = 1 / (1 + np.exp(-odds))
    covariance = np.linalg.inv(design.T @ (design * (share * (1 - share))[:, None]))
    errors = np.sqrt(np.diag(covariance))[1:]
    np.testing.assert_allclose(model.terms_["std_error"], errors, rtol=1e-5)
    np.testing.assert_allclose(model.terms_["upper"], model.terms_["coefficient"] + 1.959964 * errors, rtol=1e-5)
    signs = np.where(y[rows] == "well", 1, -1)
    deviance = 2 * np.log1p(np.exp(-signs * odds)).sum()
    p = np.mean(signs > 0)
    constant = -2 * len(rows) * (p * np.log(p) + (1 - p) * np.log(1 - p))
    N = model.n_monomials_
    names = 2 * np.log(N * (N - 1)) + 2 * np.log(3) + 2 * np.log(20)
    assert model.criterion_ == pytest.approx(deviance - constant + 2 * np.log(len(rows)) + names, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_lasso_of_classes_is_that_of_scikit_learn(weighted):
    X, y = classes(150)
    counts = np.random.default_rng(1).integers(0, 4, 150) if weighted else np.ones(150, dtype=int)
    model = SparseClassifier(penalty="l1", **QUADRATIC).fit(X, y, counts.astype(float))
    assert model.n_terms_ > 1 and model.certificate_.relative_gap < 1e-9 and model.certificate_.holds
    rows = np.repeat(np.arange(150), counts)
    variables = X[rows] - (0 if model.means_ is None else model.means_)
    features, expanded = standardised(variables, 2)
    C = 1 / (len(rows) * model.certificate_.strength)
    other = LogisticRegression(l1_ratio=1, C=C, solver="saga", tol=1e-10, max_iter=1_000_000).fit(features, y[rows])
    np.testing.assert_allclose(weights_in_deviations(model, expanded, variables), other.coef_[0], atol=1e-6)
    np.testing.assert_allclose(model.decision_function(X)[rows], other.decision_function(features), atol=1e-5)


@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_concave_penalties_of_classes_are_stationary_over_all_monomials(penalty):
    X, y = classes()
    model = SparseClassifier(penalty=penalty, **QUADRATIC).fit(X, y)
    assert {"x3", "x5 * x8"} <= set(model.terms_["monomial"])
    assert model.certificate_.violation < 1e-6 and model.certificate_.holds and "Stationary" in model.terms_.caption
    variables = X - (0 if model.means_ is None else model.means_)
    features, expanded = standardised(variables, 2)
    residual = (y == "well") - model.predict_proba(X)[:, 1]
    slopes, strength = features.T @ residual / len(y), model.certificate_.strength
    weights = weights_in_deviations(model, expanded, variables)
    size = np.abs(weights)
    # The slopes of a quarter of the penalty of four strengths.
    if penalty == "mcp":
        own = np.maximum(strength - size / 12, 0)
    else:
        own = np.where(size <= 4 * strength, strength, np.maximum(3.7 * strength - size / 4, 0) / 2.7)
    named = weights != 0
    np.testing.assert_allclose(slopes[named], np.sign(weights[named]) * own[named], atol=1e-6 * strength)
    assert np.abs(slopes[~named]).max() <= strength * (1 + 1e-6)
    free = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000).fit(columns(model, X), y)
    np.testing.assert_allclose(model.terms_["refit"], free.coef_[0], rtol=1e-5)


def test_several_classes_have_a_function_each():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = SparseClassifier("poly", degree=(1, 2)).fit(X, names[y])
    assert model.n_terms_.shape == model.criterion_.shape == (3,) and len(model.certificate_) == 3
    assert set(model.terms_["class"]) <= set(names) and model.path_["class"][0] == "setosa"
    assert model.score(X, names[y]) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.decision_function(X).shape == (150, 3)
    # The first class is far from the others.
    assert "separate" in model.terms_.caption
    apart = np.array(model.terms_["class"]) == "setosa"
    assert apart.any() and np.isinf(model.terms_["std_error"][apart]).all()
    assert np.isfinite(model.terms_["coefficient"]).all()
    for output in range(3):
        values = model.equation(output=output).predict(X)
        np.testing.assert_allclose(values, model.decision_function(X)[:, output], rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="output = 3; allowed"):
        model.equation(output=3)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert str(again.terms_) == str(model.terms_) and again.certificate_ == model.certificate_


def test_classes_that_a_term_separates_have_finite_answers():
    X, _ = classes(60)
    model = SparseClassifier().fit(X, X[:, 2] > 0.1)
    assert model.terms_["monomial"] == ["x2"] and np.isinf(model.terms_["std_error"][0])
    assert model.terms_["lower"][0] == -np.inf and model.terms_["upper"][0] == np.inf
    assert np.isfinite(model.predict_proba(X)).all() and model.score(X, X[:, 2] > 0.1) > 0.95
    assert "separate" in model.terms_.caption and model.certificate_.holds
    for penalty in ("l1", "mcp", "scad"):
        model = SparseClassifier(penalty=penalty).fit(X, X[:, 2] > 0.1)
        assert "x2" in model.terms_["monomial"] and model.certificate_.holds and "separate" in model.terms_.caption
        assert np.abs(model.decision_function(X)).max() < 20 and model.score(X, X[:, 2] > 0.1) > 0.9


def test_labels_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match="one class"):
        SparseClassifier().fit(X, np.ones(60))
    with pytest.raises(ValueError, match="has weight 0"):
        SparseClassifier().fit(X, Y > 4, sample_weight=(Y > 4).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        SparseClassifier().fit(X, Y)
    noise = np.random.default_rng(4).integers(0, 2, 60)
    empty = SparseClassifier(**QUADRATIC).fit(X, noise)
    assert empty.n_terms_ == 0 and "use LpClassifierCV" in empty.terms_.caption
    np.testing.assert_allclose(empty.predict_proba(X)[:, 1], noise.mean(), rtol=1e-6)


def test_stability_tells_how_often_terms_are_named():
    model = SparseRegressor(**QUADRATIC).fit(X, Y)
    table = model.stability(X, Y, n_resamples=5)
    assert set(table["monomial"][:3]) == {"x1 * x2", "x3^2", "x5"} and (table["share"][:3] == 1).all()
    assert str(model.stability(X, Y, n_resamples=5)) == str(table)
    features, y = classes(200)
    classifier = SparseClassifier(**QUADRATIC).fit(features, y)
    assert set(classifier.stability(features, y, n_resamples=3)["monomial"][:2]) == {"x3", "x5 * x8"}
    with pytest.raises(ValueError, match="n_resamples = 0; allowed"):
        model.stability(X, Y, n_resamples=0)
    with pytest.raises(ValueError, match="12 features"):
        model.stability(X[:, :3], Y)
    with pytest.raises(ValueError, match="classes that the model does not know"):
        classifier.stability(features, np.where(y == "ill", "sick", y))


@pytest.mark.parametrize("mean", [1e4, 1e8])
def test_a_variable_far_from_zero_is_named_by_itself(mean):
    far = X.copy()
    far[:, 0] += mean
    y = 2 * X[:, 0] + 0.3 * rng.standard_normal(60)
    linear = SparseRegressor().fit(far, y)
    assert linear.terms_["monomial"] == ["x0"] and linear.means_ is None
    assert linear.score(far, y) > 0.9
    assert SparseRegressor(**QUADRATIC).fit(far, y).terms_["monomial"] == ["x0"]


def test_other_arrays_say_the_same():
    model = SparseRegressor(**QUADRATIC).fit(X, Y)
    for form in (np.asfortranarray(X), X.tolist(), X.astype(object)):
        np.testing.assert_array_equal(SparseRegressor(**QUADRATIC).fit(form, list(Y)).predict(form), model.predict(X))
    before = X.copy()
    SparseRegressor(**QUADRATIC).fit(X, Y)
    np.testing.assert_array_equal(X, before)


def test_the_terms_are_among_the_largest_of_the_other_estimator():
    top = LpRegressor(p=1.05, C=10.0, **QUADRATIC).fit(X, Y).top_features(5)
    assert set(SparseRegressor(**QUADRATIC).fit(X, Y).terms_["exponents"]) <= set(top["exponents"])


def test_a_bar_is_shown_on_request(capsys, monkeypatch):
    monkeypatch.setattr("banach._progress._PATIENCE", 0.0)
    # Long enough to be asked for news, which is twenty times a second.
    wide = np.random.default_rng(2).standard_normal((100, 1500))
    SparseRegressor(verbose=1, **QUADRATIC).fit(wide, wide[:, 0])
    assert re.match(r"\rsearch for terms ", capsys.readouterr().err)


def test_an_interrupt_ends_the_search():
    # A shell that started this in the background may have had it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    wide = np.random.default_rng(0).standard_normal((200, 3000))
    sent = []

    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, press).start()
    with pytest.raises(KeyboardInterrupt):
        SparseRegressor(**QUADRATIC).fit(wide, wide[:, :20].sum(axis=1) + wide[:, 30])
        time.sleep(10)
    signal.signal(signal.SIGINT, before)
    # Seconds do not gate; these tell an interrupt from the end of the work.
    assert time.monotonic() - sent[0] < 5


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_columns_of_any_size_have_finite_coefficients_or_are_refused(size):
    one, two = X.copy(), X.copy()
    one[:, 1] *= size
    two[:, [1, 2]] *= size
    for scaled in (one, two):
        try:
            found = SparseRegressor(**QUADRATIC).fit(scaled, Y)
        except ValueError as error:
            assert (scaled is two or size == 1e300) and re.search(r"column [12] of X|X\[0, 1\]", str(error)), error
            assert re.search("in a unit in which they are about 1|rescale the column", str(error)), error
        else:
            assert size < 1e200 and np.isfinite(found.terms_["coefficient"]).all()
            np.testing.assert_allclose(found.predict(scaled), SparseRegressor(**QUADRATIC).fit(X, Y).predict(X))
