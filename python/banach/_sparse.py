"""Regression by a few terms, each with what is known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d, validate_data

from . import _core, _names, _parameters, kernels
from ._base import TableEstimator, aligned, table_of
from ._doc import with_sections
from ._equation import Equation
from ._table import Table

#: What a fit leaves behind.
_OF_A_FIT = (
    "_model",
    "terms_",
    "n_terms_",
    "n_monomials_",
    "criterion_",
    "certificate_",
    "path_",
    "intercept_",
    "means_",
)

_PARAMETERS = {
    "kernel": """{"linear", "poly", "anova"} or an object of banach.kernels, default="linear"
    Which monomials can be named: the variables; all products of a degree, with powers; products of different variables.
    There must be finitely many, so ``"exp"`` needs a pair of degrees. How a kernel weights them does not matter here.""",
    "degree": """int or (int, int), default=2
    The degree of poly and anova, or its lowest and highest value; a pair also cuts exp.""",
    "max_terms": """int or None, default=None
    The most terms; a third of the rows if None, and never more.""",
}

_ATTRIBUTES = {
    "terms_": """Table
    The terms, the one with the most evidence first. Columns ``monomial``, ``exponents`` (pairs of a variable and its
    exponent), ``coefficient`` (by least squares on these terms: nothing is shrunk), ``std_error`` (of the coefficient, as
    if the terms had been known beforehand), ``evidence`` (how much the criterion rises without the term) and
    ``alternatives`` (pairs: a monomial that could stand in its place, and how much the criterion rises with it; 0 for one
    that does the same on these samples). The caption says what holds.""",
    "n_terms_": "int\n    The number of terms; 0 if nothing can be named at this number of samples.",
    "n_monomials_": "int\n    The number of monomials that could have been named.",
    "criterion_": "float\n    The criterion: below 0 if the terms are better than a constant, and 0 without terms.",
    "certificate_": """LocalOptimality
    How much the criterion rises at least with one more term (``addition``), one less (``removal``) and one in the place of
    another (``exchange``), over all monomials; infinity for steps that do not exist. ``holds`` if none makes it fall.""",
    "path_": """Table
    The best function of every number of terms that was found: ``terms``, ``unexplained`` (the share of the variance of y)
    and ``criterion``.""",
    "intercept_": "float\n    The constant beside the monomials of ``terms_``.",
    "means_": """array or None
    What is taken from every variable before products are made; None if nothing is. Both ways are tried, and the criterion
    decides.""",
    "n_features_in_": "int\n    The number of variables.",
    "feature_names_in_": "array\n    Their names, if X had any.",
}


@dataclass(frozen=True)
class LocalOptimality:
    """What holds at the end of a search: how much the criterion rises at least with one step from the function.

    Attributes
    ----------
    addition : float
        With one more term.
    removal : float
        With one term less.
    exchange : float
        With one term in the place of another. A step that does not exist has infinity.
    holds : bool
        Whether no step makes a better function, up to rounding in the sixth decimal.
    """

    addition: float
    removal: float
    exchange: float
    holds: bool


class Alternatives(list[tuple[str, float]]):
    """Monomials that could stand in the place of a term, each with how much the criterion rises."""

    def __str__(self) -> str:
        """The first of them, and how many others there are."""
        if not self:
            return ""
        name, evidence = self[0]
        more = f", {len(self) - 1} more" if len(self) > 1 else ""
        # Two decimals are enough, and rounding has no sign.
        return f"{name} ({abs(evidence) if abs(evidence) < 0.005 else evidence:.2f}){more}"


@with_sections(_PARAMETERS, _ATTRIBUTES)
class SparseRegressor(RegressorMixin, TableEstimator):
    """Regression by a few monomials: which of all those of a kernel explain y, and how sure that is.

    The terms are those with the smallest criterion: twice the logarithm of the Bayes factor against a constant, less the
    price of naming so many out of all monomials. No parameter shrinks or is to be chosen, and all other coefficients are
    exactly 0. Noise seldom has a term: 5 of 200 draws of 40 samples of 30 variables with their products had one. The search
    ends where no addition, removal or exchange of any single monomial improves the criterion; ``certificate_`` says by how
    much.

    For terms to tell; to predict, use :class:`LpRegressorCV`, which gives something even where nothing can be named.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from banach import SparseRegressor, datasets
    >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=80, n_features=30, n_informative=3, random_state=0)
    >>> model = SparseRegressor("poly", degree=(1, 2)).fit(X, y)
    >>> model.n_monomials_, model.n_terms_
    (495, 3)
    >>> sorted(model.terms_["exponents"]) == sorted(monomial for monomial, weight in truth)
    True
    >>> model.certificate_.holds
    True
    """

    _model: _core.SparseFunction

    def __init__(
        self,
        kernel="linear",
        *,
        degree=2,
        max_terms=None,
        fit_intercept=True,
        memory_limit=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.degree = degree
        self.max_terms = max_terms
        self.fit_intercept = fit_intercept
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Finds the terms.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A float64 array in Fortran's order is used where it is; anything else is copied once. Units do not matter.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), optional
            How often each sample counts: a weight of 2 is a sample that was seen twice, and so is more evidence. Weights
            that sum to 1 are one sample, of which nothing can be named. The most terms, a third of the rows, do not grow
            with weights.

        Returns
        -------
        self
        """
        self._forget()
        asked = self._asked()
        X, y, weights = self._check_data(X, y, sample_weight)
        with self._bar("search for terms", 1) as bar:
            self._adopt(_core.fit_sparse(X, y, weights, **asked, progress=bar.callback), len(y), weights)
        return self

    def _asked(self) -> dict[str, Any]:
        """The parameters, checked."""
        max_terms = self.max_terms
        if max_terms is not None:
            max_terms = _parameters.whole("max_terms", max_terms, "None or a whole number >= 1", least=1)
        return {
            # How a kernel weights monomials does not matter.
            "kernel": kernels.chosen(self.kernel, degree=self.degree, coef0=0.0, scale=1.0, normalize=False),
            "max_terms": max_terms,
            "fit_intercept": _parameters.boolean("fit_intercept", self.fit_intercept),
            "memory": _parameters.memory(self.memory_limit),
            "threads": _parameters.threads(self.n_jobs),
        }

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        X, y = validate_data(
            self, X, y, accept_sparse="csc", dtype=np.float64, order="F", multi_output=True, y_numeric=True
        )
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError(
                f"y has {y.shape[1]} columns; allowed: one, as the terms are those of one target. "
                "Fit a model to each, or put it in a MultiOutputRegressor of scikit-learn's"
            )
        y = column_or_1d(y, warn=True)
        y = aligned(np.ascontiguousarray(y, dtype=np.float64))
        return table_of(X), y, self._weights(sample_weight, X)

    def _forget(self) -> None:
        """Takes back an earlier fit, so that one that fails leaves nothing that looks fitted."""
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)

    def _adopt(self, model: _core.SparseFunction, n_samples: int, weights: np.ndarray | None) -> None:
        """Takes over what a fit has found."""
        self._model = model
        self.n_terms_ = len(model.monomials)
        self.n_monomials_ = int(model.dictionary)
        self.criterion_ = model.criterion
        self.certificate_ = LocalOptimality(*model.optimality)
        self.intercept_ = model.intercept
        self.means_ = model.centres
        names = self._names()

        def named(monomial: _names.Monomial) -> str:
            return _names.monomial(monomial, names)

        columns = {
            "monomial": [named(monomial) for monomial in model.monomials],
            "exponents": model.monomials,
            "coefficient": model.coefficients,
            "std_error": model.std_errors,
            "evidence": model.evidence,
            "alternatives": [
                Alternatives((named(monomial), evidence) for monomial, evidence in others)
                for others in model.alternatives
            ],
        }
        self.terms_ = Table(columns, caption=self._caption(n_samples, weights))
        terms, unexplained, criteria = (np.array(column) for column in zip(*model.sizes, strict=True))
        self.path_ = Table(
            {"terms": terms, "unexplained": unexplained, "criterion": criteria},
            caption="The best of every number of terms that was found; the one with the smallest criterion is the model.",
        )

    def _caption(self, n_samples: int, weights: np.ndarray | None) -> str:
        """What holds, in a sentence."""
        count = f"{self.n_monomials_:,}"
        if self.n_terms_ == 0:
            rows = "1 row" if n_samples == 1 else f"{n_samples:,} rows"
            if weights is not None:
                rows += f" of the total weight {weights.sum():g}"
            return f"None of the {count} monomials can be named with {rows}; to predict, use LpRegressorCV."
        certificate, errors = self.certificate_, "standard errors are conditional on the selection"
        steps = "addition, removal or exchange"
        if np.isinf(certificate.addition):
            # More terms are not allowed, or there are none.
            steps = "removal or exchange"
        if certificate.holds:
            caption = f"No {steps} of any of {count} monomials improves the criterion; {errors}."
        else:
            caption = (
                f"Some {steps} of {count} monomials would improve the criterion: the search ended early; {errors}."
            )
        if np.isinf(certificate.addition):
            caption += (
                f" More than {self.n_terms_} {'term was' if self.n_terms_ == 1 else 'terms were'} not looked for."
            )
        if self.means_ is not None:
            caption += " Products are those of the variables less their means."
        return caption

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, of shape (n_samples,)."""
        self._check_fitted()
        return self._model.predict(self._check_X(X))

    def equation(self) -> Equation:
        """The function as a formula, in the units of X.

        Products of variables less their means (``means_``) are multiplied out, which brings in monomials of lower degree
        that ``terms_`` does not name. Where a variable is far from 0 beside its deviation, the values of the equation have
        fewer correct digits than :meth:`predict`.
        """
        self._check_fitted()
        intercept, terms = self._model.expanded()
        return Equation(
            intercept=intercept,
            coefficients=[coefficient for _, coefficient in terms],
            monomials=[monomial for monomial, _ in terms],
            n_features_in=self.n_features_in_,
            feature_names=self._names(),
        )
