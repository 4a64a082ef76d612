"""The verdict on unseen samples, and which samples are held out."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from banach import AutoClassifier, AutoRegressor, LpClassifierCV, LpRegressorCV, SparseClassifier, SparseRegressor

RANDOM = np.random.default_rng(5)
X = RANDOM.normal(size=(60, 4))
NOISE = RANDOM.normal(size=60)
Y = 3 * X[:, 0] - 2 * X[:, 1] + NOISE


def test_noise_is_no_discovery():
    wide = RANDOM.normal(size=(20, 40))
    for model in (AutoRegressor("quick"), LpRegressorCV(p=1.1)):
        model.fit(wide, NOISE[:20])
        assert not model.assessment_["better"]
        assert model.verdict_.startswith("no better than a constant on unseen rows")
        assert "Do not read the tables" in model.verdict_


def test_scores_are_pooled_over_the_splits():
    model = LpRegressorCV(p=1.2, Cs=[1.0]).fit(X, Y)
    [scores] = model.assessment_["numbers"]
    assert model.assessment_["better"] and model.assessment_["rows"] == 60
    # The mean of halves of squares over splits is that over samples, as splits count by their samples.
    np.testing.assert_allclose(scores["rmse"], np.sqrt(-2 * model.best_score_), rtol=1e-9)
    assert scores["q2"] == pytest.approx(1 - (scores["rmse"] / scores["constant_rmse"]) ** 2)
    assert model.assessment_["chance"] < 0.01


def test_classes_are_counted():
    labels = np.where(Y > 0.5, "high", "low")
    for model in (AutoClassifier("quick", class_weight="balanced"), LpClassifierCV(Cs=[1.0])):
        found = model.fit(X, labels).assessment_["classes"]
        assert found["labels"] == ["high", "low"] and found["confusion"].sum() == 60
        assert found["accuracy"] == pytest.approx(np.trace(found["confusion"]) / 60, abs=0.2)
        assert found["auc"] > 0.8 and found["balanced_accuracy"] > 0.7


def test_groups_and_times_hold_in_every_search():
    groups = np.repeat([f"patient {at}" for at in range(15)], 4)
    level = np.repeat(RANDOM.normal(size=15), 4)
    twins = (np.repeat(RANDOM.normal(size=15), 4) + 0.01 * NOISE)[:, None]
    leaky = AutoRegressor("quick").fit(twins, level)
    honest = AutoRegressor("quick").fit(twins, level, groups=groups)
    assert leaky.assessment_["better"] and not honest.assessment_["better"]
    split = AutoRegressor("quick", cv=GroupKFold(5)).fit(twins, level, groups=groups)
    assert not split.assessment_["better"]
    searched = LpRegressorCV(p=2, kernel="exp", scale=30.0, normalize_kernel=True, Cs=[10.0])
    assert searched.fit(twins, level).assessment_["better"]
    assert not searched.fit(twins, level, groups=groups).assessment_["better"]
    forward = AutoRegressor("quick", cv=TimeSeriesSplit(3)).fit(X, Y)
    assert forward.assessment_["rows"] == 45 and forward.assessment_["better"]
    with pytest.raises(ValueError, match="at most once"):
        AutoRegressor("quick", cv=[(np.arange(30), np.arange(30, 60))] * 2).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (AutoRegressor("quick"), Y),
        (AutoClassifier("quick"), Y > 0),
        (LpRegressorCV(p=1.2, Cs=[1.0]), Y),
        (LpClassifierCV(p=1.2, Cs=[1.0]), Y > 0),
        (SparseRegressor(cv=5), Y),
        (SparseClassifier(cv=5), Y > 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_verdicts_say_what_was_held_out(model, y):
    groups = np.repeat([f"patient {at}" for at in range(15)], 4)
    # Many models are compared in ten folds of so few rows.
    usual = 10 if isinstance(model, AutoRegressor | AutoClassifier) else 5
    assert f"({usual} folds, 60 rows)" in clone(model).fit(X, y).verdict_
    for cv, count in ((model.cv, usual), (GroupKFold(5), 5)):
        whole = clone(model).set_params(cv=cv).fit(X, y, groups=groups)
        assert f"({count} folds of whole groups, 60 rows)" in whole.verdict_
    # Groups that are on both sides are not held out together, and are not said to be.
    splits = list(KFold(5, shuffle=True, random_state=0).split(X))
    torn = clone(model).set_params(cv=splits).fit(X, y, groups=groups)
    assert "(5 folds, 60 rows)" in torn.verdict_
    forward = clone(model).set_params(cv=TimeSeriesSplit(3)).fit(X, y)
    assert "(3 folds forward in time, 45 rows)" in forward.verdict_


def test_groups_alone_hold_out_of_few_terms():
    groups = np.repeat(np.arange(15), 4)
    plain, grouped = SparseRegressor().fit(X, Y), SparseRegressor().fit(X, Y, groups=groups)
    assert plain.verdict_ is None and "5 folds of whole groups" in grouped.verdict_
    assert str(grouped.terms_) == str(plain.terms_) and grouped.predict_interval(X).shape == (60, 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SparseRegressor().fit(X, Y, groups=groups[:-1])


def test_weights_count():
    weights = np.ones(60)
    weights[:10] = 0.0
    spoiled = np.where(weights > 0, Y, 100.0)
    a = AutoRegressor("quick").fit(X, Y, sample_weight=weights)
    b = AutoRegressor("quick").fit(X, spoiled, sample_weight=weights)
    np.testing.assert_allclose(a.predict(X), b.predict(X), atol=1e-4)
    assert a.assessment_["rows"] == 50
    labels, wrong = Y > 0, np.where(weights > 0, Y > 0, Y <= 0)
    # Folds of its own spread the classes of all samples.
    folds = KFold(5)
    a = AutoClassifier("quick", cv=folds).fit(X, labels, sample_weight=weights)
    b = AutoClassifier("quick", cv=folds).fit(X, wrong, sample_weight=weights)
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-4)
    assert a.assessment_["rows"] == 50


def test_shuffled_targets_are_counted():
    found = AutoRegressor("quick", permutations=3).fit(X, Y).assessment_["permutations"]
    assert found == {"permutations": 3, "as_good": 0}
