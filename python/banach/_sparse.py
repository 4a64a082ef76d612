"""Regression and classification by a few terms, each with what is known of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from . import _core, _names, _outputs, _parameters, _sparse_tables, kernels
from ._assessment import assessment_of
from ._base import NUMBERS, IntervalMixin, TableEstimator, aligned, group_codes, splits_of, table_of
from ._classifier import check_presence, labels
from ._doc import with_sections
from ._equation import Equation, written
from ._sparse_certificates import CERTIFICATES
from ._sparse_doc import ATTRIBUTES, PARAMETERS
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
    "assessment_",
    "verdict_",
    "classes_",
    "_fitted_to",
)


class _SparseEstimator(TableEstimator):
    """What both estimators do with the functions of a model."""

    _model: _core.SparseModel

    def __init__(
        self,
        kernel="linear",
        *,
        degree=None,
        monomials="standardized",
        penalty="evidence",
        max_terms=None,
        hierarchy=None,
        cv=None,
        fit_intercept=True,
        memory_limit=None,
        n_jobs=None,
        verbose=0,
    ):
        self.kernel = kernel
        self.degree = degree
        self.monomials = monomials
        self.penalty = penalty
        self.max_terms = max_terms
        self.hierarchy = hierarchy
        self.cv = cv
        self.fit_intercept = fit_intercept
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _asked(self) -> dict[str, Any]:
        """The parameters, checked."""
        max_terms = self.max_terms
        if max_terms is not None:
            max_terms = _parameters.whole("max_terms", max_terms, "None or a whole number >= 1", least=1)
        penalty = _parameters.text("penalty", self.penalty, "evidence, l1, mcp or scad")
        sizes = _parameters.text("monomials", self.monomials, "standardized, raw or unit")
        if sizes not in ("standardized", "raw", "unit"):
            raise _parameters.refused("monomials", sizes, "standardized, raw or unit")
        if penalty != "evidence" and sizes != "standardized":
            raise _parameters.refused("monomials", sizes, "standardized, with a penalty on weights")
        return {
            # How a kernel weights monomials does not matter.
            "kernel": kernels.chosen(self.kernel, degree=self.degree, coef0=0.0, scale=1.0, normalize=False),
            "penalty": penalty,
            "hierarchy": _parameters.hierarchy(self.hierarchy),
            "max_terms": max_terms,
            "fit_intercept": _parameters.boolean("fit_intercept", self.fit_intercept),
            "memory": _parameters.memory(self.memory_limit),
            "threads": _parameters.threads(self.n_jobs),
        }

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        self._forget()
        asked = self._asked()
        self._target = _names.of_target(y)
        X, target, weights = self._check_data(X, y, sample_weight)
        splits, codes = None, group_codes(groups, target.shape[-1])
        if self.cv is not None or groups is not None:
            found = splits_of(self.cv, target, target.reshape(-1), groups, classifier=hasattr(self, "classes_"))
            splits = [(train.tolist(), test.tolist()) for train, test in found]
        with self._bar("search for terms", 1) as bar:
            model, assessment = _core.fit_sparse(X, target, weights, splits, codes, **asked, progress=bar.callback)
        self._adopt(model, target.shape[-1], None if weights is None else float(weights.sum()))
        self.assessment_ = assessment_of(assessment, getattr(self, "classes_", None))
        self.verdict_ = None if self.assessment_ is None else ". ".join(self.assessment_["verdict"])

    def save(self, path: Any) -> None:
        """Writes the fitted model to a file, for :func:`banach.load` and the ``banach`` command; no sample is in it."""
        from ._files import save

        save(self, path)

    def _forget(self) -> None:
        """Takes back an earlier fit, so that one that fails leaves nothing that looks fitted."""
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)

    def _adopt(self, model: _core.SparseModel, n_samples: int, weight: float | None) -> None:
        """Takes over what a fit to so many samples, of this weight together, has found."""
        self._model = model
        self._fitted_to = (n_samples, weight)
        self.assessment_ = self.verdict_ = None
        functions = model.functions

        def each(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else values

        def numbers(values: list[Any]) -> Any:
            return values[0] if len(values) == 1 else np.array(values)

        self.n_terms_ = numbers([len(function.monomials) for function in functions])
        self.n_monomials_ = int(functions[0].dictionary)
        self.criterion_ = numbers([function.criterion for function in functions])
        self.intercept_ = numbers([function.intercept for function in functions])
        certificates = [function.certificate for function in functions]
        held = [CERTIFICATES[kind](**told) for kind, told in certificates]
        self.certificate_ = each(held)
        self.means_ = each([function.centres for function in functions])
        columns = _sparse_tables.terms(functions, self._names(), self._of_class, penalized=self.penalty != "evidence")
        caption = _sparse_tables.caption(functions, held, self._fitted_to, self._many_terms)
        self.terms_ = Table(columns, caption=caption)
        self.path_ = _sparse_tables.path(functions, self._of_class)

    def _of_class(self, counts: list[int]) -> dict[str, Any]:
        """The column that says of which class rows are, where there are several functions."""
        return {}

    def equation(self, *, output: int | str = 0) -> Equation:
        """A function as a formula, in the units of X.

        Products of variables less their means (``means_``) are multiplied out, which brings in monomials of lower degree
        that ``terms_`` does not name. Where that would lose digits, because a variable is far from 0 beside its range, they
        stay products of differences, and ``substitutions`` of the equation says of which.

        Parameters
        ----------
        output : str or int
            Which function, of several classes: the name of the class, or its number.
        """
        self._check_fitted()
        functions = self._model.functions
        place = _outputs.place(self, output, len(functions))
        return Equation(
            **written(functions[place].written()),
            n_features_in=self.n_features_in_,
            feature_names=self._names(),
            target=self._target_name() if len(functions) == 1 else f"log odds of {self.classes_[place]!s}",
            _model=self,
        )

    def contributions(self, X: Any, *, output: int | str = 0) -> Table:
        """What the predictions of single samples are made of: what every term adds to the constant.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        output : int or str
            Which function, of several classes, by number or class; for classes the sum is the logarithm of odds.

        Returns
        -------
        Table
            One row per sample and a column for every term. With its attribute ``constant`` they add up to the prediction.
        """
        self._check_fitted()
        functions = self._model.functions
        place = _outputs.place(self, output, len(functions))
        values = self._model.term_values(self._check_X(X), place)
        return _sparse_tables.contributions(functions[place], values, self._names())

    def export(self, language: str, *, target: str | None = None) -> str:
        """The model as code that needs nothing but its language.

        Columns are taken by their names and in the units of X; predictions agree with :meth:`predict` up to rounding.

        Parameters
        ----------
        language : {"python", "r", "sql", "excel", "c", "json"}
            Functions of Python, R or C, a query of SQL, two lines of cells for a spreadsheet, or the equations as data.
        target : str, optional
            What is predicted; if not given the name of the y that the model was fitted to, if it had one, else ``"y"``.

        Examples
        --------
        >>> from banach import SparseRegressor, datasets
        >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=80, n_features=30, n_informative=3, random_state=0)
        >>> code = SparseRegressor("poly", degree=(1, 2)).fit(X, y).export("python")
        >>> code.splitlines()[3]
        'def predict(row):'
        """
        self._check_fitted()
        language = _parameters.text("language", language, "python, r, sql, excel, c or json")
        target = self._target_name() if target is None else _parameters.text("target", target, "None or a name")
        classes = self.classes_.tolist() if hasattr(self, "classes_") else None
        return _core.export_sparse(self._model, language, self.n_features_in_, self._names(), target, classes)

    def _target_name(self) -> str | None:
        return self.__dict__.get("_target")

    def stability(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_resamples: int = 20, random_state: int = 0
    ) -> Table:
        """How often monomials are named again when a random fifth of the samples, of each class, is left out.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted to.
        n_resamples : int
            How many times samples are left out. Every time is a search of its own.
        random_state : int
            What is left out.

        Returns
        -------
        Table
            Columns ``monomial``, ``exponents`` and ``share`` (of the times in which it was named), the most frequent first; of
            more than two classes those of each, with a column ``class``.
        """
        self._check_fitted()
        n_resamples = _parameters.whole("n_resamples", n_resamples, "a whole number >= 1", least=1)
        seed = _parameters.seed(random_state)
        X, target, weights = self._check_again(X, y, sample_weight)
        with self._bar("stability", 1) as bar:
            found = self._model.stability(X, target, weights, n_resamples, seed, bar.callback)
        return _sparse_tables.stability(found, self._names(), self._of_class, n_resamples)


@with_sections(PARAMETERS, ATTRIBUTES)
class SparseRegressor(IntervalMixin, RegressorMixin, _SparseEstimator):
    """Regression by a few monomials: which of all those of a kernel explain y, and how sure that is.

    The terms are those with the smallest criterion: twice the logarithm of the Bayes factor against a constant, less the
    price of naming so many out of all monomials. Unless a penalty is asked for, no parameter shrinks or is to be chosen; all
    other coefficients are exactly 0. Noise seldom has a term: none of 200 draws of 40 samples of 30 variables with their products
    had one. The search ends where no addition, removal or exchange of any single monomial improves the criterion;
    ``certificate_`` says by how much.

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

    _many_terms = "LpRegressorCV"

    def fit(self, X, y, sample_weight=None, groups=None):
        """Finds the terms.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A float64, float32 or int8 array in Fortran's order is used where it is; anything else is copied once. Units do not matter.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), optional
            How often each sample counts: a weight of 2 is a sample that was seen twice, and so is more evidence. Weights
            that sum to 1 are one sample, of which nothing can be named. The most terms, a third of the rows, do not grow
            with weights.
        groups : array of shape (n_samples,), optional
            Samples of one group are held out together, in five folds if ``cv`` is None, and are one witness of how good
            predictions are; a splitter that needs groups gets them. The terms do not depend on it.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any, *, reset: bool = True) -> tuple[Any, Any, Any]:
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csc", dtype=NUMBERS, multi_output=True, y_numeric=True
        )
        if y.ndim > 1 and y.shape[1] > 1:
            raise ValueError(
                f"y has {y.shape[1]} columns; allowed: one, as the terms are those of one target. "
                "Fit a model to each, or put it in a MultiOutputRegressor of scikit-learn's"
            )
        y = column_or_1d(y, warn=True)
        y = aligned(np.ascontiguousarray(y, dtype=np.float64))
        return table_of(X), y[None, :], self._weights(sample_weight, X)

    def _check_again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        return self._check_data(X, y, sample_weight, reset=False)

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, of shape (n_samples,)."""
        self._check_fitted()
        return self._model.decision(self._check_X(X))[0]


