"""banach with p and C given: one fit, and nothing to choose."""

from types import SimpleNamespace

from banach import LpRegressor, lp_path

from .found import Found

NEEDS = ()
KNEES = 100.0


def parameters(p):
    return {"p": p, "kernel": "poly", "degree": 2, "monomials": "standardized", "tol": 1e-8, "n_jobs": 2}


def knee(data, p):
    """The C at which the model begins to explain the data. One value of C from the data is the geometric mean of
    0.1^(1/(q-1)) and 1000 times the knee; see `GammaGrid` in the library."""
    (C,) = lp_path(data.X, data.y, Cs=1, **parameters(p)).Cs
    return C / (1e3 * 0.1 ** (p - 1.0)) ** 0.5


def with_option(p):
    """The contender for one p."""

    def told(data):
        C = KNEES * knee(data, float(p))
        return lambda: LpRegressor(C=C, **parameters(float(p)))

    def found(model, k):
        return Found(list(model.top_features(k)["exponents"]))

    given = f"one fit with p = {p} and C = {KNEES:g} times the knee of the data, to a gap of 1e-8; standardised monomials of degree 2"
    return SimpleNamespace(TITLE=f"banach, p = {p}", NEEDS=NEEDS, GIVEN=given, told=told, found=found)
