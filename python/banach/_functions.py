"""Functions beside the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array

from . import _core, _names, _parameters, kernels
from ._base import LpModel, table_of
from ._table import Table


def gram_tensor(
    X: Any,
    *,
    kernel: Any = "linear",
    p: float = 4 / 3,
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
    order, entries = _core.gram_tensor(table_of(X), built, _parameters.real("p", p), memory, threads)
    return entries.reshape((X.shape[0],) * order)


def stability_selection(
    estimator: LpModel,
    X: Any = None,
    y: Any = None,
    *,
    k: int = 10,
    n_pairs: int = 50,
    threshold: float = 0.75,
    random_state: int = 0,
    output: int = 0,
    sample_weight: Any = None,
) -> Table:
    """How often each monomial is named by the evidence of a random half of the samples.

    Parameters
    ----------
    estimator : LpRegressor, LpClassifier or one of their CV kin
        Fitted, or to be fitted to X and y first. The terms are those of its kernel.
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
    output : int
        Which function, of several outputs or classes.

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
    if not isinstance(estimator, LpModel):
        raise _parameters.refused("estimator", estimator, "LpRegressor, LpClassifier or one of their CV kin")
    if X is not None:
        estimator = clone(estimator).fit(X, y, sample_weight=sample_weight)
    estimator._check_fitted()
    n_pairs = _parameters.whole("n_pairs", n_pairs, "a whole number from 1 to 100000", least=1)
    with estimator._bar("stability", 2 * n_pairs) as bar:
        found = _core.stability(
            estimator._model,
            _parameters.whole("output", output),
            _parameters.whole("k", k, "a whole number >= 1", least=1),
            n_pairs,
            _parameters.real("threshold", threshold, "a number above 1/2, at most 1"),
            _parameters.seed(random_state),
            bar.callback,
        )
    monomials, names = found["monomials"], estimator._names()
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
