"""Columns of a table as the command takes them: labels become columns of 0 and 1, and what is missing is filled in."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array

from . import _core, _names


def is_missing(value: Any) -> bool:
    """Whether a value says by its kind that there is none: None, NaN, NaT, and NA of pandas, whose comparisons have no truth."""
    try:
        return value is None or bool(value != value)
    except TypeError:
        return True


def label_of(value: Any) -> str | None:
    """A label as a file with this value has it, or None where it has none there: "?" and "NA" are missing, and numbers that are equal
    are one label, however they are written."""
    if is_missing(value):
        return None
    # A number of fewer digits is that of all its digits, as in files of numbers.
    return _core.cell_label(repr(float(value)) if isinstance(value, (float, np.floating)) else str(value))


def number_of(value: Any) -> float | None:
    """A number as a file with this value has it: NaN for a missing one, and None for what is no number."""
    if is_missing(value):
        return np.nan
    if isinstance(value, str):
        return _core.cell_number(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def shown(labels: list[str]) -> list[str]:
    """The labels that have a column of their own: of two only the second."""
    return labels[1:] if len(labels) == 2 else labels


class ColumnEncoder(TransformerMixin, BaseEstimator):
    """What a model file says of its columns, as the first step of a pipeline.

    It takes a data frame with the columns of the file that the model was fitted to, by their names and in any order, and
    gives the variables of the model. :func:`banach.load` makes it; there is nothing to fit.

    Parameters
    ----------
    names : list of str
        The variables.
    encodings : list of (str, list of str)
        Columns of labels and their labels. Every label becomes a variable ``column=label``; of two, only the second does.
    fills : array or None
        For every variable what it is where a value is missing, or where a label is unknown and ignored.
    imputes : bool
        Whether missing values are filled in; they are refused otherwise.
    ignores_unknown : bool
        Whether labels that the model has not met are taken for missing ones; they are refused otherwise.
    """

    def __init__(self, names, encodings=(), fills=None, imputes=False, ignores_unknown=False):
        self.names = names
        self.encodings = encodings
        self.fills = fills
        self.imputes = imputes
        self.ignores_unknown = ignores_unknown

    def fit(self, X: Any, y: Any = None) -> ColumnEncoder:
        """Does nothing: all is known."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The variables."""
        return np.asarray(self.names, dtype=object)

    def transform(self, X: Any) -> np.ndarray:
        """The variables of every row. An array without names has them already."""
        if not hasattr(X, "columns"):
            return check_array(X, dtype=np.float64, ensure_all_finite=True)
        known = {f"{column}={label}": (column, label) for column, labels in self.encodings for label in shown(labels)}
        have, columns = {str(name): name for name in X.columns}, {}
        values = np.empty((len(X), len(self.names)), order="F")
        missing = [
            source for name in self.names if name not in have and (source := known.get(name, (name,))[0]) not in have
        ]
        if missing:
            raise ValueError(f"the data lack columns that the model is made of: {', '.join(dict.fromkeys(missing))}")
        for at, name in enumerate(self.names):
            fill = None if self.fills is None else float(self.fills[at])
            column, label = known.get(name, (name, None))
            if label is None or column not in have:
                values[:, at] = self._numbers(name, X[have[name]], fill)
                continue
            if column not in columns:
                columns[column] = self._labels(column, X[have[column]])
            labels, unknown = columns[column]
            values[:, at] = labels == label
            if unknown.any():
                values[unknown, at] = 0.0 if fill is None else fill
        return values

    def _numbers(self, name: str, column: Any, fill: float | None) -> np.ndarray:
        cells = np.asarray(column)
        if cells.dtype.kind in "biuf":
            values = np.array(cells, dtype=np.float64)
        else:
            # Times are numbers to numpy only.
            raw = cells.tolist() if cells.dtype.kind in "OUST" else [str(value) for value in cells]
            told = [number_of(value) for value in raw]
            if None in told:
                row = told.index(None)
                raise ValueError(
                    f"column {name!r}: the model was fitted to numbers in this column; {raw[row]!r} of row {row} is none"
                )
            values = np.array(told, dtype=np.float64)
        gaps = np.isnan(values)
        if gaps.any():
            if not self.imputes or fill is None:
                raise ValueError(
                    f"column {name!r}: {_names.counted(gaps.sum(), 'value is', 'values are')} missing, the first in row {gaps.argmax()}; fill them in, or fit the "
                    "model with missing values filled in (banach fit --impute mean), so that it knows what to do"
                )
            values[gaps] = fill
        return values

    def _labels(self, name: str, column: Any) -> tuple[np.ndarray, np.ndarray]:
        """The label of every row, and which are to be taken for missing."""
        known = set(next(labels for column, labels in self.encodings if column == name))
        # Formats that tell text from numbers keep labels such as "01".
        as_is = [value.strip() if isinstance(value, str) else value for value in np.asarray(column, dtype=object)]
        told = [value if isinstance(value, str) and value in known else label_of(value) for value in as_is]
        gaps = np.array([label is None for label in told], dtype=bool)
        labels = np.array(["" if label is None else label for label in told], dtype=object)
        unknown = ~gaps & np.array([label not in known for label in told], dtype=bool)
        if unknown.any() and not self.ignores_unknown:
            raise ValueError(
                f"column {name!r}: the model was fitted without the label {labels[unknown.argmax()]!r} of row {unknown.argmax()}; correct "
                "it, leave the row out, or set model[0].ignores_unknown = True: then the row counts as one whose label is not known"
            )
        if gaps.any() and not self.imputes:
            raise ValueError(
                f"column {name!r}: {_names.counted(gaps.sum(), 'label is', 'labels are')} missing, the first in row {gaps.argmax()}"
            )
        return labels, gaps | unknown


class ModelPipeline(Pipeline):
    """A pipeline of what is done to columns and a fitted model, as :func:`banach.load` makes it."""

    def predict(self, X: Any, **params: Any) -> np.ndarray:
        """Predictions of the model. Where it has a column of exposures, this is taken from the data frame."""
        return super().predict(X, **self._exposed(X, params))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any) -> float:
        """The score of the model."""
        told = self._exposed(X, params)
        return self[-1].score(self[:-1].transform(X), y, sample_weight=sample_weight, **told)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals around the predictions, as those of the model; see :meth:`banach.LpRegressorCV.predict_interval`."""
        return self[-1]._interval(self.predict(X), coverage)

    def _exposed(self, X: Any, params: dict[str, Any]) -> dict[str, Any]:
        """The parameters of a prediction, with the exposures of samples where the model has a column of these."""
        if getattr(self[-1], "_exposure", None) is None:
            return params
        exposure, offset = params.pop("exposure", None), params.pop("offset", None)
        return params | self[-1]._exposures(X, exposure, offset)

    def save(self, path: Any) -> None:
        """Writes the pipeline to a file, for :func:`banach.load` and the ``banach`` command."""
        from ._files import save

        save(self, path)
