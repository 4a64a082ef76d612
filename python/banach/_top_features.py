"""The largest monomials of a model as columns for other models."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from . import _names, _parameters
from ._base import LpModel
from ._classifier import LpClassifier
from ._equation import evaluate
from ._regressor import LpRegressor


class TopFeatures(TransformerMixin, BaseEstimator):
    """Maps X to the monomials that matter most: fits a model, keeps its k largest monomials.

    Parameters
    ----------
    estimator : LpRegressor, LpClassifier, one of their CV kin or None, default=None
        What ranks the monomials. If None, products of up to two variables with p = 1.1: a classifier if y holds text or
        truth values, else a regressor.
    k : int, default=10
        How many monomials; of several outputs or classes, of each.

    Attributes
    ----------
    estimator_ : the fitted model
    monomials_ : list
        Each a tuple of pairs: a variable and its exponent.
    n_features_in_, feature_names_in_
        As in all estimators.

    Examples
    --------
    >>> from banach import TopFeatures, datasets
    >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=60, n_features=12, n_informative=2, random_state=0)
    >>> TopFeatures(k=2).fit_transform(X, y).shape
    (60, 2)
    """

    def __init__(self, estimator=None, *, k=10):
        self.estimator = estimator
        self.k = k

    def fit(self, X, y, sample_weight=None):
        """Fits the model and keeps its largest monomials."""
        k = _parameters.whole("k", self.k, "a whole number >= 1", least=1)
        validate_data(self, X, skip_check_array=True)
        if self.estimator is not None and not isinstance(self.estimator, LpModel):
            raise _parameters.refused(
                "estimator", self.estimator, "None, LpRegressor, LpClassifier or one of their CV kin"
            )
        model = self._default(y) if self.estimator is None else clone(self.estimator)
        self.estimator_ = model.fit(X, y, sample_weight=sample_weight)
        monomials = []
        for output in range(len(model._model.relative_gaps)):
            monomials += model.top_features(k, output=output)["exponents"]
        self.monomials_ = list(dict.fromkeys(monomials))
        return self

    @staticmethod
    def _default(y: Any) -> Any:
        choices = {"kernel": "poly", "degree": (1, 2), "p": 1.1}
        return LpClassifier(**choices) if _parameters.holds_classes(y) else LpRegressor(**choices)

    def transform(self, X):
        """The values of the monomials, one column each."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csc", dtype=np.float64)
        if scipy.sparse.issparse(X):
            used = sorted({j for monomial in self.monomials_ for j, _ in monomial})
            place = {j: at for at, j in enumerate(used)}
            X = X[:, used].toarray()
            monomials = [tuple((place[j], power) for j, power in monomial) for monomial in self.monomials_]
        else:
            monomials = self.monomials_
        columns = [evaluate(monomial, X) for monomial in monomials]
        return np.column_stack(columns) if columns else np.empty((X.shape[0], 0))

    def get_feature_names_out(self, input_features=None):
        """The monomials in words, such as ``age * dose^2``."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        return np.array([_names.monomial(monomial, names) for monomial in self.monomials_], dtype=object)

    @property
    def _n_features_out(self):
        return len(self.monomials_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
