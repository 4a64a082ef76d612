"""Cross-validation over a path of alphas, for solvers that come without: all folds, then the best alpha on everything."""

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin

ALPHAS = 100
LAST = 1e-3


class PathCV(RegressorMixin, BaseEstimator):
    """A path solver with the grid of scikit-learn's LassoCV; `path(X, y, alphas)` gives coefficients, d x alphas."""

    def __init__(self, path, cv, threads, count=ALPHAS):
        self.path, self.cv, self.threads, self.count = path, cv, threads, count

    def fit(self, X, y):
        X = np.asfortranarray(X)
        y_mean, X_mean = y.mean(), X.mean(axis=0)
        largest = np.max(np.abs(X.T @ (y - y_mean) - X_mean * np.sum(y - y_mean))) / len(y)
        alphas = largest * np.geomspace(1.0, LAST, self.count)
        splits = list(self.cv.split(X))
        errors = Parallel(n_jobs=self.threads, prefer="threads")(
            delayed(self._errors)(X, y, alphas, train, test) for train, test in splits
        )
        best = int(np.argmin(np.mean(errors, axis=0)))
        self.coef_ = self.path(np.asfortranarray(X - X_mean), y - y_mean, alphas[: best + 1])[:, -1]
        self.intercept_ = y_mean - X_mean @ self.coef_
        self.alpha_ = alphas[best]
        return self

    def _errors(self, X, y, alphas, train, test):
        part, y_mean = np.asfortranarray(X[train]), y[train].mean()
        X_mean = part.mean(axis=0)
        part -= X_mean
        coefficients = self.path(part, y[train] - y_mean, alphas)
        # Only columns that are ever used.
        used = np.flatnonzero(np.any(coefficients != 0.0, axis=1))
        predictions = y_mean + (X[np.ix_(test, used)] - X_mean[used]) @ coefficients[used]
        return np.mean((predictions - y[test][:, None]) ** 2, axis=0)

    def predict(self, X):
        return X @ self.coef_ + self.intercept_
