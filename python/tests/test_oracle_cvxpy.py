"""At p < 2 the models are the solutions that CVXPY and Clarabel find with cones, for every loss; at p = 1 too."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod

import cvxpy as cp
import numpy as np
import pytest
import scipy.special

from banach import LpClassifier, LpRegressor, _core, kernels

EXPONENTS = [Fraction(1), Fraction(6, 5), Fraction(4, 3), Fraction(3, 2)]
REGRESSION = {
    "squared": lambda y, t: cp.square(y - t) / 2,
    "absolute": lambda y, t: cp.abs(y - t),
    "epsilon_insensitive": lambda y, t: cp.pos(cp.abs(y - t) - 0.1),
    "huber": lambda y, t: cp.huber(y - t, 0.5) / 2,
    "quantile": lambda y, t: 0.3 * cp.pos(y - t) + 0.7 * cp.neg(y - t),
    "poisson": lambda y, t: cp.exp(t) - cp.multiply(y, t) + scipy.special.xlogy(y, y) - y,
}
CLASSIFICATION = {
    "logistic": lambda y, t: cp.logistic(-cp.multiply(y, t)),
    "hinge": lambda y, t: cp.pos(1 - cp.multiply(y, t)),
    "squared_hinge": lambda y, t: cp.square(cp.pos(1 - cp.multiply(y, t))) / 2,
}
# What the losses above were told.
SAID = {"epsilon_insensitive": {"epsilon": 0.1}, "huber": {"rho": 0.5}, "quantile": {"quantile": 0.3}}
LOSSES = {**REGRESSION, **CLASSIFICATION}


def test_every_loss_has_its_formula():
    assert list(REGRESSION) == _core.losses("regression")
    assert list(CLASSIFICATION) == _core.losses("classification")


def oracle(features, y, loss, p, C, weights, fit_intercept):
    """The objective, the weights and the constant of the model, from its definition."""
    w = cp.Variable(features.shape[1])
    b = cp.Variable() if fit_intercept else 0.0
    penalty = cp.sum(cp.power(cp.abs(w), p)) / float(p)
    objective = C * cp.sum(cp.multiply(weights, LOSSES[loss](y, features @ w + b))) + penalty
    problem = cp.Problem(cp.Minimize(objective))
    accuracy = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver=cp.CLARABEL, **accuracy)
    return problem.value, w.value, float(b.value) if fit_intercept else 0.0


def monomials(X, degrees, p):
    """The features of ``sum over degrees of t^s`` by name: c_k^(1/q) x^k with the multinomial coefficients c_k."""
    root = float((p - 1) / p)
    columns = []
    for degree in degrees:
        for factors in combinations_with_replacement(range(X.shape[1]), degree):
            count = factorial(degree) / prod(factorial(factors.count(j)) for j in set(factors))
            columns.append(count**root * np.prod(X[:, factors], axis=1))
    return np.column_stack(columns)


def draw(loss):
    rng = np.random.default_rng(7)
    X, new = rng.standard_normal((25, 4)), rng.standard_normal((10, 4))
    y = X[:, 0] - 0.7 * X[:, 1] * X[:, 2] + 0.2 + 0.2 * rng.standard_normal(25)
    if loss in CLASSIFICATION:
        y = np.where(y > 0.2, 1.0, -1.0)
    if loss == "poisson":
        y = np.round(np.exp(y))
    return X, y, rng.uniform(0.3, 2.0, 25), new


def compare(loss, p, kernel, features, C, weighted, fit_intercept):
    X, y, weights, new = draw(loss)
    weights = weights if weighted else None
    kind = LpClassifier if loss in CLASSIFICATION else LpRegressor
    said = SAID.get(loss, {})
    model = kind(float(p), C=C, loss=loss, fit_intercept=fit_intercept, tol=1e-9, **kernel, **said).fit(X, y, weights)
    ones = np.ones(len(y)) if weights is None else weights
    value, w, b = oracle(features(X, p), y, loss, p, C, ones, fit_intercept)
    assert model.primal_value_ == pytest.approx(value, rel=1e-7)
    # The dual value with its sign is a lower bound, which the oracle's value respects.
    assert -model.dual_value_ <= value * (1 + 1e-7)
    if p == 1:
        # Kinks and p = 1 leave several solutions with one value.
        assert 0 < model.n_nonzero_ <= len(y) + 1
        assert model.sparse_coef_.nnz == model.n_nonzero_
        if loss not in ("squared", "poisson", "logistic"):
            return
    decision = model.decision_function if kind is LpClassifier else model.predict
    t = features(new, p) @ w + b
    np.testing.assert_allclose(decision(new), np.exp(t) if loss == "poisson" else t, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("p", EXPONENTS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_linear_model_is_the_solution_of_the_power_cone_program(loss, p, weighted, fit_intercept):
    compare(loss, p, {"kernel": "linear"}, lambda X, p: X, 2.0, weighted, fit_intercept)


@pytest.mark.parametrize("p", EXPONENTS, ids=str)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_quadratic_model_is_the_solution_over_all_its_monomials(loss, p):
    kernel = {"kernel": "poly", "degree": 2}
    compare(loss, p, kernel, lambda X, p: monomials(X, [2], p), 1.0, weighted=True, fit_intercept=True)


@pytest.mark.parametrize("route", ["features", "tiles", "gram", "streamed"])
def test_every_route_leads_to_the_solution_over_all_monomials(route):
    kernel = {"kernel": "poly", "degree": 2, "route": route}
    compare(
        "squared", Fraction(4, 3), kernel, lambda X, p: monomials(X, [2], p), 1.0, weighted=True, fit_intercept=True
    )


def test_a_power_series_is_the_solution_over_its_degrees():
    kernel = {"kernel": kernels.PowerSeries([0.0, 1.0, 1.0])}
    compare(
        "huber", Fraction(4, 3), kernel, lambda X, p: monomials(X, [1, 2], p), 1.0, weighted=True, fit_intercept=True
    )
