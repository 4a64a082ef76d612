"""Functions beside the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_array

from . import _core, _names, _parameters, kernels
from ._base import NUMBERS, table_of
from ._lp_model import LpModel
from ._table import Table


def gram_tensor(
    X: Any,
    *,
    kernel: Any = "linear",
    p: float | str = 4 / 3,
    degree: Any = None,
    coef0: float = 0.0,
    scale: float = 1.0,
    normalize_kernel: bool = False,
    memory_limit: Any = None,
    n_jobs: int | None = None,
) -> np.ndarray:
    """The Gram tensor ``K(x_i1, ..., x_iq)`` with all its ``n^q`` entries, where ``q = p/(p-1)`` is 2, 4, 6 or 8.

    For looking at; fits never build it in full.

    Examples
    --------
    >>> from banach import gram_tensor
    >>> gram_tensor([[1.0, 2.0], [0.5, -1.0]], p=2).tolist()
    [[5.0, -1.5], [-1.5, 1.25]]
    >>> gram_tensor([[1.0, 2.0], [0.5, -1.0]], kernel="poly").shape
    (2, 2, 2, 2)
    """
    X = check_array(X, accept_sparse="csc", dtype=NUMBERS)
    built = kernels.chosen(kernel, degree=degree, coef0=coef0, scale=scale, normalize=normalize_kernel)
    memory, threads = _parameters.memory(memory_limit), _parameters.threads(n_jobs)
    order, entries = _core.gram_tensor(table_of(X), built, _parameters.exponent(p), memory, threads)
    return entries.reshape((X.shape[0],) * order)


def stability_selection(
    estimator: LpModel | Pipeline,
    X: Any = None,
    y: Any = None,
    *,
    k: int = 10,
    n_pairs: int = 50,
    threshold: float = 0.75,
    random_state: int = 0,
    output: int | str = 0,
    sample_weight: Any = None,
) -> Table:
    """How often each monomial is named by the evidence of a random half of the samples.

    Parameters
    ----------
    estimator : LpRegressor, LpClassifier or one of their CV kin, or a Pipeline that ends with one
        Fitted, or to be fitted to X and y first. The terms are those of its kernel, in the columns that the steps before it make. These
        steps are fitted again to every half, so that a step which chooses columns by y sees no other samples than the search does; the
        columns are known by the names that the steps give them.
    X, y, sample_weight
        The data, if the estimator is not fitted, and of a pipeline in any case.
    k : int
        The most terms that a half may name. Evidence grows with the samples, so a half names fewer than the whole.
    n_pairs : int
        Pairs of complementary halves; there are twice as many searches, as ``estimator.equation(k)`` makes one.
    threshold : float
        The share of the searches that must name a monomial for it to be stable, above 1/2.
    random_state : int, RandomState or None
        The seed of the halves.
    output : str or int
        Which function, of several outputs or classes: the name of the class or of the column of y, or its number.

    Returns
    -------
    Table
        Columns ``monomial``, ``exponents``, ``frequency`` and ``stable``, the most frequent first. ``expected_false``
        bounds how many of the stable ones are expected to be there by chance; ``n_fits`` counts the searches.

    Examples
    --------
    >>> from banach import LpRegressor, datasets, stability_selection
    >>> X, y, truth = datasets.make_sparse_linear(n_samples=60, n_features=100, n_informative=2, random_state=0)
    >>> found = stability_selection(LpRegressor(p=1.1, C=10.0), X, y, k=4, n_pairs=10)
    >>> set(found["monomial"][:2]) == {f"x{j}" for j, weight in truth}
    True
    """
    if not isinstance(estimator[-1] if isinstance(estimator, Pipeline) else estimator, LpModel):
        allowed = "LpRegressor, LpClassifier or one of their CV kin, or a Pipeline that ends with one"
        raise _parameters.refused("estimator", estimator, allowed)
    is_made = isinstance(estimator, Pipeline) and len(estimator) > 1
    if is_made and X is None:
        raise ValueError(
            "X and y: the steps of a pipeline are fitted again to every half of the samples; give the data"
        )
    whole = estimator if X is None else _fitted(clone(estimator), X, y, sample_weight)
    model: LpModel = whole[-1] if isinstance(whole, Pipeline) else whole
    model._check_fitted()
    n_pairs = _parameters.whole("n_pairs", n_pairs, "a whole number from 1 to 100000", least=1)
    asked = (
        model._model,
        model._place(output),
        _parameters.whole("k", k, "a whole number >= 1", least=1),
        n_pairs,
        _parameters.real("threshold", threshold, "a number above 1/2, at most 1"),
        _parameters.seed(random_state),
    )
    names = model._names()
    with model._bar("stability", 2 * n_pairs) as bar:
        if is_made:
            found, made = _of_halves(_core.Halves(*asked), whole, X, y, bar.callback)
            names = made or names
        else:
            found = _core.stability(*asked, bar.callback)
    monomials = found["monomials"]
    count, stable = len(monomials), found["stable"]
    columns = {
        "monomial": [_names.monomial(factors, names) for factors in monomials],
        "exponents": monomials,
        "frequency": found["frequencies"],
        "stable": np.arange(count) < stable,
    }
    caption = f"{stable} of {_names.counted(count, 'monomial', 'monomials')} {'reaches' if stable == 1 else 'reach'} the threshold {threshold:g} of {found['subsamples']} halves, each of which names {found['selected_per_fit']:.2g}."
    caption += f" At most {found['expected_false']:.2g} of them are expected to be there by chance."
    if found["unproven"]:
        caption += f" {_names.counted(found['unproven'], 'search', 'searches')} ended without a proof."
    return Table(
        columns,
        caption=caption,
        expected_false=found["expected_false"],
        expected_false_unimodal=found["expected_false_unimodal"],
        n_fits=found["subsamples"],
        n_unproven=found["unproven"],
        threshold=float(threshold),
        feature_names=names,
    )


def _fitted(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    """An estimator or a pipeline, whose last step the weights belong to, fitted."""
    name = f"{estimator.steps[-1][0]}__sample_weight" if isinstance(estimator, Pipeline) else "sample_weight"
    return estimator.fit(X, y, **({} if sample_weight is None else {name: sample_weight}))


def _of_halves(halves: _core.Halves, whole: Pipeline, X: Any, y: Any, told: Any) -> tuple[Any, list[str] | None]:
    """What halves agree on whose columns are made by steps that were fitted to the half, and the names of all columns."""
    names = _made_names(whole[:-1])
    numbers = None if names is None else {name: number for number, name in enumerate(names)}
    width = whole[-1].n_features_in_
    while (half := halves.next()) is not None:
        steps = clone(whole[:-1])
        made = steps.fit_transform(_safe_indexing(X, half), _safe_indexing(y, half))
        table = table_of(check_array(made, accept_sparse="csc", dtype=NUMBERS))
        if whole[-1].standardize:
            table, *_ = _core.standardize(table)
        own = _made_names(steps)
        if numbers is not None and own is not None:
            columns = [numbers.setdefault(name, len(numbers)) for name in own]
        elif made.shape[1] == width:
            columns = list(range(width))
        else:
            raise ValueError(
                f"the steps of the pipeline make {width} columns of all samples and {made.shape[1]} of a half, and have no names for "
                "them; let them have get_feature_names_out"
            )
        finished = halves.search(table, columns)
        if told is not None:
            told(finished, 0, np.inf)
    return halves.found(), None if numbers is None else list(numbers)


def _made_names(steps: Pipeline) -> list[str] | None:
    """What fitted steps call their columns, if they say so and no two have the same name."""
    try:
        names = [str(name) for name in steps.get_feature_names_out()]
    except (AttributeError, ValueError):
        return None
    return names if len(set(names)) == len(names) else None
