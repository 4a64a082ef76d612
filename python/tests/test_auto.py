"""The best model without a parameter: what is chosen, whether it keeps its promise, and what is said of it."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.exceptions import NotFittedError

import banach
from banach import AutoClassifier, AutoRegressor, SparseRegressor

rng = np.random.default_rng(3)
X = rng.standard_normal((60, 4))
WAVE = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.05 * rng.standard_normal(60)


@pytest.fixture(scope="module")
def wave():
    return AutoRegressor("quick").fit(X, WAVE)


def test_the_default_beats_a_line_on_friedmans_function():
    draw, y = make_friedman1(100, n_features=8, noise=1.0, random_state=100)
    new, truth = make_friedman1(1000, n_features=8, noise=0.0, random_state=101)
    model = AutoRegressor().fit(draw, y)
    error = np.mean((model.predict(new) - truth) ** 2) / truth.var()
    assert error < 0.05, model.contenders_
    told = model.contenders_
    assert told["contender"][0] == "constant" and told["error"][0] == pytest.approx(1.0)
    assert told["weight"].sum() == pytest.approx(1.0)
    # It tells the five variables that matter from the three that do not.
    assert {int(name[1:]) for name in model.relevance()["variable"][:5]} == set(range(5))


def test_what_is_held_out_is_honest():
    """The error on new samples is about the one that was promised, with 200 columns of noise beside the truth."""
    errors, promised = [], []
    for seed in range(4):
        draw = np.random.default_rng(seed).standard_normal((250, 200))
        y = draw[:, :3].sum(axis=1) + np.random.default_rng(100 + seed).standard_normal(250)
        model = AutoRegressor("quick").fit(draw[:50], y[:50])
        errors.append(np.mean((model.predict(draw[50:]) - y[50:]) ** 2) / y.var())
        promised.append(model.held_out_error_)
    assert np.mean(promised) > 0.6 * np.mean(errors), (promised, errors)


def test_noise_is_no_discovery():
    noise = np.random.default_rng(11).standard_normal((40, 30))
    model = AutoRegressor("quick").fit(noise, np.random.default_rng(12).standard_normal(40))
    assert model.held_out_error_ > 0.8
    assert model.terms() is None


def test_units_do_not_matter(wave):
    moved = X * [1e6, 1e-6, 1.0, 3.0] + [1e7, 0.0, -5.0, 100.0]
    again = AutoRegressor("quick").fit(moved, WAVE)
    assert again.predict(moved) == pytest.approx(wave.predict(X), abs=1e-4)


def test_files_and_pickles_keep_the_model(wave, tmp_path):
    path = tmp_path / "wave.banach"
    wave.save(path)
    for again in (banach.load(path), pickle.loads(pickle.dumps(wave))):
        assert isinstance(again, AutoRegressor)
        assert (again.predict(X) == wave.predict(X)).all()
        assert again.verdict_ == wave.verdict_
        assert again.contenders_["contender"] == wave.contenders_["contender"]
        assert again.relevance()["share"] == pytest.approx(wave.relevance()["share"])


def test_classes_of_any_kind(tmp_path):
    y = np.where(X[:, 0] + 0.2 * X[:, 1] > 0.3, "ill", np.where(X[:, 2] > 0.8, "odd", "well"))
    frame = pd.DataFrame(X, columns=["age", "dose", "salt", "time"])
    model = AutoClassifier("quick").fit(frame, y)
    assert list(model.classes_) == ["ill", "odd", "well"]
    probabilities = model.predict_proba(frame)
    assert probabilities.sum(axis=1) == pytest.approx(1.0)
    assert (model.predict(frame) == y).mean() > 0.8
    assert model.relevance()["variable"][0] == "age"
    model.save(tmp_path / "classes.banach")
    again = banach.load(tmp_path / "classes.banach")
    assert (again.predict(frame) == model.predict(frame)).all()
    assert list(again.feature_names_in_) == list(frame.columns)


def test_the_few_terms_are_a_model_of_their_own():
    y = 2 * X[:, 0] * X[:, 2] - X[:, 3] + 0.05 * rng.standard_normal(60)
    model = AutoRegressor("quick").fit(X, y)
    terms = model.terms()
    assert isinstance(terms, SparseRegressor)
    assert set(terms.terms_["monomial"]) == {"x0 * x2", "x3"}
    assert model.verdict_.count("Few terms")
    assert model.predict(X) == pytest.approx(terms.predict(X))
    assert "x0 * x2" in str(terms.equation())


def test_contributions_add_up_to_predictions(wave, tmp_path):
    path = tmp_path / "wave.banach"
    wave.save(path)
    for model in (wave, banach.load(path)):
        told = model.contributions(X[:7])
        assert told.n_rows == 7 and next(iter(told)) == "x0"
        total = told.constant + sum(told.values()) + told.others
        assert total == pytest.approx(model.predict(X[:7]), abs=1e-9)
        means = X.mean(axis=0, keepdims=True)
        assert told.constant == pytest.approx(model.predict(means)[0])
        # A variable that is moved alone changes the prediction by its contribution.
        moved = means.repeat(7, axis=0)
        moved[:, 0] = X[:7, 0]
        assert told["x0"] == pytest.approx(model.predict(moved) - told.constant, abs=1e-9)
    assert "others" in told.caption


def test_contributions_of_classes_are_those_of_the_odds():
    noisy = X[:, 0] + np.random.default_rng(5).standard_normal(60)
    for labels in (np.where(noisy > 0, "yes", "no"), np.digitize(noisy + X[:, 1] ** 2, [0.0, 1.0])):
        model = AutoClassifier("quick").fit(X, labels)
        probabilities = model.predict_proba(X[:9])
        for output, p in enumerate(probabilities.T[1:] if len(model.classes_) == 2 else probabilities.T):
            told = model.contributions(X[:9], output=output)
            total = told.constant + sum(told.values()) + told.others
            assert total == pytest.approx(np.log(p / (1 - p)), abs=1e-6)
        with pytest.raises(ValueError, match="output = 7; allowed: (0 or|a whole)"):
            model.contributions(X, output=7)


def test_terms_that_are_the_model_are_its_contributions():
    y = 2 * X[:, 0] * X[:, 2] - X[:, 3] + 0.05 * np.random.default_rng(9).standard_normal(60)
    model = AutoRegressor("quick").fit(pd.DataFrame(X, columns=["age", "dose", "salt", "time"]), y)
    told = model.contributions(pd.DataFrame(X, columns=["age", "dose", "salt", "time"]))
    assert set(told) == {"age * salt", "time"} and (told.others == 0).all()
    pairs = model.pair_relevance()
    assert (pairs["first"][0], pairs["second"][0]) == ("age", "salt") and pairs["share"][0] > 0.5
    # The equation has its own error beside that of the model.
    assert "These terms are the model" in model.terms().terms_.caption
    assert 0 < model.terms_error_ < 0.05
    page = model.explain()
    assert "age * salt" in page and "These terms are the model" in page and "constant" in page


def test_effects_of_a_line_are_straight():
    y = 3 * X[:, 0] - X[:, 1] + 5 + 0.3 * np.random.default_rng(4).standard_normal(60)
    model = AutoRegressor("quick").fit(X, y)
    effects = model.effects(2, points=8)
    assert list(effects) == ["variable", "value", "prediction"] and effects.n_rows == 16
    for name, slope, column in (("x0", 3, 0), ("x1", -1, 1)):
        rows = np.array(effects["variable"]) == name
        values, predictions = effects["value"][rows], effects["prediction"][rows]
        assert (values[0], values[-1]) == (X[:, column].min(), X[:, column].max())
        slopes = np.diff(predictions) / np.diff(values)
        assert slopes == pytest.approx(slope, abs=0.4) and slopes == pytest.approx(slopes[0], abs=0.3)


def test_effects_of_classes_are_probabilities():
    model = AutoClassifier("quick").fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    effects = model.effects()
    assert list(effects) == ["variable", "value", "probability_no", "probability_yes"]
    assert effects["probability_no"] + effects["probability_yes"] == pytest.approx(1.0)
    rising = effects["probability_yes"][np.array(effects["variable"]) == "x0"]
    assert (np.diff(rising) > -1e-9).all() and rising[-1] - rising[0] > 0.5


def test_nothing_matters_to_a_constant():
    model = AutoRegressor(max_seconds=1e-9).fit(X, WAVE)
    told = model.contributions(X[:3])
    assert len(told) == 0 and told.constant == pytest.approx(WAVE.mean()) and (told.others == 0).all()
    assert model.effects().n_rows == 0 and model.pair_relevance().n_rows == 0
    assert model.terms_error_ is None and "Nothing that was tried" in model.explain()


@pytest.mark.parametrize(
    ("parameter", "value", "what"),
    [
        ("effort", "brisk", "quick, normal or thorough"),
        ("effort", 3, "quick, normal or thorough"),
        ("max_seconds", 0, "a number > 0"),
        ("max_seconds", "soon", "a number > 0"),
        ("memory_limit", "much", "memory_limit"),
    ],
)
def test_wrong_parameters_are_refused(parameter, value, what):
    with pytest.raises(ValueError, match=what):
        AutoRegressor(**{parameter: value}).fit(X, WAVE)


def test_nothing_is_known_before_a_fit():
    for method in ("relevance", "pair_relevance", "effects", "explain", "terms"):
        with pytest.raises(NotFittedError):
            getattr(AutoRegressor(), method)()


def test_a_limit_of_time_leaves_things_out():
    model = AutoRegressor(max_seconds=1e-9).fit(X, WAVE)
    assert "the limit of" in model.contenders_.caption
    assert model.verdict_.startswith("Nothing that was tried")
