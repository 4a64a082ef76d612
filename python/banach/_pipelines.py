"""What the steps before a model do to columns, as far as a model file can say it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

from ._columns import ColumnEncoder, is_missing, label_of, shown


@dataclass(frozen=True)
class Variable:
    """One column that a model sees: ``(x - mean)/deviation`` of a column, or of whether it has a label."""

    column: str
    label: str | None = None
    mean: float = 0.0
    deviation: float = 1.0
    fill: float | None = None

    @property
    def name(self) -> str:
        return self.column if self.label is None else f"{self.column}={self.label}"

    def scaled(self, mean: float, deviation: float) -> Variable:
        """The same with another ``(x - mean)/deviation`` behind it."""
        return replace(self, mean=self.mean + self.deviation * mean, deviation=self.deviation * deviation)


class Trace:
    """The variables behind every step, and what was learned of labels."""

    def __init__(self) -> None:
        self.encodings: dict[str, list[str]] = {}
        self.ignores_unknown = False

    def through(self, name: str, step: Any, variables: list[Variable]) -> list[Variable]:
        """The variables behind a step."""
        if step == "passthrough" or step is None or (isinstance(step, FunctionTransformer) and step.func is None):
            return variables
        if isinstance(step, Pipeline):
            for inner, one in step.steps:
                variables = self.through(f"{name}.{inner}", one, variables)
            return variables
        if isinstance(step, ColumnTransformer):
            return self._of_columns(name, step, variables)
        if isinstance(step, ColumnEncoder):
            return self._encoded(step)
        if isinstance(step, OneHotEncoder):
            return self._one_hot(name, step, variables)
        if isinstance(step, SimpleImputer):
            return self._imputed(name, step, variables)
        scales = _scaling(step, len(variables))
        if scales is None:
            raise _unsaved(name, step, "what it does is none of these")
        return [
            one.scaled(float(mean), float(deviation)) for one, mean, deviation in zip(variables, *scales, strict=True)
        ]

    def _of_columns(self, name: str, step: ColumnTransformer, variables: list[Variable]) -> list[Variable]:
        names = [variable.name for variable in variables]
        found = []
        for inner, one, chosen in step.transformers_:
            if isinstance(one, str) and one == "drop":
                continue
            places = (
                np.arange(len(names))[chosen]
                if not _by_name(chosen)
                else [names.index(str(c)) for c in np.atleast_1d(chosen)]
            )
            found += self.through(f"{name}.{inner}", one, [variables[place] for place in np.atleast_1d(places)])
        return found

    def _encoded(self, step: ColumnEncoder) -> list[Variable]:
        self.encodings |= {column: list(labels) for column, labels in step.encodings}
        self.ignores_unknown |= step.ignores_unknown
        known = {f"{column}={label}": (column, label) for column, labels in step.encodings for label in shown(labels)}
        fills = [None] * len(step.names) if step.fills is None or not step.imputes else step.fills

        def variable(name: str, fill: float | None) -> Variable:
            column, label = known.get(name, (name, None))
            return Variable(column, label, fill=fill)

        return [variable(name, fill) for name, fill in zip(step.names, fills, strict=True)]

    def _one_hot(self, name: str, step: OneHotEncoder, variables: list[Variable]) -> list[Variable]:
        if getattr(step, "infrequent_categories_", None) is not None and any(
            rare is not None for rare in step.infrequent_categories_
        ):
            raise _unsaved(name, step, "it puts rare labels together")
        found = []
        dropped = step.drop_idx_ if step.drop_idx_ is not None else [None] * len(variables)
        for variable, categories, drop in zip(variables, step.categories_, dropped, strict=True):
            if variable.label is not None or (variable.mean, variable.deviation) != (0.0, 1.0):
                raise _unsaved(name, step, "it encodes what another step has made")
            found_labels = [label_of(value) for value in categories]
            labels = [label for label in found_labels if label is not None]
            if len(labels) < len(found_labels):
                gap = categories[found_labels.index(None)]
                called = "a missing value" if is_missing(gap) else f"{gap!r}, which in files is a missing value,"
                raise _unsaved(name, step, f"{called} is one of the labels of {variable.column!r}")
            if len(set(labels)) < len(labels):
                raise _unsaved(
                    name, step, f"two labels of {variable.column!r} are one number, which in files is one label"
                )
            kept = [label for at, label in enumerate(labels) if at != drop]
            if kept != shown(labels):
                raise _unsaved(
                    name,
                    step,
                    f"the labels of {variable.column!r} have other columns than files have: one for every label, and of two labels only the "
                    'second; OneHotEncoder(drop="if_binary") makes these',
                )
            self.encodings[variable.column] = labels
            found += [Variable(variable.column, label, fill=0.0) for label in kept]
        self.ignores_unknown |= step.handle_unknown != "error"
        return found

    def _imputed(self, name: str, step: SimpleImputer, variables: list[Variable]) -> list[Variable]:
        if step.add_indicator or not isinstance(step.missing_values, float) or step.statistics_.dtype.kind != "f":
            raise _unsaved(name, step, "it fills in something else than numbers for NaN")
        if np.isnan(step.statistics_).any():
            raise _unsaved(name, step, "it leaves columns without a value out")
        return [
            replace(one, fill=one.mean + one.deviation * float(value))
            for one, value in zip(variables, step.statistics_, strict=True)
        ]


def _by_name(chosen: Any) -> bool:
    first = chosen if isinstance(chosen, str) else next(iter(np.atleast_1d(chosen)), 0)
    return isinstance(first, str)


def _scaling(step: Any, count: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Mean and deviation of every column of a scaler."""
    zeros, ones = np.zeros(count), np.ones(count)
    if isinstance(step, StandardScaler):
        return step.mean_ if step.with_mean else zeros, ones if step.scale_ is None else step.scale_
    if isinstance(step, RobustScaler):
        return zeros if step.center_ is None else step.center_, ones if step.scale_ is None else step.scale_
    if isinstance(step, MinMaxScaler) and not step.clip:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    if isinstance(step, MaxAbsScaler):
        return zeros, step.scale_
    return None


