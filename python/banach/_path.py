"""Models along increasing C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core, _names, _outputs, _parameters
from ._classifier import LpClassifier
from ._regressor import LpRegressor
from ._warnings import warn_of_fits


@dataclass(frozen=True, eq=False)
class LpPath:
    """The solutions of one problem for every C.

    Attributes
    ----------
    Cs : array of shape (n_Cs,)
        The values of C, increasing.
    coefs : array of shape (n_Cs, n_weights) or None
        The weights, where the features are listed.
    dual_coefs : array of shape (n_Cs, n_samples)
        The dual vectors.
    predictions : array of shape (n_Cs, n_samples)
        What the models say of the samples.
    intercepts, duality_gaps, primal_values, n_iters : arrays of shape (n_Cs,)
        The constants, the relative duality gaps, the objectives and the iterations.
    output : str or None
        Of several paths, the class or the column of y that this one is of.
    """

    Cs: np.ndarray
    coefs: np.ndarray | None
    dual_coefs: np.ndarray
    predictions: np.ndarray
    intercepts: np.ndarray
    duality_gaps: np.ndarray
    primal_values: np.ndarray
    n_iters: np.ndarray
    output: str | None = None

    @classmethod
    def of(cls, found: Mapping[str, Any], output: str | None = None) -> LpPath:
        return cls(
            output=output,
            Cs=found["Cs"],
            coefs=found["coefs"],
            dual_coefs=found["dual_coefs"],
            predictions=found["predictions"],
            intercepts=found["intercepts"],
            duality_gaps=found["gaps"],
            primal_values=found["primal"],
            n_iters=np.array(found["iterations"]),
        )

    def __repr__(self) -> str:
        of = "" if self.output is None else f"{self.output}: "
        return f"LpPath({of}{_names.counted(len(self.Cs), 'value', 'values')} of C from {self.Cs[0]:.3g} to {self.Cs[-1]:.3g}, largest gap {self.duality_gaps.max():.1e})"


def lp_path(X: Any, y: Any, *, Cs: Any = 30, sample_weight: Any = None, **params: Any) -> LpPath | list[LpPath]:
    """The models for every C of a grid, each from the one before it, all in few passes over the data.

    Parameters
    ----------
    X, y, sample_weight
        As in :meth:`LpRegressor.fit` or, for labels, :meth:`LpClassifier.fit`.
    Cs : int or array, default=30
        Values of C, or how many; the data tell their range.
    **params
        Parameters of :class:`LpRegressor`, or of :class:`LpClassifier` if y holds classes that are not numbers or the
        loss is one for classes.

    Returns
    -------
    LpPath, or a list of them for several outputs or classes.

    Examples
    --------
    >>> from banach import datasets, lp_path
    >>> X, y, truth = datasets.make_sparse_linear(n_samples=40, n_features=100, n_informative=3, random_state=0)
    >>> path = lp_path(X, y, p=1.1, Cs=5)
    >>> path.coefs.shape
    (5, 100)
    """
    if "C" in params:
        raise _parameters.refused("C", params["C"], "no value: a path has many, Cs")
    classes = params.get("loss") in _core.losses("classification") or (
        "loss" not in params and _parameters.holds_classes(y)
    )
    model = LpClassifier(**params) if classes else LpRegressor(**params)
    spec = model._spec()
    given, count = _parameters.grid(Cs)
    X, y, weights = model._check_data(X, y, sample_weight)
    long = spec.long_fit(X, model._functions, count or len(given or ()))
    model._warn_before(model._unequal_scales(spec, X), long)
    with model._bar("path", (count or len(given or ())) * model._functions) as bar:
        found = spec.path(X, y, weights, Cs=given, count=count, progress=bar.callback)
    names = [_outputs.name(model, at, len(found)) if len(found) > 1 else None for at in range(len(found))]
    paths = [LpPath.of(one, name) for one, name in zip(found, names, strict=True)]
    warn_of_fits("path", sum(int(np.sum(path.duality_gaps > model.tol)) for path in paths))
    return paths[0] if len(paths) == 1 else paths
