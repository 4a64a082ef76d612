"""Functions beside the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_array

from . import _core, _names, _parameters, kernels
from ._base import table_of
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
    X = check_array(X, accept_sparse="csc", dtype=np.float64, order="F")
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
        steps are fitted once, to all samples: scaling and encoding say nothing of y, but a step that chooses columns by y has seen
        both halves, so that frequencies are too high; put no such step there.
    X, y, sample_weight
        The data, if the estimator is not fitted.
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
    whole = estimator if X is None else _fitted(clone(estimator), X, y, sample_weight)
    model: LpModel = whole[-1] if isinstance(whole, Pipeline) else whole
    model._check_fitted()
    n_pairs = _parameters.whole("n_pairs", n_pairs, "a whole number from 1 to 100000", least=1)
    with model._bar("stability", 2 * n_pairs) as bar:
        found = _core.stability(
            model._model,
            model._place(output),
            _parameters.whole("k", k, "a whole number >= 1", least=1),
            n_pairs,
            _parameters.real("threshold", threshold, "a number above 1/2, at most 1"),
            _parameters.seed(random_state),
            bar.callback,
        )
    monomials, names = found["monomials"], model._names() or _made_names(whole)
    count, stable = len(monomials), found["stable"]
    columns = {
        "monomial": [_names.monomial(factors, names) for factors in monomials],
        "exponents": monomials,
        "frequency": found["frequencies"],
        "stable": np.arange(count) < stable,
    }
    caption = f"{stable} of {count} monomials reach the threshold {threshold:g} of {found['subsamples']} halves, each of which names {found['selected_per_fit']:.2g}."
    caption += f" At most {found['expected_false']:.2g} of them are expected to be there by chance."
    if found["unproven"]:
        caption += f" {found['unproven']} searches ended without their proof."
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


def _made_names(estimator: Any) -> list[str] | None:
    """What the steps before a model call their columns, if they say so."""
    if not isinstance(estimator, Pipeline) or len(estimator) == 1:
        return None
    try:
        return [str(name) for name in estimator[:-1].get_feature_names_out()]
    except (AttributeError, ValueError):
        return None
