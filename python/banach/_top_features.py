"""The terms that evidence names as columns for other models."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from . import _names, _parameters
from ._equation import evaluate
from ._names import Monomial
from ._sparse import SparseClassifier, SparseRegressor
from ._warnings import warn


class TopFeatures(TransformerMixin, BaseEstimator):
    """Maps X to the few monomials that can be named: those of a :class:`SparseRegressor` or :class:`SparseClassifier`.

    Where nothing can be named at this number of samples there is no column, and a warning says so.

    Parameters
    ----------
    estimator : SparseRegressor, SparseClassifier or None, default=None
        What names the monomials. If None, products of up to two variables: a classifier if y holds text or truth values, else
        a regressor.
    k : int, default=10
        The most monomials; of several classes, of each.

    Attributes
    ----------
    estimator_ : the fitted model
    monomials_ : list
        Each a tuple of pairs: a variable and its exponent. The one with the most evidence comes first.
    means_ : list
        For every monomial what is taken from each variable before the product is made, or None.
    n_features_in_, feature_names_in_
        As in all estimators.

    Examples
    --------
    >>> from banach import TopFeatures, datasets
    >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=60, n_features=12, n_informative=2, random_state=0)
    >>> TopFeatures(k=5).fit_transform(X, y).shape
    (60, 2)
    """

    def __init__(self, estimator=None, *, k=10):
        self.estimator = estimator
        self.k = k

    def fit(self, X, y, sample_weight=None):
        """Finds the monomials."""
        k = _parameters.whole("k", self.k, "a whole number >= 1", least=1)
        validate_data(self, X, skip_check_array=True)
        if self.estimator is not None and not isinstance(self.estimator, (SparseRegressor, SparseClassifier)):
            raise _parameters.refused("estimator", self.estimator, "None, SparseRegressor or SparseClassifier")
        model = self._default(y) if self.estimator is None else clone(self.estimator)
        if model.max_terms is None or model.max_terms > k:
            model.set_params(max_terms=k)
        self.estimator_ = model.fit(X, y, sample_weight=sample_weight)
        found: dict[tuple[Monomial, bool], Any] = {}
        for function in model._model.functions:
            for monomial in function.monomials:
                # Without its mean a variable is the same column, but for a constant.
                centres = function.centres if sum(power for _, power in monomial) > 1 else None
                found.setdefault((monomial, centres is not None), centres)
        self.monomials_ = [monomial for monomial, _ in found]
        self.means_ = list(found.values())
        if not found:
            warn(f"{model.terms_.caption} There are no columns.", UserWarning)
        return self

    @staticmethod
    def _default(y: Any) -> Any:
        choices = {"kernel": "poly", "degree": (1, 2)}
        return SparseClassifier(**choices) if _parameters.holds_classes(y) else SparseRegressor(**choices)

    def transform(self, X):
        """The values of the monomials, one column each."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csc", dtype=np.float64)
        used = sorted({j for monomial in self.monomials_ for j, _ in monomial})
        place = {j: at for at, j in enumerate(used)}
        own = X[:, used].toarray() if scipy.sparse.issparse(X) else X[:, used]
        columns = [
            evaluate(
                tuple((place[j], power) for j, power in monomial),
                own,
                None if means is None else np.asarray(means)[used],
            )
            for monomial, means in zip(self.monomials_, self.means_, strict=True)
        ]
        return np.column_stack(columns) if columns else np.empty((X.shape[0], 0))

    def get_feature_names_out(self, input_features=None):
        """The monomials in words, such as ``age * dose^2``, or ``(age - 49.3) * (dose - 4.87)`` where means are taken off."""
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)

        def name(monomial: Monomial, means: np.ndarray | None) -> str:
            if means is None:
                return _names.monomial(monomial, names)
            factors = {
                j: f"({_names.variable(names, j)} {'+' if means[j] < 0 else '-'} {abs(means[j]):.4g})"
                for j, _ in monomial
            }
            return " * ".join(factors[j] if power == 1 else f"{factors[j]}^{power}" for j, power in monomial)

        pairs = zip(self.monomials_, self.means_, strict=True)
        return np.array([name(monomial, means) for monomial, means in pairs], dtype=object)

    @property
    def _n_features_out(self):
        return len(self.monomials_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
