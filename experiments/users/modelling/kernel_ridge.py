"""scikit-learn's KernelRidge."""

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .rotation import Rotation

TITLE = "KernelRidge"
NEEDS = ()
GIVEN = (
    "a grid of 9 widths x 13 alphas for the RBF kernel, and 13 alphas for the kernel of all monomials up to the task's degree; "
    "standardised targets"
)


class Scaled(TransformedTargetRegressor):
    """The grid in units of 1/d, whatever d is."""

    def __init__(self, regressor=None):
        super().__init__(regressor, transformer=StandardScaler())


def grid(d, degree):
    alphas = np.logspace(-6, 2, 13)
    radial = {"kernel": ["rbf"], "alpha": alphas, "gamma": np.logspace(-2, 1, 9) / d}
    product = {"kernel": ["poly"], "degree": [degree], "coef0": [1.0], "alpha": alphas, "gamma": [1.0 / d]}
    return [radial, product]


class Search(GridSearchCV):
    """A grid search whose grid knows the number of columns."""

    def __init__(self, degree, cv):
        super().__init__(KernelRidge(), {}, cv=cv, scoring="neg_mean_squared_error")
        self.degree = degree

    def fit(self, X, y):
        self.param_grid = grid(X.shape[1], self.degree)
        return super().fit(X, y)


def build(task):
    return make_pipeline(StandardScaler(), Rotation(), Scaled(Search(task.degree, task.folds())))
