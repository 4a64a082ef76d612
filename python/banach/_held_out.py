"""Scores of held-out samples, whose decisions a search has already: no model is fitted for a scorer of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.metaestimators import available_if

from ._classifier import labels


class _Known(BaseEstimator):
    """Stands in for a fitted model before a scorer: its decisions, one row per function, are known."""

    def __init__(self, decisions: np.ndarray) -> None:
        self.decisions = decisions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Any:
        """Scorers ask that there is such a method."""
        return self

    def _of_samples(self) -> np.ndarray:
        return self.decisions[0] if len(self.decisions) == 1 else self.decisions.T


class KnownNumbers(RegressorMixin, _Known):
    """Predicted numbers."""

    def predict(self, X: Any) -> np.ndarray:
        """The predictions."""
        return self._of_samples()


class KnownLabels(ClassifierMixin, _Known):
    """Decisions between classes; ``probabilities`` makes probabilities of them, where the loss tells any."""

    def __init__(
        self, decisions: np.ndarray, classes: np.ndarray, probabilities: Callable[[np.ndarray], np.ndarray] | None
    ) -> None:
        super().__init__(decisions)
        self.classes, self.classes_, self.probabilities = classes, classes, probabilities

    def decision_function(self, X: Any) -> np.ndarray:
        """The decisions."""
        return self._of_samples()

    def predict(self, X: Any) -> np.ndarray:
        """The labels."""
        return self.classes_[labels(self.decisions)]

    @available_if(lambda known: known.probabilities is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities."""
        assert self.probabilities is not None
        return self.probabilities(self.decisions).T


def scores(
    scorer: Any, stand_in: Callable[[np.ndarray], Any], decisions: list[np.ndarray], splits: list[Any], target: Any
) -> np.ndarray:
    """What a scorer says of every C and split."""
    values = np.empty((len(decisions[0]), len(splits)))
    for fold, ((_, test), of_fold) in enumerate(zip(splits, decisions, strict=True)):
        for place, decision in enumerate(of_fold):
            values[place, fold] = scorer(stand_in(decision), test[:, None], target[test])
    return values
