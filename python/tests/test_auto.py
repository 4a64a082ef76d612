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
    assert model.verdict_.startswith("Few terms")
    assert model.predict(X) == pytest.approx(terms.predict(X))
    assert "x0 * x2" in str(terms.equation())


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
    for method in ("relevance", "terms"):
        with pytest.raises(NotFittedError):
            getattr(AutoRegressor(), method)()


def test_a_limit_of_time_leaves_things_out():
    model = AutoRegressor(max_seconds=1e-9).fit(X, WAVE)
    assert "the limit of" in model.contenders_.caption
    assert model.verdict_.startswith("Nothing that was tried")
