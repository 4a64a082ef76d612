"""What all estimators share: from parameters to the compiled part, and from a model to what people ask of it."""

from __future__ import annotations

import json
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator
from sklearn.model_selection import check_cv
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _core, _names, _parameters, kernels
from ._equation import Equation, equation
from ._progress import Bar
from ._table import Table
from ._warnings import warn, warn_of_convergence

#: What ends a search for the largest monomials.
_NODES = 5_000_000

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


def aligned(array: np.ndarray) -> np.ndarray:
    """The same array, or a copy if its numbers begin between machine words, as they may in a file or a record array."""
    return array if array.flags.aligned else array.copy(order="K")


def table_of(X: Any) -> Any:
    """A table as the compiled part takes it: an array, or the parts of a sparse matrix by columns."""
    if not scipy.sparse.issparse(X):
        return aligned(X)
    X = scipy.sparse.csc_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    data = aligned(np.ascontiguousarray(X.data, dtype=np.float64))
    return X.shape, X.indptr.astype(np.uintp), X.indices.astype(np.uintp), data


def rows_of(splits: Iterable[Any], n_samples: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Splits by the numbers of their samples, which may be given as lists, from the end or as masks."""
    rows = np.arange(n_samples)
    try:
        return [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in splits]
    except (TypeError, IndexError, ValueError) as error:
        raise ValueError(
            "cv: every split is a pair, the samples to fit to and those to hold out, each by their numbers from 0 to "
            f"{n_samples - 1} or as a mask of {n_samples} truth values; {error}"
        ) from None


def splits_of(
    cv: Any, y: np.ndarray, target: np.ndarray, groups: Any, *, classifier: bool, seed: int = 0
) -> list[tuple[np.ndarray, np.ndarray]]:
    """What to fit to and what to hold out: for a number the library's own folds, of whole groups if there are any, else what a
    splitter says."""
    n_samples = len(target)
    if cv is None or isinstance(cv, numbers.Integral):
        count = None if cv is None else _parameters.whole("cv", cv, "None, a whole number >= 2 or a splitter", least=2)
        held_out = _core.folds(y, n_samples, count, group_codes(groups, n_samples), seed)
        return [(np.setdiff1d(np.arange(n_samples), test), np.array(test)) for test in held_out]
    if isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split"):
        return rows_of(cv, n_samples)
    splitter = check_cv(cv, target, classifier=classifier)
    return rows_of(list(splitter.split(np.zeros(n_samples), target, groups)), n_samples)


def group_codes(groups: Any, n_samples: int) -> list[int] | None:
    """A number for every group, whatever groups are known by."""
    if groups is None:
        return None
    groups = column_or_1d(groups)
    check_consistent_length(groups, np.empty(n_samples))
    return np.unique(groups, return_inverse=True)[1].tolist()


class TableEstimator(BaseEstimator):
    """What every estimator does with a table. Subclasses have the parameters and, once fitted, a ``_model``."""

    def _check_X(self, X: Any) -> Any:
        X = validate_data(self, X, reset=False, accept_sparse="csc", dtype=np.float64, order="F")
        return table_of(X)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "_model")

    def _weights(self, sample_weight: Any, X: Any) -> np.ndarray | None:
        if sample_weight is None:
            return None
        return aligned(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))

    def _bar(self, what: str, fits: int) -> Bar:
        verbose = self.verbose if isinstance(self.verbose, bool) else _parameters.whole("verbose", self.verbose)
        return Bar(what, fits, int(verbose))

    def _names(self) -> list[str] | None:
        # A model that was loaded into a pipeline has names, and yet sees arrays.
        names = getattr(self, "feature_names_in_", getattr(self, "_stored_names", None))
        return None if names is None else [str(name) for name in names]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class IntervalMixin:
    """Intervals of a regressor, by the samples that were held out when it was fitted."""

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Intervals around the predictions that hold so large a share of new samples.

        They are split conformal: the predictions plus and minus the residual that so many held-out samples do not exceed.
        The residuals are those of the search, of the automatic choice or of the folds (``cv`` of few terms) that made the
        model, each of a model without the sample, so the coverage is near what is asked for whatever the noise is, where new samples are as those of the fit.
        All intervals are equally wide.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        coverage : float
            The share of new samples, above 0 and below 1.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            The lower and the upper ends.

        Raises
        ------
        ValueError
            If no samples were held out, as in an estimator without a search, or too few for this coverage.
        """
        predictions: np.ndarray = self.predict(X)  # type: ignore[attr-defined]
        widths = np.asarray(self._model.half_widths(_parameters.real("coverage", coverage)))  # type: ignore[attr-defined]
        widths = widths[0] if predictions.ndim == 1 else widths
        return np.stack([predictions - widths, predictions + widths], axis=-1)


class LpModel(TableEstimator):
    """The base of the estimators with a penalty. Subclasses have the parameters; this class reads them."""

    _task: str
    _model: _core.Model
    #: What held-out samples said in a search, as JSON.
    _validation: str | None = None
    #: How well it predicts them, as JSON.
    _assessment: str | None = None

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
            p=_parameters.real("p", told["p"], "a number with 1 <= p <= 2"),
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
        for name in ("_model", "_validation", "_assessment", *_OF_A_FIT):
            self.__dict__.pop(name, None)

    def _warn_of_time(self, spec: _core.Spec, X: Any, problems: int, Cs: int = 1) -> None:
        """Warns before fits of so many problems, for so many Cs, that are predicted to take more than ten minutes."""
        self._warn_of_length(spec.long_fit(X, problems, Cs))

    def _warn_of_length(self, long: str | None) -> None:
        if long is not None:
            warn(f"{long}. A lower degree, fewer columns, fewer rows or fewer Cs and folds take less.", UserWarning)

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

    def top_features(self, k: int = 10, *, output: int = 0, seconds: float = np.inf, max_nodes: int = _NODES) -> Table:
        """The monomials with the largest weights, by an exact search over all of them.

        Parameters
        ----------
        k : int
            How many.
        output : int
            Which function, of several outputs or classes.
        seconds : float
            When to stop a search that takes too long; the caption says what is then known. For a model from somebody
            else's file, say a number.
        max_nodes : int
            Monomials that the search may look at one by one before it stops in the same way.

        Returns
        -------
        Table
            Columns ``monomial``, ``exponents`` (pairs of a variable and its exponent), ``weight`` (of the feature),
            ``coefficient`` (of the plain product), ``share`` (of ``||w||_p^p``), and ``solver_lower`` and
            ``solver_upper``, between which the weight of the exact optimum lies where the loss allows to tell: the error of the
            solver, and nothing of chance. ``complete``, ``set_proven`` and ``order_proven`` tell whether that error can change
            the list or its order. A weight tells how this fit is built, at this C alone; :meth:`relevance` what its
            predictions depend on; only :func:`banach.stability_selection` what other samples would name again.
        """
        self._check_fitted()
        k = _parameters.whole("k", k, "a whole number >= 1", least=1)
        max_nodes = _parameters.whole("max_nodes", max_nodes, "a whole number >= 1", least=1)
        top = self._model.top(_parameters.whole("output", output), k, max_nodes, _parameters.real("seconds", seconds))
        monomials, names = top["monomials"], self._names()
        columns = {
            "monomial": [_names.monomial(factors, names) for factors in monomials],
            "exponents": monomials,
            "weight": top["weights"],
            "coefficient": top["coefficients"],
            "share": top["shares"],
            "solver_lower": top["lower"],
            "solver_upper": top["upper"],
        }
        if np.isnan(top["lower"]).all():
            del columns["solver_lower"], columns["solver_upper"]
        known = {key: top[key] for key in ("complete", "set_proven", "order_proven", "unlisted", "nodes")}
        return Table(columns, caption=_top_caption(top), **known)

    def leave_one_out(self) -> np.ndarray:
        """What the model without each sample predicts for it, with the same parameters, and without other fits.

        One Newton step from the fit serves all samples. For p = 2 and the squared loss it is exact; for p down to 1.1 the
        mean squared error is usually within a few per cent of that of fits without each sample; nearer to 1 it is a
        rough guess. Where C or p were chosen by the same samples, the predictions are a little better than the model is.

        Returns
        -------
        array
            Shaped as ``predict(X)`` of a regressor or ``decision_function(X)`` of a classifier, X the samples of the fit.
        """
        self._check_fitted()
        values = self._model.leave_one_out()
        if values is None:
            raise ValueError("there is nothing to tell for p = 1, or memory_limit is too low for these samples")
        return values[0] if getattr(self, "_single", len(values) == 1) else np.ascontiguousarray(values.T)

    def relevance(self, *, output: int = 0) -> Table:
        """How much every variable matters: the share of ``||w||_p^p`` on the monomials that involve it.

        Returns
        -------
        Table
            Columns ``variable`` and ``share``, largest first. The attributes ``degrees`` (pairs of a degree and its
            share), ``order`` (the numbers of the variables) and ``error`` (what rounding may have done) tell the rest.
        """
        self._check_fitted()
        found = self._model.relevance(_parameters.whole("output", output))
        shares, names = found["variables"], self._names()
        order = np.argsort(-shares, kind="stable")
        columns = {"variable": [_names.variable(names, j) for j in order], "share": shares[order]}
        return Table(columns, degrees=found["degrees"], order=order, error=found["error"], norm=found["norm"])

    def pair_relevance(self, k: int = 10, *, output: int = 0) -> Table:
        """How much pairs of variables matter: the share of ``||w||_p^p`` on the monomials that involve both.

        Parameters
        ----------
        k : int
            Of the k variables that matter most, every pair.
        output : int
            Which function, of several outputs or classes.

        Returns
        -------
        Table
            Columns ``first``, ``second`` and ``share``, largest first.
        """
        self._check_fitted()
        k, output = _parameters.whole("k", k, "a whole number >= 2", least=2), _parameters.whole("output", output)
        variables = sorted(int(j) for j in self.relevance(output=output).order[:k])
        pairs, names = self._model.pair_shares(output, variables), self._names()
        columns = {
            "first": [_names.variable(names, i) for i, _, _ in pairs],
            "second": [_names.variable(names, j) for _, j, _ in pairs],
            "share": np.array([share for _, _, share in pairs]),
        }
        return Table(columns)

    def equation(
        self, k: int | None = None, *, output: int = 0, refit: bool = True, hierarchy: str | None = None
    ) -> Equation:
        """The few terms of the kernel that can be named, as a formula.

        They are those that the evidence of all samples names, as :class:`SparseRegressor` does: least squares for the
        squared loss, the logistic loss for classes, and nothing is shrunk. Where nothing can be named at this number of
        samples, the equation is a constant and a warning says so; the model predicts all the same.

        Parameters
        ----------
        k : int or None
            The most terms; a third of the samples if None, and never more.
        output : int
            Which function, of several outputs or classes.
        refit : bool
            If False, the k largest monomials of the model (5 if None) with the coefficients that they have in it, which
            are those of a sum of many; ``bound`` says what the others add at most. For every loss.
        hierarchy : {"weak", "strong"} or None
            With ``refit``, a product only with one of its factors, or with all of them.

        Returns
        -------
        Equation
            ``str(equation)``, ``equation.latex()``, ``equation.to_dict()``, ``equation.to_pipeline()`` (scikit-learn
            only, works without banach) and ``equation.predict(X)``.
        """
        self._check_fitted()
        return equation(self, k, output=output, refit=refit, hierarchy=hierarchy)

    def report(
        self,
        k: int = 10,
        *,
        relevance: bool = True,
        select: int | None = None,
        stability: int | None = None,
        hierarchy: str | None = None,
        random_state: int = 0,
    ) -> dict[str, Any]:
        """All that is known of the model, as data: what ``banach fit --json`` prints of a model, under the same keys.

        Parameters
        ----------
        k : int
            So many of the largest monomials.
        relevance : bool
            How much every variable matters.
        select : int, optional
            The terms that can be named, at most so many, as an equation.
        stability : int, optional
            Which terms, at most so many, are named in most halves of the samples.
        hierarchy : {"weak", "strong"} or None
            Of these terms, products only with one of their factors, or with all of them.
        random_state : int
            Of the halves.

        Returns
        -------
        dict
            ``model``, ``route``, ``validation`` (of a search by its own score, else None), ``leave_one_out`` (a score, or
            None), ``status``, ``functions`` and ``notes``. A table that cannot be made is None, and a note says why. X is what it is: nothing is known of
            other units, so what the command says of those is None.
        """
        self._check_fitted()
        variables = self._names() or [f"x{j}" for j in range(self.n_features_in_)]
        classes = getattr(self, "classes_", None)
        names: Any = {"variables": variables, "target": "y", "classes": None}
        if classes is not None:
            names["classes"] = [str(label) for label in classes]
        with self._bar("report", 1) as bar:
            text = _core.report(
                self._model,
                names,
                _parameters.whole("k", k),
                _parameters.boolean("relevance", relevance),
                None if select is None else _parameters.whole("select", select, "None or a whole number >= 1", least=1),
                None
                if stability is None
                else _parameters.whole("stability", stability, "None or a whole number >= 1", least=1),
                _parameters.hierarchy(hierarchy),
                # Where C was chosen, others could have been.
                self._validation is not None,
                _parameters.whole("random_state", random_state),
                bar.callback,
            )
        report = json.loads(text)
        if self._validation is not None:
            report["validation"] = json.loads(self._validation)
            assessed = json.loads(self._assessment or "null")
            if assessed is not None:
                # In words it is verdict_.
                del assessed["verdict"]
                if assessed["classes"] is not None:
                    assessed["classes"]["labels"] = names["classes"]
            report["assessment"] = assessed
            report["notes"] = report["validation"].pop("notes") + report["notes"]
        return report

    def explain(self, k: int = 10) -> str:
        """A page of text: the fit and its certificate, the route and why it was taken, the largest monomials and the
        variables that matter."""
        self._check_fitted()
        parts = [str(self._model), self._model.plan]
        for output in range(len(self._model.relative_gaps)):
            title = self._output_title(output)
            parts.append(f"{title}\n{self.top_features(k, output=output)}")
            try:
                relevance = self.relevance(output=output)
            except (ValueError, MemoryError) as error:
                parts.append(f"No relevance of variables: {error}")
                continue
            shown = {name: column[:k] for name, column in relevance.items()}
            by_degree = ", ".join(f"{degree}: {share:.3g}" for degree, share in relevance.degrees[:8])
            parts.append(f"{Table(shown)}\nBy degree: {by_degree}")
        return "\n\n".join(parts)

    def save(self, path: Any) -> None:
        """Writes the fitted model to a file, for :func:`banach.load` and the ``banach`` command; of a search, the model
        that it chose."""
        from ._files import save

        save(self, path)

    def _output_title(self, output: int) -> str:
        return (
            "The largest monomials"
            if len(self._model.relative_gaps) == 1
            else f"The largest monomials of output {output}"
        )

    def plot_features(self, k: int = 10, *, output: int = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the largest monomials; see :class:`banach.FeaturesDisplay`."""
        from ._display import FeaturesDisplay

        return FeaturesDisplay.from_estimator(self, k=k, output=output, ax=ax, **kwargs)

    def plot_relevance(self, k: int = 20, *, output: int = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws how much the variables matter; see :class:`banach.RelevanceDisplay`."""
        from ._display import RelevanceDisplay

        return RelevanceDisplay.from_estimator(self, k=k, output=output, ax=ax, **kwargs)

    def plot_convergence(self, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the duality gap of every iteration; see :class:`banach.ConvergenceDisplay`."""
        from ._display import ConvergenceDisplay

        return ConvergenceDisplay.from_estimator(self, ax=ax, **kwargs)

    def plot_path(self, Cs: Any = 30, *, k: int = 10, output: int = 0, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the largest weights against C; see :class:`banach.PathDisplay`."""
        from ._display import PathDisplay

        return PathDisplay.from_estimator(self, Cs=Cs, k=k, output=output, ax=ax, **kwargs)


def _top_caption(top: Mapping[str, Any]) -> str:
    if top["complete"] and not top["monomials"]:
        return "No monomial has a weight: the model is its constant."
    if top["order_proven"]:
        return "The solver's error cannot change this list or its order; it says nothing of chance."
    if top["set_proven"]:
        return "The solver's error cannot change this list, but may change its order; it says nothing of chance."
    if top["complete"]:
        return "The largest of this model."
    return (
        f"The search was stopped after {top['nodes']} monomials: others may have weights up to {top['unlisted']:.4g}. "
        "Raise seconds or max_nodes to search on."
    )
