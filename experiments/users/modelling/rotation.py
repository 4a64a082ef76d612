"""Fewer columns for methods that see the samples' distances and inner products alone."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin


class Rotation(TransformerMixin, BaseEstimator):
    """The same distances and inner products to all samples of `fit`, in one column more than there are of these.

    The first columns are coordinates in the span of these samples, the last is the distance from it. Columns are scaled such that a width
    in units of one over the number of columns stays what it was. Data with few columns are left alone.
    """

    def fit(self, X, y=None):
        n, d = X.shape
        self.basis_ = np.linalg.svd(X, full_matrices=False)[2] if d > n + 1 else None
        return self

    def transform(self, X):
        if self.basis_ is None:
            return X
        inside = X @ self.basis_.T
        outside = np.linalg.norm(X - inside @ self.basis_, axis=1, keepdims=True)
        n, d = self.basis_.shape
        return np.hstack([inside, outside]) * np.sqrt((n + 1) / d)
