"""The data of the paper's experiments, the same on every machine for the same ``random_state``."""

from __future__ import annotations

import numpy as np

from . import _core, _parameters
from ._names import Monomial

__all__ = ["make_monomials", "make_sparse_linear", "make_sparse_quadratic"]


def make_sparse_linear(
    n_samples: int = 200, n_features: int = 10_000, n_informative: int = 6, *, noise: float = 0.05, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, list[tuple[int, float]]]:
    """The data of Table 1 and Figure 1: ``y = X w + noise``, with w zero but for a few entries of +1 and -1.

    Returns
    -------
    X : array of shape (n_samples, n_features), in Fortran's order
    y : array of shape (n_samples,)
    truth : list of pairs: a variable that matters, and its weight
    """
    return _core.make_sparse_linear(*_sizes(n_samples, n_features, n_informative, noise, random_state))


def make_sparse_quadratic(
    n_samples: int = 60, n_features: int = 400, n_informative: int = 6, *, noise: float = 0.05, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, list[tuple[Monomial, float]]]:
    """The data of Table 2: a few products of two normal variables, or squares, and noise.

    Returns
    -------
    X : array of shape (n_samples, n_features), in Fortran's order
    y : array of shape (n_samples,)
    truth : list of pairs: a monomial that matters, as pairs of a variable and its exponent, and the weight of its feature
    """
    X, y, truth = _core.make_sparse_quadratic(*_sizes(n_samples, n_features, n_informative, noise, random_state))
    return X, y, [(tuple(factors), weight) for factors, weight in truth]


def make_monomials(
    n_samples: int = 100, n_features: int = 50, n_informative: int = 3, *, noise: float = 0.1, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, list[tuple[Monomial, float]]]:
    """A few monomials of degrees 1, 2, 3, 1, ... in variables that are uniform in (-1, 1), and noise.

    ``noise`` is relative to the size of the rest.

    Returns
    -------
    X : array of shape (n_samples, n_features), in Fortran's order
    y : array of shape (n_samples,)
    truth : list of pairs: a monomial that matters, as pairs of a variable and its exponent, and its coefficient
    """
    X, y, truth = _core.make_monomials(*_sizes(n_samples, n_features, n_informative, noise, random_state))
    return X, y, [(tuple(factors), weight) for factors, weight in truth]


def _sizes(
    n_samples: object, n_features: object, n_informative: object, noise: object, random_state: object
) -> tuple[int, int, int, float, int]:
    return (
        _parameters.whole("n_samples", n_samples),
        _parameters.whole("n_features", n_features),
        _parameters.whole("n_informative", n_informative),
        _parameters.real("noise", noise),
        _parameters.whole("random_state", random_state),
    )
