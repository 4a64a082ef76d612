"""What is known of a function of few terms at the end of its search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LocalOptimality:
    """What holds at the end of a search: how much the criterion rises at least with one step from the function.

    Attributes
    ----------
    addition : float
        With one more term.
    removal : float
        With one term less.
    exchange : float
        With one term in the place of another. A step that does not exist, or is not allowed, has infinity.
    proven : bool
        Whether every step was compared exactly. If not, those with the best scores were, and others are unlikely to be better.
    holds : bool
        Whether no step makes a better function, up to rounding in the sixth decimal.
    """

    addition: float
    removal: float
    exchange: float
    proven: bool
    holds: bool


@dataclass(frozen=True)
class DualityGap:
    """How far a convex objective can be from its minimum over the weights of all monomials.

    Attributes
    ----------
    strength : float
        The weight of the penalty beside the mean loss: ``alpha`` of scikit-learn's ``Lasso`` on standardised monomials, and
        ``1/(n C)`` of its ``LogisticRegression`` for n samples.
    relative_gap : float
        The gap, as a share of the objective.
    holds : bool
        Whether it is at most 1e-6.
    """

    strength: float
    relative_gap: float
    holds: bool


@dataclass(frozen=True)
class Stationarity:
    """How far a function is from a stationary point of an objective that is not convex.

    Attributes
    ----------
    strength : float
        The weight of the penalty, as in :class:`DualityGap`.
    violation : float
        The largest violation of the first-order condition over all monomials, as a share of the strength.
    holds : bool
        Whether it is at most 1e-6.
    """

    strength: float
    violation: float
    holds: bool


#: What a certificate of the compiled part becomes.
CERTIFICATES = {"steps": LocalOptimality, "gap": DualityGap, "stationarity": Stationarity}


def held(certificate: LocalOptimality | DualityGap | Stationarity, count: str) -> str:
    """What a certificate says of all monomials."""
    if isinstance(certificate, DualityGap):
        gap = f"{certificate.relative_gap:.0e}"
        return f"The objective is within a share of {gap} of its least over the weights of all {count}"
    if isinstance(certificate, Stationarity):
        violation = f"{certificate.violation:.0e}"
        return f"Stationary over the weights of all {count}, but for a share of {violation} of the penalty"
    # Where more terms are not allowed, or there are none, nothing is said of additions.
    steps = "removal or exchange" if np.isinf(certificate.addition) else "addition, removal or exchange"
    if not certificate.holds:
        return f"Some {steps} of {count} would improve the criterion: the search ended early"
    if not certificate.proven:
        return f"No {steps} of those of {count} with the best scores improves the criterion"
    return f"No {steps} of any of {count} improves the criterion"
