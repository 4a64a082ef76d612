"""Gaps that were claimed too small once, held against sixty digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from itertools import combinations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from banach import LpRegressor

TAU, RHO = Decimal("0.5"), Decimal("1.35")

# A tolerance that rounding does not let a fit reach is part of most of these cases.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

#: Columns of very different scales are what these fits are about.
unscaled = pytest.mark.filterwarnings("ignore::banach.ScaleWarning")


def true_gap(model, columns, y):
    """F(w) + Lambda(alpha) of the answer, from the features of the samples (docs/notation.md)."""
    with localcontext() as context:
        context.prec = 60
        p = Decimal(model.p)
        # The exponent that the library takes: q of the p in the model, whole where p = q/(q - 1) is the nearest number.
        q = p / (p - 1)
        q = round(q) if abs(q - round(q)) < Decimal("1e-12") else q
        gamma, b = Decimal(model.C), Decimal(float(model.intercept_))
        alpha = [Decimal(float(a)) for a in model.dual_coef_]
        targets = [Decimal(float(target)) for target in y]
        omega = [Decimal(0)] * len(alpha)
        energy = Decimal(0)
        for column in columns:
            u = sum((x * a for x, a in zip(column, alpha, strict=True)), Decimal(0))
            if u:
                w = (abs(u) ** (q - 1)).copy_sign(u)
                energy += u * w
                omega = [t + x * w for t, x in zip(omega, column, strict=True)]
        loss, conjugate = Decimal(0), Decimal(0)
        for target, t, a in zip(targets, omega, alpha, strict=True):
            r = target - t - b
            linear = -target * a
            # Outside of its domain a conjugate is infinite.
            end = {"squared": Decimal("inf"), "absolute": 1, "quantile": TAU, "huber": RHO}[model.loss]
            assert abs(a) <= gamma * end * (1 + Decimal(2) ** -50)
            if model.loss == "squared":
                loss, conjugate = loss + gamma * r * r / 2, conjugate + a * a / gamma / 2 + linear
            elif model.loss == "absolute":
                loss, conjugate = loss + gamma * abs(r), conjugate + linear
            elif model.loss == "quantile":
                loss, conjugate = loss + gamma * max(TAU * r, (TAU - 1) * r), conjugate + linear
            else:
                value = r * r / 2 if abs(r) <= RHO else RHO * abs(r) - RHO * RHO / 2
                loss, conjugate = loss + gamma * value, conjugate + a * a / gamma / 2 + linear
        return float(loss + conjugate + energy + b * sum(alpha))


def assert_honest(model, columns, y):
    """The claim is not below the truth."""
    claimed = model.duality_gap_ * max(abs(model.primal_value_), abs(model.dual_value_))
    truth = true_gap(model, columns, y)
    assert truth <= claimed * (1 + 1e-6), f"{model.route_} {model.status_}: {claimed:.3e} claimed, {truth:.3e} is true"


def decimals(X):
    return [[Decimal(float(x)) for x in column] for column in X.T]


def monomials(X):
    """Every column, and every product of two."""
    columns = decimals(X)
    with localcontext() as context:
        context.prec = 60
        products = [[x * z for x, z in zip(*pair, strict=True)] for pair in combinations(columns, 2)]
    return columns + products


def fit(X, y, **parameters):
    return LpRegressor(**parameters).fit(X, y)


@pytest.mark.parametrize("route", ["auto", "features", "tiles", "gram", "streamed"])
@pytest.mark.parametrize(
    ("seed", "size", "p", "C"), [(16, 1e4, 2.0, 10.0), (7, 1e5, 2.0, 1e-3), (16, 1e3, 4 / 3, 10.0), (16, 1e8, 2.0, 1.0)]
)
@unscaled
def test_interactions_of_one_large_column(route, seed, size, p, C):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 6))
    X[:, 0] *= size
    y = X[:, 1] - X[:, 2] + 0.3 * rng.standard_normal(12)
    model = fit(X, y, p=p, C=C, kernel="anova", degree=(1, 2), route=route)
    assert_honest(model, monomials(X), y)


@unscaled
def test_all_routes_find_the_same_objective():
    rng = np.random.default_rng(16)
    X = rng.standard_normal((12, 6))
    X[:, 0] *= 1e4
    y = X[:, 1] - X[:, 2] + 0.3 * rng.standard_normal(12)
    routes = ("features", "tiles", "gram", "streamed")
    values = [fit(X, y, p=2, C=10, kernel="anova", degree=(1, 2), route=route).primal_value_ for route in routes]
    assert values == pytest.approx([0.53082471] * 4, rel=3e-8)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@unscaled
def test_columns_over_24_orders_of_magnitude(seed, tol):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, 13)) * 10.0 ** np.linspace(-12, 12, 13)
    y = rng.standard_normal(20)
    for C in (1e-6, 1.0):
        assert_honest(fit(X, y, p=1.9, C=C, loss="quantile", tol=tol), decimals(X), y)


@pytest.mark.parametrize("loss", ["squared", "absolute", "huber"])
@pytest.mark.parametrize("p", [1.1, 4 / 3, 1.9])
def test_a_tolerance_beyond_rounding(loss, p):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 300))
    y = rng.standard_normal(12)
    for C in (1.0, 1e5):
        assert_honest(fit(X, y, p=p, C=C, loss=loss, tol=1e-14), decimals(X), y)


@pytest.mark.parametrize("route", ["features", "gram", "streamed"])
def test_one_cell_that_is_not_zero(route):
    X = np.zeros((10, 3))
    X[4, 1] = 1.0
    y = np.random.default_rng(5).standard_normal(10)
    assert_honest(fit(X, y, p=4 / 3, C=1000.0, loss="huber", route=route), decimals(X), y)


def test_rounding_is_said_and_what_to_change():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 300))
    with pytest.warns(ConvergenceWarning, match=r"rounding keeps the gap above the tolerance.*or raise tol"):
        model = fit(X, rng.standard_normal(12), C=1e6, loss="absolute", tol=1e-13)
    assert model.status_ == "rounding"
