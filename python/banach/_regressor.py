"""Regression."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.metrics import d2_tweedie_score
from sklearn.utils.validation import validate_data

from . import _core, _names, _outputs, _parameters
from ._base import NUMBERS, IntervalMixin, aligned
from ._doc import with_parameters
from ._lp_model import LpModel


def _exposed(exposure: Any, offset: Any) -> dict[str, np.ndarray]:
    """What was given of an exposure and its logarithm, of which one is enough."""
    given = {"exposure": exposure, "offset": offset}
    given = {name: value for name, value in given.items() if value is not None}
    if len(given) > 1:
        raise ValueError("offset is the logarithm of exposure; give one of them")
    return {name: _numbers(name, value) for name, value in given.items()}


def _numbers(name: str, value: Any) -> np.ndarray:
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.ndim != 1:
        raise ValueError(f"{name}: allowed: one number for every sample")
    return aligned(np.ascontiguousarray(numbers))


def _columns_of(X: Any) -> list[Any]:
    """The names of the columns of a data frame."""
    return list(getattr(X, "columns", []))


class _Regression(IntervalMixin, MultiOutputMixin, RegressorMixin, LpModel):
    """Numbers in, numbers out."""

    _task = "regression"
    #: Of a model from a file, the column of exposures, and whether it has their logarithms.
    _exposure: tuple[str, bool] | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.loss == "poisson"
        return tags

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, exposure: Any = None, offset: Any = None
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        columns, target = _outputs.columns_of(y), _names.of_target(y)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=NUMBERS, multi_output=True, y_numeric=True)
        outputs = aligned(np.ascontiguousarray(np.atleast_2d(np.asarray(y, dtype=np.float64).T)))
        self._single, self._functions = np.ndim(y) == 1, len(outputs)
        self._output_names, self._target = columns, target
        weights = self._weights(sample_weight, X)
        given = _exposed(exposure, offset)
        if given:
            outputs, weights = self._spec().rates(outputs, weights, **given)
        return self._training_table(X), outputs, weights

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        alpha, intercept, weights = model.alpha, model.intercept, model.weights
        self.dual_coef_ = alpha[0] if self._single else alpha
        self.intercept_ = float(intercept[0]) if self._single else intercept
        if weights is not None:
            self.coef_ = weights[0] if self._single else weights

    def predict(self, X: Any, exposure: Any = None, offset: Any = None) -> np.ndarray:
        """Predictions, of shape (n_samples,) or (n_samples, n_outputs).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        exposure, offset : array of shape (n_samples,), optional
            With ``loss="poisson"``, what each sample is exposed to, or the logarithm of it. The prediction is a mean count,
            ``exposure * exp(<w, Phi(x)> + b)``, and a rate without them. A model that ``banach fit`` has fitted with a column of
            exposures takes them from this column of a data frame.
        """
        self._check_fitted()
        return self._responses(X, self._exposures(X, exposure, offset))

    def _responses(self, X: Any, exposed: dict[str, np.ndarray]) -> np.ndarray:
        """Counts under exposures, and rates without them."""
        values = self._model.responses(self._check_X(X), **exposed)
        return values[0] if self._single else np.ascontiguousarray(values.T)

    def _exposures(self, X: Any, exposure: Any, offset: Any) -> dict[str, np.ndarray]:
        """What was given, or what the column has that the file of the model names."""
        given = _exposed(exposure, offset)
        if self._exposure is None or given:
            return given
        column, is_offset = self._exposure
        kind = "offset" if is_offset else "exposure"
        if column not in _columns_of(X):
            raise ValueError(
                f"the model predicts counts by the {kind} in column {column!r}, which X lacks; give a data frame with this column, or "
                f"{kind}= one number for every sample ({'zeros' if is_offset else 'ones'} for rates)"
            )
        return {kind: _numbers(column, X[column])}

    def _validated(self, X: Any) -> Any:
        if self._exposure is not None and self._exposure[0] in (columns := _columns_of(X)):
            X = X[[name for name in columns if name != self._exposure[0]]]
        return super()._validated(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, offset: Any = None) -> float:
        """R^2 of the predictions; with ``loss="poisson"`` D^2, the share of the deviance that they explain."""
        if self.loss != "poisson":
            if _exposed(exposure, offset):
                raise ValueError(f"an exposure or an offset belongs to loss='poisson', and loss={self.loss!r}")
            return super().score(X, y, sample_weight)
        counts = np.atleast_2d(np.asarray(y, dtype=np.float64).T)
        weights, given = self._weights(sample_weight, X), self._exposures(X, exposure, offset)
        if given:
            counts, weights = self._spec().rates(np.ascontiguousarray(counts), weights, **given)
        self._check_fitted()
        rates = np.atleast_2d(self._responses(X, {}).T)
        least = np.finfo(np.float64).tiny
        return float(
            np.mean(
                [
                    d2_tweedie_score(count, np.maximum(rate, least), sample_weight=weights, power=1)
                    for count, rate in zip(counts, rates, strict=True)
                ]
            )
        )


@with_parameters
class LpRegressor(_Regression):
    """Regression by l^p regularisation with tensor kernels: sparse and nonlinear for p near 1.

    Minimises ``C sum_i L(y_i, <w, Phi(x_i)> + b) + (1/p) ||w||_p^p`` over w and b, where Phi lists the monomials of a
    kernel, through its dual in n variables: the number of monomials may be very large, or infinite. Every fit comes with
    a duality gap, which bounds how far its objective is from the optimum.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from banach import LpRegressor, datasets
    >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=60, n_features=12, n_informative=2, random_state=0)
    >>> model = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, y)
    >>> model.duality_gap_ <= 1e-8
    True
    >>> sorted(model.top_features(2)["exponents"]) == sorted(monomial for monomial, weight in truth)
    True
    """

    def __init__(
        self,
        p=4 / 3,
        *,
        C=1.0,
        kernel="linear",
        degree=None,
        monomials="raw",
        coef0=0.0,
        scale=1.0,
        normalize_kernel=False,
        standardize=False,
        loss="squared",
        epsilon=0.1,
        rho=1.35,
        quantile=0.5,
        fit_intercept=True,
        tol=1e-8,
        max_iter=1000,
        solver="auto",
        solver_options=None,
        route="auto",
        memory_limit=None,
        n_jobs=None,
        verbose=0,
    ):
        self.p = p
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.monomials = monomials
        self.coef0 = coef0
        self.scale = scale
        self.normalize_kernel = normalize_kernel
        self.standardize = standardize
        self.loss = loss
        self.epsilon = epsilon
        self.rho = rho
        self.quantile = quantile
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.solver_options = solver_options
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None, exposure=None, offset=None):
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A float64, float32 or int8 array in Fortran's order is used where it is; anything else is copied once. The model keeps a
            reference to it, so do not write to it afterwards.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The targets; with ``loss="poisson"`` counts, numbers >= 0 that need not be whole.
        sample_weight : array of shape (n_samples,), optional
            What each sample counts; one of weight 0 is absent.
        exposure, offset : array of shape (n_samples,), optional
            With ``loss="poisson"``, what each sample was exposed to (days, areas, people), above 0, or the logarithm of it:
            the mean of a count is ``exposure * exp(<w, Phi(x)> + b)``.

        Returns
        -------
        self
        """
        self._forget()
        spec, C = self._spec(), _parameters.real("C", self.C, "a finite number > 0")
        X, y, weights = self._check_data(X, y, sample_weight, exposure, offset)
        self._fit_function(spec, X, y, weights, C, names=self._columns_to_judge())
        return self
