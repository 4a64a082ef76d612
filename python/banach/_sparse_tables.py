"""What the tables of a model of few terms say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core, _names
from ._sparse_certificates import DualityGap, LocalOptimality, Stationarity, held
from ._table import Table

#: The column that says of which class rows are, given how many rows every function has; nothing of one function.
OfClass = Callable[[list[int]], dict[str, Any]]


class Alternatives(list[tuple[str, float]]):
    """Monomials that could stand in the place of a term, each with how much the criterion rises."""

    def __str__(self) -> str:
        """The first of them, and how many others there are."""
        if not self:
            return ""
        name, evidence = self[0]
        more = f", {len(self) - 1} more" if len(self) > 1 else ""
        # Two decimals are enough, and rounding has no sign.
        return f"{name} ({abs(evidence) if abs(evidence) < 0.005 else evidence:.2f}){more}"


def terms(
    functions: list[_core.SparseFunction], names: list[str] | None, of_class: OfClass, *, penalized: bool
) -> dict[str, Any]:
    """The columns of the terms of all functions."""

    def named(monomial: _names.Monomial) -> str:
        return _names.monomial(monomial, names)

    def joined(value: Any) -> np.ndarray:
        return np.concatenate([value(function) for function in functions])

    monomials = [monomial for function in functions for monomial in function.monomials]
    columns = of_class([len(function.monomials) for function in functions])
    columns |= {
        "monomial": [named(monomial) for monomial in monomials],
        "exponents": monomials,
        "coefficient": joined(lambda function: function.coefficients),
    }
    if penalized:
        columns["refit"] = joined(lambda function: function.refits)
    columns |= {
        "std_error": joined(lambda function: function.std_errors),
        "lower": joined(lambda function: function.lower),
        "upper": joined(lambda function: function.upper),
        "evidence": joined(lambda function: function.evidence),
        "alternatives": [
            Alternatives((named(monomial), evidence) for monomial, evidence in others)
            for function in functions
            for others in function.alternatives
        ],
    }
    return columns


def caption(
    functions: list[_core.SparseFunction],
    certificates: list[LocalOptimality | DualityGap | Stationarity],
    rows: tuple[int, float | None],
    instead: str,
) -> str:
    """What holds of the terms, in a sentence; of several functions, of the one that is worst off. ``rows`` are their number and weight,
    and ``instead`` is what to use where nothing can be named."""
    count = _names.counted(int(functions[0].dictionary), "monomial", "monomials")
    named = [len(function.monomials) for function in functions]
    if not any(named):
        n_samples, weight = rows
        told = _names.counted(n_samples, "row", "rows")
        if weight is not None:
            told += f" of the total weight {weight:g}"
        return f"None of the {count} can be named with {told}; to predict, use {instead}."
    errors = "standard errors and intervals are conditional on the selection"
    worst = min(certificates, key=lambda certificate: certificate.holds)
    said = f"{held(worst, count)}; {errors}."
    if isinstance(worst, LocalOptimality) and len(functions) == 1 and np.isinf(worst.addition):
        said += f" More than {named[0]} {'term was' if named[0] == 1 else 'terms were'} not looked for."
    if any(function.separated for function in functions):
        said += (
            " The terms separate classes without an error, so that larger coefficients always fit better: a weak prior "
            "holds them back, and they have no standard errors."
        )
    if any(function.centres is not None for function in functions):
        said += " Products are those of the variables less their means."
    return said


def path(functions: list[_core.SparseFunction], of_class: OfClass) -> Table:
    """The best of every number of terms."""
    sizes = [size for function in functions for size in function.sizes]
    terms, unexplained, criteria = (np.array(column) for column in zip(*sizes, strict=True))
    columns = of_class([len(function.sizes) for function in functions])
    columns |= {"terms": terms, "unexplained": unexplained, "criterion": criteria}
    return Table(
        columns,
        caption="The best of every number of terms that was found; the one with the smallest criterion is the model.",
    )


def contributions(function: _core.SparseFunction, values: np.ndarray, names: list[str] | None) -> Table:
    """What every term adds to the constant, given one row of values per term."""
    columns = {_names.monomial(monomial, names): row for monomial, row in zip(function.monomials, values, strict=True)}
    said = f"The constant {function.intercept:.4g} and these are the predictions."
    return Table(columns, caption=said, constant=function.intercept)


def stability(
    found: list[list[tuple[_names.Monomial, float]]], names: list[str] | None, of_class: OfClass, n_resamples: int
) -> Table:
    """How often monomials were named again."""
    named = [pair for function in found for pair in function]
    columns = of_class([len(function) for function in found])
    columns |= {
        "monomial": [_names.monomial(monomial, names) for monomial, _ in named],
        "exponents": [monomial for monomial, _ in named],
        "share": np.array([share for _, share in named], dtype=float),
    }
    return Table(columns, caption=f"Of {n_resamples} searches without a fifth of the samples.")
