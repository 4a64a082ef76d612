"""Pictures, notebooks and progress bars."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

import matplotlib.pyplot as plt
import pandas

from banach import (
    ConvergenceDisplay,
    CVDisplay,
    FeaturesDisplay,
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    PathDisplay,
    RelevanceDisplay,
    SparseRegressor,
    TopFeatures,
)
from banach._progress import Bar

rng = np.random.default_rng(4)
X = rng.standard_normal((30, 5))
Y = X[:, 0] * X[:, 1] - X[:, 2] + 0.1 * rng.standard_normal(30)
NAMES = np.array(["low", "middle", "top"])[np.digitize(Y, [-0.5, 0.5])]
FRAME = pandas.DataFrame(X, columns=["age", "dose", "c", "d", "e"])

MODELS = {
    "linear": LpRegressor().fit(FRAME, Y),
    "monomials": LpRegressor(kernel="poly", degree=(1, 2), p=1.1).fit(FRAME, Y),
    "no intervals": LpRegressor(loss="absolute").fit(X, Y),
    "infinite": LpRegressor(kernel="exp", scale=0.05).fit(X, Y),
    "outputs": LpRegressor().fit(X, np.column_stack([Y, -Y])),
    "classes": LpClassifier().fit(X, NAMES),
    "search": LpRegressorCV(kernel="poly", degree=2, p=[1.2, 1.4], Cs=4, cv=3).fit(FRAME, Y),
    "search of classes": LpClassifierCV(Cs=4, cv=3, scoring="accuracy").fit(X, NAMES),
}
PLOTS = {
    "plot_features": FeaturesDisplay,
    "plot_relevance": RelevanceDisplay,
    "plot_convergence": ConvergenceDisplay,
    "plot_path": PathDisplay,
}


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def drawn(display):
    """Draws all there is, which shows what cannot be drawn."""
    display.figure_.canvas.draw()
    return display


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("method", PLOTS)
def test_every_model_can_be_drawn_in_every_way(model, method):
    display = drawn(getattr(MODELS[model], method)())
    assert isinstance(display, PLOTS[method])
    assert display.figure_ is display.ax_.figure
    assert display.ax_.get_xlabel()


@pytest.mark.parametrize("method", PLOTS)
def test_a_picture_goes_where_it_is_told(method):
    figure, axes = plt.subplots(1, 2)
    display = drawn(getattr(MODELS["linear"], method)(ax=axes[1]))
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("kind", PLOTS.values())
def test_a_display_comes_from_an_estimator_and_can_be_drawn_again(kind):
    display = kind.from_estimator(MODELS["monomials"])
    first = display.ax_
    again = drawn(display.plot())
    assert again is display
    assert display.ax_ is not first
    _, ax = plt.subplots()
    assert display.plot(ax=ax).ax_ is ax


def test_bars_have_the_names_and_weights_of_the_features():
    model = MODELS["monomials"]
    display = drawn(model.plot_features(4))
    table = model.top_features(4)
    names = [name.replace(" * ", " × ").replace("^2", "²") for name in table["monomial"]]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == names
    np.testing.assert_allclose([bar.get_width() for bar in display.ax_.patches], table["weight"])
    shares = drawn(model.plot_relevance(2))
    assert [text.get_text() for text in shares.ax_.get_yticklabels()] == model.relevance()["variable"][:2]
    assert any("3 other variables" in text.get_text() for text in shares.ax_.texts)


def test_keywords_go_to_matplotlib():
    display = MODELS["linear"].plot_features(3, color="black")
    assert display.ax_.patches[0].get_facecolor() == (0.0, 0.0, 0.0, 1.0)
    lines = MODELS["linear"].plot_convergence(linestyle=":").ax_.lines
    assert lines[0].get_linestyle() == ":"


def test_the_curve_of_convergence_ends_below_the_tolerance():
    display = MODELS["linear"].plot_convergence()
    assert len(display.gaps) == 1
    assert display.gaps[0][-1] <= 1e-8
    assert (np.diff(display.passes[0]) >= 0).all()
    assert len(MODELS["classes"].plot_convergence().labels) == 3


@pytest.mark.parametrize("model", ["search", "search of classes"])
def test_searches_can_be_drawn(model):
    display = drawn(MODELS[model].plot_cv())
    assert isinstance(display, CVDisplay)
    assert isinstance(CVDisplay.from_estimator(MODELS[model], ax=plt.subplots()[1]), CVDisplay)
    assert len(display.curves) == (2 if model == "search" else 1)
    assert display.ax_.get_ylabel() == ("held-out loss" if model == "search" else "held-out accuracy")


def test_a_path_has_the_names_of_its_largest_weights():
    display = drawn(MODELS["linear"].plot_path(Cs=[0.1, 1.0, 10.0], k=2))
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert len(names) == 2 and set(names) <= set(MODELS["linear"].top_features(2)["monomial"])


@pytest.mark.parametrize(
    "model",
    [
        LpRegressor(),
        LpClassifier(),
        LpRegressorCV(),
        LpClassifierCV(),
        TopFeatures(SparseRegressor()),
        *MODELS.values(),
    ],
)
def test_estimators_have_a_page_in_notebooks(model):
    html = model._repr_html_()
    assert "<div" in html
    assert type(model).__name__ in html


def test_tables_have_a_page_in_notebooks():
    frame = pandas.DataFrame(X[:, :2], columns=["<b>", "a & b"])
    html = LpRegressor().fit(frame, Y).top_features(2)._repr_html_()
    assert html.count("<tr>") == 3
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html
    assert "<b>" not in html
    long = MODELS["monomials"].top_features(20)
    assert long._repr_html_().count("<tr>") == 21


def test_long_fits_show_a_bar_when_asked(capfd, monkeypatch):
    monkeypatch.setattr("banach._progress._PATIENCE", 0.0)
    big = np.asfortranarray(rng.standard_normal((100, 1200)))
    parameters = {"kernel": "poly", "p": 1.1, "route": "tiles", "Cs": 4, "cv": 3}
    LpRegressorCV(verbose=1, **parameters).fit(big, big[:, 0])
    shown = capfd.readouterr()
    assert shown.out == ""
    assert "cross-validation" in shown.err
    assert "gap" in shown.err
    assert shown.err.endswith("\n")


def test_short_and_silent_fits_show_nothing(capfd):
    LpRegressor(verbose=1).fit(X, Y)
    LpRegressor(verbose=0).fit(X, Y)
    shown = capfd.readouterr()
    assert shown.out == shown.err == ""


def test_a_bar_counts_what_is_done(capsys, monkeypatch):
    monkeypatch.setattr("banach._progress._PATIENCE", 0.0)
    with Bar("fit", 4, 1) as bar:
        bar(1, 3, 1e-3)
        bar(4, 5, 1e-9)
    shown = capsys.readouterr().err
    assert "1/4" in shown
    assert "4/4" in shown
    assert shown.endswith("\n")
    assert Bar("fit", 1, 0).callback is None
