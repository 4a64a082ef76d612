"""float32 and int8 are read as they are: the same models as of float64, without its memory."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import banach
from banach import LpClassifier, LpRegressor, LpRegressorCV, SparseRegressor, gram_tensor

SAMPLES, COLUMNS = 40, 12


def table(kind, order="F"):
    rng = np.random.default_rng(5)
    values = rng.integers(-100, 100, (SAMPLES, COLUMNS)) if kind == "int8" else rng.standard_normal((SAMPLES, COLUMNS))
    X = np.asarray(values, dtype=kind, order=order)
    y = X[:, 0].astype(float) - 0.5 * X[:, 3].astype(float)
    return X, y / np.abs(y).max()


KINDS = pytest.mark.parametrize("kind", ["float32", "int8"])


@KINDS
@pytest.mark.parametrize("order", ["F", "C"])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("monomials", ["raw", "standardized"])
def test_a_model_is_that_of_float64(kind, order, kernel, monomials):
    X, y = table(kind, order)
    parameters = {"kernel": kernel, "p": 1.2, "monomials": monomials}
    model, expected = LpRegressor(**parameters).fit(X, y), LpRegressor(**parameters).fit(X.astype(float), y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X.astype(float)))
    assert model.predict(X).dtype == np.float64


@KINDS
def test_classes_searches_terms_and_tensors_are_those_of_float64(kind):
    X, y = table(kind)
    wide = X.astype(float)
    labels = np.where(y > 0, "ill", "well")
    assert (
        LpClassifier().fit(X, labels).predict_proba(X) == LpClassifier().fit(wide, labels).predict_proba(wide)
    ).all()
    search, expected = LpRegressorCV(cv=3).fit(X, y), LpRegressorCV(cv=3).fit(wide, y)
    assert (search.C_, list(search.predict(X))) == (expected.C_, list(expected.predict(wide)))
    terms, expected = SparseRegressor().fit(X, y), SparseRegressor().fit(wide, y)
    np.testing.assert_array_equal(terms.predict(X), expected.predict(wide))
    np.testing.assert_array_equal(gram_tensor(X, p=4 / 3), gram_tensor(wide, p=4 / 3))


@KINDS
def test_columns_are_standardised_as_they_are_read(kind):
    X, y = table(kind)
    X[:, 5] = 3
    wide = X.astype(float)
    model, expected = (LpRegressor(kernel="poly", standardize=True).fit(X, y) for X in (X, wide))
    for name in ["mean_", "scale_", "dual_coef_"]:
        np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-6, atol=1e-9)
    for new in (X, wide):
        np.testing.assert_allclose(model.predict(new), expected.predict(new), rtol=1e-6, atol=1e-9)
    assert model.scale_[5] == 1 and model.mean_[5] == 3


@KINDS
@pytest.mark.parametrize("standardize", [False, True])
def test_models_are_pickled_and_saved(kind, standardize, tmp_path):
    import pickle

    X, y = table(kind)
    model = LpRegressor(kernel="poly", standardize=standardize).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.save(tmp_path / "model.banach")
    np.testing.assert_allclose(
        banach.load(tmp_path / "model.banach").predict(X), model.predict(X), rtol=1e-9, atol=1e-9
    )


@KINDS
def test_arrays_can_be_mapped_from_a_file(kind, tmp_path):
    X, y = table(kind)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert mapped.flags.f_contiguous
    np.testing.assert_array_equal(LpRegressor().fit(mapped, y).predict(mapped), LpRegressor().fit(X, y).predict(X))


def test_what_is_no_number_is_refused():
    X, y = table("float32")
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        LpRegressor().fit(X, y)


MEASURED = """
    import sys, numpy as np
    from banach import LpRegressor
    kind, samples, columns, standardize = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4] == "True"

    def memory(name):
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith(name))

    rng = np.random.default_rng(0)
    # Imports and threads have had their memory before X is made.
    small = rng.standard_normal((30, 10))
    LpRegressor(standardize=standardize).fit(small, small[:, 0]).predict(small)
    X = np.empty((samples, columns), dtype=kind, order="F")
    for first in range(0, columns, 1000):
        X[:, first : first + 1000] = rng.integers(-100, 100, (samples, 1000), dtype="int8")
    y = X[:, 0].astype(float) - X[:, 1]
    before = memory("VmRSS")
    model = LpRegressor(standardize=standardize).fit(X, y)
    assert model.route_ == "features"
    print(memory("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system tells a process its memory on Linux")
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize(("kind", "samples", "columns"), [("float32", 200, 100_000), ("int8", 200, 200_000)])
def test_a_fit_takes_little_beside_the_data(kind, samples, columns, standardize):
    """A fit keeps five numbers for every column (means, factors and deviations besides) and a dozen matrices of all pairs of samples, the program 8 MB; a copy of X in
    float64 would be 160 or 320 MB."""
    limit = 8e6 + (100 if standardize else 40) * columns + 120 * samples**2
    arguments = [kind, str(samples), str(columns), str(standardize)]
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(MEASURED), *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= limit, done.stdout
