"""The base of the estimators with a penalty: from parameters and data to the compiled part."""

from __future__ import annotations

import numbers
import sys
from typing import Any

import numpy as np
import scipy.sparse

from . import _core, _parameters, kernels
from ._base import splits_of, table_of
from ._described import DescribedModel
from ._warnings import ScaleWarning, warn, warn_of_convergence

#: What a fit leaves behind.
_OF_A_FIT = (
    "dual_coef_",
    "intercept_",
    "coef_",
    "n_nonzero_",
    "sparse_coef_",
    "duality_gap_",
    "primal_value_",
    "dual_value_",
    "n_iter_",
    "n_evaluations_",
    "route_",
    "status_",
    # Of columns that were standardised.
    "mean_",
    "scale_",
    # Of a search.
    "cv_results_",
    "n_splits_",
    "best_index_",
    "best_params_",
    "best_score_",
    "assessment_",
    "verdict_",
    "C_",
)


class LpModel(DescribedModel):
    """The base of the estimators with a penalty. Subclasses have the parameters; this class reads them."""

    _task: str

    def _spec(self, **changes: Any) -> _core.Spec:
        """The parameters, checked; ``changes`` stand in for those that a search varies."""
        # Attributes rather than get_params: a subclass may have fewer parameters.
        told = {**vars(self), **changes}
        kernel = kernels.chosen(
            told["kernel"],
            degree=told["degree"],
            coef0=told["coef0"],
            scale=told["scale"],
            normalize=told["normalize_kernel"],
        )
        route = _parameters.text("route", told["route"], "auto, features, tiles, gram or streamed")
        return _core.Spec(
            task=self._task,
            p=_parameters.exponent(told["p"]),
            kernel=kernel,
            monomials=_parameters.text("monomials", told["monomials"], "raw, unit or standardized"),
            loss=_parameters.text("loss", told["loss"], "the name of a loss"),
            epsilon=_parameters.real("epsilon", told.get("epsilon", 0.1)),
            rho=_parameters.real("rho", told.get("rho", 1.35)),
            quantile=_parameters.real("quantile", told.get("quantile", 0.5)),
            fit_intercept=_parameters.boolean("fit_intercept", told["fit_intercept"]),
            tol=_parameters.real("tol", told["tol"], "a finite number >= 0"),
            max_iter=_parameters.whole("max_iter", told["max_iter"], "a whole number >= 1", least=1),
            solver=_parameters.text("solver", told["solver"], "auto, newton or paper"),
            solver_options=_parameters.solver_options(told["solver_options"]),
            route=None if route == "auto" else route,
            memory=_parameters.memory(told["memory_limit"]),
            threads=_parameters.threads(told["n_jobs"]),
        )

    def _forget(self) -> None:
        """Takes back an earlier fit, so that one that fails leaves nothing that looks fitted."""
        for name in (
            "_model",
            "_validation",
            "_assessment",
            "_scaling",
            "_output_names",
            "_target",
            "_exposure",
            *_OF_A_FIT,
        ):
            self.__dict__.pop(name, None)

    def _training_table(self, X: Any) -> Any:
        """The samples of a fit, standardised on request."""
        table = table_of(X)
        if _parameters.boolean("standardize", self.standardize):
            table, mean, correction, deviation = _core.standardize(table)
            self._scaling = mean, correction, deviation
            self.mean_, self.scale_ = mean, deviation
            return table
        return table

    def _fit_function(self, spec: _core.Spec, X: Any, y: Any, weights: Any, C: float, **given: Any) -> None:
        """Fits to a table that is ready, and takes over what is found; warns first of what is worth it."""
        with self._bar("fit", self._functions) as bar:
            given |= {"functions": self._functions, "warn": self._warn_before, "progress": bar.callback}
            self._adopt(spec.fit(X, y, weights, C, **given))

    def _columns_to_judge(self) -> list[str] | None:
        """The names of columns whose scales a fit looks at; ``None`` where they are all the same."""
        return None if self.standardize else self._names() or []

    def _warn_before(self, scales: str | None, long: tuple[str, bool] | None) -> None:
        """Warns of columns whose scales differ very much, and of a fit that is expected to take more than ten minutes; of
        more than 30 seconds with ``verbose``."""
        if scales is not None:
            advice = "standardize=True gives every column standard deviation 1, as a StandardScaler in front does"
            warn(f"{scales[0].upper()}{scales[1:]}. {advice}.", ScaleWarning)
        if long is not None:
            time, unasked = long
            advice = "A lower degree, fewer columns, fewer rows or fewer Cs and folds take less"
            if unasked:
                warn(f"The fit is expected to take {time}. {advice}.", UserWarning)
            elif self.verbose:
                sys.stderr.write(f"expected to take {time}\n")

    def _check_X(self, X: Any) -> Any:
        if self._scaling is None:
            return super()._check_X(X)
        X = self._validated(X)
        if scipy.sparse.issparse(X) and self.mean_.any():
            # Zeros do not stay zeros.
            X = X.toarray(order="F")
        return _core.rescale(table_of(X), *self._scaling)

    def _unequal_scales(self, spec: _core.Spec, X: Any) -> str | None:
        """What there is to say of the scales of the columns before many fits."""
        names = self._columns_to_judge()
        return None if names is None else spec.unequal_scales(X, names)

    def _adopt(self, model: _core.Model) -> None:
        """Takes over what a fit has found."""
        self._model = model
        self.duality_gap_ = max(model.relative_gaps)
        self.n_iter_ = max(1, *model.iterations) if model.iterations else 1
        self.n_evaluations_ = sum(model.passes)
        self.route_ = model.route
        self.status_ = model.status
        single = len(model.relative_gaps) == 1
        if (nonzero := model.nonzero_weights) is not None:
            counts = [len(weights) for _, weights in nonzero]
            self.n_nonzero_ = counts[0] if single else np.array(counts)
            self.sparse_coef_ = scipy.sparse.csr_matrix(
                (
                    np.concatenate([weights for _, weights in nonzero]),
                    np.concatenate([features.astype(np.int64) for features, _ in nonzero]),
                    np.concatenate([[0], np.cumsum(counts)]),
                ),
                shape=(len(nonzero), model.kernel.cardinality(model.n_features)),
            )
        primal, dual = model.primal_values, model.dual_values
        self.primal_value_ = primal[0] if single else np.array(primal)
        self.dual_value_ = dual[0] if single else np.array(dual)
        if model.status != "converged":
            self._warn(model.status)

    def _warn(self, status: str) -> None:
        why = {
            "iteration_limit": f"the limit of max_iter={self.max_iter} iterations was reached",
            "rounding": "rounding keeps the gap above the tolerance",
            "stalled": "no step makes further progress",
        }.get(status, status)
        advice = "Raise max_iter" if status == "iteration_limit" else "Standardise X, lower C, take p farther from 1"
        warn_of_convergence(
            f"The fit did not converge: {why}. The relative duality gap is {self.duality_gap_:.2e}, and "
            f"tol={self.tol:.2e} was asked for. {advice}, or raise tol to a gap that is good enough."
        )

    def _splits_of(
        self, cv: Any, y: np.ndarray, target: np.ndarray, groups: Any = None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """What to fit to and what to hold out."""
        if groups is None and (cv is None or isinstance(cv, numbers.Integral)):
            self._check_pairs(y)
        return splits_of(cv, y, target, groups, classifier=self._task == "classification")

    def _check_pairs(self, y: np.ndarray) -> None:
        """What folds ask of the targets."""

    def _decision(self, X: Any) -> np.ndarray:
        """One row per function."""
        self._check_fitted()
        return self._model.decision(self._check_X(X))
