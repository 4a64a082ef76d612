"""Model files: Python to Python, and both ways between Python and the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import banach
from banach import LpClassifier, LpRegressor, LpRegressorCV, SparseClassifier, SparseRegressor, kernels

CODE = "import sys; from banach import _core; sys.exit(_core.command(['banach', *sys.argv[1:]]))"


def command(*arguments):
    run = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(40, 5))
    return X, X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 3.0


def write_csv(path, X, names, **columns):
    rows = np.column_stack([X, *columns.values()]) if columns else X
    with path.open("w") as file:
        file.write(",".join([*names, *columns]) + "\n")
        file.writelines(",".join(map(repr, row)) + "\n" for row in rows.tolist())
    return path


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "poly", "degree": 2, "p": 1.1, "C": 7.3, "monomials": "standardized"},
        {"kernel": "poly", "degree": (1, 3), "scale": 0.3},
        {"kernel": "anova", "degree": (1, 2), "monomials": "unit", "route": "tiles"},
        {"kernel": "anova", "degree": 2, "loss": "huber", "rho": 0.7},
        {"kernel": "exp", "scale": 0.1, "route": "gram", "tol": 1e-6},
        {"kernel": "exp", "scale": 0.1, "route": "streamed", "normalize_kernel": True, "tol": 1e-6},
        {"kernel": "exp", "degree": (1, 3), "scale": 0.1, "loss": "quantile", "quantile": 0.3, "tol": 1e-6},
        {"kernel": kernels.PowerSeries([0.0, 1.0, 0.1 + 0.2]), "solver": "newton"},
        {"kernel": kernels.Series("cosh", scale=0.05), "tol": 1e-6, "fit_intercept": False},
        {"kernel": kernels.Normalized(kernels.Anova(1, 2)), "normalize_kernel": True, "tol": 1e-5},
        {"loss": "epsilon_insensitive", "epsilon": 0.05, "tol": 1e-6},
        {"solver": "paper", "tol": 1e-4, "max_iter": 5000},
        {
            "solver": "paper",
            "solver_options": {"algorithm": "2.1", "rule": "restart", "delta": 0.1 + 0.2, "lambda_bar": 0.5},
            "tol": 1e-4,
            "max_iter": 5000,
        },
    ],
    ids=str,
)
def test_a_model_comes_back_with_its_parameters_and_the_same_bits(data, parameters, tmp_path):
    X, y = data
    model = LpRegressor(**parameters).fit(X, y)
    model.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    assert type(loaded) is LpRegressor
    new = np.random.default_rng(1).normal(size=(9, 5))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    again = type(loaded)(**loaded.get_params()).fit(X, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)
    for attribute in ["duality_gap_", "n_iter_", "route_", "status_", "intercept_", "primal_value_", "n_features_in_"]:
        assert getattr(loaded, attribute) == getattr(model, attribute)
    assert str(loaded.top_features(3)) == str(model.top_features(3))
    try:
        expected = str(model.equation(2))
    except ValueError as error:
        # A loss without evidence, or infinitely many monomials.
        with pytest.raises(ValueError, match=re.escape(str(error))):
            loaded.equation(2)
    else:
        assert str(loaded.equation(2)) == expected


def test_outputs_weights_and_sparse_data_come_back(data, tmp_path):
    X, y = data
    sparse = scipy.sparse.random_array((40, 5), density=0.5, rng=np.random.default_rng(3), format="csr")
    for table in [X, sparse]:
        model = LpRegressor().fit(table, np.column_stack([y, -y, y**2]), sample_weight=np.arange(40))
        model.save(tmp_path / "model")
        loaded = banach.load(tmp_path / "model")
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
        np.testing.assert_array_equal(loaded.coef_, model.coef_)
        assert str(loaded.equation(2, output=2, refit=False)) == str(model.equation(2, output=2, refit=False))


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"], [False, True], [3, 5, 9], [1.0, 2.0]], ids=str)
def test_classes_of_every_kind_come_back(data, labels, tmp_path):
    X, y = data
    y = np.array(labels)[np.digitize(y, np.quantile(y, np.linspace(0, 1, len(labels) + 1)[1:-1]))]
    model = LpClassifier(C=10.0, class_weight="balanced").fit(X, y)
    model.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_a_search_keeps_the_model_that_it_chose(data, tmp_path):
    X, y = data
    search = LpRegressorCV(Cs=3, cv=3, p=[4 / 3, 1.1]).fit(X, y)
    search.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert (loaded.C, loaded.p) == (search.C_, search.best_params_["p"])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "poly"},
        {"kernel": "poly", "degree": (1, 3), "max_terms": 4},
        {"kernel": "anova", "degree": (1, 2), "fit_intercept": False},
        {"kernel": "exp", "degree": (1, 2)},
        {"kernel": kernels.Polynomial(2, coef0=1.0)},
        {"penalty": "l1"},
        {"kernel": "poly", "degree": (1, 2), "hierarchy": "weak"},
    ],
    ids=str,
)
def test_few_terms_come_back_with_their_parameters_and_the_same_bits(data, parameters, tmp_path):
    X, y = data
    model = SparseRegressor(**parameters).fit(X, y, sample_weight=np.repeat([1.0, 2.0], 20))
    model.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    assert type(loaded) is SparseRegressor
    new = np.random.default_rng(1).normal(size=(9, 5))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert str(loaded.terms_) == str(model.terms_)
    assert str(loaded.path_) == str(model.path_)
    assert loaded.certificate_ == model.certificate_
    assert loaded.equation() == model.equation()
    again = type(loaded)(**loaded.get_params()).fit(X, y, sample_weight=np.repeat([1.0, 2.0], 20))
    assert again.terms_["exponents"] == model.terms_["exponents"]
    banach.save(loaded, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_few_terms_of_classes_and_of_scaled_columns_come_back(data, tmp_path):
    X, y = data
    labels = np.where(y > 3.0, "high", "low")
    model = SparseClassifier("poly", degree=(1, 2)).fit(X, labels)
    model.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))

    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(5 * X + 1000, columns=list("abcde"))
    pipe = make_pipeline(StandardScaler(), SparseRegressor("poly", degree=(1, 2))).fit(frame, y)
    banach.save(pipe, tmp_path / "scaled")
    again = banach.load(tmp_path / "scaled")
    np.testing.assert_array_equal(again.predict(frame), pipe.predict(frame))
    assert again[-1].terms_["monomial"][0] in ("a * b", "c")
    csv = write_csv(tmp_path / "new.csv", frame.to_numpy()[:, [2, 1, 0]], ["c", "b", "a"])
    printed = np.array(command("predict", tmp_path / "scaled", csv).split()[1:], dtype=float)
    np.testing.assert_allclose(printed, pipe.predict(frame), rtol=1e-12)


def test_names_come_back(data, tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=list("abcde"))
    model = LpRegressor().fit(frame, y)
    model.save(tmp_path / "model")
    loaded = banach.load(tmp_path / "model")
    assert loaded.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    assert loaded.top_features(2)["monomial"] == model.top_features(2)["monomial"]


def test_the_command_line_reads_what_python_writes(data, tmp_path):
    X, y = data
    names = [f"v{j}" for j in range(5)]
    model = LpRegressor(kernel="poly", degree=2, C=10.0).fit(X, y)
    model.save(tmp_path / "plain")
    csv = write_csv(tmp_path / "new.csv", X, names)
    printed = command("predict", tmp_path / "plain", csv).split()[1:]
    np.testing.assert_array_equal(np.array(printed, dtype=float), model.predict(X))

    pipe = make_pipeline(StandardScaler(), LpRegressor(kernel="poly", degree=2, C=10.0)).fit(5 * X + 1000, y)
    banach.save(pipe, tmp_path / "scaled")
    csv = write_csv(tmp_path / "raw.csv", 5 * X + 1000, names)
    printed = command("predict", tmp_path / "scaled", csv).split()[1:]
    np.testing.assert_allclose(np.array(printed, dtype=float), pipe.predict(5 * X + 1000), rtol=1e-12)
    again = banach.load(tmp_path / "scaled")
    np.testing.assert_array_equal(again.predict(5 * X + 1000), pipe.predict(5 * X + 1000))
    told = json.loads(command("info", tmp_path / "scaled", "--json"))
    assert told["data"]["standardized"]
    assert told["spec"]["gamma"] == 10.0


def test_python_reads_what_the_command_line_writes(data, tmp_path):
    X, y = data
    X = 1e3 + 7 * X
    names = ["age", "dose", "c", "d", "e"]
    csv = write_csv(tmp_path / "train.csv", X, names, effect=y, same=np.ones(40))
    model = tmp_path / "model"
    command("fit", csv, "--target", "effect", "--kernel", "poly", "--degree", "1..2", "--gamma", 10, "-o", model, "-q")
    loaded = banach.load(model)
    # What the command has standardised is the estimator's own.
    assert type(loaded) is LpRegressor and loaded.standardize is True
    np.testing.assert_allclose(loaded.mean_, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(loaded.scale_, X.std(axis=0), rtol=1e-10)
    printed = np.array(command("predict", model, csv).split()[1:], dtype=float)
    assert loaded.feature_names_in_.tolist() == names
    assert loaded.degree == (1, 2)
    assert loaded.top_features(1)["monomial"] == ["age * dose"]
    # And back, with the name of the target and the scaling.
    banach.save(loaded, tmp_path / "again")
    told = json.loads(command("info", tmp_path / "again", "--json"))
    assert told["data"]["target"] == "effect"
    again = np.array(command("predict", tmp_path / "again", csv).split()[1:], dtype=float)
    np.testing.assert_array_equal(again, printed)

    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(loaded.predict(frame), printed)


def test_wrong_files_are_named(data, tmp_path):
    X, y = data
    with pytest.raises(FileNotFoundError, match="nowhere"):
        banach.load(tmp_path / "nowhere")
    with pytest.raises(OSError, match="folder"):
        banach.load(tmp_path)
    path = tmp_path / "model"
    path.write_text("age,dose\n1,2\n")
    with pytest.raises(ValueError, match="no model file of banach"):
        banach.load(path)
    model = LpRegressor().fit(X, y)
    model.save(path)
    contents = path.read_bytes()
    path.write_bytes(contents[:-100])
    with pytest.raises(ValueError, match="cut short"):
        banach.load(path)
    path.write_bytes(contents[:-1] + bytes([contents[-1] ^ 1]))
    with pytest.raises(ValueError, match="damaged"):
        banach.load(path)
    with pytest.raises(OSError, match="cannot write"):
        model.save(tmp_path / "no" / "folder")
    with pytest.raises(ValueError, match="allowed"):
        banach.save(StandardScaler(), path)
    with pytest.raises(ValueError, match="pipeline"):
        banach.save(make_pipeline(StandardScaler(), StandardScaler()), path)


def test_a_model_that_did_not_converge_says_so_again(data, tmp_path):
    X, y = data
    with pytest.warns(ConvergenceWarning):
        model = LpRegressor(kernel="poly", degree=2, loss="absolute", C=1e4, max_iter=1).fit(X, y)
    model.save(tmp_path / "model")
    with pytest.warns(ConvergenceWarning):
        loaded = banach.load(tmp_path / "model")
    assert loaded.status_ == "iteration_limit"
