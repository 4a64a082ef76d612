"""The choice of C, p, degree and scale by cross-validation, all values of C and all splits in one batch."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv

from . import _core, _parameters, kernels
from ._base import LpModel, warn_of_convergence
from ._classifier import _Classification, labels
from ._doc import with_parameters
from ._regressor import _Regression


class _HeldOut(BaseEstimator):
    """Stands in for a fitted model before a scorer of scikit-learn: its predictions are known already."""

    def __init__(self, decisions: np.ndarray) -> None:
        self.decisions = decisions

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Any:
        return self


class _HeldOutNumbers(RegressorMixin, _HeldOut):
    def predict(self, X: Any) -> np.ndarray:
        return self.decisions[0] if len(self.decisions) == 1 else self.decisions.T


class _HeldOutLabels(ClassifierMixin, _HeldOut):
    def __init__(self, decisions: np.ndarray, classes: np.ndarray) -> None:
        super().__init__(decisions)
        self.classes_ = classes

    def decision_function(self, X: Any) -> np.ndarray:
        return self.decisions[0] if len(self.decisions) == 1 else self.decisions.T

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[labels(self.decisions)]

    def predict_proba(self, X: Any) -> np.ndarray:
        positive = 0.5 * (1 + np.tanh(0.5 * self.decisions))
        if len(positive) == 1:
            return np.column_stack([1 - positive[0], positive[0]])
        return (positive / positive.sum(axis=0)).T


class _Search(LpModel):
    """What both searches share. A subclass has a ``_check_data`` and a ``_stand_in``."""

    def _stand_in(self, decisions: np.ndarray) -> Any:
        raise NotImplementedError

    def _options(self, X: Any, weights: np.ndarray | None) -> list[dict[str, Any]]:
        """Every combination of what is searched beside C."""
        ps = self.p if isinstance(self.p, (list, np.ndarray)) else [self.p]
        degrees = self.degree if isinstance(self.degree, list) else [self.degree]
        given = self.scale if isinstance(self.scale, (list, np.ndarray, str)) else [self.scale]
        for name, values in {"p": ps, "degree": degrees, "scale": given}.items():
            if len(values) == 0:
                raise _parameters.refused(name, getattr(self, name), "a value, or a list with at least one")
        return [
            {"p": p, "degree": degree, "scale": scale}
            for p, degree in itertools.product(ps, degrees)
            for scale in self._scales(X, weights, p)
        ]

    def _scales(self, X: Any, weights: np.ndarray | None, p: Any) -> list[Any]:
        if isinstance(self.scale, (list, np.ndarray)):
            return list(self.scale)
        if not isinstance(self.scale, str):
            return [self.scale]
        if self.scale != "auto":
            raise _parameters.refused("scale", self.scale, "'auto', a number > 0 or a list of such numbers")
        if self.kernel != "exp":
            return [1.0]
        size = _size(X, weights, _parameters.real("p", p, "a number with 1 < p <= 2"))
        # Six digits, so that rounding in a standardisation does not show.
        return [float(f"{s / size:.6g}") for s in _SCALES]

    def _search(self, X: Any, y: np.ndarray, target: Any, weights: np.ndarray | None, groups: Any) -> _core.Spec:
        """Fills the results, and returns the parameters of the best choice."""
        options = self._options(X, weights)
        tol = max(_parameters.real("tol", self.tol, "a finite number >= 0"), _SEARCH_TOL)
        specs = [self._spec(**option, tol=tol) for option in options]
        Cs, count = _parameters.grid(self.Cs)
        rows = np.arange(len(target))
        splitter = check_cv(self.cv, target, classifier=self._task == "classification")
        splits = [(train, test) for train, test in splitter.split(rows, target, groups)]
        given = [(train.tolist(), test.tolist()) for train, test in splits]
        functions = self._functions
        each = (len(Cs) if Cs is not None else count) * len(splits) * functions
        results, refused = [], []
        with self._bar("cross-validation", each * len(specs)) as bar:
            for option, spec in zip(options, specs, strict=True):
                try:
                    found = spec.cross_validate(
                        X, y, weights, Cs=Cs, count=count, splits=given, progress=bar.callback
                    )
                except ValueError as error:
                    # One scale of several may be out of the kernel's range for these data.
                    if len(specs) == 1:
                        raise
                    refused.append((option, error))
                    continue
                results.append((option, found))
                bar.add(each)
        if not results:
            raise refused[0][1]
        self._collect(results, splits, target)
        return self._spec(**results[self._best[0]][0])

    def _collect(self, results: list[Any], splits: list[Any], target: Any) -> None:
        params: list[dict[str, Any]] = []
        places: list[tuple[int, int]] = []
        all_scores, all_weights, unconverged, worst = [], [], 0, 0.0
        scorer = None if self.scoring is None else check_scoring(self._stand_in(np.zeros((1, 1))), self.scoring)
        for at, (option, found) in enumerate(results):
            score = -found["losses"] if scorer is None else self._scores(scorer, found["decisions"], splits, target)
            weights = found["weights"] if scorer is None else np.ones_like(score)
            unconverged += int(found["unconverged"].sum())
            worst = max(worst, float(found["gaps"].max()))
            for place, C in enumerate(found["Cs"]):
                params.append({"C": float(C), **option})
                places.append((at, place))
                all_scores.append(score[place])
                all_weights.append(weights[place])
        scores, weights = np.array(all_scores), np.array(all_weights)
        known = (weights > 0) & np.isfinite(scores)
        total = np.where(known, weights, 0).sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(known, weights * scores, 0).sum(axis=1) / total
            std = np.sqrt(np.where(known, weights * (scores - mean[:, None]) ** 2, 0).sum(axis=1) / total)
        if not np.isfinite(mean).any():
            raise ValueError("no choice has a finite held-out score; look at the scale of X and y")
        self.n_splits_ = len(splits)
        self.cv_results_ = {
            **{f"param_{name}": np.array([_plain(param[name]) for param in params], dtype=object) for name in params[0]},
            "params": params,
            **{f"split{at}_test_score": scores[:, at] for at in range(len(splits))},
            "mean_test_score": mean,
            "std_test_score": std,
            "rank_test_score": rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(np.int32),
        }
        best = int(np.nanargmax(mean))
        if self.one_standard_error and len(splits) > 1:
            limit = mean[best] - std[best] / np.sqrt(len(splits) - 1)
            same = [at for at in range(len(params)) if places[at][0] == places[best][0] and mean[at] >= limit]
            best = min(same, key=lambda at: params[at]["C"])
        self.best_index_, self.best_params_, self.best_score_ = best, params[best], float(mean[best])
        self.C_ = params[best]["C"]
        self._best = places[best]
        if unconverged:
            warn_of_convergence(
                f"{unconverged} fits of the cross-validation did not converge: the largest relative duality gap is "
                f"{worst:.2e}, and {max(self.tol, _SEARCH_TOL):.2e} was asked for. Their scores count all the same. "
                "Standardise X, or raise max_iter or tol."
            )

    def _scores(self, scorer: Any, decisions: list[np.ndarray], splits: list[Any], target: Any) -> np.ndarray:
        values = np.empty((len(decisions[0]), len(splits)))
        for fold, ((_, test), of_fold) in enumerate(zip(splits, decisions, strict=True)):
            for place, decision in enumerate(of_fold):
                values[place, fold] = scorer(self._stand_in(decision), test[:, None], target[test])
        return values

    def _refit(self, spec: _core.Spec, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        if not _parameters.boolean("refit", self.refit):
            # Nor may anything stay of an earlier fit.
            for name in ("_model", *_OF_A_FIT):
                self.__dict__.pop(name, None)
            return
        with self._bar("fit", self._functions) as bar:
            self._adopt(spec.fit(X, y, weights, self.C_, bar.callback))

    def plot_cv(self, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the held-out scores against C; see :class:`banach.CVDisplay`."""
        from ._display import CVDisplay

        return CVDisplay.from_estimator(self, ax=ax, **kwargs)


