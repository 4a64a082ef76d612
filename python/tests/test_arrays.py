"""Arrays of every shape, type and layout: taken for what they are, or refused with a ValueError."""

from __future__ import annotations

import numpy as np
import pandas
import polars
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from banach import LpClassifier, LpRegressor, LpRegressorCV, TopFeatures, datasets, gram_tensor, lp_path

FEW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])

TYPES = ["float64", "float32", "float16", "int64", "int32", "int8", "uint16", "bool", "object", ">f8", "longdouble"]
LAYOUTS = {
    "C": lambda X: np.array(X, order="C"),
    "F": lambda X: np.array(X, order="F"),
    "rows reversed": lambda X: np.array(X[::-1])[::-1],
    "columns reversed": lambda X: np.array(X[:, ::-1])[:, ::-1],
    "every second row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every third column": lambda X: np.asfortranarray(np.repeat(X, 3, axis=1))[:, ::3],
    "inside a frame": lambda X: np.pad(X, 1)[1:-1, 1:-1],
    "transposed": lambda X: np.array(X.T, order="C").T,
    "unaligned": lambda X: unaligned(X),
    "broadcast": lambda X: X if len(X) == 0 else np.array(X),
}


def unaligned(X):
    room = np.zeros(X.nbytes + 1, dtype=np.uint8)
    if X.dtype.hasobject:
        return X
    view = room[1:].view(X.dtype).reshape(X.shape)
    view[...] = X
    return view


@st.composite
def tables(draw):
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 7))
    values = draw(st.lists(st.integers(-3, 3), min_size=n * d, max_size=n * d))
    kind = draw(st.sampled_from(TYPES))
    plain = np.array(values, dtype=np.float64).reshape(n, d)
    if kind in ("bool", "uint16"):
        plain = np.abs(plain) if kind == "uint16" else (plain > 0).astype(np.float64)
    X = LAYOUTS[draw(st.sampled_from(sorted(LAYOUTS)))](plain.astype(kind))
    if draw(st.booleans()):
        X.flags.writeable = False
    y = np.array(draw(st.lists(st.integers(-5, 5), min_size=n, max_size=n)), dtype=np.float64)
    return X, plain, y


@FEW
@given(tables())
def test_types_and_layouts_do_not_change_the_model(table):
    X, plain, y = table
    before = X.copy()
    model, expected = LpRegressor(tol=1e-6).fit(X, y), LpRegressor(tol=1e-6).fit(np.asfortranarray(plain), y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(plain))
    np.testing.assert_array_equal(X, before)


@FEW
@given(tables(), st.sampled_from(["poly", "anova"]))
def test_types_and_layouts_do_not_change_monomials(table, kernel):
    X, plain, y = table
    parameters = {"kernel": kernel, "degree": 1 if plain.shape[1] == 1 else 2, "tol": 1e-5, "p": 1.5}
    model, expected = LpRegressor(**parameters).fit(X, y), LpRegressor(**parameters).fit(np.asfortranarray(plain), y)
    np.testing.assert_array_equal(model.dual_coef_, expected.dual_coef_)
    np.testing.assert_array_equal(model.predict(X), expected.predict(plain))


@FEW
@given(tables())
def test_the_tensor_of_an_array_is_the_tensor_of_its_values(table):
    X, plain, _ = table
    np.testing.assert_array_equal(gram_tensor(X, p=2.0), gram_tensor(plain, p=2.0))


