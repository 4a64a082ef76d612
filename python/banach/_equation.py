"""Models of a few monomials, written out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_array

from . import _core, _names, _parameters
from ._names import Monomial
from ._table import Table
from ._warnings import warn

if TYPE_CHECKING:
    from ._described import DescribedModel


@dataclass(frozen=True, repr=False)
class Equation:
    """``f(x) = intercept + sum_k coefficients[k] x^k`` over a few monomials; all others have the coefficient 0.

    Terms by evidence that are products of variables less their means are multiplied out into monomials of the columns of X. Where
    that would lose digits, because a variable is far from 0 beside its range, they stay as they are: ``substitutions`` then says
    what stands for such a variable, and so do lines after "where" in the text and in LaTeX. Numbers are printed with as many
    digits, four or more, as predictions need.

    An equation of terms by evidence is a model of its own: :meth:`to_model`, :meth:`save` and :meth:`export`.

    Attributes
    ----------
    intercept : float
        The constant.
    coefficients : list of float
        One for every monomial.
    monomials : list
        Each a tuple of pairs: a variable and its exponent.
    names : list of str
        The monomials in words.
    n_features_in : int
        The number of variables of X.
    target : str or None
        The name of what is predicted, if it has one.
    terms : Table or None
        If the terms were named by evidence, what is known of each: ``monomial``, ``exponents``, ``coefficient``,
        ``std_error`` (as if the terms had been known beforehand) and ``evidence`` (how much the criterion rises without
        it). Where products are those of variables less their means, the equation is multiplied out and has more monomials.
    bound : float or None
        If the coefficients are those of the model, the most that the equation differs from it at the samples.
    substitutions : list of (int, float, float)
        Variables that stand for something else in the monomials: ``(variable, minus, over)`` for ``(x - minus) / over``. Empty
        where the equation is one of the columns of X.
    """

    intercept: float
    coefficients: list[float]
    monomials: list[Monomial]
    n_features_in: int
    feature_names: Sequence[str] | None = None
    classes: np.ndarray | None = None
    probabilities: bool = False
    counts: bool = False
    target: str | None = field(default=None, compare=False)
    terms: Table | None = field(default=None, compare=False)
    bound: float | None = field(default=None, compare=False)
    substitutions: list[tuple[int, float, float]] = field(default_factory=list)
    #: The digits of the constant and of every coefficient in texts, and those of the substitutions.
    _digits: list[int] | None = field(default=None, compare=False)
    _digits_of_substitutions: list[int] = field(default_factory=list, compare=False)
    #: The same as an estimator, if its terms were named by evidence.
    _model: Any = field(default=None, compare=False)

    @property
    def names(self) -> list[str]:
        if not self.substitutions:
            return [_names.monomial(monomial, self.feature_names) for monomial in self.monomials]
        names = [_names.variable(self.feature_names, j) for j in range(self.n_features_in)]
        for j, _, _ in self.substitutions:
            names[j] = f"z{j}" if self.feature_names is None else f"z_{names[j]}"
        return [_names.monomial(monomial, names) for monomial in self.monomials]

    def __str__(self) -> str:
        return self._text(latex=False)

    def __repr__(self) -> str:
        return f"Equation({str(self)!r})"

    def latex(self) -> str:
        """As a formula of LaTeX, without the dollar signs."""
        return self._text(latex=True)

    def _repr_latex_(self) -> str:
        return f"${self.latex()}$"

    def _text(self, *, latex: bool) -> str:
        target = self.target or "y"
        left = f"log({target})" if self.counts else self.target or ("y" if self.classes is None else "decision")
        terms = [(list(factors), value) for factors, value in zip(self.monomials, self.coefficients, strict=True)]
        names = [str(name) for name in self.feature_names or ()]
        pairs = zip(self.substitutions, self._digits_of_substitutions, strict=True)
        substitutions = [(*substitution, digits) for substitution, digits in pairs]
        return _core.equation(left, self.intercept, terms, names, latex, self._digits, substitutions)

    def to_dict(self) -> dict[str, Any]:
        """The intercept under ``"1"`` and every coefficient under the name of its monomial.

        A monomial whose name is taken, such as that of a column called 1, is told with its columns by their places:
        ``"1 [x0]"``.
        """
        told = {"1": self.intercept}
        for monomial, name, coefficient in zip(self.monomials, self.names, self.coefficients, strict=True):
            if not monomial:
                told["1"] += coefficient
                continue
            told[f"{name} [{_names.monomial(monomial, None)}]" if name in told else name] = coefficient
        return told

    def decision_function(self, X: Any) -> np.ndarray:
        """The values of f."""
        named = getattr(X, "columns", None)
        if named is not None and self.feature_names is not None and [str(c) for c in named] != list(self.feature_names):
            raise ValueError("the columns of X are not those that the equation was made from, in their order")
        X = check_array(X, dtype=np.float64)
        if X.shape[1] != self.n_features_in:
            raise ValueError(f"X has {X.shape[1]} features, but the equation is in {self.n_features_in}")
        values = np.full(len(X), self.intercept)
        if self.substitutions:
            X = X.copy()
        for j, minus, over in self.substitutions:
            X[:, j] = (X[:, j] - minus) / over
        for monomial, coefficient in zip(self.monomials, self.coefficients, strict=True):
            values += coefficient * evaluate(monomial, X)
        return values

    def predict(self, X: Any) -> np.ndarray:
        """The values of f, the means of counts, whose logarithm f is, or the labels that they stand for."""
        values = self.decision_function(X)
        if self.counts:
            return np.exp(np.minimum(values, np.log(np.finfo(np.float64).max)))
        return values if self.classes is None else self.classes[(values > 0).astype(int)]

    def to_model(self) -> Any:
        """The same as a fitted :class:`SparseRegressor` or :class:`SparseClassifier`; of the equations of a classifier of few terms,
        the model of all its classes. Of terms by evidence only."""
        if self._model is None:
            raise ValueError(
                "the equation is a part of a sum of many terms, and no model; allowed: one of terms by evidence, as with refit=True"
            )
        return self._model

    def save(self, path: Any) -> None:
        """Writes :meth:`to_model` to a file, for :func:`banach.load` and the ``banach`` command."""
        self.to_model().save(path)

    def export(self, language: str, *, target: str | None = None) -> str:
        """:meth:`to_model` as code: see :meth:`SparseRegressor.export`."""
        return self.to_model().export(language, target=target)

    def to_pipeline(self) -> Pipeline:
        """The same function as a fitted pipeline of scikit-learn alone, which can be used and pickled without banach.

        It takes the columns of X by their places, whatever their names. An equation of counts has none: f is their logarithm.
        """
        if self.counts:
            raise ValueError("the equation is that of the logarithm of counts, which is no pipeline; use predict")
        blocks = [(f"m{at}", *_block(monomial)) for at, monomial in enumerate(self.monomials) if monomial]
        # Where no monomial is left, a column that does not count stands in for them.
        columns = ColumnTransformer(blocks or [("none", "passthrough", [0])]).fit(np.zeros((2, self.n_features_in)))
        coefficients = [value for value, monomial in zip(self.coefficients, self.monomials, strict=True) if monomial]
        constant = self.intercept + sum(
            value for value, monomial in zip(self.coefficients, self.monomials, strict=True) if not monomial
        )
        linear = self._linear(coefficients or [0.0], constant)
        # Data frames become arrays first: the steps after it know columns by their places.
        array = FunctionTransformer(np.asarray, validate=False).fit(np.zeros((1, self.n_features_in)))
        scaled = [("differences", self._scaler())] if self.substitutions else []
        return Pipeline([("array", array), *scaled, ("monomials", columns), ("linear", linear)])

    def _scaler(self) -> StandardScaler:
        """What puts ``(x - minus) / over`` in the place of variables."""
        scaler = StandardScaler().fit(np.zeros((1, self.n_features_in)))
        for j, minus, over in self.substitutions:
            scaler.mean_[j], scaler.scale_[j], scaler.var_[j] = minus, over, over**2
        return scaler

    def _linear(self, coefficients: list[float], constant: float) -> Any:
        if self.classes is None:
            linear: Any = LinearRegression()
            linear.coef_, linear.intercept_ = np.array(coefficients), constant
        else:
            linear = LogisticRegression() if self.probabilities else LinearSVC()
            linear.classes_ = self.classes
            linear.coef_, linear.intercept_ = np.array([coefficients]), np.array([constant])
        linear.n_features_in_ = len(coefficients)
        return linear


def evaluate(monomial: Monomial, X: np.ndarray, centres: np.ndarray | None = None) -> np.ndarray:
    """The values of a monomial at the rows of X, less the centres if there are any."""
    values = np.ones(X.shape[0])
    for j, power in monomial:
        values *= (X[:, j] if centres is None else X[:, j] - centres[j]) ** power
    return values


def _block(monomial: Monomial) -> tuple[Any, list[int]]:
    """What takes the variables of a monomial to the monomial."""
    variables = [j for j, _ in monomial]
    powers = PolynomialFeatures(sum(power for _, power in monomial), include_bias=False)
    powers.fit(np.zeros((1, len(variables))))
    place = int(np.flatnonzero((powers.powers_ == [power for _, power in monomial]).all(axis=1))[0])
    return make_pipeline(powers, ColumnTransformer([("keep", "passthrough", [place])])), variables


#: Monomials of an equation that keeps the coefficients of the model, unless told otherwise.
_LARGEST = 5


def equation(model: DescribedModel, k: int | None, *, output: int, refit: bool, hierarchy: str | None) -> Equation:
    """See :meth:`DescribedModel.equation`."""
    if k is not None:
        k = _parameters.whole("k", k, "None or a whole number >= 1", least=1)
    terms, units = None, model._units()
    if _parameters.boolean("refit", refit):
        with model._bar("search for terms", 1) as bar:
            found = _core.name_terms(model._model, output, k, _parameters.hierarchy(hierarchy), units, bar.callback)
        terms = _table_of_terms(found, model._names())
    else:
        found = _core.expansion(model._model, output, _LARGEST if k is None else k, units)
    classes = getattr(model, "classes_", None)
    target = getattr(model, "_target", None) if classes is None else None
    if classes is not None and len(classes) > 2:
        target = f"decision for {classes[output]!s}"
        classes = np.array([f"not {classes[output]}", str(classes[output])])
    return Equation(
        **written(found),
        n_features_in=model.n_features_in_,
        feature_names=model._names(),
        classes=classes,
        probabilities=model.loss == "logistic",
        counts=model.loss == "poisson",
        target=target,
        terms=terms,
        bound=found.get("bound"),
        _model=None if terms is None else _estimator(model, found, classes),
    )


def written(found: dict[str, Any]) -> dict[str, Any]:
    """What an equation of the compiled part says, by the names of :class:`Equation`."""
    return {
        "intercept": found["intercept"],
        "coefficients": found["coefficients"],
        "monomials": found["monomials"],
        "substitutions": [(variable, minus, over) for variable, minus, over, _ in found["substitutions"]],
        "_digits": found["digits"],
        "_digits_of_substitutions": [digits for *_, digits in found["substitutions"]],
    }


def _estimator(model: DescribedModel, found: dict[str, Any], classes: np.ndarray | None) -> Any:
    """The terms as a model of few terms that was fitted to the same samples."""
    from ._files import sparse_model

    few = sparse_model(json.loads(found["spec"]), None if classes is None else classes.tolist())
    few.n_features_in_ = model.n_features_in_
    few._target = getattr(model, "_target", None)
    if hasattr(model, "feature_names_in_"):
        few.feature_names_in_ = model.feature_names_in_
    else:
        few._stored_names = model._names()
    few._adopt(found["model"], model._model.alpha.shape[1], None)
    return few


def _table_of_terms(found: dict[str, Any], names: Sequence[str] | None) -> Table:
    """What is known of terms that evidence names, with a line on what holds."""
    known, count = found["terms"], _names.counted(int(found["dictionary"]), "monomial", "monomials")
    if not known["exponents"]:
        caption = f"None of the {count} can be named at this number of rows."
        warn(f"{caption} The equation is a constant; to predict, use the model itself.", UserWarning)
    elif found["proven"]:
        caption = f"No addition, removal or exchange of any of {count} improves the criterion."
    else:
        caption = f"Some addition, removal or exchange of {count} would improve the criterion: the search ended early."
    if found["centred"]:
        caption += " Products are those of the variables less their means."
    columns = {"monomial": [_names.monomial(factors, names) for factors in known["exponents"]], **known}
    return Table(columns, caption=caption)
