"""Files from strangers, and fits that take hours."""

import subprocess
import sys

import numpy as np
import pytest

from banach import LpRegressor


def data(n=20, d=60):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X[:, 0] * X[:, 1]


def test_a_fit_of_hours_is_told_before_it_starts():
    # Warnings are errors here: this one is what stops the fit.
    with pytest.raises(UserWarning, match="expected to take about .* a pass over 6.5e9 monomials.*A lower degree"):
        LpRegressor(kernel="poly", degree=8, p=1.1).fit(*data())
    LpRegressor(kernel="poly", degree=2, p=1.1).fit(*data(d=5))


def test_a_search_stops_at_its_budget():
    X, y = data(d=8)
    model = LpRegressor(kernel="exp", scale=1.0).fit(X, y)
    top = model.top_features(5, max_nodes=50)
    assert not top.complete and top.nodes <= 50 and "max_nodes" in top.caption
    with pytest.raises(ValueError, match="max_nodes"):
        model.top_features(5, max_nodes=0)


def test_interactions_of_more_variables_than_columns_are_refused():
    X, y = data(d=3)
    for degree in (4, (1, 4)):
        with pytest.raises(ValueError, match="n_features = 3"):
            LpRegressor(kernel="anova", degree=degree).fit(X, y)


@pytest.mark.skipif(sys.platform == "win32", reason="shells of Unix")
def test_a_closed_standard_output_is_an_error():
    program = "from banach._command import main; main()"
    run = subprocess.run(
        ["sh", "-c", 'exec "$0" "$@" >&-', sys.executable, "-c", program, "--version"],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.returncode == 2 and "standard output is closed" in run.stderr
