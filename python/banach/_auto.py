"""The best model without a parameter: everything that can be afforded is tried, and held-out samples decide."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import column_or_1d, validate_data

from . import _core, _names, _outputs, _parameters
from ._assessment import assessment_of
from ._base import NUMBERS, IntervalMixin, TableEstimator, aligned, group_codes, splits_of, table_of
from ._classifier import coded
from ._doc import with_sections
from ._sparse import SparseClassifier, SparseRegressor
from ._table import Table

#: What a fit leaves behind.
_OF_A_FIT = ("_model", "contenders_", "verdict_", "assessment_", "held_out_error_", "terms_error_", "classes_")

#: The parts that progress is counted in.
_PARTS = 1000

_PARAMETERS = {
    "effort": """{"quick", "normal", "thorough"}, default="normal"
    How much is tried: linear functions, Gauss's kernel and few terms; also ranks, products, lengths and relevance of every variable,
    as far as they cost seconds; also what costs minutes, and finer grids.""",
    "max_seconds": """float or None, default=None
    Nothing new is tried after this time. The model then depends on the speed of the machine.""",
    "random_state": """int, default=0
    What deals the samples to the folds.""",
    "cv": """int, splitter, iterable or None, default=None
    Which samples are held out: so many folds, five if None or ten of fewer than 100 samples, or what a splitter of scikit-learn
    says (``GroupKFold`` with ``groups``, ``TimeSeriesSplit``). No sample may be held out twice.""",
    "permutations": """int, default=0
    The same choice is made for so many random orders of y, and ``assessment_`` says how often they are predicted as well. All orders are
    different; of few groups there may be fewer, and ``assessment_`` says how many there were.""",
    "memory_limit": """int, str or None, default=None
    The most memory, as bytes or with a unit, as ``"2 GB"``; 80 % of what is available if None.""",
    "n_jobs": """int or None, default=None
    The number of threads; one per core if None. The model does not depend on it.""",
    "verbose": """int, default=0
    Whether a bar shows progress and the time left.""",
}

_ATTRIBUTES = {
    "verdict_": """str
    How well unseen samples are predicted against a constant, what chance says of it, and what was chosen.""",
    "assessment_": """dict or None
    The same as data, pooled over all held-out samples: ``better``, ``rows``, ``how``, ``loss`` and ``constant_loss``, ``gain``,
    ``chance`` (how often the best of as many candidates gains as much if there is nothing to find), ``numbers`` (``rmse``,
    ``constant_rmse``, ``q2``) or ``classes`` (``accuracy``, ``largest_class``, ``balanced_accuracy``, ``auc``, ``confusion``)
    and ``permutations``.""",
    "contenders_": """Table
    What was tried: ``contender``, ``error`` (the held-out loss as a share of that of a constant: squared error, or logarithmic
    loss of classes), ``std_error``, ``claimed`` (what the evidence of few terms claims, on the same scale), ``weight`` in
    the model and ``seconds``; for classes also ``accuracy``. The caption says what was not tried, and why.""",
    "held_out_error_": """float
    The loss of the model on held-out samples as a share of that of a constant; where few terms are the model, what their
    evidence claims.""",
    "terms_error_": """float or None
    The error of the few terms alone on held-out samples, on the scale of ``held_out_error_``; where none were held out of them,
    what their evidence claims; None without terms.""",
    "n_features_in_": "int\n    The number of variables.",
    "feature_names_in_": "array of shape (n_features_in_,)\n    Their names, if X had any.",
}


class _AutoEstimator(TableEstimator):
    """What the two estimators share."""

    _model: _core.AutoModel

    def __init__(
        self,
        effort="normal",
        *,
        max_seconds=None,
        random_state=0,
        cv=None,
        permutations=0,
        memory_limit=None,
        n_jobs=None,
        verbose=0,
    ):
        self.effort = effort
        self.max_seconds = max_seconds
        self.random_state = random_state
        self.cv = cv
        self.permutations = permutations
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        for name in _OF_A_FIT:
            self.__dict__.pop(name, None)
        seconds = self.max_seconds
        asked: dict[str, Any] = {
            "effort": _parameters.text("effort", self.effort, "quick, normal or thorough"),
            "seconds": None if seconds is None else _parameters.real("max_seconds", seconds, "None or a number > 0"),
            "seed": _parameters.seed(self.random_state),
            "permutations": _parameters.whole("permutations", self.permutations),
            "memory": _parameters.memory(self.memory_limit),
            "threads": _parameters.threads(self.n_jobs),
        }
        X, target, weights = self._check_data(X, y, sample_weight)
        labels, classifier = self._labels(target), hasattr(self, "classes_")
        held_out = splits_of(
            self.cv, target, labels, groups, classifier=classifier, seed=asked["seed"], among_many=True
        )
        splits, codes = [(train.tolist(), test.tolist()) for train, test in held_out], group_codes(groups, len(labels))
        with self._bar("the best model", _PARTS) as bar:
            self._adopt(_core.fit_auto(X, target, weights, splits, codes, **asked, progress=bar.callback))

    def _adopt(self, model: _core.AutoModel) -> None:
        self._model = model
        loss, _, constant = model.loss
        self.assessment_ = assessment_of(model.assessment, getattr(self, "classes_", None))
        verdict = [] if self.assessment_ is None else self.assessment_["verdict"]
        self.verdict_ = ". ".join([*(line.rstrip(".") for line in verdict), model.sentence])
        self.held_out_error_ = loss / constant
        standing = model.terms_standing
        self.terms_error_ = (
            None if standing is None else next((error for error in standing[:2] if error is not None), None)
        )
        rows = model.standings

        def column(name: str, unit: float = 1.0) -> np.ndarray:
            return np.array([np.nan if row[name] is None else row[name] / unit for row in rows])

        columns = {
            "contender": [row["contender"] for row in rows],
            "error": column("loss", constant),
            "std_error": column("std_error", constant),
            "claimed": column("claimed", constant),
        }
        if hasattr(self, "classes_"):
            columns["accuracy"] = column("accuracy")
        columns["weight"] = column("weight")
        columns["seconds"] = column("seconds")
        left_out = "".join(f" Not tried: {name}; {why}." for name, why in model.left_out)
        self.contenders_ = Table(columns, caption=f"{self.verdict_}{left_out}")

    def terms(self) -> Any:
        """The few terms that evidence names, be they the model or not, as a fitted :class:`SparseRegressor` or
        :class:`SparseClassifier`; None if few terms were not tried: the caption of ``contenders_`` says why, and those classes
        look for them whatever it is. The caption of its ``terms_`` has their own error beside
        that of the model, and so has ``terms_error_``."""
        self._check_fitted()
        core = self._model.terms
        if core is None:
            return None
        few = self._few_terms()
        for name in ("n_features_in_", "feature_names_in_", "classes_"):
            if hasattr(self, name):
                setattr(few, name, getattr(self, name))
        few._adopt(core, self._model.n_samples, None)
        few.terms_.caption += f" {self._model.terms_sentence}"
        return few

    def save(self, path: Any) -> None:
        """Writes the fitted model to a file, for :func:`banach.load` and the ``banach`` command; samples are in it."""
        from ._files import save

        save(self, path)

    def relevance(self) -> Table:
        """How much every variable matters: the mean of the shares of all members by their weights, the largest first."""
        self._check_fitted()
        shares, names = self._model.relevance(), self._names()
        order = np.argsort(-shares, kind="stable")
        columns = {"variable": [_names.variable(names, j) for j in order], "share": shares[order]}
        return Table(columns, caption=self.verdict_)

    def pair_relevance(self, k: int = 10) -> Table:
        """How much pairs of variables matter: the part of the model that involves both, the mean of the shares of all
        members by their weights.

        Parameters
        ----------
        k : int
            Of the k variables that matter most, every pair.

        Returns
        -------
        Table
            Columns ``first``, ``second`` and ``share``, largest first.
        """
        self._check_fitted()
        k = _parameters.whole("k", k, "a whole number >= 2", least=2)
        pairs, names = self._model.pair_relevance(self._model.leading_variables(k)), self._names()
        columns = {
            "first": [_names.variable(names, i) for i, _, _ in pairs],
            "second": [_names.variable(names, j) for _, j, _ in pairs],
            "share": np.array([share for _, _, share in pairs]),
        }
        return Table(columns)

    def effects(self, k: int = 6, *, points: int = 20) -> Table:
        """What the model predicts along each of the variables that matter most, all others at their means.

        A curve less its height at the mean of its variable is what :meth:`contributions` has for that variable alone. What
        variables do together is not on it: of a product of two variables, neither does anything while the other is at its
        mean; see :meth:`pair_relevance`.

        Parameters
        ----------
        k : int
            How many variables.
        points : int
            How many values of each, from its least to its largest; of a variable with two values, these.

        Returns
        -------
        Table
            Columns ``variable``, ``value`` and ``prediction``; of classes ``probability_LABEL`` for every class. Where X was
            sparse, the others are 0.
        """
        self._check_fitted()
        k = _parameters.whole("k", k, "a whole number >= 1", least=1)
        points = _parameters.whole("points", points, "a whole number >= 2", least=2)
        variables, names = self._model.leading_variables(k), self._names()
        curves = self._model.effects(variables, points)
        columns: dict[str, Any] = {
            "variable": [
                _names.variable(names, j) for j, (grid, _) in zip(variables, curves, strict=True) for _ in grid
            ],
            "value": np.concatenate([grid for grid, _ in curves]) if curves else np.zeros(0),
        }
        for at, name in enumerate(self._predicted()):
            columns[name] = np.concatenate([values[at] for _, values in curves]) if curves else np.zeros(0)
        return Table(columns, caption="All other variables are at their means.")

    def contributions(self, X: Any, *, output: int | str = 0) -> Table:
        """What the predictions of single samples are made of.

        The model is taken apart from the means of the variables (0 where X was sparse): a column is what its variable adds
        when it alone is moved from there to the sample, a pair ``age with dose`` is what both add beyond that. Where few terms
        are the whole model, of numbers or two classes, the columns are its terms.

        For classes the sum is the logarithm of the odds, ``log(p / (1 - p))``, of the second of two classes or of the class
        ``output``: probabilities are mixed, and are no sums of what variables do.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The samples.
        output : str or int
            Which class, of more than two: its name, or its number.

        Returns
        -------
        Table
            One row per sample; a column for each of at most 50 variables and 20 pairs that matter most. The attributes
            ``constant``, the value at the means, and ``others``, what is in no column, complete it: for every sample
            ``constant``, all columns and ``others`` add up to the prediction.
        """
        self._check_fitted()
        explained = self._model.explain(self._check_X(X))
        constant, sources, values, others = explained[_outputs.place(self, output, len(explained))]
        names = self._names()

        def name(variables: list[int] | None, term: _names.Monomial | None) -> str:
            if term is not None:
                return _names.monomial(term, names)
            return " with ".join(_names.variable(names, j) for j in variables or [])

        columns = {name(*source): row for source, row in zip(sources, values, strict=True)}
        caption = f"The constant {constant:.4g}, these and what all others add are the predictions."
        return Table(columns, caption=caption, constant=constant, others=others)

    def explain(self, k: int = 10) -> str:
        """A page of text: what was chosen, what was tried, the variables and pairs that matter, and the few terms with
        their own error beside that of the model."""
        self._check_fitted()
        k = _parameters.whole("k", k, "a whole number >= 2", least=2)
        parts = [str(self.contenders_)]
        for table in (self.relevance(), self.pair_relevance(k)):
            shown = Table({name: column[:k] for name, column in table.items()})
            parts += [str(shown)] if table.n_rows > 0 else []
        terms = self.terms()
        if terms is not None:
            parts.append("\n".join(str(terms.equation(output=at)) for at in range(len(terms._model.functions))))
            parts.append(str(self._model.terms_sentence))
        return "\n\n".join(parts)

    def _predicted(self) -> list[str]:
        """The names of the columns of what is predicted."""
        classes = getattr(self, "classes_", None)
        return ["prediction"] if classes is None else [f"probability_{label}" for label in classes]


@with_sections(_PARAMETERS, _ATTRIBUTES)
class AutoRegressor(IntervalMixin, RegressorMixin, _AutoEstimator):
    """Regression by the best model that banach can find, without a parameter.

    Contenders of very different kinds are fitted to the samples outside of folds, and what they predict of the others
    decides: linear functions with dense and with sparse weights, Gauss's kernel with one length and with a length for every
    variable, products of variables, and the few terms that evidence names. Columns are standardised inside. The model is the
    few terms where their evidence claims the smallest error, else a mixture where that gains more than its standard error,
    else the best contender. A constant is one of them: where nothing predicts better, ``verdict_`` says so.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from banach import AutoRegressor, datasets
    >>> X, y, truth = datasets.make_sparse_quadratic(n_samples=80, n_features=30, n_informative=3, random_state=0)
    >>> model = AutoRegressor().fit(X, y)
    >>> bool(model.held_out_error_ < 0.01)
    True
    >>> sorted(model.terms().terms_["exponents"]) == sorted(monomial for monomial, weight in truth)
    True
    """

    def fit(self, X, y, sample_weight=None, groups=None):
        """Finds the best model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Units do not matter.
        y : array of shape (n_samples,)
            The targets.
        sample_weight : array of shape (n_samples,), optional
            What each sample counts; one of weight 0 is absent.
        groups : array of shape (n_samples,), optional
            For a splitter that needs them. Samples of one group are one witness of how good predictions are.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
        self._target = _names.of_target(y)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=NUMBERS, y_numeric=True)
        y = aligned(np.ascontiguousarray(column_or_1d(y, warn=True), dtype=np.float64))
        return table_of(X), y[None, :], self._weights(sample_weight, X)

    def _labels(self, target: np.ndarray) -> np.ndarray:
        return target[0]

    def _few_terms(self) -> SparseRegressor:
        return SparseRegressor("poly", degree=(1, 2))

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, of shape (n_samples,)."""
        self._check_fitted()
        return self._model.predictions(self._check_X(X))[0]


@with_sections(_PARAMETERS, _ATTRIBUTES | {"classes_": "array of shape (n_classes,)\n    The labels."})
class AutoClassifier(ClassifierMixin, _AutoEstimator):
    """Classification by the best model that banach can find, without a parameter.

    As :class:`AutoRegressor`, with the logarithmic loss of the probabilities of held-out samples. Of more than two classes,
    each has functions against the rest, whose probabilities are divided by their sum.

    {parameters}

    {attributes}

    Examples
    --------
    >>> from banach import AutoClassifier, datasets
    >>> X, y = datasets.load_blood_cells(return_X_y=True)
    >>> model = AutoClassifier("quick").fit(X[:, :50], y)
    >>> model.predict_proba(X[:2, :50]).shape == (2, len(model.classes_))
    True
    """

    def __init__(
        self,
        effort="normal",
        *,
        class_weight=None,
        max_seconds=None,
        random_state=0,
        cv=None,
        permutations=0,
        memory_limit=None,
        n_jobs=None,
        verbose=0,
    ):
        super().__init__(
            effort,
            max_seconds=max_seconds,
            random_state=random_state,
            cv=cv,
            permutations=permutations,
            memory_limit=memory_limit,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.class_weight = class_weight

    def fit(self, X, y, sample_weight=None, groups=None):
        """Finds the best model.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            Units do not matter.
        y : array of shape (n_samples,)
            The labels: numbers or strings.
        sample_weight : array of shape (n_samples,), optional
            What each sample counts; one of weight 0 is absent.
        groups : array of shape (n_samples,), optional
            For a splitter that needs them. Samples of one group are one witness of how good predictions are.

        Returns
        -------
        self
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def _check_data(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, np.ndarray | None]:
        self._target = _names.of_target(y)
        X, y = validate_data(self, X, y, accept_sparse="csc", dtype=NUMBERS)
        self.classes_, codes, weights = coded(y, self._weights(sample_weight, X), self.class_weight)
        return table_of(X), codes, weights

    def _labels(self, target: np.ndarray) -> np.ndarray:
        return self.classes_[target]

    def _few_terms(self) -> SparseClassifier:
        return SparseClassifier("poly", degree=(1, 2))

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of every class, of shape (n_samples, n_classes)."""
        self._check_fitted()
        return np.ascontiguousarray(self._model.predictions(self._check_X(X)).T)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithm of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """The most likely label of every sample."""
        likely = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likely]
