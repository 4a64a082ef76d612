"""celer's logistic regression with the l1 penalty."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "celer LogisticRegression"
NEEDS = ("celer",)
GIVEN = "as LogisticRegression; it has no intercept"


def build(task):
    from celer import LogisticRegression

    grid = {"estimator__C": np.logspace(-2.5, 2, 15)}
    return make_pipeline(
        StandardScaler(), GridSearchCV(OneVsRestClassifier(LogisticRegression()), grid, cv=task.folds())
    )
