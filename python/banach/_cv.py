"""The choice of C, p, kernel, degree and scale by cross-validation, all values of C and all splits in one batch."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.metrics import check_scoring

from . import _core, _parameters, kernels
from ._assessment import assessment_of
from ._base import group_codes
from ._classifier import _Classification
from ._doc import with_parameters
from ._held_out import KnownLabels, KnownNumbers
from ._held_out import scores as scored
from ._lp_model import LpModel
from ._regressor import _Regression
from ._warnings import warn, warn_of_convergence

#: What a kernel may be.
_KERNELS = "linear, poly, anova, exp or an object of banach.kernels"


class _Search(LpModel):
    """What both searches share. A subclass has a ``_check_data`` and a ``_stand_in``."""

    #: The gap of the fits of a search; what the library says if None.
    _search_tol: float | None = None
    #: How far the choice was off on held-out samples, of every output.
    _residuals: list[list[float]] | None = None

    def _stand_in(self, decisions: np.ndarray) -> Any:
        raise NotImplementedError

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

    def _space(self) -> dict[str, Any]:
        """What is searched beside C, in the words of the compiled part; nothing is said where the choice is left to it."""
        allowed = "'auto', a number with 1 <= p <= 2, a fraction such as '4/3', or a list of these"
        listed = [] if isinstance(self.p, str) and self.p == "auto" else self._listed("p")
        exponents = [_parameters.exponent(p, allowed) for p in listed]
        if not all(1 <= p <= 2 for p in exponents):
            raise _parameters.refused("p", self.p, allowed)
        found = [self._kernel_space(kernel) for kernel in self._listed("kernel")]
        return {"exponents": exponents, "kernels": found, "tolerance": self._search_tol}

    def _kernel_space(self, kernel: Any) -> _core.Kernel | dict[str, Any]:
        """A kernel as it is, or what is searched of one by name."""
        normalize = None
        if not self._is_auto("normalize_kernel", "'auto', True or False"):
            normalize = _parameters.boolean("normalize_kernel", self.normalize_kernel)
        if isinstance(kernel, kernels.Kernel):
            return kernels.chosen(kernel, degree=None, coef0=0.0, scale=1.0, normalize=bool(normalize))
        name = _parameters.text("kernel", kernel, f"{_KERNELS}, or a list of these")
        space: dict[str, Any] = {"name": name, "degrees": [], "scales": [], "coef0": None, "normalize": normalize}
        if name in ("poly", "anova", "exp"):
            degrees = [_parameters.degree(degree) for degree in self._listed("degree")]
            # As with scikit-learn's kernels, one degree does not matter for exp.
            space["degrees"] = [
                degree for degree in degrees if isinstance(degree, tuple) or (name != "exp" and degree is not None)
            ]
        if not self._is_auto("scale", "'auto', a number > 0 or a list of such numbers") and name in ("poly", "exp"):
            space["scales"] = [_parameters.real("scale", scale) for scale in self._listed("scale")]
        coef0 = _parameters.real("coef0", self.coef0)
        # Of a range of degrees 0 would leave one, so there it stands for 1; without a range it is what nothing said means.
        space["coef0"] = coef0 if name == "poly" and coef0 != 0.0 else None
        return space

    def _is_auto(self, name: str, allowed: str) -> bool:
        told = getattr(self, name)
        if isinstance(told, str) and told != "auto":
            raise _parameters.refused(name, told, allowed)
        return isinstance(told, str)

    def _spec(self, **changes: Any) -> _core.Spec:
        # What is searched has no value of its own.
        first = self._listed("kernel")[0]
        plain: dict[str, Any] = {"p": 4 / 3, "kernel": first, "degree": None, "scale": 1.0}
        if isinstance(self.normalize_kernel, str) or not isinstance(first, kernels.Kernel):
            plain["normalize_kernel"] = False
        return super()._spec(**{name: value for name, value in plain.items() if name not in changes}, **changes)

    def _search(self, X: Any, y: np.ndarray, target: Any, weights: np.ndarray | None, groups: Any) -> _core.Spec:
        """Fills the results, and returns the parameters of the best choice."""
        spec, space = self._spec(), self._space()
        Cs, count = _parameters.grid(self.Cs)
        splits = self._splits_of(self.cv, y, target, groups)
        self._check_splits(splits, target)
        given = [(train.tolist(), test.tolist()) for train, test in splits]
        asked: dict[str, Any] = {"space": space, "Cs": Cs, "count": count}
        fits, long = spec.search_size(X, weights, **asked, functions=self._functions, splits=len(splits))
        self._warn_before(self._unequal_scales(spec, X), long)
        asked["one_standard_error"] = _parameters.boolean("one_standard_error", self.one_standard_error)
        with self._bar("cross-validation", fits) as bar:
            codes = group_codes(groups, len(target))
            found = spec.search(X, y, weights, **asked, splits=given, groups=codes, progress=bar.callback)
        for option, error in found["left_out"]:
            warn(f"{self._shown(option)} is left out of the search: {error}", FitFailedWarning)
        chosen = self._collect(found, splits, target)
        # Those of the choice; what a scorer has chosen, the losses may not have.
        self._residuals = found["residuals"] if found["chosen"] == chosen else None
        # What a scorer has chosen, the losses did not.
        self._validation = found["validation"] if self.scoring is None else None
        self._assessment = found["assessment"] if self.scoring is None else None
        self.assessment_ = assessment_of(self._assessment, getattr(self, "classes_", None))
        self.verdict_ = None if self.assessment_ is None else ". ".join(self.assessment_["verdict"])
        self._warn_of_search(found["tried"])
        return found["tried"][chosen[0]]["spec"]

    def _shown(self, option: dict[str, Any]) -> dict[str, Any]:
        """Of p and the kernel of a combination what is a parameter of this kernel, and was left to the search or has a value."""
        kernel = self._listed("kernel")[option["place"]]
        shown = {"kernel": kernel} if isinstance(self.kernel, (list, np.ndarray)) else {}
        shown["p"] = option["p"]
        if "degree" in option:
            shown["degree"] = option["degree"]
        if isinstance(kernel, str) and kernel in ("poly", "exp"):
            shown["scale"] = option["scale"]
        if isinstance(self.normalize_kernel, str) and "normalize_kernel" in option:
            shown["normalize_kernel"] = option["normalize_kernel"]
        return shown

    def _check_splits(self, splits: list[Any], target: Any) -> None:
        """Whatever a search asks of its splits."""

    def _collect(self, found: Any, splits: list[Any], target: Any) -> tuple[int, int]:
        """Fills in the scores of every choice, and gives the combination of the best of them and the place of its C."""
        scorer, tried = self._scorer(), found["tried"]
        if scorer is None:
            # The library's score, in which splits count by the weights of their samples.
            scores = np.concatenate([-one["losses"] for one in tried])
            weights = np.concatenate([one["weights"] for one in tried])
        else:
            of_option = (scored(scorer, self._stand_in, one["decisions"], splits, target) for one in tried)
            scores = np.concatenate(list(of_option))
            weights = np.ones_like(scores)
        params = [{"C": float(C), **self._shown(one["parameters"])} for one in tried for C in one["Cs"]]
        mean, std, error = _moments(scores, weights)
        if not np.isfinite(mean).any():
            raise ValueError("no choice has a finite held-out score; look at the scale of X and y, and at scoring")
        self.n_splits_ = len(splits)
        self.cv_results_ = {
            **{
                f"param_{name}": _column(name, params) for name in dict.fromkeys(name for one in params for name in one)
            },
            "params": params,
            **{f"split{at}_test_score": scores[:, at] for at in range(len(splits))},
            "mean_test_score": mean,
            "std_test_score": std,
            "standard_error_test_score": error,
            "rank_test_score": rankdata(-np.nan_to_num(mean, nan=-np.inf), method="min").astype(np.int32),
        }
        # Grids that were widened have more values than others.
        ends = np.cumsum([len(one["Cs"]) for one in tried])
        starts = ends - [len(one["Cs"]) for one in tried]
        if scorer is None and found["chosen"] is not None:
            option, place = found["chosen"]
        else:
            option = int(np.searchsorted(ends, np.nanargmax(mean), side="right"))
            own = slice(starts[option], ends[option])
            losses = list(zip(-mean[own], error[own], strict=True))
            place = _core.choose(losses, bool(self.one_standard_error))
        best = int(starts[option]) + place
        self.best_index_, self.best_params_, self.best_score_ = best, params[best], float(mean[best])
        self.C_ = params[best]["C"]
        return option, place

    def _scorer(self) -> Any:
        if self.scoring is None:
            return None
        if not isinstance(self.scoring, str) and not callable(self.scoring):
            raise _parameters.refused("scoring", self.scoring, "None, the name of a score or a callable")
        return check_scoring(self._stand_in(np.zeros((1, 1))), self.scoring)

    def _warn_of_search(self, found: list[Any]) -> None:
        unconverged = sum(int(one["unconverged"].sum()) for one in found)
        if unconverged:
            worst = max(float(one["gaps"].max()) for one in found)
            warn_of_convergence(
                f"{unconverged} fits of the cross-validation did not converge: the largest relative duality gap is "
                f"{worst:.2e}. Their scores count all the same. Standardise X, or raise "
                "max_iter or tol."
            )

    def _refit(self, spec: _core.Spec, X: Any, y: np.ndarray, weights: np.ndarray | None) -> None:
        if not _parameters.boolean("refit", self.refit):
            return
        self._fit_function(spec, X, y, weights, self.C_, residuals=self._residuals)

    def plot_cv(self, *, ax: Any = None, **kwargs: Any) -> Any:
        """Draws the held-out scores against C; see :class:`banach.CVDisplay`."""
        from ._display import CVDisplay

        return CVDisplay.from_estimator(self, ax=ax, **kwargs)


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


def _column(name: str, params: list[dict[str, Any]]) -> np.ndarray:
    """A parameter of every choice; masked where a choice has none, as a degree beside a linear kernel."""
    column, absent = _objects([param.get(name) for param in params]), [name not in param for param in params]
    return np.ma.MaskedArray(column, mask=absent) if any(absent) else column


def _objects(values: list[Any]) -> np.ndarray:
    """An array of anything, such as pairs."""
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


@with_parameters
class LpRegressorCV(_Search, _Regression):
    """:class:`LpRegressor` with C, and on request p, kernel, degree and scale, chosen by cross-validation.

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
        degree=None,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel="auto",
        standardize=False,
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
        self.standardize = standardize
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

    def fit(self, X, y, sample_weight=None, groups=None, exposure=None, offset=None):
        """Searches, and fits the best choice.

        Parameters
        ----------
        X, y, sample_weight, exposure, offset
            As in :meth:`LpRegressor.fit`. The default score weighs held-out samples; scorers do not, and see rates where
            there is an exposure.
        groups : array of shape (n_samples,), optional
            Samples of one group are held out together, and are one witness of how good predictions are.

        Returns
        -------
        self
        """
        self._forget()
        X, y, weights = self._check_data(X, y, sample_weight, exposure, offset)
        spec = self._search(X, y, y[0] if self._single else y.T, weights, groups)
        self._refit(spec, X, y, weights)
        return self


@with_parameters
class LpClassifierCV(_Search, _Classification):
    """:class:`LpClassifier` with C, and on request p, kernel, degree and scale, chosen by cross-validation.

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
        degree=None,
        monomials="raw",
        coef0=0.0,
        scale="auto",
        normalize_kernel="auto",
        standardize=False,
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
        self.standardize = standardize
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
        probabilities = self._spec().probabilities if self.loss == "logistic" else None
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
            Samples of one group are held out together, and are one witness of how good predictions are.

        Returns
        -------
        self
        """
        self._forget()
        X, codes, weights = self._check_data(X, y, sample_weight)
        spec = self._search(X, codes, self.classes_[codes], weights, groups)
        self._refit(spec, X, codes, weights)
        return self
