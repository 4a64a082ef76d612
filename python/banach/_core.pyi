"""The compiled part: conversions, and nothing that a user sees. Checked against the binary by the tests."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AutoModel",
    "Halves",
    "Kernel",
    "Model",
    "SparseFunction",
    "SparseModel",
    "Spec",
    "__version__",
    "argument_names",
    "blood_cells",
    "by_columns",
    "cell_label",
    "cell_number",
    "choose",
    "command",
    "equation",
    "expansion",
    "exponent",
    "export_sparse",
    "fit_auto",
    "fit_sparse",
    "folds",
    "gram_tensor",
    "load_model",
    "losses",
    "make_monomials",
    "make_sparse_linear",
    "make_sparse_quadratic",
    "name_terms",
    "read_genotypes",
    "report",
    "rescale",
    "save_auto",
    "save_model",
    "save_sparse",
    "stability",
    "standardize",
]

__version__: str

_Floats: TypeAlias = NDArray[np.float64]
_Labels: TypeAlias = NDArray[np.int64]
_Places: TypeAlias = NDArray[np.uintp]
_Monomial: TypeAlias = tuple[tuple[int, int], ...]
_Compact: TypeAlias = NDArray[np.float32] | NDArray[np.int8]
# An array of two dimensions, (array, centres, factors) of one that is rescaled, or (shape, indptr, indices, data) of a sparse one by columns.
_Table: TypeAlias = (
    _Floats | _Compact | tuple[_Compact, _Floats, _Floats] | tuple[tuple[int, int], _Places, _Places, _Floats]
)
# Numbers, one row per output, or labels.
_Target: TypeAlias = _Floats | _Labels
_Splits: TypeAlias = Sequence[tuple[Sequence[int], Sequence[int]]]
# Called with the number of finished fits, the last iteration and its relative gap.
_Progress: TypeAlias = Callable[[int, int, float], object] | None
# Means and deviations of columns that were standardised.
_Units: TypeAlias = tuple[_Floats, _Floats] | None

class _Top(TypedDict):
    monomials: list[_Monomial]
    weights: _Floats
    coefficients: _Floats
    shares: _Floats
    lower: _Floats
    upper: _Floats
    complete: bool
    unlisted: float
    set_proven: bool
    order_proven: bool
    nodes: int

class _Relevance(TypedDict):
    variables: _Floats
    degrees: list[tuple[int, float]]
    rest: float
    error: float
    norm: float

class _Tried(TypedDict):
    parameters: dict[str, Any]
    spec: Spec
    Cs: _Floats
    decisions: list[_Floats]
    losses: _Floats
    weights: _Floats
    gaps: _Floats
    unconverged: _Floats

class _Searched(TypedDict):
    tried: list[_Tried]
    left_out: list[tuple[dict[str, Any], str]]
    chosen: tuple[int, int] | None
    validation: str
    residuals: list[list[float]] | None
    assessment: str | None

class _ReportNames(TypedDict):
    variables: list[str]
    target: str
    classes: list[str] | None
    scaling: _Units

class _Path(TypedDict):
    Cs: _Floats
    dual_coefs: _Floats
    predictions: _Floats
    intercepts: _Floats
    gaps: _Floats
    primal: _Floats
    iterations: list[int]
    coefs: _Floats | None

class _Stability(TypedDict):
    monomials: list[_Monomial]
    frequencies: _Floats
    stable: int
    subsamples: int
    selected_per_fit: float
    unproven: int
    expected_false: float
    expected_false_unimodal: float | None

class _Genotypes(TypedDict):
    pheno: str | None
    target: str | None
    covar: str | None
    covariates: list[str]
    a2: bool
    chromosomes: list[str]
    maf: float | None
    geno: float | None

class _GenotypesRead(TypedDict):
    X: _Floats
    names: list[str]
    ids: list[tuple[str, str]]
    y: _Floats | list[str] | None
    target: str | None
    filled: int
    encodings: list[tuple[str, list[str]]]
    told: dict[str, int]

class _Known(TypedDict):
    names: list[str] | None
    target: str | None
    classes: list[Any] | None
    # Means, what is missing to these beyond their digits, and deviations.
    scaling: tuple[Any, Any, Any] | None
    encodings: list[tuple[str, list[str]]] | None
    fills: Any | None
    imputes: bool | None
    ignores_unknown: bool | None
    # The column of exposures, and whether it has their logarithms; only of models with a penalty.
    exposure: tuple[str, bool] | None

class _Loaded(_Known):
    model: Any
    spec: str
    # Of models of few terms.
    shape: tuple[int, int]
    weight: float | None

@final
class Kernel:
    @staticmethod
    def choose(
        name: str,
        degree: int | tuple[int, int] | None = None,
        coef0: float | None = None,
        scale: float | None = None,
        normalize: bool = False,
    ) -> Kernel: ...
    @staticmethod
    def power_series(coefficients: Sequence[float], scale: float) -> Kernel: ...
    @staticmethod
    def series(series: str, scale: float) -> Kernel: ...
    def normalized(self) -> Kernel: ...
    @property
    def degrees(self) -> tuple[int, int | None]: ...
    def cardinality(self, variables: int) -> int | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@final
class Spec:
    def __new__(
        cls,
        *,
        task: str,
        p: float,
        kernel: Kernel,
        monomials: str,
        loss: str,
        epsilon: float,
        rho: float,
        quantile: float,
        fit_intercept: bool,
        tol: float,
        max_iter: int,
        solver: str,
        solver_options: Mapping[str, str | float | None],
        route: str | None,
        memory: int | None,
        threads: int,
    ) -> Spec: ...
    @property
    def kernel(self) -> Kernel: ...
    def unequal_scales(self, x: _Table, names: Sequence[str]) -> str | None: ...
    def long_fit(self, x: _Table, problems: int, count: int) -> tuple[str, bool] | None: ...
    def fit(
        self,
        x: _Table,
        y: _Target,
        sample_weight: _Floats | None,
        C: float,
        *,
        functions: int,
        warn: Callable[[str | None, str | None], None],
        names: Sequence[str] | None = None,
        progress: _Progress = None,
        residuals: Sequence[Sequence[float]] | None = None,
    ) -> Model: ...
    def search(
        self,
        x: _Table,
        y: _Target,
        sample_weight: _Floats | None,
        *,
        space: Mapping[str, Any],
        Cs: Sequence[float] | None,
        count: int,
        splits: _Splits,
        one_standard_error: bool,
        groups: Sequence[int] | None = None,
        progress: _Progress = None,
    ) -> _Searched: ...
    def search_size(
        self,
        x: _Table,
        sample_weight: _Floats | None,
        *,
        space: Mapping[str, Any],
        Cs: Sequence[float] | None,
        count: int,
        functions: int,
        splits: int,
    ) -> tuple[int, tuple[str, bool] | None]: ...
    def rates(
        self,
        counts: _Floats,
        sample_weight: _Floats | None,
        exposure: _Floats | None = None,
        offset: _Floats | None = None,
    ) -> tuple[_Floats, _Floats]: ...
    def path(
        self,
        x: _Table,
        y: _Target,
        sample_weight: _Floats | None,
        *,
        Cs: Sequence[float] | None,
        count: int,
        progress: _Progress = None,
    ) -> list[_Path]: ...
    def probabilities(self, decisions: _Floats) -> _Floats: ...

@final
class Model:
    @property
    def alpha(self) -> _Floats: ...
    @property
    def intercept(self) -> _Floats: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def n_features(self) -> int: ...
    @property
    def weights(self) -> _Floats | None: ...
    @property
    def nonzero_weights(self) -> list[tuple[np.ndarray, _Floats]] | None: ...
    @property
    def relative_gaps(self) -> list[float]: ...
    @property
    def primal_values(self) -> list[float]: ...
    @property
    def dual_values(self) -> list[float]: ...
    @property
    def iterations(self) -> list[int]: ...
    @property
    def passes(self) -> list[int]: ...
    @property
    def status(self) -> str: ...
    @property
    def seconds(self) -> float: ...
    @property
    def history(self) -> list[tuple[int, int, int, float, float, float]]: ...
    @property
    def route(self) -> str: ...
    @property
    def plan(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def targets(self) -> Any: ...
    def path(self, Cs: Sequence[float] | None, count: int, progress: _Progress = None) -> list[_Path]: ...
    def half_widths(self, coverage: float) -> list[float]: ...
    def decision(self, x: _Table) -> _Floats: ...
    def responses(self, x: _Table, exposure: _Floats | None = None, offset: _Floats | None = None) -> _Floats: ...
    def probabilities(self, x: _Table) -> _Floats: ...
    def top(self, function: int, count: int, nodes: int, seconds: float) -> _Top: ...
    def leave_one_out(self) -> _Floats | None: ...
    def relevance(self, function: int) -> _Relevance: ...
    def pair_shares(self, function: int, variables: Sequence[int]) -> list[tuple[int, int, float]]: ...
    def __reduce__(self) -> tuple[Any, tuple[dict[str, Any]]]: ...
    @staticmethod
    def restore(state: dict[str, Any]) -> Model: ...

@final
class AutoModel:
    @property
    def assessment(self) -> str | None: ...
    def predictions(self, x: _Table) -> _Floats: ...
    def half_widths(self, coverage: float) -> list[float]: ...
    def relevance(self) -> _Floats: ...
    def pair_relevance(self, variables: Sequence[int]) -> list[tuple[int, int, float]]: ...
    def leading_variables(self, count: int) -> list[int]: ...
    def effects(self, variables: Sequence[int], points: int) -> list[tuple[_Floats, _Floats]]: ...
    def explain(
        self, x: _Table
    ) -> list[tuple[float, list[tuple[list[int] | None, _Monomial | None]], _Floats, _Floats]]: ...
    @property
    def terms_sentence(self) -> str | None: ...
    @property
    def terms_standing(self) -> tuple[float | None, float | None, float] | None: ...
    @property
    def sentence(self) -> str: ...
    @property
    def verdict(self) -> str: ...
    @property
    def standings(self) -> list[dict[str, Any]]: ...
    @property
    def left_out(self) -> list[tuple[str, str]]: ...
    @property
    def loss(self) -> tuple[float, float | None, float]: ...
    @property
    def held_out(self) -> _Floats | None: ...
    @property
    def terms(self) -> SparseModel | None: ...
    @property
    def n_samples(self) -> int: ...
    @property
    def n_features(self) -> int: ...
    @staticmethod
    def restore(bytes: bytes, memory: int | None, threads: int) -> AutoModel: ...

def fit_auto(
    x: _Table,
    y: _Target,
    sample_weight: _Floats | None,
    splits: _Splits,
    groups: Sequence[int] | None,
    *,
    effort: str,
    seconds: float | None,
    seed: int,
    permutations: int,
    memory: int | None,
    threads: int,
    progress: _Progress = None,
) -> AutoModel: ...
def save_auto(model: AutoModel, path: str, known: _Known) -> None: ...

@final
class SparseFunction:
    @property
    def monomials(self) -> list[_Monomial]: ...
    @property
    def coefficients(self) -> _Floats: ...
    @property
    def std_errors(self) -> _Floats: ...
    @property
    def refits(self) -> _Floats: ...
    @property
    def lower(self) -> _Floats: ...
    @property
    def upper(self) -> _Floats: ...
    @property
    def evidence(self) -> _Floats: ...
    @property
    def alternatives(self) -> list[list[tuple[_Monomial, float]]]: ...
    @property
    def intercept(self) -> float: ...
    @property
    def centres(self) -> _Floats | None: ...
    @property
    def criterion(self) -> float: ...
    @property
    def unexplained(self) -> float: ...
    @property
    def separated(self) -> bool: ...
    @property
    def certificate(self) -> tuple[str, dict[str, Any]]: ...
    @property
    def sizes(self) -> list[tuple[int, float, float]]: ...
    @property
    def dictionary(self) -> float: ...
    @property
    def passes(self) -> int: ...
    def written(self) -> dict[str, Any]: ...

@final
class SparseModel:
    @property
    def functions(self) -> list[SparseFunction]: ...
    def half_widths(self, coverage: float) -> list[float]: ...
    def decision(self, x: _Table) -> _Floats: ...
    def term_values(self, x: _Table, function: int) -> _Floats: ...
    def probabilities(self, x: _Table) -> _Floats: ...
    def stability(
        self,
        x: _Table,
        y: _Target,
        sample_weight: _Floats | None,
        resamples: int,
        seed: int,
        progress: _Progress = None,
    ) -> list[list[tuple[_Monomial, float]]]: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...
    @staticmethod
    def restore(json: str) -> SparseModel: ...

def fit_sparse(
    x: _Table,
    y: _Target,
    sample_weight: _Floats | None,
    splits: _Splits | None = None,
    groups: Sequence[int] | None = None,
    *,
    kernel: Kernel,
    penalty: str,
    hierarchy: str,
    max_terms: int | None,
    fit_intercept: bool,
    memory: int | None,
    threads: int,
    progress: _Progress = None,
) -> tuple[SparseModel, str | None]: ...

# The keys that are there depend on which of these two is asked.
def expansion(model: Model, function: int, count: int, units: _Units = None) -> dict[str, Any]: ...
def name_terms(
    model: Model,
    function: int,
    max_terms: int | None,
    hierarchy: str,
    units: _Units = None,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def stability(
    model: Model, function: int, max_terms: int, pairs: int, threshold: float, seed: int, progress: _Progress = None
) -> _Stability: ...

@final
class Halves:
    def __new__(
        cls, model: Model, function: int, max_terms: int, pairs: int, threshold: float, seed: int
    ) -> Halves: ...
    def next(self) -> list[int] | None: ...
    def search(self, x: _Table, columns: Sequence[int]) -> int: ...
    def found(self) -> _Stability: ...

def standardize(x: _Table) -> tuple[_Table, _Floats, _Floats, _Floats]: ...
def rescale(x: _Table, means: _Floats, corrections: _Floats, deviations: _Floats) -> _Table: ...
def report(
    model: Model,
    names: _ReportNames,
    top: int,
    relevance: bool,
    select: int | None,
    stability: int | None,
    hierarchy: str,
    leaders: bool,
    seed: int,
    progress: _Progress = None,
) -> str: ...
def save_model(model: Model, path: str, known: _Known) -> None: ...
def save_sparse(model: SparseModel, path: str, known: _Known, shape: tuple[int, int], weight: float | None) -> None: ...
def export_sparse(
    model: SparseModel,
    language: str,
    variables: int,
    names: Sequence[str] | None,
    target: str | None,
    classes: Sequence[bool | int | float | str] | None,
) -> str: ...
def cell_label(text: str) -> str | None: ...
def cell_number(text: str) -> float | None: ...
def load_model(path: str) -> _Loaded: ...
def read_genotypes(
    path: str,
    asked: _Genotypes,
    like: tuple[Sequence[str], Sequence[float], Sequence[tuple[str, Sequence[str]]]] | None = None,
) -> _GenotypesRead: ...
def equation(
    left: str,
    intercept: float,
    terms: Sequence[tuple[Sequence[tuple[int, int]], float]],
    names: Sequence[str],
    latex: bool,
    digits: Sequence[int] | None = None,
    substitutions: Sequence[tuple[int, float, float, int]] = ...,
) -> str: ...
def exponent(text: str) -> float: ...
def losses(task: str) -> list[str]: ...
def choose(losses: Sequence[tuple[float, float]], one_standard_error: bool) -> int | None: ...
def folds(
    y: _Target,
    samples: int,
    count: int | None,
    groups: Sequence[int] | None = None,
    seed: int = 0,
    among_many: bool = False,
) -> list[list[int]]: ...
def by_columns(x: _Floats | _Compact) -> _Floats | _Compact: ...
def gram_tensor(x: _Table, kernel: Kernel, p: float, memory: int | None, threads: int) -> tuple[int, _Floats]: ...
def make_sparse_linear(
    samples: int, features: int, relevant: int, noise: float, seed: int
) -> tuple[_Floats, _Floats, list[tuple[int, float]]]: ...
def make_sparse_quadratic(
    samples: int, inputs: int, relevant: int, noise: float, seed: int
) -> tuple[_Floats, _Floats, list[tuple[list[tuple[int, int]], float]]]: ...
def make_monomials(
    samples: int, inputs: int, relevant: int, noise: float, seed: int
) -> tuple[_Floats, _Floats, list[tuple[list[tuple[int, int]], float]]]: ...
def blood_cells() -> bytes: ...
def argument_names() -> list[tuple[str, str]]: ...
def command(arguments: Sequence[str]) -> int: ...
