"""skglm's logistic regression with the l1 penalty."""

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "skglm SparseLogisticRegression"
NEEDS = ("skglm",)
GIVEN = "as LogisticRegression, with alpha = 1/(n C)"


def build(task):
    from skglm.estimators import SparseLogisticRegression

    grid = {"estimator__alpha": np.logspace(-4, 0.5, 15)}
    model = OneVsRestClassifier(SparseLogisticRegression())
    return make_pipeline(StandardScaler(), GridSearchCV(model, grid, cv=task.folds()))
