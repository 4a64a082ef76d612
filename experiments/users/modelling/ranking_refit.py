"""The way from a ranking to an equation that banach had before evidence: a baseline.

The largest monomials of a fit with p near 1 are fitted again by least squares. How many is chosen by folds, each of which
ranks for itself: the fewest whose held-out loss is within one standard error of the best.
"""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.linear_model import LinearRegression

from banach import LpRegressor

from .found import values


class RankingRefit(RegressorMixin, BaseEstimator):
    """A search or a model, and the monomials of its ranking that the folds keep."""

    def __init__(self, search, cv, terms=20):
        self.search, self.cv, self.terms = search, cv, terms

    def fit(self, X, y):
        self.search.fit(X, y)
        losses = np.array([self._losses(X, y, *split) for split in self.cv.split(X, y)])
        mean, error = losses.mean(axis=0), losses.std(axis=0, ddof=1) / np.sqrt(len(losses))
        best = int(np.argmin(mean))
        self.kept_ = int(np.flatnonzero(mean <= mean[best] + error[best])[0])
        self.monomials_ = list(self.search.top_features(self.terms)["exponents"])[: self.kept_]
        self.refit_ = refit(self.monomials_, X, y)
        return self

    def _losses(self, X, y, train, test):
        """The held-out loss of the first 0, 1, 2, ... monomials of a fit without the fold."""
        ranked = clone(chosen(self.search)).fit(X[train], y[train]).top_features(self.terms)["exponents"]
        predicted = [
            refit(ranked[:count], X[train], y[train])(X[test]) for count in range(min(self.terms, len(ranked)) + 1)
        ]
        # A fold with fewer monomials stays at its last loss.
        losses = [np.mean((y[test] - values) ** 2) / 2 for values in predicted]
        return losses + [losses[-1]] * (self.terms + 1 - len(losses))

    def predict(self, X):
        return self.refit_(X)


def chosen(search):
    """The model with what a search has chosen, or the model itself."""
    if not hasattr(search, "best_params_"):
        return search
    known = LpRegressor().get_params()
    # What a search was left to choose is among what it chose.
    given = {
        name: value
        for name, value in search.get_params().items()
        if not (value is None or (isinstance(value, str) and value == "auto"))
    }
    shared = {name: value for name, value in given.items() if name in known}
    return LpRegressor(**{**shared, **search.best_params_})


def refit(monomials, X, y):
    """Least squares on these monomials, as a function of new samples."""
    if not len(monomials):
        mean = y.mean()
        return lambda new: np.full(len(new), mean)
    linear = LinearRegression().fit(values(monomials, X), y)
    return lambda new: linear.predict(values(monomials, new))
