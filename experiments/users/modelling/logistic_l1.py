"""scikit-learn's logistic regression with the l1 penalty."""

from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "LogisticRegression, l1"
NEEDS = ()
GIVEN = "liblinear, one class against the rest, 15 values of C; the best accuracy of the folds"


def build(task, scoring="accuracy"):
    model = OneVsRestClassifier(LogisticRegression(l1_ratio=1.0, solver="liblinear", max_iter=1000))
    grid = {"estimator__C": np.logspace(-2.5, 2, 15)}
    return make_pipeline(StandardScaler(), GridSearchCV(model, grid, cv=task.folds(), scoring=scoring))


def with_option(scoring):
    """The contender that chooses by another score of scikit-learn."""
    return SimpleNamespace(
        TITLE=TITLE,
        NEEDS=NEEDS,
        GIVEN=f"liblinear, one class against the rest, 15 values of C; the best {scoring.removeprefix('neg_').replace('_', '-')} of the folds",
        build=lambda task: build(task, scoring),
    )
