"""Genotypes of PLINK."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core, _parameters

_PathLike = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Genotypes:
    """What :func:`read_plink` has read.

    Attributes
    ----------
    X : array of shape (n_samples, n_features), in Fortran's order
        Copies of the counted alleles, 0 to 2, and means where they are missing; covariates behind them.
    y : array of shape (n_samples,), or None
        The phenotypes, if they were asked for.
    names : list of str
        The columns of ``X``: a variant and its counted allele, such as ``rs123_A``; covariates by their names.
    ids : list of pairs of str
        The family and the name of every sample, FID and IID.
    means : array of shape (n_features,)
        The mean of every column, which stands for its missing values.
    counts : dict
        How many ``samples`` and ``variants`` the files have and how many were left out: samples ``without_phenotype`` and
        ``without_covariate``, variants on ``other_chromosomes``, ``too_many_missing``, ``too_rare`` and ``constant``, in this
        order; values that were ``filled`` in, variants whose ``second_allele`` is counted, and rows of tables that are
        ``unmatched`` by a sample.
    """

    X: np.ndarray
    y: np.ndarray | None
    names: list[str]
    ids: list[tuple[str, str]]
    means: np.ndarray
    counts: dict[str, int]
    _encodings: list[tuple[str, list[str]]] = field(default_factory=list, repr=False)

    @property
    def frame(self) -> Any:
        """``X`` as a data frame of pandas with the names of columns and samples, by which models know their variables."""
        import pandas as pd

        return pd.DataFrame(self.X, columns=self.names, index=[name for _, name in self.ids], copy=False)

    def __repr__(self) -> str:
        (n, d), told = self.X.shape, self.counts
        return f"Genotypes({n} of {told['samples']} samples, {d} columns from {told['variants']} variants)"


def read_plink(
    prefix: _PathLike,
    *,
    pheno: _PathLike | None = None,
    target: str | None = None,
    covar: _PathLike | None = None,
    covariates: str | Iterable[str] = (),
    count: str = "A1",
    chromosomes: str | int | Iterable[str | int] = (),
    maf: float | None = None,
    geno: float | None = None,
    like: Genotypes | None = None,
) -> Genotypes:
    """Reads genotypes of PLINK 1: a ``.bed`` with its ``.bim`` and ``.fam``.

    Parameters
    ----------
    prefix : str or path
        What the names of the three files begin with, or the name of one of them.
    pheno : str or path, default=None
        A table of phenotypes with a column ``IID``, and ``FID`` if families matter; without a first line of names, as PLINK allows,
        its columns are ``FID``, ``IID``, ``PHENO1``, ``PHENO2`` and so on. -9 and NA are missing.
    target : str, default=None
        The phenotype to read, which may be left out where ``pheno`` has one only; ``"phenotype"`` is that of the ``.fam``. Samples
        without it are left out. If neither it nor ``pheno`` nor ``covariates`` is given, all samples are read, and ``y`` is None.
    covar : str or path, default=None
        A table of covariates, in the same way; those in ``pheno`` need none.
    covariates : str or list of str, default=()
        Columns of these tables that are columns of ``X`` behind the variants, or patterns such as ``"PC*"``; ``"sex"`` is that of the
        ``.fam`` if no table has it. Samples without one are left out.
    count : {"A1", "A2"}, default="A1"
        The allele that is counted, as the ``.bim`` has them; PLINK counts the first.
    chromosomes : str, int or list of these, default=()
        The chromosomes to read, such as ``"1-22,X"``; all if empty.
    maf : float, default=None
        Variants whose rarer allele has a smaller share are left out.
    geno : float, default=None
        Variants of which a larger share is missing are left out.
    like : Genotypes, default=None
        Read the same columns for another cohort: the variants by name, each by the allele that was counted there, whichever comes
        first here, and its means where values are missing. Only ``pheno``, ``target`` and ``covar`` can be given with it.

    Returns
    -------
    Genotypes

    Raises
    ------
    ValueError
        If the files do not belong together, are no genotypes or lack what was asked for.
    OSError
        If one of them cannot be read.
    """
    if count not in ("A1", "A2"):
        raise ValueError(f"count = {count!r}; allowed: 'A1' or 'A2'")
    for name, share in {"maf": maf, "geno": geno}.items():
        if share is not None and not 0.0 <= _parameters.real(name, share) <= 1.0:
            raise ValueError(f"{name} = {share!r}; allowed: a number from 0 to 1")
    asked: Any = {
        "pheno": None if pheno is None else os.fspath(pheno),
        "target": target,
        "covar": None if covar is None else os.fspath(covar),
        "covariates": _texts(covariates),
        "a2": count == "A2",
        "chromosomes": _texts(chromosomes),
        "maf": maf,
        "geno": geno,
    }
    known = None
    if like is not None:
        given = [name for name in ("covariates", "chromosomes", "maf", "geno") if asked[name] not in (None, [])]
        if given or count != "A1":
            raise ValueError(f"{(given or ['count'])[0]} is decided by like; leave it out")
        known = (like.names, like.means.tolist(), like._encodings)
    read = _core.read_genotypes(os.fspath(prefix), asked, known)
    X, y, names = read["X"], read["y"], read["names"]
    if like is not None:
        # The columns come in the order of the file.
        places = {name: place for place, name in enumerate(names)}
        order = [places[name] for name in like.names]
        if order != list(range(len(names))):
            X = np.asfortranarray(X[:, order])
        names = list(like.names)
    return Genotypes(
        X=X,
        y=None if y is None else np.asarray(y),
        names=names,
        ids=read["ids"],
        means=X.mean(axis=0) if like is None else like.means,
        counts=read["told"] | {"filled": read["filled"]},
        _encodings=read["encodings"] if like is None else like._encodings,
    )


def _texts(values: str | int | Iterable[str | int]) -> list[str]:
    if isinstance(values, str | int):
        return [str(values)]
    return [str(value) for value in values]
