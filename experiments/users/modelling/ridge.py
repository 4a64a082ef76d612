"""scikit-learn's ridge regression, and logistic regression with the same penalty."""

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .rotation import Rotation

TITLE = "Ridge"
NEEDS = ()
GIVEN = "`RidgeCV` with 25 alphas by leave-one-out; for classes `LogisticRegression` with 15 values of C, the smallest log-loss of the folds"


def build(task):
    if task.classes:
        grid = {"C": np.logspace(-6, 2, 15)}
        search = GridSearchCV(LogisticRegression(max_iter=2000), grid, cv=task.folds(), scoring="neg_log_loss")
    else:
        search = RidgeCV(np.logspace(-4, 8, 25) / 10)
    return make_pipeline(StandardScaler(), Rotation(), search)
