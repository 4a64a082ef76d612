"""Equations: in the units of the columns, with all the digits that they need, and models themselves."""

import re
import sqlite3

import numpy as np
import pandas
import pytest

import banach
from banach import AutoRegressor, LpClassifier, LpRegressor, SparseClassifier, SparseRegressor


def draw(ratio, degree, n=60):
    """Two variables that are so many of their deviations from 0, in very different units, and a product of them."""
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((n, 3))
    X = np.array([1e-3, 1.0, 1e4]) * (ratio + Z)
    y = 7 + 3 * Z[:, 0] * Z[:, 2] ** (degree - 1) + 0.1 * rng.standard_normal(n)
    return X, y


@pytest.mark.parametrize("degree", [2, 3])
@pytest.mark.parametrize(("ratio", "far"), [(2.0, False), (1e6, True)])
def test_the_equation_is_the_model_however_far_from_0(ratio, far, degree):
    X, y = draw(ratio, degree)
    model = SparseRegressor("poly", degree=(1, degree)).fit(X, y)
    equation = model.equation()
    assert bool(equation.substitutions) == far
    np.testing.assert_allclose(equation.predict(X), model.predict(X), rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(equation.to_pipeline().predict(X), model.predict(X), rtol=1e-10, atol=1e-9)
    text, latex = str(equation), equation.latex()
    assert bool(re.search(r"\nwhere\n  z0 = x0 - (1000|999\.99)", text)) == far
    assert (r" \quad\text{where}\quad z_{0} = x_{0} - " in latex) == far
    assert all(name.startswith("z") == far for name in equation.names)
    # What is printed says the same.
    sides = text.replace("^", "**").split("\nwhere\n")
    space = {f"x{j}": X[:, j] for j in range(3)}
    for line in sides[1].splitlines() if far else []:
        name, value = line.strip().split(" = ")
        space[name] = eval(value, {}, space)
    printed = eval(sides[0].removeprefix("y = "), {}, space)
    numbers = len(equation.coefficients) + len(equation.substitutions) + 1
    assert np.abs(printed - model.predict(X)).max() <= 1.01 * 0.005 * numbers * model.predict(X).std()


def test_an_equation_has_the_name_of_its_target_and_names_with_operators_in_backticks():
    X, y = draw(1e6, 2)
    frame = pandas.DataFrame(X, columns=["a-b", "b", "c d"])
    equation = SparseRegressor("poly", degree=(1, 2)).fit(frame, pandas.Series(y, name="effect_1 %")).equation()
    assert re.match(r"effect_1 % = .* \* `z_a-b` \* `z_c d`", str(equation))
    assert r"\mathrm{effect\_1\ \%} =" in equation.latex()
    assert r"z_{\mathrm{a-b}}" in equation.latex()


def test_an_equation_of_a_model_of_many_terms_is_a_model(tmp_path):
    X, y = draw(2.0, 2)
    frame = pandas.DataFrame(X / X.std(axis=0), columns=["a", "b", "c"])
    equation = LpRegressor(kernel="poly", degree=(1, 2)).fit(frame, y).equation(4)
    model = equation.to_model()
    assert isinstance(model, SparseRegressor)
    np.testing.assert_allclose(model.predict(frame), equation.predict(frame), rtol=1e-10)
    assert str(model.equation()) == str(equation)
    equation.save(tmp_path / "equation.banach")
    loaded = banach.load(tmp_path / "equation.banach")
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    # Its terms and the constant add up.
    parts = loaded.contributions(frame)
    np.testing.assert_allclose(parts.constant + sum(parts.values()), loaded.predict(frame), rtol=1e-12)
    base = sqlite3.connect(":memory:")
    frame.to_sql("data", base, index=False)
    found = [value for (value,) in base.execute(equation.export("sql"))]
    np.testing.assert_allclose(found, model.predict(frame), rtol=1e-9)
    with pytest.raises(ValueError, match="terms by evidence, as with refit=True"):
        LpRegressor(kernel="poly", degree=(1, 2)).fit(frame, y).equation(4, refit=False).save(tmp_path / "no.banach")


@pytest.mark.parametrize("classes", [2, 3])
def test_equations_of_classes_are_models(tmp_path, classes):
    rng = np.random.default_rng(1)
    X = 3 + rng.standard_normal((150, 4))
    score = 2 * X[:, 0] - 6 + 3 * (X[:, 1] - 3) * (X[:, 2] - 3) + rng.logistic(size=150)
    y = np.array(["low", "mid", "high"])[np.digitize(score, [0.0] if classes == 2 else [-2.0, 2.0])]
    equation = LpClassifier(kernel="poly", degree=(1, 2)).fit(X, y).equation(4, output=classes - 2)
    equation.save(tmp_path / "equation.banach")
    loaded = banach.load(tmp_path / "equation.banach")
    assert isinstance(loaded, SparseClassifier)
    np.testing.assert_array_equal(loaded.predict(X), equation.predict(X))
    np.testing.assert_allclose(loaded.decision_function(X), equation.decision_function(X), rtol=1e-9, atol=1e-9)
    parts = loaded.contributions(X)
    np.testing.assert_allclose(parts.constant + sum(parts.values()), loaded.decision_function(X), rtol=1e-9)


def test_few_terms_have_intervals_where_samples_are_held_out(tmp_path):
    X, y = draw(2.0, 2)
    plain = SparseRegressor("poly", degree=(1, 2)).fit(X, y)
    assert plain.assessment_ is None
    assert plain.verdict_ is None
    with pytest.raises(ValueError, match=r"there are no intervals: .*folds"):
        plain.predict_interval(X)
    held = SparseRegressor("poly", degree=(1, 2), cv=5).fit(X, y)
    assert held.equation() == plain.equation(), "what is held out chooses nothing"
    assert "better than a constant" in held.verdict_
    lower, upper = held.predict_interval(X, 0.8).T
    assert np.allclose((lower + upper) / 2, held.predict(X))
    held.save(tmp_path / "held.banach")
    np.testing.assert_array_equal(banach.load(tmp_path / "held.banach").predict_interval(X), held.predict_interval(X))
    classes = SparseClassifier(cv=4).fit(X, np.where(X[:, 0] > 2e-3, "a", "b"))
    assert classes.assessment_["classes"]["labels"] == ["a", "b"]
    with pytest.raises(ValueError, match="cv"):
        SparseRegressor(cv=1).fit(X, y)


def test_a_chosen_model_of_few_terms_has_intervals_and_an_equation_that_is_a_model(tmp_path):
    X, y = draw(2.0, 2)
    model = AutoRegressor("quick").fit(X, y)
    assert model._model.verdict == "terms"
    lower, upper = model.predict_interval(X, 0.8).T
    assert (lower < upper).all()
    model.terms().equation().save(tmp_path / "equation.banach")
    loaded = banach.load(tmp_path / "equation.banach")
    np.testing.assert_allclose(loaded.predict(X), model.predict(X), rtol=1e-12)
    np.testing.assert_allclose(loaded.predict_interval(X, 0.8), model.predict_interval(X, 0.8), rtol=1e-12)


def test_intervals_of_few_terms_hold_as_many_new_samples_as_asked_for():
    """One new sample for every fit, so that the cases are independent and their number is binomial."""
    rng = np.random.default_rng(7)
    inside, fits, n = 0, 60, 40
    for _ in range(fits):
        X = rng.standard_normal((n + 1, 6))
        y = 2 * X[:, 0] - X[:, 1] + rng.laplace(size=n + 1)
        ((lower, upper),) = SparseRegressor(cv=5).fit(X[:n], y[:n]).predict_interval(X[n:], 0.8)
        inside += lower <= y[n] <= upper
    # Exact limits with one case of 1000 outside: k = ceil(41 * 0.8) = 33 of 41 positions are inside.
    from scipy.stats import binom

    least, most = binom.interval(0.999, fits, 33 / 41)
    assert least <= inside <= most, inside