@FEW
@given(st.integers(2, 12), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_sparse_arrays_are_their_dense_values(n, d, seed):
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, d)) < 0.5, np.round(rng.standard_normal((n, d)), 1), 0.0)
    y = np.round(rng.standard_normal(n), 1)
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.lil_array):
        sparse = LpRegressor(tol=1e-12, fit_intercept=False).fit(kind(dense), y)
        plain = LpRegressor(tol=1e-12, fit_intercept=False).fit(dense, y)
        np.testing.assert_allclose(sparse.predict(kind(dense)), plain.predict(dense), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(plain.predict(kind(dense)), plain.predict(dense), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("place", ["X", "y", "sample_weight", "new X", "sparse"])
def test_numbers_that_begin_between_machine_words_are_read_all_the_same(order, place):
    X, y, weights, new = np.array(GOOD, order=order), Y.copy(), np.linspace(1, 2, 6), np.array(GOOD, order=order)
    expected = LpRegressor().fit(X, y, weights).predict(new)
    X_given, new_given = (between(a) if place == name else a for name, a in (("X", X), ("new X", new)))
    y_given, weights_given = (
        unaligned(a) if place == name else a for name, a in (("y", y), ("sample_weight", weights))
    )
    if place == "sparse":
        X_given = scipy.sparse.csc_array(X)
        X_given.data = unaligned(X_given.data)
        assert not X_given.data.flags.aligned
    answer = LpRegressor().fit(X_given, y_given, weights_given).predict(new_given)
    np.testing.assert_allclose(answer, expected, rtol=0 if place != "sparse" else 1e-5)


def between(X):
    """An array in the order of X that is not aligned."""
    other = unaligned(X) if X.flags.c_contiguous else unaligned(X.T).T
    assert not other.flags.aligned
    return other


GOOD = np.arange(12.0).reshape(6, 2) / 10
Y = np.array([1.0, -1.0, 2.0, 0.5, 0.0, 1.5])
EMPTY = {
    "a number": 1.0,
    "no dimension": np.array(1.0),
    "one dimension": np.arange(6.0),
    "three dimensions": np.zeros((6, 2, 1)),
    "no rows": np.zeros((0, 2)),
    "no columns": np.zeros((6, 0)),
    "no sparse columns": scipy.sparse.csc_array((6, 0)),
    "text": np.array([["a", "b"]] * 6),
    "complex numbers": GOOD + 1j,
    "objects": np.array([[object(), 1.0]] * 6, dtype=object),
    "ragged": [[1.0], [1.0, 2.0]] * 3,
    "None": None,
}


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("model", [LpRegressor(), LpClassifier(), LpRegressorCV(Cs=2, cv=2), TopFeatures()], ids=str)
def test_what_is_no_table_is_refused(name, model):
    y = Y > 0.7 if isinstance(model, LpClassifier) else Y
    with pytest.raises((ValueError, TypeError)):
        model.fit(EMPTY[name], y)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", ["X", "y", "sample_weight", "new X"])
@pytest.mark.parametrize("sparse", [False, True])
def test_values_that_are_no_numbers_are_refused(value, place, sparse):
    X, y, weights, new = GOOD.copy(), Y.copy(), np.ones(6), GOOD.copy()
    {"X": X[0], "y": y, "sample_weight": weights, "new X": new[0]}[place][1] = value
    form = scipy.sparse.csr_array if sparse else np.asarray
    with pytest.raises(ValueError, match="NaN|infinity|inf"):
        LpRegressor().fit(form(X), y, weights).predict(form(new))


def test_negative_weights_and_wrong_lengths_are_refused():
    with pytest.raises(ValueError, match="[Nn]egative"):
        LpRegressor().fit(GOOD, Y, sample_weight=[1, 1, 1, 1, 1, -1])
    for weights in (np.ones(5), np.ones((6, 2))):
        with pytest.raises(ValueError, match="sample_weight|Sample weights"):
            LpRegressor().fit(GOOD, Y, sample_weight=weights)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LpRegressor().fit(GOOD, Y[:5])
    with pytest.raises(ValueError, match="features"):
        LpRegressor().fit(GOOD, Y).predict(GOOD[:, :1])


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(ValueError, match="weight"):
        LpRegressor().fit(GOOD, Y, sample_weight=np.zeros(6))


def test_a_sample_of_weight_zero_is_absent():
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.0, 0.5])
    kept = weights > 0
    whole = LpRegressor(tol=1e-13).fit(GOOD, Y, weights)
    part = LpRegressor(tol=1e-13).fit(GOOD[kept], Y[kept], weights[kept])
    np.testing.assert_allclose(whole.predict(GOOD), part.predict(GOOD), rtol=1e-6)


def test_one_number_weighs_every_sample():
    one, two = LpRegressor(C=2.0).fit(GOOD, Y), LpRegressor(C=1.0).fit(GOOD, Y, sample_weight=2.0)
    np.testing.assert_allclose(one.predict(GOOD), two.predict(GOOD), rtol=1e-5)


def test_one_sample_and_one_variable_are_enough():
    assert LpRegressor().fit([[2.0]], [3.0]).predict([[2.0]]) == pytest.approx(3.0)
    assert LpRegressor(fit_intercept=False, C=100.0).fit([[2.0]], [3.0]).predict([[2.0]]) == pytest.approx(
        3.0, rel=0.05
    )


def test_constant_and_zero_variables_do_no_harm():
    X = np.column_stack([GOOD, np.zeros(6), np.ones(6)])
    model = LpRegressor().fit(X, Y)
    assert model.coef_[2] == 0
    assert model.coef_[3] == pytest.approx(0, abs=1e-12)
    zero = LpRegressor().fit(np.zeros((6, 3)), Y)
    np.testing.assert_allclose(zero.predict(np.ones((2, 3))), Y.mean(), rtol=1e-9)


