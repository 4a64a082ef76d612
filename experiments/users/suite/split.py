"""From real data to training samples and new ones."""

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

from ..modelling.tasks import Data

PART = 0.25


def split(X, y, groups=None, classes=False, seed=0):
    """A quarter of the samples is new: whole groups where there are groups, and as many of every class as there are.

    What is missing becomes the mean of the training samples. A column that is constant on these is of no use to anyone.
    """
    kind = GroupShuffleSplit if groups is not None else StratifiedShuffleSplit if classes else ShuffleSplit
    train, new = next(kind(1, test_size=PART, random_state=seed).split(X, y, groups))
    X, X_new = np.array(X[train], float), np.array(X[new], float)
    known = ~np.isnan(X).all(axis=0)
    imputer = SimpleImputer().fit(X[:, known])
    X, X_new = imputer.transform(X[:, known]), imputer.transform(X_new[:, known])
    useful = X.std(axis=0) > 1e-12 * np.abs(X).max(axis=0)
    return Data(np.asfortranarray(X[:, useful]), y[train], X_new[:, useful], y[new])
