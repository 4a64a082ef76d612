"""What a search tries for the exponential kernel unless it is told (ADR 14 in docs/adr)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

#: Exponents that are tried for the exponential kernel, unless one is given.
EXPONENTS = (4 / 3, 1.1, 1.05)


def scales(p: float, X: Any, weights: np.ndarray | None) -> list[float]:
    """Scales of the exponential kernel that suit the size of the data.

    With a scale of ``r^q`` the variables are multiplied by r before the monomials are formed. The r that are tried bring
    ``sum_j x_j^4`` to a few hundredths up to 1 on average, for every p but 2, whose kernel is that of Gauss but for its
    normalisation and is tried more widely.
    """
    order = 2 if p == 2 else 4
    if isinstance(X, tuple):
        (n_samples, _), _, rows, values = X
        shares = np.ones(n_samples) if weights is None else weights
        x, counts = values, shares[rows]
    else:
        shares = np.ones(len(X)) if weights is None else weights
        x, counts = X, shares[:, None]
    # Entries may be as large as 1e200.
    largest = np.abs(x).max(initial=0.0)
    mean = np.sum(counts * (x / largest) ** order) / shares.sum() if largest > 0 else 0.0
    if mean == 0:
        return [1.0]
    tried = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0) if p == 2 else (0.03, 0.1, 0.3, 1.0)
    q = p / (p - 1)
    with np.errstate(over="ignore", under="ignore"):
        scales = np.exp(q / order * (np.log(np.divide(tried, mean)) - order * np.log(largest)))
    if not all(0 < scale < np.inf for scale in scales):
        raise ValueError(
            f"X has entries up to {largest:.1e}, too far from 1 for the exponential kernel; standardise it"
        )
    # Six digits, so that the order in which the samples are summed does not show.
    return [float(f"{scale:.6g}") for scale in scales]


def highest_degree(n_features: int) -> int:
    """Where the exponential kernel is cut if all degrees cannot be had: as high as a few thousand monomials allow."""
    for degree in range(15, 3, -1):
        if math.comb(n_features + degree, degree) <= 5_000:
            return degree
    return 3 if math.comb(n_features + 3, 3) <= 25_000 else 2