def _unsaved(name: str, step: Any, why: str) -> ValueError:
    return ValueError(
        f"the step {name!r} ({type(step).__name__}) has no place in a model file, as {why}; a file can hold OneHotEncoder for columns of text, "
        "SimpleImputer and StandardScaler, RobustScaler, MinMaxScaler or MaxAbsScaler for numbers, also in a ColumnTransformer. Save the "
        "whole pipeline with joblib.dump, or the model alone with banach.save(pipeline[-1], path)"
    )


def known_of(pipeline: Pipeline) -> dict[str, Any]:
    """What the steps before the model say of columns, in the words of a model file."""
    first = pipeline[0]
    encoder = isinstance(first, ColumnEncoder)
    names = getattr(pipeline, "feature_names_in_", None) if not encoder else first.names
    count = len(names) if names is not None else first.n_features_in_
    named = names is not None
    names = [str(name) for name in names] if names is not None else [f"x{at}" for at in range(count)]
    trace, variables = Trace(), [Variable(name) for name in names]
    for name, step in pipeline.steps[:-1]:
        variables = trace.through(name, step, variables)
    if trace.encodings and not named:
        raise ValueError(
            "a pipeline with labels can be saved if it was fitted to a data frame, whose columns have names"
        )
    scaled = any((one.mean, one.deviation) != (0.0, 1.0) for one in variables)
    plain = scaled or any(isinstance(step, StandardScaler) for step in pipeline)
    fills = [one.mean if one.fill is None else one.fill for one in variables]
    return {
        "names": [one.name for one in variables] if named else None,
        "scaling": (
            (
                np.array([one.mean for one in variables]),
                np.zeros(len(variables)),
                np.array([one.deviation for one in variables]),
            )
            if plain
            else None
        ),
        "encodings": list(trace.encodings.items()),
        "fills": fills if any(one.fill is not None for one in variables) else None,
        "imputes": any(one.fill is not None and one.label is None for one in variables),
        "ignores_unknown": trace.ignores_unknown,
    }
