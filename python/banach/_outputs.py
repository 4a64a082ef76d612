"""Which function of a model is meant: by the name of its class or column, or by its number."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from . import _parameters


def names(estimator: Any, count: int) -> list[str] | None:
    """What so many functions of a fitted estimator are called: their classes, or the columns of y; None if they have no names.

    Two classes have one function, which is positive for the second.
    """
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        columns = getattr(estimator, "_output_names", None)
        return columns if columns is not None and len(columns) == count else None
    return [str(label) for label in (classes[1:] if count == 1 else classes)]


def name(estimator: Any, place: int, count: int) -> str:
    """What one of so many functions is called."""
    known = names(estimator, count)
    return f"output {place}" if known is None else known[place]


def place(estimator: Any, output: Any, count: int) -> int:
    """The number of the function that is meant by its name or its number, of so many."""
    known = names(estimator, count)
    allowed = "0" if count == 1 else f"a whole number from 0 to {count - 1}"
    if known is not None:
        allowed += f" or a name: {', '.join(repr(name) for name in known)}"
    if isinstance(output, numbers.Integral) and not isinstance(output, (bool, np.bool_)):
        if 0 <= int(output) < count:
            return int(output)
        raise _parameters.refused("output", output, allowed)
    if known is not None and str(output) in known:
        return known.index(str(output))
    classes = getattr(estimator, "classes_", None)
    if classes is not None and count == 1 and str(output) == str(classes[0]):
        raise ValueError(
            f"output = {output!r}: two classes have one function, which is above 0 for {known[0]!r} and below for {str(output)!r}; "  # type: ignore[index]
            f"ask for {known[0]!r}, and turn the signs around"  # type: ignore[index]
        )
    raise _parameters.refused("output", output, allowed)


def columns_of(y: Any) -> list[str] | None:
    """The names of the columns of a data frame of targets."""
    columns = getattr(y, "columns", None)
    return None if columns is None or np.ndim(y) != 2 else [str(column) for column in columns]
