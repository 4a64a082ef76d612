"""Data to try models on: those of the paper's experiments, drawn the same on every machine for the same ``random_state``,
and two small real ones that come with the package."""

from __future__ import annotations

import csv
import gzip
from importlib import resources
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _core, _parameters
from ._names import Monomial

__all__ = [
    "load_blood_cells",
    "load_fermentation",
    "make_monomials",
    "make_sparse_linear",
    "make_sparse_quadratic",
]


def make_sparse_linear(
    n_samples: int = 200,
    n_features: int = 10_000,
    n_informative: int = 6,
    *,
    noise: float = 0.05,
    random_state: int = 0,
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
        _parameters.seed(random_state),
    )


_BLOOD_CELLS = """\
Gene expression of 326 single blood cells of four types: 765 genes, wide once some cells are kept for testing.

  samples    100 monocytes, 100 dendritic cells, 95 B cells, 31 NK cells
  variables  765 genes: log(1 + 10,000 count/total), where total counts all molecules of a cell, of these genes or others
  target     the type of the cell. It was assigned by comparing the cell's genes with those of sorted cells, so it is not
             independent of the variables

Source: "Fresh 68k PBMCs (Donor A)", 10x Genomics, licensed under CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/).
Reference: Zheng et al., Massively parallel digital transcriptional profiling of single cells, Nature Communications 8,
14049 (2017), doi:10.1038/ncomms14049.
Changed: 700 cells, 765 genes and the types are the choice of scanpy's ``pbmc68k_reduced`` (BSD 3-clause), of which these
are the first cells of four types, at most 100 of each.
"""

_FERMENTATION = """\
Spectra of 21 samples prepared like the broth of a fermentation, and their glucose: a wide regression.

  samples    21
  variables  intensities at 1047 bands, by the numbers that the source gives them
  target     the concentration of glucose, measured by liquid chromatography; the source names no unit

Source: the training data of the fermentation set in chemotools by P. Cabaneros Lopez, MIT licence,
copyright (c) 2026 Pau Cabaneros.
Reference, as there: Cabaneros Lopez, Udugama, Thomsen, Roslander, Junicke, Mauricio Iglesias, Gernaey, Transforming data
into information: A parallel hybrid model for real-time state estimation in lignocellulose ethanol fermentations.
Changed: nothing.
"""


def load_blood_cells(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """The genes of 326 single blood cells, and the type of each.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a ``Bunch``.
    as_frame : bool, default=False
        Data frames of pandas instead of arrays.

    Returns
    -------
    Bunch
        ``data`` of shape (326, 765), in Fortran's order; ``target``, strings; ``feature_names``, the genes;
        ``target_names``; ``counts``, the molecules that ``data`` is computed from, and ``total_count`` of every cell;
        ``frame`` if ``as_frame``; ``DESCR``, with source and licence.

    Examples
    --------
    >>> from banach.datasets import load_blood_cells
    >>> cells = load_blood_cells()
    >>> cells.data.shape
    (326, 765)
    >>> cells.target_names.tolist()
    ['B cell', 'NK cell', 'dendritic cell', 'monocyte']
    """
    header, rows = _resource("blood_cells.csv.gz")
    target = np.array([row[0] for row in rows])
    numbers = np.array([row[1:] for row in rows], dtype=np.int64)
    total, counts = numbers[:, 0], numbers[:, 1:]
    data = np.asfortranarray(np.log1p(10_000 * counts / total[:, None]))
    more = {"counts": counts, "total_count": total, "target_names": np.unique(target)}
    return _bunch(data, target, header[2:], header[0], _BLOOD_CELLS, more, return_X_y=return_X_y, as_frame=as_frame)


def load_fermentation(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """The spectra of 21 samples prepared like the broth of a fermentation, and the glucose in each.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a ``Bunch``.
    as_frame : bool, default=False
        Data frames of pandas instead of arrays.

    Returns
    -------
    Bunch
        ``data`` of shape (21, 1047), in Fortran's order; ``target``; ``feature_names``, the bands; ``frame`` if
        ``as_frame``; ``DESCR``, with source and licence.

    Examples
    --------
    >>> from banach.datasets import load_fermentation
    >>> X, y = load_fermentation(return_X_y=True)
    >>> X.shape, y.shape
    ((21, 1047), (21,))
    """
    header, rows = _resource("fermentation.csv.gz")
    numbers = np.array(rows, dtype=np.float64)
    data, names = np.asfortranarray(numbers[:, 1:]), [f"band {float(name):.0f}" for name in header[1:]]
    return _bunch(data, numbers[:, 0], names, header[0], _FERMENTATION, {}, return_X_y=return_X_y, as_frame=as_frame)


def _resource(name: str) -> tuple[list[str], list[list[str]]]:
    """A file of the package: its header and its rows."""
    packed = resources.files(__package__).joinpath("data").joinpath(name).read_bytes()
    header, *rows = csv.reader(gzip.decompress(packed).decode("utf-8").splitlines())
    return header, rows


def _bunch(
    data: Any,
    target: Any,
    feature_names: list[str],
    target_name: str,
    description: str,
    more: dict[str, Any],
    *,
    return_X_y: bool,
    as_frame: bool,
) -> Any:
    """What scikit-learn's loaders return."""
    frame = None
    if _parameters.boolean("as_frame", as_frame):
        import pandas

        frame = pandas.DataFrame(data, columns=feature_names)
        frame[target_name] = target
        data, target = frame[feature_names], frame[target_name]
    if _parameters.boolean("return_X_y", return_X_y):
        return data, target
    return Bunch(data=data, target=target, frame=frame, feature_names=feature_names, DESCR=description, **more)
