"""Results are those of the Rust library, bit for bit, however the data arrive and however many threads work."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
import scipy.sparse

import banach
from banach import LpClassifier, LpRegressor, _core

PACKAGE = str(Path(banach.__file__).parents[1])


# The command takes over Ctrl-C, once in a process. The compiled part alone is there at once.
ALONE = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_core", sys.argv[1])
core = importlib.util.module_from_spec(spec)
spec.loader.exec_module(core)
sys.exit(core.command(["banach", *sys.argv[2:]]))
"""


def command(*arguments: str) -> dict:
    """What the command prints."""
    run = [sys.executable, "-S", "-c", ALONE, _core.__file__, *arguments]
    ran = subprocess.run(run, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((30, 6))
    y = X[:, 0] * X[:, 1] - X[:, 2] + 0.1 * rng.standard_normal(30)
    return X, y


def write(file, X, y):
    names = [f"x{j}" for j in range(X.shape[1])]
    lines = [",".join([*names, "y"])]
    lines += [",".join(repr(float(value)) for value in row) + f",{label}" for row, label in zip(X, y, strict=True)]
    file.write_text("\n".join(lines) + "\n")


CHOICES = {
    "linear": ({}, []),
    "poly": ({"kernel": "poly", "degree": 2, "p": 1.1}, ["--kernel", "poly", "--degree", "2", "--p", "1.1"]),
    "range": ({"kernel": "poly", "degree": (1, 2)}, ["--kernel", "poly", "--degree", "1..2"]),
    "anova": ({"kernel": "anova", "degree": (1, 3)}, ["--kernel", "anova", "--degree", "1..3"]),
    "exp": ({"kernel": "exp", "scale": 0.05}, ["--kernel", "exp", "--scale", "0.05"]),
    "normalized": (
        {"kernel": "exp", "scale": 0.05, "normalize_kernel": True},
        ["--kernel", "exp", "--scale", "0.05", "--normalize-kernel"],
    ),
    "standardized": (
        {"kernel": "poly", "monomials": "standardized", "p": 1.2},
        ["--kernel", "poly", "--monomials", "standardized", "--p", "1.2"],
    ),
    "huber": ({"loss": "huber", "rho": 0.7}, ["--loss", "huber", "--rho", "0.7"]),
    "quantile": ({"loss": "quantile", "quantile": 0.3}, ["--loss", "quantile", "--tau", "0.3"]),
    "tube": ({"loss": "epsilon_insensitive", "epsilon": 0.2}, ["--loss", "epsilon-insensitive", "--epsilon", "0.2"]),
    "through the origin": ({"fit_intercept": False}, ["--no-intercept"]),
}


def assert_same_function(function: dict, model, output: int = 0) -> None:
    top = model.top_features(10, output=output)
    monomials = function["top"]["monomials"]
    assert function["certificate"]["primal"] == np.atleast_1d(model.primal_value_)[output]
    assert function["certificate"]["dual"] == np.atleast_1d(model.dual_value_)[output]
    if model.monomials == "standardized":
        # The command's constant is the one beside plain monomials, which are all 0 at 0.
        assert function["intercept"] == pytest.approx(model.predict(np.zeros((1, model.n_features_in_)))[0], rel=1e-12)
    else:
        assert function["intercept"] == np.atleast_1d(model.intercept_)[output]
    told = [[(factor["variable"], factor["power"]) for factor in monomial["factors"]] for monomial in monomials]
    assert told == [[(f"x{j}", power) for j, power in factors] for factors in top["exponents"]]
    assert [monomial["weight"] for monomial in monomials] == top["weight"].tolist()
    assert [monomial["coefficient"] for monomial in monomials] == top["coefficient"].tolist()


@pytest.mark.parametrize("choice", CHOICES)
def test_the_command_and_the_regressor_say_the_same_to_the_last_bit(choice, data, tmp_path):
    parameters, options = CHOICES[choice]
    X, y = data
    write(tmp_path / "data.csv", X, map(repr, map(float, y)))
    told = command(
        "fit", str(tmp_path / "data.csv"), "--target", "y", "--gamma", "2", "--no-standardize", "--json", *options
    )
    model = LpRegressor(C=2.0, **parameters).fit(X, y)
    assert told["route"]["chosen"] == model.route_
    assert_same_function(told["functions"][0], model)


def test_the_command_and_the_classifier_say_the_same_to_the_last_bit(data, tmp_path):
    X, y = data
    labels = np.array(["low", "middle", "top"])[np.digitize(y, [-0.5, 0.5])]
    write(tmp_path / "data.csv", X, labels)
    told = command("fit", str(tmp_path / "data.csv"), "--target", "y", "--gamma", "2", "--no-standardize", "--json")
    model = LpClassifier(C=2.0).fit(X, labels)
    assert [function["class"] for function in told["functions"]] == model.classes_.tolist()
    for output, function in enumerate(told["functions"]):
        assert_same_function(function, model, output)


def test_the_entry_point_is_the_command(data, tmp_path):
    write(tmp_path / "data.csv", data[0], map(repr, map(float, data[1])))
    arguments = ["fit", str(tmp_path / "data.csv"), "--target", "y", "--gamma", "2", "--json"]
    program = "from banach._command import main; main()"
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    run = [sys.executable, "-c", program, *arguments]
    ran = subprocess.run(run, capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    there, here = json.loads(ran.stdout), command(*arguments)
    assert there["functions"] == here["functions"]
    wrong = subprocess.run([*run[:3], "fit"], capture_output=True, text=True, env=environment, check=False)
    assert wrong.returncode == 2


@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly", "p": 1.1}, {"kernel": "exp", "scale": 0.05}], ids=str)
def test_the_number_of_threads_changes_no_bit(parameters, data):
    X, y = data
    one, two, three = (LpRegressor(n_jobs=jobs, **parameters).fit(X, y) for jobs in (1, 2, 3))
    for other in (two, three):
        assert (one.dual_coef_ == other.dual_coef_).all()
        assert one.intercept_ == other.intercept_
        assert (one.predict(X) == other.predict(X)).all()


FORMS = {
    "C order": lambda X: np.ascontiguousarray(X),
    "Fortran order": lambda X: np.asfortranarray(X),
    "slices of a larger array": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed strides": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "data frame": lambda X: pandas.DataFrame(X),
    "list of lists": lambda X: X.tolist(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly", "p": 1.1}, {"kernel": "exp", "scale": 0.05}], ids=str)
def test_the_layout_of_the_data_changes_no_bit(form, parameters, data):
    X, y = data
    plain = LpRegressor(**parameters).fit(np.asfortranarray(X), y)
    other = LpRegressor(**parameters).fit(FORMS[form](X), y)
    assert (plain.dual_coef_ == other.dual_coef_).all()
    assert plain.intercept_ == other.intercept_
    assert (plain.predict(X) == plain.predict(FORMS[form](X))).all()


SPARSE = [scipy.sparse.csc_array, scipy.sparse.csr_array, scipy.sparse.coo_array, scipy.sparse.csc_matrix]


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly", "p": 1.1}, {"kernel": "anova"}], ids=str)
def test_sparse_data_give_the_model_of_dense_data(kind, parameters, data):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    dense = LpRegressor(tol=1e-13, **parameters).fit(X, y)
    sparse = LpRegressor(tol=1e-13, **parameters).fit(kind(X), y)
    np.testing.assert_allclose(sparse.predict(kind(X)), dense.predict(X), rtol=1e-6, atol=1e-8)
    assert sparse.primal_value_ == pytest.approx(dense.primal_value_, rel=1e-11)


def test_all_sparse_formats_give_the_same_bits(data):
    X, y = data
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    models = [LpRegressor().fit(kind(X), y) for kind in SPARSE]
    for model in models[1:]:
        assert (model.dual_coef_ == models[0].dual_coef_).all()


def test_entries_of_a_sparse_matrix_that_occur_twice_are_added():
    rows, columns, values = [0, 0, 1, 2, 2], [0, 0, 1, 0, 1], [1.0, 2.0, 4.0, -1.0, 0.5]
    twice = scipy.sparse.csc_matrix((values, (rows, columns)), shape=(3, 2))
    parts = scipy.sparse.csc_array(([1.0, 2.0, -1.0, 4.0, 0.5], [0, 0, 2, 1, 2], [0, 3, 5]), shape=(3, 2))
    y = [1.0, 2.0, 0.5]
    dense = LpRegressor().fit(twice.toarray(), y)
    for X in (twice, parts):
        np.testing.assert_allclose(LpRegressor().fit(X, y).predict(X), dense.predict(twice.toarray()), rtol=1e-6)


def test_single_precision_is_taken_for_what_it_says(data):
    X, y = data
    single = X.astype(np.float32)
    assert (LpRegressor().fit(single, y).dual_coef_ == LpRegressor().fit(single.astype(np.float64), y).dual_coef_).all()
