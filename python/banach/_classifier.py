"""Classification."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from . import _core, _names, _parameters
from ._base import NUMBERS
from ._doc import with_parameters
from ._lp_model import LpModel


def _has_probabilities(model: LpModel) -> bool:
    if model.loss != "logistic":
        raise AttributeError(f"loss={model.loss!r} tells no probabilities; use loss='logistic', or decision_function")
    return True


class _Classification(ClassifierMixin, LpModel):
    """Labels of any kind in, the same labels out. More than two classes are fitted one against the rest."""

    _task = "classification"

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
        self._target = _names.of_target(y)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=NUMBERS)
        self.classes_, codes, weights = coded(y, self._weights(sample_weight, X), self.class_weight)
        return self._training_table(X), codes, weights

    def _check_pairs(self, y: np.ndarray) -> None:
        alone = np.flatnonzero(np.bincount(y, minlength=len(self.classes_)) < 2)
        if len(alone):
            raise ValueError(
                f"the class {self.classes_[alone].tolist()[0]!r} has one sample, and folds need two of every class; "
                "leave the sample out, or say with a splitter what is held out"
            )

    @property
    def _functions(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _adopt(self, model: _core.Model) -> None:
        super()._adopt(model)
        self.dual_coef_, self.intercept_, weights = model.alpha, model.intercept, model.weights
        if weights is not None:
            self.coef_ = weights

    def _output_title(self, output: int) -> str:
        if self._functions == 1:
            return f"The largest monomials, for {self.classes_[1]!s} against {self.classes_[0]!s}"
        return f"The largest monomials, for {self.classes_[output]!s} against the rest"

    def decision_function(self, X: Any) -> np.ndarray:
        """``f(x) + b``: of shape (n_samples,) for two classes, positive for the second; else (n_samples, n_classes)."""
        values = self._decision(X)
        return values[0] if self._functions == 1 else np.ascontiguousarray(values.T)

    def predict(self, X: Any) -> np.ndarray:
        """The label of every sample."""
        values = self._decision(X)
        return self.classes_[labels(values)]

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, of shape (n_samples, n_classes), for the logistic loss.

        With more than two classes, the probabilities of each against the rest are divided by their sum.
        """
        self._check_fitted()
        return np.ascontiguousarray(self._model.probabilities(self._check_X(X)).T)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))


def coded(y: Any, weights: np.ndarray | None, class_weight: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """The classes of labels, the place of each label among them, and the weights of samples with those of their classes."""
    check_classification_targets(y)
    y = column_or_1d(y, warn=True)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"y has one class, {classes[0]!s}; a classifier needs at least two classes")
    if class_weight is not None:
        balance = compute_sample_weight(class_weight, y)
        if not (balance >= 0).all():
            raise _parameters.refused("class_weight", class_weight, "weights >= 0")
        weights = balance if weights is None else weights * balance
    if weights is not None:
        check_presence(classes, codes, weights)
    return classes, np.ascontiguousarray(codes, dtype=np.int64), weights


def check_presence(classes: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
    """A sample of weight 0 is absent, so a class of such samples is absent although it has a name."""
    present = np.bincount(codes, weights=weights != 0, minlength=len(classes)) > 0
    if not present.all():
        absent = classes[~present].tolist()
        raise ValueError(
            f"every sample of the class {absent[0]!r} has weight 0; leave the class out, or give one of its samples a "
            "weight > 0"
        )


def labels(decisions: np.ndarray) -> np.ndarray:
    """The number of the class, from decisions with one row per function."""
    return (decisions[0] > 0).astype(int) if len(decisions) == 1 else np.argmax(decisions, axis=0)


@with_parameters
class LpClassifier(_Classification):
    """Classification by l^p regularisation with tensor kernels: sparse and nonlinear for p near 1.

    Minimises ``C sum_i L(y_i, <w, Phi(x_i)> + b) + (1/p) ||w||_p^p`` over w and b for labels of -1 and 1, where Phi lists
    the monomials of a kernel; of more than two classes, each against the rest.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from banach import LpClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LpClassifier(C=10.0)).fit(X, y)
    >>> model.score(X, y) > 0.9
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
        loss="logistic",
        class_weight=None,
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
        self.class_weight = class_weight
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.solver = solver
        self.solver_options = solver_options
        self.route = route
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Fits the model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            A float64, float32 or int8 array in Fortran's order is used where it is; anything else is copied once. The model keeps a
            reference to it, so do not write to it afterwards.
        y : array of shape (n_samples,)
            The labels: numbers or strings.
        sample_weight : array of shape (n_samples,), optional
            What each sample counts; one of weight 0 is absent.

        Returns
        -------
        self
        """
        self._forget()
        spec, C = self._spec(), _parameters.real("C", self.C, "a finite number > 0")
        X, codes, weights = self._check_data(X, y, sample_weight)
        self._fit_function(spec, X, codes, weights, C, names=self._columns_to_judge())
        return self
