"""Sparse, nonlinear models from few samples of very many variables, with a duality-gap certificate on every answer.

>>> from banach import LpRegressor, datasets
>>> X, y, truth = datasets.make_sparse_quadratic(n_samples=60, n_features=50, n_informative=3, random_state=1)
>>> model = LpRegressor(kernel="poly", degree=2, p=1.1, C=10.0).fit(X, y)
>>> model.duality_gap_ <= 1e-8
True
"""

from __future__ import annotations

from . import datasets, kernels
from ._auto import AutoClassifier, AutoRegressor
from ._classifier import LpClassifier
from ._core import __version__
from ._cv import LpClassifierCV, LpRegressorCV
from ._display import (
    ConvergenceDisplay,
    CVDisplay,
    FeaturesDisplay,
    PathDisplay,
    RelevanceDisplay,
    StabilityDisplay,
)
from ._equation import Equation
from ._files import load, save
from ._functions import gram_tensor, stability_selection
from ._genotypes import Genotypes, read_plink
from ._path import LpPath, lp_path
from ._regressor import LpRegressor
from ._sparse import SparseClassifier, SparseRegressor
from ._table import Table
from ._top_features import TopFeatures
from ._warnings import ScaleWarning

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "CVDisplay",
    "ConvergenceDisplay",
    "Equation",
    "FeaturesDisplay",
    "Genotypes",
    "LpClassifier",
    "LpClassifierCV",
    "LpPath",
    "LpRegressor",
    "LpRegressorCV",
    "PathDisplay",
    "RelevanceDisplay",
    "ScaleWarning",
    "SparseClassifier",
    "SparseRegressor",
    "StabilityDisplay",
    "Table",
    "TopFeatures",
    "__version__",
    "datasets",
    "gram_tensor",
    "kernels",
    "load",
    "lp_path",
    "read_plink",
    "save",
    "stability_selection",
]
