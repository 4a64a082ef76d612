"""The choice of C, p, degree and scale by cross-validation, all values of C and all splits in one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from . import _core, _exp, _parameters
from ._base import LpModel, rows_of
from ._classifier import _Classification
from ._doc import with_parameters
from ._held_out import KnownLabels, KnownNumbers
from ._held_out import scores as scored
from ._regressor import _Regression
from ._warnings import warn, warn_of_convergence


class _Search(LpModel):
    """What both searches share. A subclass has a ``_check_data`` and a ``_stand_in``."""

    def _stand_in(self, decisions: np.ndarray) -> Any:
        raise NotImplementedError

    def _options(self, X: Any, weights: np.ndarray | None) -> list[dict[str, Any]]:
        """Every combination of what is searched beside C, of the parameters that the kernel has."""
        name = self.kernel if isinstance(self.kernel, str) else ""
        options: list[dict[str, Any]] = []
        for p in self._exponents():
            for degree in self._degrees(p):
                of_degree: dict[str, Any] = {"p": p}
                if name in ("poly", "anova") or (name == "exp" and isinstance(degree, tuple)):
                    of_degree["degree"] = degree
                scales = self._scales(p, X, weights)
                options += (
                    [{**of_degree, "scale": scale} for scale in scales] if name in ("poly", "exp") else [of_degree]
                )
        if isinstance(self.normalize_kernel, str):
            if self.normalize_kernel != "auto":
                raise _parameters.refused("normalize_kernel", self.normalize_kernel, "'auto', True or False")
            return [{**option, "normalize_kernel": name == "exp"} for option in options]
        return options

    def _check_fitted(self) -> None:
        if hasattr(self, "cv_results_") and not hasattr(self, "_model"):
            raise NotFittedError(
                f"This {type(self).__name__} has searched with refit=False and has no model; use refit=True, or best_params_"
            )
        super()._check_fitted()

    def _listed(self, name: str) -> list[Any]:
        """What is searched of a parameter: a list, or one value."""
        told = getattr(self, name)
        values = list(told) if isinstance(told, (list, np.ndarray)) else [told]
        if not values:
            raise _parameters.refused(name, told, "a value, or a list with at least one")
        return values

    @property
    def _is_exp(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "exp"

    def _exponents(self) -> list[float]:
        allowed = "'auto', a number with 1 < p <= 2 or a list of such numbers"
        if isinstance(self.p, str) and self.p == "auto":
            return list(_exp.EXPONENTS) if self._is_exp else [4 / 3]
        exponents = [_parameters.real("p", p, allowed) for p in self._listed("p")]
        if not all(1 < p <= 2 for p in exponents):
            raise _parameters.refused("p", self.p, allowed)
        return exponents

    def _degrees(self, p: float) -> list[Any]:
        """For exp, all degrees can be had by a Gram tensor alone, which takes q = 2, 4, 6, 8 and few samples."""
        if self._is_exp and not isinstance(self.degree, (list, tuple)):
            tensor = min(abs(p / (p - 1) - q) for q in (2, 4, 6, 8)) < 1e-9
            if isinstance(self.p, str) or not tensor:
                return [(0, _exp.highest_degree(self.n_features_in_))]
        return self._listed("degree")

    def _scales(self, p: float, X: Any, weights: np.ndarray | None) -> list[Any]:
        if not isinstance(self.scale, str):
            return self._listed("scale")
        if self.scale != "auto":
            raise _parameters.refused("scale", self.scale, "'auto', a number > 0 or a list of such numbers")
        return _exp.scales(p, X, weights) if self._is_exp else [1.0]

    def _spec(self, **changes: Any) -> _core.Spec:
        # What is searched and does not matter for this kernel has no value of its own.
        plain: dict[str, Any] = {"degree": 2, "scale": 1.0}
        if isinstance(self.normalize_kernel, str):
            plain["normalize_kernel"] = False
        return super()._spec(**{name: value for name, value in plain.items() if name not in changes}, **changes)

    def _search(self, X: Any, y: np.ndarray, target: Any, weights: np.ndarray | None, groups: Any) -> _core.Spec:
        """Fills the results, and returns the parameters of the best choice."""
        options = self._options(X, weights)
        tol = max(_parameters.real("tol", self.tol, "a finite number >= 0"), _SEARCH_TOL)
        specs = [self._spec(**option, tol=tol) for option in options]
        Cs, count = _parameters.grid(self.Cs)
        splitter = check_cv(self.cv, target, classifier=self._task == "classification")
        splits = rows_of(splitter.split(np.zeros(len(target)), target, groups), len(target))
        self._check_splits(splits, target)
        given = [(train.tolist(), test.tolist()) for train, test in splits]
        each = (count or len(Cs or ())) * len(splits) * self._functions
        results: list[tuple[dict[str, Any], Any]] = []
        with self._bar("cross-validation", each * len(specs)) as bar:
            for option, spec in zip(options, specs, strict=True):
                self._warn_of_time(spec, X, self._functions * len(splits), count or len(Cs or ()))
                try:
                    found = spec.cross_validate(X, y, weights, Cs=Cs, count=count, splits=given, progress=bar.callback)
                except ValueError as error:
                    # One scale of several may be out of the kernel's range for these data.
                    if len(specs) == 1 or (option is options[-1] and not results):
                        raise
                    warn(f"{option} is left out of the search: {error}", FitFailedWarning)
                else:
                    results.append((option, found))
                bar.add(each)
        self._collect(results, splits, target)
        self._warn_of_search([found for _, found in results], tol)
        return self._spec(**{name: value for name, value in self.best_params_.items() if name != "C"})

    def _check_splits(self, splits: list[Any], target: Any) -> None:
        """Whatever a search asks of its splits."""

    def _collect(self, results: list[tuple[dict[str, Any], Any]], splits: list[Any], target: Any) -> None:
        """The scores of every choice, and the best of them."""
        scorer = self._scorer()
        if scorer is None:
            # The library's score, in which splits count by the weights of their samples.
            scores = np.concatenate([-found["losses"] for _, found in results])
            weights = np.concatenate([found["weights"] for _, found in results])
        else:
            of_option = (scored(scorer, self._stand_in, found["decisions"], splits, target) for _, found in results)
            scores = np.concatenate(list(of_option))
            weights = np.ones_like(scores)
        params = [{"C": float(C), **option} for option, found in results for C in found["Cs"]]
        mean, std, error = _moments(scores, weights)
        if not np.isfinite(mean).any():
            raise ValueError("no choice has a finite held-out score; look at the scale of X and y, and at scoring")
        self.n_splits_ = len(splits)
        self.cv_results_ = {
            **{f"param_{name}": _objects([param[name] for param in params]) for name in params[0]},
            "params": params,
            **{f"split{at}_test_score": scores[:, at] for at in range(len(splits))},
            "mean_test_score": mean,
            "std_test_score": std,
            "standard_error_test_score": error,
            "rank_test_score": rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(np.int32),
        }
        best = int(np.nanargmax(mean))
        if _parameters.boolean("one_standard_error", self.one_standard_error) and np.isfinite(error[best]):
            best = _simplest(params, mean, best, mean[best] - error[best])
        self.best_index_, self.best_params_, self.best_score_ = best, params[best], float(mean[best])
        self.C_ = params[best]["C"]

    def _scorer(self) -> Any:
        if self.scoring is None:
            return None
        if not isinstance(self.scoring, str) and not callable(self.scoring):
            raise _parameters.refused("scoring", self.scoring, "None, the name of a score or a callable")
        return check_scoring(self._stand_in(np.zeros((1, 1))), self.scoring)

    def _warn_of_search(self, found: list[Any], tol: float) -> None:
        unconverged = sum(int(one["unconverged"].sum()) for one in found)
        if unconverged:
            worst = max(float(one["gaps"].max()) for one in found)
            warn_of_convergence(
                f"{unconverged} fits of the cross-validation did not converge: the largest relative duality gap is "
                f"{worst:.2e}, and {tol:.2e} was asked for. Their scores count all the same. Standardise X, or raise "
                "max_iter or tol."
            )

    def _refit(self, spec: _core.Spec, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        if not _parameters.boolean("refit", self.refit):
            return
        self._warn_of_time(spec, X, self._functions)
        with self._bar("fit", self._functions) as bar:
            self._adopt(spec.fit(X, y, weights, self.C_, bar.callback))

    def plot_cv(self, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the held-out scores against C; see :class:`banach.CVDisplay`."""
        from ._display import CVDisplay

        return CVDisplay.from_estimator(self, ax=ax, **kwargs)


