"""Functions by their names: classes and columns of y, in every method and table with several."""

import numpy as np
import pandas as pd
import pytest

from banach import (
    AutoClassifier,
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    SparseClassifier,
    lp_path,
    stability_selection,
)

CLASSES = ["ALL", "BL", "EWS"]


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 4))
    label = np.array(CLASSES)[np.argmax(X[:, :3] + 0.1 * rng.standard_normal((90, 3)), axis=1)]
    return X, label


@pytest.fixture(scope="module")
def classifier(three):
    return LpClassifier(C=10.0).fit(*three)


@pytest.mark.parametrize("place", range(3))
def test_a_class_is_asked_for_by_its_name(classifier, place):
    name = CLASSES[place]
    for ask in (
        lambda output: classifier.top_features(3, output=output)["weight"].tolist(),
        lambda output: classifier.relevance(output=output)["share"].tolist(),
        lambda output: classifier.pair_relevance(3, output=output)["share"].tolist(),
        lambda output: str(classifier.equation(output=output, refit=False)),
        lambda output: stability_selection(classifier, k=2, n_pairs=2, output=output)["frequency"].tolist(),
    ):
        assert ask(name) == ask(place)
    assert classifier.top_features(1, output=name)["monomial"] == [f"x{place}"]
    assert str(classifier.equation(output=name, refit=False)).startswith(f"decision for {name} = ")


def test_a_name_that_is_none_is_refused_with_those_that_are(classifier):
    refusal = r"output = 'NB'; allowed: a whole number from 0 to 2 or a name: 'ALL', 'BL', 'EWS'"
    for ask in (classifier.top_features, classifier.relevance, classifier.equation, classifier.plot_features):
        with pytest.raises(ValueError, match=refusal):
            ask(output="NB")
    for wrong in (3, -1, 1.5, None, True):
        with pytest.raises(ValueError, match="output = .*'ALL', 'BL', 'EWS'"):
            classifier.relevance(output=wrong)


def test_of_two_classes_the_second_has_the_function(three):
    X, label = three
    two = LpClassifier(C=10.0).fit(X, np.where(label == "BL", "ill", "healthy"))
    expected = two.top_features(2)["weight"].tolist()
    assert two.top_features(2, output="ill")["weight"].tolist() == expected
    with pytest.raises(ValueError, match="one function, which is above 0 for 'ill' and below for 'healthy'"):
        two.top_features(2, output="healthy")
    with pytest.raises(ValueError, match="allowed: 0 or a name: 'ill'"):
        two.top_features(2, output="BL")


def test_whole_numbers_are_places_and_labels_that_are_numbers_are_named_by_text(three):
    X, label = three
    model = LpClassifier(C=10.0).fit(X, np.searchsorted(CLASSES, label) + 1)
    assert model.classes_.tolist() == [1, 2, 3]
    for place in range(3):
        assert model.top_features(1, output=str(place + 1))["monomial"] == [f"x{place}"]
        assert model.top_features(1, output=place)["monomial"] == [f"x{place}"]


def test_columns_of_y_name_the_functions_of_a_regressor(three):
    X, _ = three
    y = pd.DataFrame({"dose": 2 * X[:, 0], "weight": -X[:, 3]})
    model = LpRegressor(C=10.0).fit(X, y)
    assert model.top_features(1, output="weight")["monomial"] == ["x3"]
    assert "The largest monomials of weight" in model.explain()
    with pytest.raises(ValueError, match="'dose', 'weight'"):
        model.relevance(output="height")
    plain = LpRegressor(C=10.0).fit(X, y.to_numpy())
    assert "The largest monomials of output 1" in plain.explain()
    with pytest.raises(ValueError, match="allowed: a whole number from 0 to 1"):
        plain.relevance(output="weight")
    assert plain.fit(X, y["dose"]).relevance(output=0)["variable"][0] == "x0"


def test_pictures_are_titled_by_the_class(classifier):
    assert classifier.plot_features(2, output="BL").title == "BL against the rest"
    assert classifier.plot_relevance(2, output="EWS").title == "EWS against the rest"
    assert classifier.plot_path(3, output="ALL").title == "ALL against the rest"
    assert classifier.plot_convergence().labels == CLASSES


def test_paths_say_which_class_they_are_of(three):
    X, label = three
    paths = lp_path(X, label, Cs=2)
    assert [path.output for path in paths] == CLASSES
    assert "BL: 2 values" in repr(paths[1])
    assert lp_path(X, X[:, 0], Cs=2).output is None


def test_few_terms_and_chosen_models_take_names_too(three):
    X, label = three
    few = SparseClassifier().fit(X, label)
    assert str(few.equation(output="BL")) == str(few.equation(output=1))
    assert str(few.equation(output="BL")).startswith("log odds of BL = ")
    assert set(few.terms_["class"]) <= set(CLASSES)
    with pytest.raises(ValueError, match="'ALL', 'BL', 'EWS'"):
        few.equation(output="NB")
    chosen = AutoClassifier("quick").fit(X, label)
    by_name, by_place = (chosen.contributions(X[:2], output=output) for output in ("EWS", 2))
    assert by_name.constant == by_place.constant
    with pytest.raises(ValueError, match="'ALL', 'BL', 'EWS'"):
        chosen.contributions(X[:2], output="NB")


def test_reports_name_the_classes(three):
    model = LpClassifierCV(Cs=3).fit(*three)
    told = model.report(2)
    assert [function["class"] for function in told["functions"]] == CLASSES