#: The relative gap that the fits of a search reach: scores do not need more digits. The final fit goes on to ``tol``.
_SEARCH_TOL = 1e-6

#: What a fit leaves behind.
_OF_A_FIT = (
    "dual_coef_",
    "intercept_",
    "coef_",
    "duality_gap_",
    "primal_value_",
    "dual_value_",
    "n_iter_",
    "n_evaluations_",
    "route_",
    "status_",
)

#: Scales that are tried for the exponential kernel, times the size of the samples.
_SCALES = (0.01, 0.03, 0.1, 0.3, 1.0)


def _size(X: Any, weights: np.ndarray | None, p: float) -> float:
    """How large ``sum_j x_1j ... x_qj`` is for typical samples: the number of variables, if they are standardised."""
    sparse = isinstance(X, tuple)
    shares = np.ones(X[0][0] if sparse else len(X)) if weights is None else weights
    shares = shares / max(shares.sum(), np.finfo(float).tiny)
    if sparse:
        (_, n_features), starts, rows, values = X
        columns = np.repeat(np.arange(n_features), np.diff(starts.astype(np.int64)))
        squares = np.bincount(columns, weights=shares[rows] * values**2, minlength=n_features)
    else:
        squares = np.einsum("i,ij,ij->j", shares, X, X)
    q = p / (p - 1) if p > 1 else 2.0
    size = float((squares ** (q / 2)).sum())
    return size if 0 < size < np.inf else 1.0


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, (tuple, kernels.Kernel)) else value


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
        p=4 / 3,
        *,
        Cs=20,
        kernel="linear",
        degree=2,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel=False,
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
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stand_in(self, decisions: np.ndarray) -> Any:
        return _HeldOutNumbers(decisions)

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
        X, y, weights = self._check_data(X, y, sample_weight)
        self._functions = len(y)
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
        p=4 / 3,
        *,
        Cs=20,
        kernel="linear",
        degree=2,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel=False,
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
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _stand_in(self, decisions: np.ndarray) -> Any:
        return _HeldOutLabels(decisions, self.classes_)

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
        X, codes, weights = self._check_data(X, y, sample_weight)
        spec = self._search(X, codes, self.classes_[codes], weights, groups)
        self._refit(spec, X, codes, weights)
        return self