def test_constant_targets_give_a_constant():
    model = LpRegressor().fit(GOOD, np.full(6, 3.5))
    np.testing.assert_allclose(model.predict(GOOD), 3.5, rtol=1e-12)
    assert LpRegressor().fit(GOOD, np.zeros(6)).predict(GOOD).tolist() == [0.0] * 6


@pytest.mark.parametrize("size", [1e-150, 1e-50, 1e-8, 1e8, 1e50])
def test_sizes_of_the_targets_only_scale_the_model_when_C_follows(size):
    # With t = size s, the objective has the loss times size^2 and the penalty times size^p.
    p = 4 / 3
    plain = LpRegressor(p, C=1.0).fit(GOOD, Y)
    scaled = LpRegressor(p, C=size ** (p - 2)).fit(GOOD, size * Y)
    np.testing.assert_allclose(scaled.predict(GOOD) / size, plain.predict(GOOD), rtol=1e-4, atol=1e-4)


@pytest.mark.filterwarnings("ignore:The fit did not converge")
@pytest.mark.parametrize("size", [1e100, 1e200, 1e300, 1e-200])
@pytest.mark.parametrize("kernel", ["linear", "poly", "exp"])
def test_huge_and_tiny_values_give_numbers_or_a_ValueError(size, kernel):
    try:
        model = LpRegressor(kernel=kernel).fit(size * GOOD, Y)
        answer = model.predict(size * GOOD)
    except ValueError as error:
        assert len(str(error)) > 20
    else:
        assert np.isfinite(answer).all()


def test_a_fortran_array_is_used_where_it_is():
    X = np.asfortranarray(np.random.default_rng(0).standard_normal((20, 30)))
    model = LpRegressor().fit(X, X[:, 0])
    kept = model._model.__reduce__()[1][0]["x"]
    assert np.shares_memory(kept, X)


FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame}


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_give_their_names_to_models(kind):
    X, y, _ = datasets.make_sparse_quadratic(40, 4, 2, random_state=0)
    frame = FRAMES[kind]({name: X[:, j] for j, name in enumerate(["age", "dose", "weight", "time"])})
    model = LpRegressor(kernel="poly", degree=2, p=1.1).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["age", "dose", "weight", "time"]
    for name, factors in zip(model.top_features(10)["monomial"], model.top_features(10)["exponents"], strict=True):
        words = [model.feature_names_in_[j] + (f"^{power}" if power > 1 else "") for j, power in factors]
        assert name == " * ".join(words)
    assert set(model.relevance()["variable"]) == {"age", "dose", "weight", "time"}
    np.testing.assert_array_equal(
        model.predict(frame), LpRegressor(kernel="poly", degree=2, p=1.1).fit(X, y).predict(X)
    )
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["dose", "age", "weight", "time"]])
    with pytest.warns(UserWarning, match="valid feature names"):
        model.predict(X)


@pytest.mark.parametrize("kind", FRAMES)
def test_frames_of_mixed_types_are_tables_of_numbers(kind):
    frame = FRAMES[kind]({"a": [1, 2, 3, 4], "b": [0.5, 1.5, -1.0, 2.0], "c": [True, False, True, True]})
    model = LpRegressor().fit(frame, [1.0, 2.0, 3.0, 5.0])
    plain = np.array([[1, 0.5, 1], [2, 1.5, 0], [3, -1.0, 1], [4, 2.0, 1]])
    np.testing.assert_array_equal(model.coef_, LpRegressor().fit(plain, [1.0, 2.0, 3.0, 5.0]).coef_)


def test_series_of_labels_and_targets_are_taken():
    frame = pandas.DataFrame(GOOD, columns=["a", "b"])
    model = LpClassifier().fit(frame, pandas.Series(["x", "y"] * 3))
    assert set(model.classes_) == {"x", "y"}
    categories = LpClassifier().fit(frame, pandas.Series(["x", "y"] * 3, dtype="category"))
    np.testing.assert_array_equal(model.predict(frame), categories.predict(frame))
    assert LpRegressor().fit(frame, polars.Series(Y)).predict(frame).shape == (6,)


def test_paths_take_the_same_tables():
    frame = pandas.DataFrame(GOOD, columns=["a", "b"])
    np.testing.assert_array_equal(lp_path(frame, Y, Cs=3).coefs, lp_path(GOOD, Y, Cs=3).coefs)