#: The relative gap that the fits of a search reach: scores do not need more digits. The final fit goes on to ``tol``.
_SEARCH_TOL = 1e-6


def _moments(scores: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, standard deviation and standard error of the mean of every row, over the splits whose score is known."""
    weights = np.where(np.isfinite(scores), weights, 0.0)
    scores = np.where(np.isfinite(scores), scores, 0.0)
    known = (weights > 0).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = weights.sum(axis=1)
        mean = (weights * scores).sum(axis=1) / total
        deviation = np.sqrt((weights * (scores - mean[:, None]) ** 2).sum(axis=1) / total)
        return mean, deviation, np.where(known > 1, deviation / np.sqrt(np.maximum(known - 1, 1)), np.nan)


def _simplest(params: list[dict[str, Any]], mean: np.ndarray, best: int, limit: float) -> int:
    """The smallest C that reaches a limit, of those that differ from the best in nothing else."""

    def others(at: int) -> dict[str, Any]:
        return {name: value for name, value in params[at].items() if name != "C"}

    as_good = [at for at in range(len(params)) if mean[at] >= limit and others(at) == others(best)]
    return min(as_good, key=lambda at: params[at]["C"])


def _objects(values: list[Any]) -> np.ndarray:
    """An array of anything, such as pairs."""
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


@with_parameters
class LpRegressorCV(_Search, _Regression):
    """:class:`LpRegressor` with C, and on request p, degree and scale, chosen by cross-validation.

    All values of C and all splits are fitted together, in passes over the data that they share. Without further choices,
    ``LpRegressorCV(kernel="exp")`` is a sensible model of standardised data.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from banach import LpRegressorCV, datasets
    >>> X, y, truth = datasets.make_sparse_linear(n_samples=60, n_features=200, n_informative=3, random_state=0)
    >>> model = LpRegressorCV(p=1.1).fit(X, y)
    >>> model.best_params_["C"] == model.C_
    True
    """

    def __init__(
        self,
        p="auto",
        *,
        Cs=20,
        kernel="linear",
        degree=2,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel="auto",
        loss="squared",
        epsilon=0.1,
        rho=1.35,
        quantile=0.5,
        fit_intercept=True,
        cv=None,
        scoring=None,
        one_standard_error=False,
        refit=True,
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
        self.Cs = Cs
        self.kernel = kernel
        self.degree = degree
        self.monomials = monomials
        self.coef0 = coef0
        self.scale = scale
        self.normalize_kernel = normalize_kernel
        self.loss = loss
        self.epsilon = epsilon
        self.rho = rho
        self.quantile = quantile
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.solver_options = solver_options
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stand_in(self, decisions: np.ndarray) -> Any:
        return KnownNumbers(decisions)

    def fit(self, X, y, sample_weight=None, groups=None):
        """Searches, and fits the best choice.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`LpRegressor.fit`. The default score weighs held-out samples; scorers do not.
        groups : array of shape (n_samples,), optional
            For a splitter that needs them.

        Returns
        -------
        self
        """
        self._forget()
        X, y, weights = self._check_data(X, y, sample_weight)
        spec = self._search(X, y, y[0] if self._single else y.T, weights, groups)
        self._refit(spec, X, y, weights)
        return self


@with_parameters
class LpClassifierCV(_Search, _Classification):
    """:class:`LpClassifier` with C, and on request p, degree and scale, chosen by cross-validation.

    All values of C and all splits are fitted together, in passes over the data that they share.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from banach import LpClassifierCV
    >>> X, y = load_wine(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LpClassifierCV(Cs=5)).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    def __init__(
        self,
        p="auto",
        *,
        Cs=20,
        kernel="linear",
        degree=2,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel="auto",
        loss="logistic",
        class_weight=None,
        fit_intercept=True,
        cv=None,
        scoring=None,
        one_standard_error=False,
        refit=True,
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
        self.Cs = Cs
        self.kernel = kernel
        self.degree = degree
        self.monomials = monomials
        self.coef0 = coef0
        self.scale = scale
        self.normalize_kernel = normalize_kernel
        self.loss = loss
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.refit = refit
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.solver_options = solver_options
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stand_in(self, decisions: np.ndarray) -> Any:
        probabilities = self._spec(p=2.0).probabilities if self.loss == "logistic" else None
        return KnownLabels(decisions, self.classes_, probabilities)

    def _check_splits(self, splits: list[Any], target: Any) -> None:
        for at, (train, _) in enumerate(splits):
            missing = np.setdiff1d(self.classes_, target[train])
            if len(missing):
                raise ValueError(
                    f"split {at} has no sample of class {missing[0]!s} to fit to; use fewer folds, or a StratifiedKFold"
                )

    def fit(self, X, y, sample_weight=None, groups=None):
        """Searches, and fits the best choice.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`LpClassifier.fit`. The default score weighs held-out samples; scorers do not.
        groups : array of shape (n_samples,), optional
            For a splitter that needs them.

        Returns
        -------
        self
        """
        self._forget()
        X, codes, weights = self._check_data(X, y, sample_weight)
        spec = self._search(X, codes, self.classes_[codes], weights, groups)
        self._refit(spec, X, codes, weights)
        return self
