"""Partial least squares, which chemists pick for spectra; for classes on their indicators."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .rotation import Rotation

TITLE = "PLS"
NEEDS = ()
GIVEN = "`PLSRegression` with 1 to 20 components; for classes on their indicators, the largest of which is predicted"
MOST = 20


class Discriminant(ClassifierMixin, BaseEstimator):
    """The class with the largest prediction of its indicator."""

    def __init__(self, n_components=2):
        self.n_components = n_components

    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = PLSRegression(self.n_components, scale=False).fit(X, np.eye(len(self.classes_))[codes])
        return self

    def predict(self, X):
        return self.classes_[np.argmax(self.model_.predict(X), axis=1)]


class Search(GridSearchCV):
    """As many components as every fold allows."""

    def fit(self, X, y):
        smallest = len(y) - -(-len(y) // self.cv.n_splits)
        self.param_grid = {"n_components": range(1, min(MOST, smallest - 1, X.shape[1]) + 1)}
        return super().fit(X, y)


def build(task):
    model = Discriminant() if task.classes else PLSRegression(scale=False)
    scoring = "accuracy" if task.classes else "neg_mean_squared_error"
    return make_pipeline(StandardScaler(), Rotation(), Search(model, {}, cv=task.folds(), scoring=scoring))
