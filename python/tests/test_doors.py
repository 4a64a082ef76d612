"""The command and Python decide alike: the same choice, coefficients, predictions and numbers, to the last bit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from banach import LpClassifier, LpClassifierCV, LpRegressor, LpRegressorCV, SparseClassifier, SparseRegressor, load


def numbers(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = X[:, 0] - 0.7 * X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n)
    return X, y


def classes(n, d, seed, count):
    X, y = numbers(n, d, seed)
    edges = np.quantile(y, np.linspace(0, 1, count + 1)[1:-1])
    return X, np.array([f"c{label}" for label in np.searchsorted(edges, y)])


POLY = {"kernel": "poly", "degree": (1, 2)}
ANOVA = {"kernel": "anova", "degree": (1, 2)}
#: Data, what the command is told, and the estimator that is told the same.
CASES = {
    "linear search": (numbers(60, 8, 0), [], LpRegressorCV()),
    "one standard error": (numbers(50, 30, 1), ["--one-se"], LpRegressorCV(one_standard_error=True)),
    "folds": (numbers(45, 6, 2), ["--cv", "3", "--p", "1.1"], LpRegressorCV(1.1, cv=3)),
    "fixed": (numbers(40, 6, 3), ["--gamma", "2.5"], LpRegressor(C=2.5)),
    "exp search": (numbers(50, 4, 4), ["--kernel", "exp"], LpRegressorCV(kernel="exp")),
    "exp, p given": (numbers(24, 3, 5), ["--kernel", "exp", "--p", "4/3"], LpRegressorCV(4 / 3, kernel="exp")),
    "exp, scale given": (
        numbers(40, 4, 6),
        ["--kernel", "exp", "--p", "1.1", "--scale", "0.05", "--normalize-kernel=false"],
        LpRegressorCV(1.1, kernel="exp", scale=0.05, normalize_kernel=False),
    ),
    "poly, huber": (
        numbers(60, 5, 7),
        ["--kernel", "poly", "--degree", "1..2", "--loss", "huber", "--rho", "0.8", "--p", "1.2"],
        LpRegressorCV(1.2, loss="huber", rho=0.8, **POLY),
    ),
    "anova, standardised monomials": (
        numbers(50, 6, 8),
        ["--kernel", "anova", "--degree", "1..2", "--monomials", "standardized", "--p", "1.1"],
        LpRegressorCV(1.1, monomials="standardized", **ANOVA),
    ),
    "quantile, no constant": (
        numbers(60, 4, 9),
        ["--loss", "quantile", "--tau", "0.7", "--no-intercept", "--p", "1.5"],
        LpRegressorCV(1.5, loss="quantile", quantile=0.7, fit_intercept=False),
    ),
    "two classes": (classes(60, 6, 10, 2), [], LpClassifierCV()),
    "three classes, hinge": (
        classes(60, 5, 11, 3),
        ["--loss", "hinge", "--kernel", "poly", "--cv", "4"],
        LpClassifierCV(loss="hinge", kernel="poly", cv=4),
    ),
    "classes, fixed": (classes(40, 5, 12, 3), ["--gamma", "3", "--p", "1.2"], LpClassifier(1.2, C=3.0)),
    "the paper's algorithm": (
        numbers(30, 5, 13),
        ["--gamma", "1", "--solver", "paper", "--theta", "0.7"],
        LpRegressor(C=1.0, solver="paper", solver_options={"theta": 0.7}),
    ),
}


#: The same for few terms.
SPARSE = {
    "numbers": (numbers(60, 8, 0), ["--kernel", "poly", "--degree", "1..2"], SparseRegressor("poly", degree=(1, 2))),
    "noise": ((numbers(40, 5, 1)[0], np.random.default_rng(7).standard_normal(40)), [], SparseRegressor()),
    "most terms, no constant": (
        numbers(50, 6, 2),
        ["--kernel", "anova", "--degree", "1..2", "--max-terms", "1", "--no-intercept"],
        SparseRegressor("anova", degree=(1, 2), max_terms=1, fit_intercept=False),
    ),
    "mcp": (numbers(60, 8, 3), ["--penalty", "mcp"], SparseRegressor(penalty="mcp")),
    "l1": (numbers(60, 8, 4), ["--penalty", "l1"], SparseRegressor(penalty="l1")),
    "hierarchy": (
        numbers(80, 5, 5),
        ["--kernel", "poly", "--degree", "1..2", "--hierarchy", "strong"],
        SparseRegressor("poly", degree=(1, 2), hierarchy="strong"),
    ),
    "two classes": (
        classes(120, 5, 6, 2),
        ["--kernel", "poly", "--degree", "1..2"],
        SparseClassifier("poly", degree=(1, 2)),
    ),
    "three classes": (classes(150, 4, 7, 3), [], SparseClassifier()),
    "classes, scad": (classes(120, 5, 8, 3), ["--penalty", "scad"], SparseClassifier(penalty="scad")),
}


def written(folder, X, y):
    """The data as a file."""
    lines = [",".join([*(repr(float(x)) for x in row), str(target)]) for row, target in zip(X, y, strict=True)]
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    data = folder / "data.csv"
    data.write_text("\n".join([header, *lines]) + "\n")
    return data


PROGRAM = Path(sys.executable).with_name("banach")


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize("name", SPARSE)
def test_few_terms_are_the_same_in_both_doors_and_in_files(name, tmp_path):
    (X, y), told, model = SPARSE[name]
    data, saved = written(tmp_path, X, y), tmp_path / "model.banach"
    command = [PROGRAM, "fit", data, "--target", "y", "--sparse", "--json", "-q", "-o", saved, *told]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found = json.loads(run.stdout)["functions"]

    model.fit(X, y)
    loaded = load(saved)
    assert type(loaded) is type(model)
    assert loaded.get_params() == model.get_params()
    for one in (model, loaded):
        terms = [term for function in found for term in function["terms"]]
        assert [term["monomial"] for term in terms] == one.terms_["monomial"]
        for column in ("coefficient", "evidence"):
            assert [term[column] for term in terms] == list(one.terms_[column])
        assert [function["intercept"] for function in found] == np.atleast_1d(one.intercept_).tolist()
        assert [function["criterion"] for function in found] == np.atleast_1d(one.criterion_).tolist()
        assert [size for function in found for size in function["sizes"]] == [
            {"terms": int(row["terms"]), "unexplained": row["unexplained"], "criterion": row["criterion"]}
            for row in one.path_.rows()
        ]
    assert str(loaded.terms_) == str(model.terms_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))

    again = tmp_path / "again.banach"
    model.save(again)
    # A model without names takes all columns, and only those.
    new = tmp_path / "new.csv"
    new.write_text("".join(line.rpartition(",")[0] + "\n" for line in data.read_text().splitlines()))
    told = [
        subprocess.run([PROGRAM, "predict", path, new, "-q"], capture_output=True, text=True, check=True).stdout
        for path in (saved, again)
    ]
    assert told[0] == told[1]
    assert told[0].split()[1:] == [
        str(label) if isinstance(label, str) else repr(float(label)) for label in model.predict(X)
    ]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_the_command_and_python_give_the_same_bits(name, tmp_path):
    (X, y), told, model = CASES[name]
    data, saved = written(tmp_path, X, y), tmp_path / "model.banach"
    command = [
        PROGRAM,
        "fit",
        data,
        "--target",
        "y",
        "--no-standardize",
        "--top",
        "3",
        "--select",
        "2",
        "--json",
        "-q",
        "-o",
        saved,
    ]
    run = subprocess.run([*command, *told], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found = json.loads(run.stdout)

    model.fit(X, y)
    chosen = getattr(model, "best_params_", {"C": getattr(model, "C", None), "p": model.p})
    assert found["model"]["gamma"] == chosen["C"]
    report = model.report(3, relevance=False, select=2)
    # Every number that is written down, but for predicted times and memory, which depend on what is free.
    for key in ("model", "validation", "leave_one_out", "status", "functions"):
        assert report[key] == found[key], key
    if report["validation"] is not None:
        assert report["assessment"] == found["assessment"]
    assert report["route"]["chosen"] == found["route"]["chosen"]
    words = {"--gamma": "C", "gamma": "C", "--kernel": "kernel", "--loss": "loss"}
    notes = found["notes"]
    for flag, word in words.items():
        notes = [note.replace(flag, word) for note in notes]
    assert report["notes"] == notes

    loaded = load(saved)
    np.testing.assert_array_equal(loaded.dual_coef_, model.dual_coef_)
    np.testing.assert_array_equal(loaded.intercept_, model.intercept_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