@with_sections(PARAMETERS, ATTRIBUTES | {"classes_": "array of shape (n_classes,)\n    The labels."})
class SparseClassifier(ClassifierMixin, _SparseEstimator):
    """Classification by a few monomials: which of all those of a kernel tell the classes apart, and how sure that is.

    The logistic loss decides. The terms are those with the smallest criterion: the deviance, less that of a constant, plus the
    logarithm of the number of samples for each term and the price of naming so many out of all monomials. Unless a penalty is
    asked for, nothing is shrunk; all other coefficients are exactly 0. Of more than two classes, each has a function against the rest. Where the terms
    separate the classes without an error, the caption of ``terms_`` says so.

    For terms to tell; to predict, use :class:`LpClassifierCV`, which gives something even where nothing can be named.

    {parameters}

    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from banach import SparseClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> score = 2 * X[:, 3] + 3 * X[:, 5] * X[:, 8] + rng.logistic(size=200)
    >>> model = SparseClassifier("poly", degree=(1, 2)).fit(X, np.where(score > 0, "ill", "well"))
    >>> model.terms_["monomial"]
    ['x5 * x8', 'x3']
    >>> model.certificate_.holds, model.predict_proba(X[:1]).shape
    (True, (1, 2))
    """

    _many_terms = "LpClassifierCV"

    def fit(self, X, y, sample_weight=None, groups=None):
        """Finds the terms.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A float64, float32 or int8 array in Fortran's order is used where it is; anything else is copied once. Units do not matter.
        y : array of shape (n_samples,)
            The labels: numbers or strings.
        sample_weight : array of shape (n_samples,), optional
            How often each sample counts: a weight of 2 is a sample that was seen twice, and one of weight 0 is absent.
        groups : array of shape (n_samples,), optional
            Samples of one group are held out together, in five folds if ``cv`` is None, and are one witness of how good
            predictions are; a splitter that needs groups gets them. The terms do not depend on it.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=NUMBERS)
        check_classification_targets(y)
        y = column_or_1d(y, warn=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]!s}; a classifier needs at least two classes")
        weights = self._weights(sample_weight, X)
        if weights is not None:
            check_presence(self.classes_, codes, weights)
        return table_of(X), np.ascontiguousarray(codes, dtype=np.int64), weights

    def _check_again(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any]:
        X, y = validate_data(self, X, y, reset=False, accept_sparse="csc", dtype=NUMBERS)
        y = column_or_1d(y, warn=True)
        if not np.isin(y, self.classes_).all():
            raise ValueError("y has classes that the model does not know; allowed: those that it was fitted to")
        codes = np.searchsorted(self.classes_, y)
        return table_of(X), np.ascontiguousarray(codes, dtype=np.int64), self._weights(sample_weight, X)

    def _of_class(self, counts: list[int]) -> dict[str, Any]:
        return {} if len(counts) == 1 else {"class": list(np.repeat(self.classes_, counts))}

    def decision_function(self, X: Any) -> np.ndarray:
        """The logarithms of odds: of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)."""
        values = self._decision(X)
        return values[0] if len(values) == 1 else np.ascontiguousarray(values.T)

    def predict(self, X: Any) -> np.ndarray:
        """The label of every sample."""
        values = self._decision(X)
        return self.classes_[labels(values)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, of shape (n_samples, n_classes).

        With more than two classes, the probabilities of each against the rest are divided by their sum.
        """
        self._check_fitted()
        return np.ascontiguousarray(self._model.probabilities(self._check_X(X)).T)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _decision(self, X: Any) -> np.ndarray:
        """One row per function."""
        self._check_fitted()
        return self._model.decision(self._check_X(X))
