"""Tables and splits as the compiled part takes them, and what every estimator does with these."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _core, _parameters
from ._progress import Bar

NUMBERS = [np.float64, np.float32, np.int8]
"""The kinds of numbers that are read where they are; all others become float64."""


def aligned(array: np.ndarray) -> np.ndarray:
    """The same array, or a copy if its numbers begin between machine words, as they may in a file or a record array."""
    return array if array.flags.aligned else array.copy(order="K")


def table_of(X: Any) -> Any:
    """A table as the compiled part takes it: an array by columns, or the parts of a sparse matrix by columns."""
    if not scipy.sparse.issparse(X):
        X = aligned(X)
        return X if X.flags.f_contiguous else _core.by_columns(np.ascontiguousarray(X))
    X = scipy.sparse.csc_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = aligned(np.ascontiguousarray(X.data, dtype=np.float64))
    return X.shape, X.indptr.astype(np.uintp), X.indices.astype(np.uintp), data


def rows_of(splits: Iterable[Any], n_samples: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Splits by the numbers of their samples, which may be given as lists, from the end or as masks."""
    rows = np.arange(n_samples)
    try:
        return [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in splits]
    except (TypeError, IndexError, ValueError) as error:
        raise ValueError(
            "cv: every split is a pair, the samples to fit to and those to hold out, each by their numbers from 0 to "
            f"{n_samples - 1} or as a mask of {n_samples} truth values; {error}"
        ) from None


def splits_of(
    cv: Any,
    y: np.ndarray,
    target: np.ndarray,
    groups: Any,
    *,
    classifier: bool,
    seed: int = 0,
    among_many: bool = False,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What to fit to and what to hold out: for a number the library's own folds, of whole groups if there are any, else what a
    splitter says. There are more of them for a choice among many models."""
    n_samples = len(target)
    if cv is None or isinstance(cv, numbers.Integral):
        count = None if cv is None else _parameters.whole("cv", cv, "None, a whole number >= 2 or a splitter", least=2)
        held_out = _core.folds(y, n_samples, count, group_codes(groups, n_samples), seed, among_many)
        return [(np.setdiff1d(np.arange(n_samples), test), np.array(test)) for test in held_out]
    if isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split"):
        return rows_of(cv, n_samples)
    splitter = check_cv(cv, target, classifier=classifier)
    return rows_of(list(splitter.split(np.zeros(n_samples), target, groups)), n_samples)


def group_codes(groups: Any, n_samples: int) -> list[int] | None:
    """A number for every group, whatever groups are known by."""
    if groups is None:
        return None
    groups = column_or_1d(groups)
    check_consistent_length(groups, np.empty(n_samples))
    return np.unique(groups, return_inverse=True)[1].tolist()


class TableEstimator(BaseEstimator):
    """What every estimator does with a table. Subclasses have the parameters and, once fitted, a ``_model``."""

    def _validated(self, X: Any) -> Any:
        """New samples as they are, checked."""
        return validate_data(self, X, reset=False, accept_sparse="csc", dtype=NUMBERS)

    def _check_X(self, X: Any) -> Any:
        """New samples as the compiled part takes them."""
        return table_of(self._validated(X))

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_model")

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        return aligned(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))

    def _bar(self, what: str, fits: int) -> Bar:
        verbose = self.verbose if isinstance(self.verbose, bool) else _parameters.whole("verbose", self.verbose)
        return Bar(what, fits, int(verbose))

    def _names(self) -> list[str] | None:
        # A model that was loaded into a pipeline has names, and yet sees arrays.
        names = getattr(self, "feature_names_in_", getattr(self, "_stored_names", None))
        return None if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class IntervalMixin:
    """Intervals of a regressor, by the samples that were held out when it was fitted."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals around the predictions that hold so large a share of new samples.

        They are split conformal: the predictions plus and minus the residual that so many held-out samples do not exceed.
        The residuals are those of the search, of the automatic choice or of the folds (``cv`` of few terms) that made the
        model, each of a model without the sample, so the coverage is near what is asked for whatever the noise is, where new samples are as those of the fit.
        All intervals are equally wide.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        coverage : float
            The share of new samples, above 0 and below 1.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            The lower and the upper ends.

        Raises
        ------
        ValueError
            If no samples were held out, as in an estimator without a search, or too few for this coverage.
        """
        return self._interval(self.predict(X), coverage)  # type: ignore[attr-defined]

    def _interval(self, predictions: np.ndarray, coverage: float) -> np.ndarray:
        """The same around predictions that are known."""
        widths = np.asarray(self._model.half_widths(_parameters.real("coverage", coverage)))  # type: ignore[attr-defined]
        widths = widths[0] if predictions.ndim == 1 else widths
        return np.stack([predictions - widths, predictions + widths], axis=-1)
