"""Pictures of easy and of awkward models are drawn without a warning, and show what the model says."""

import warnings

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pandas = pytest.importorskip("pandas")

import matplotlib.pyplot as plt  # noqa: E402

from banach import (  # noqa: E402
    CVDisplay,
    FeaturesDisplay,
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    RelevanceDisplay,
    StabilityDisplay,
    stability_selection,
)

NAMES = ["age", "dose of the compound given in the morning", "cost in $", "body_mass_index at enrolment (kg/m^2)"]


@pytest.fixture(autouse=True)
def _closed():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield
    plt.close("all")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = pandas.DataFrame(rng.normal(size=(40, 4)), columns=NAMES)
    return X, X["age"] * X[NAMES[1]] - 0.5 * X["cost in $"] ** 2 + 0.1 * rng.normal(size=40)


def drawn(display):
    """Lays the figure out and draws it, where most trouble shows."""
    display.figure_.canvas.draw()
    return display.ax_


def labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


@pytest.mark.parametrize("k", [1, 4, 14])
def test_features(data, k):
    model = LpRegressor(kernel="poly", degree=(1, 2), p=1.1).fit(*data)
    display = model.plot_features(k)
    ax = drawn(display)
    widths = [patch.get_width() for patch in ax.patches]
    np.testing.assert_array_equal(widths, model.top_features(k)["weight"])
    assert len(labels(ax)) == k and max(map(len, labels(ax))) <= 50
    if k > 1:
        assert labels(ax)[1] == "cost in $²"


def test_names_of_equal_beginning_stay_different(data):
    X = data[0].set_axis([f"a very long name that all variables share, number {j}" for j in range(4)], axis=1)
    shown = labels(drawn(LpRegressor().fit(X, data[1]).plot_relevance()))
    assert len(set(shown)) == 4


def test_relevance_tells_of_the_others(data):
    ax = drawn(LpRegressor().fit(*data).plot_relevance(2))
    assert any("2 other variables" in text.get_text() for text in ax.texts)


def test_nothing_to_show(data):
    model = LpRegressor().fit(data[0], np.zeros(40))
    for plot in (model.plot_features, model.plot_relevance, model.plot_convergence, model.plot_path):
        drawn(plot())
    drawn(FeaturesDisplay(names=[], weights=np.array([])).plot())
    drawn(RelevanceDisplay(names=[], shares=np.array([])).plot())
    drawn(StabilityDisplay(names=[], frequencies=np.array([]), threshold=0.75).plot())


def test_many_classes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.repeat([f"class {j}" for j in range(12)], 5)
    model = LpClassifierCV(Cs=3, cv=3).fit(X, y)
    ax = drawn(model.plot_convergence())
    assert len(ax.get_legend().get_texts()) == 12
    assert drawn(model.plot_features(output=3)).get_title(loc="left") == f"{model.classes_[3]} against the rest"
    drawn(model.plot_path(5, output=3))
    drawn(model.plot_cv())


def test_two_classes_say_what_positive_weights_mean(data):
    model = LpClassifier().fit(data[0], np.where(data[1] > 0, "yes", "no"))
    assert drawn(model.plot_features()).get_title(loc="left") == "yes (weights above 0) against no"


def test_path_names_monomials(data):
    model = LpRegressor(kernel="poly", degree=(1, 2), p=1.1, route="features").fit(*data)
    display = model.plot_path(5, k=3)
    assert display.names[1] == "cost in $²"
    # The lines pass the weights of the model at its C.
    at = model.plot_path([model.C], k=3)
    np.testing.assert_allclose(at.path.coefs[0, at.places], model.top_features(3)["weight"], rtol=1e-3)
    drawn(display)


@pytest.mark.parametrize("choices", [{}, {"p": [1.1, 1.5]}, {"p": [1.1, 1.2, 1.3, 1.5], "degree": [1, 2, 3, 4]}])
def test_cv(data, choices):
    model = LpRegressorCV(kernel="poly", coef0=1.0, Cs=4, cv=3, **choices).fit(*data)
    display = model.plot_cv()
    ax = drawn(display)
    label, Cs, loss, _ = display.curves[display.best]
    # The search maximises minus the loss; the picture shows the loss.
    assert model.C_ in Cs and loss[list(Cs).index(model.C_)] == -model.best_score_
    for name, value in model.best_params_.items():
        if f"{name} = " in label:
            assert f"{name} = {value:.3g}" in label
    count = len(display.curves)
    expected = None if count == 1 else count if count <= 12 else 2
    assert (ax.get_legend() and len(ax.get_legend().get_texts())) == expected


def test_cv_of_a_score():
    curve = ("p = 1.5", np.array([0.1, 1.0, 10.0]), np.array([-0.2, 0.8, np.nan]), np.array([0.1, 0.05, np.nan]))
    display = CVDisplay(curves=[curve], C=1.0, score="held-out r2").plot()
    assert drawn(display).get_ylabel() == "held-out r2"


def test_stability(data):
    model = LpRegressor(kernel="poly", degree=(1, 2), p=1.1).fit(*data)
    found = stability_selection(model, k=2, n_pairs=5)
    ax = drawn(StabilityDisplay.from_table(found))
    np.testing.assert_array_equal([patch.get_width() for patch in ax.patches], found["frequency"][:15])


def test_given_axes_are_used(data):
    figure, ax = plt.subplots(layout="constrained")
    display = LpRegressor().fit(*data).plot_features(ax=ax, height=0.5)
    assert display.ax_ is ax and display.figure_ is figure
    assert {patch.get_height() for patch in ax.patches} == {0.5}
