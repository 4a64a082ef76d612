"""The parameters and attributes that estimators share, described once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from . import _core

T = TypeVar("T", bound=type)

_PARAMETERS = {
    "p": """float or str, default=4/3
    The exponent of the penalty, 1 <= p <= 2, also as a fraction such as ``"4/3"``. Nearer to 1, fewer monomials matter, and at 1 most weights are exactly 0;
    2 is kernel ridge regression.""",
    "C": """float, default=1.0
    The weight of the loss. The larger, the closer the fit. The paper's gamma.""",
    "kernel": """{"linear", "poly", "anova", "exp"} or an object of banach.kernels, default="linear"
    Which monomials: the variables; all products of a degree, with powers; products of different variables; products of
    every degree, higher ones with less weight.""",
    "degree": """int, (int, int) or None, default=None
    The degree of poly and anova, or its lowest and highest value, 1 to 2 if None: the variables and their products. A pair
    also cuts exp, which otherwise has all.""",
    "monomials": """{"raw", "unit", "standardized"}, default="raw"
    The size of monomials on the samples: as the kernel has them, mean square 1, or mean 0 and variance 1.""",
    "coef0": """float, default=0.0
    The constant of poly; with a range of degrees, 0 stands for 1.""",
    "scale": """float, default=1.0
    The scale of poly and exp. Smaller values favour low degrees.""",
    "normalize_kernel": """bool, default=False
    Divide the features of every sample by their norm.""",
    "standardize": """bool, default=False
    Give every column of X mean 0 and standard deviation 1 first, by the samples of the fit, as the ``banach`` command does; ``predict`` does
    the same to new samples. Columns of a sparse X are divided and not moved. ``coef_`` and the weights of monomials are those of the columns
    so made. A search scales once, by all of its samples, whose targets it does not look at. If False and the deviations of two columns differ by more than a factor of 100, a :class:`banach.ScaleWarning` says so.""",
    "loss": "",
    "epsilon": """float, default=0.1
    The width of the epsilon-insensitive loss, in units of y.""",
    "rho": """float, default=1.35
    Where the loss of Huber becomes linear, in units of y.""",
    "quantile": """float, default=0.5
    The quantile of the quantile loss.""",
    "class_weight": """dict, "balanced" or None, default=None
    Weights of the classes, as in scikit-learn.""",
    "fit_intercept": """bool, default=True
    Whether a constant without penalty is part of the model.""",
    "tol": """float, default=1e-8
    The relative duality gap to reach.""",
    "max_iter": """int, default=1000
    The most iterations.""",
    "solver": """{"auto", "newton", "paper"}, default="auto"
    Newton's method, or an algorithm of the paper.""",
    "solver_options": """dict or None, default=None
    Of ``solver="paper"``: ``algorithm`` ("3.3", for every loss, or "2.1", for the squared one), ``rule`` ("restart" or
    "monotone": whether the search for a step starts from ``lambda_bar`` or from the last step; 3.3 restarts, 2.1 does
    not, unless told otherwise), ``delta`` and ``theta`` (0.5, between 0 and 1) and ``lambda_bar`` (C in 3.3; in 2.1 it is
    below its limit C/(2(1-delta)), 99 % of it unless told otherwise).""",
    "route": """{"auto", "features", "tiles", "gram", "streamed"}, default="auto"
    How the monomials are held: listed, formed a few at a time, or through the Gram tensor, stored or not. The cheapest
    that fits into memory, unless told otherwise; ``explain()`` has the table.""",
    "memory_limit": """int, str or None, default=None
    Bytes, or a size such as ``"2GB"``, that a fit may take; 80 % of what is available if None. What needs more is
    refused with ``MemoryError`` before it begins.""",
    "n_jobs": """int or None, default=None
    Threads. None for all cores, or as many as ``OMP_NUM_THREADS`` says. Results do not depend on it.""",
    "verbose": """int, default=0
    1 shows a progress bar for fits that take longer than half a second, and says before those of more than 30 seconds how
    long they are expected to take.""",
    "Cs": """int or array, default=20
    Values of C to try, or how many; the data tell their range for every other choice.""",
    "cv": """int, splitter or None, default=None
    The splits: a number of folds, 5 if None, which are shuffled by a fixed seed with classes spread evenly, as the
    ``banach`` command has them; or a splitter of scikit-learn's.""",
    "scoring": """str, callable or None, default=None
    What to maximise, as in scikit-learn. If None, minus the mean held-out loss.""",
    "one_standard_error": """bool, default=False
    Take the smallest C, and hence the simplest model, within one standard error of the best.""",
    "refit": """bool, default=True
    Fit the best choice to all samples.""",
}

_LOSSES = {
    "regression": "The loss; the Poisson loss is for counts, whose mean it predicts.",
    "classification": "The loss; only the logistic one tells probabilities.",
}

_SEARCHED = {
    "p": """"auto", float, str or list, default="auto"
    The exponent of the penalty, 1 <= p <= 2, also as a fraction such as ``"4/3"``; a list is searched. ``"auto"`` searches 4/3, 1.1 and 1.05 for exp, and takes
    4/3 for other kernels.""",
    "kernel": """{"linear", "poly", "anova", "exp"}, an object of banach.kernels or a list, default="linear"
    Which monomials: the variables; all products of a degree, with powers; products of different variables; products of
    every degree, higher ones with less weight. A list is searched; degree, scale and coef0 belong to those of its kernels that have them.""",
    "degree": """int, (int, int), list or None, default=None
    The degree of poly and anova, or its lowest and highest value, 1 to 2 if None; a list of such values is searched. Of exp a pair keeps
    these degrees; otherwise it has all of them where p allows that, and the lower ones, up to some thousand monomials,
    where it does not or p is searched.""",
    "scale": """"auto", float or list, default="auto"
    The scale of poly and exp; a list is searched. ``"auto"`` searches a few values for exp that suit the size of the
    data, and takes 1 for poly.""",
    "normalize_kernel": """"auto" or bool, default="auto"
    Divide the features of every sample by their norm; ``"auto"`` does so for exp.""",
}

_ATTRIBUTES = {
    "dual_coef_": "array\n    The dual vector, one number per sample; one row per output or class if there are several.",
    "intercept_": "float or array\n    The constant; with standardized monomials, the one beside monomials of mean 0.",
    "coef_": "array\n    The weights of the features, where they are listed: of the variables for a linear kernel, in the units of X, or of standardised\n    columns with ``standardize=True``; ``coef_ / scale_`` are then those of X.",
    "n_nonzero_": "int or array\n    For p = 1, how many weights are not 0.",
    "sparse_coef_": """sparse matrix
    For p = 1, the weights of all monomials, one row per output or class: by degree, and within a degree as the words of
    their variables are in a dictionary.""",
    "duality_gap_": "float\n    The relative duality gap: how far the objective can be from the optimum, as a part of it.",
    "primal_value_": "float or array\n    The objective.",
    "dual_value_": "float or array\n    The dual objective.",
    "n_iter_": "int\n    Iterations; the most of any output or class.",
    "n_evaluations_": "int\n    Passes over the data, of all outputs or classes.",
    "route_": "str\n    The route that was taken.",
    "status_": "str\n    ``converged``, ``iteration_limit``, ``rounding`` or ``stalled``.",
    "mean_": "array of shape (n_features_in_,)\n    With ``standardize=True``, what was taken from every column; 0 for those of a sparse X.",
    "scale_": "array of shape (n_features_in_,)\n    With ``standardize=True``, what every column was divided by; 1 for one that does not vary.",
    "classes_": "array\n    The labels.",
    "n_features_in_": "int\n    The number of variables.",
    "feature_names_in_": "array\n    Their names, if X had any.",
    "C_": "float\n    The C that was chosen.",
    "best_params_": "dict\n    The parameters that were chosen, for the plain estimator with the same kernel and loss; a kernel of a list is one of them.",
    "best_score_": "float\n    Its mean held-out score.",
    "verdict_": """str or None
    How well unseen samples are predicted against a constant, and what chance says of it; None with a scorer of scikit-learn.""",
    "assessment_": """dict or None
    The same as data, pooled over all held-out samples; see :class:`banach.AutoRegressor`.""",
    "best_index_": "int\n    Its place in ``cv_results_``.",
    "cv_results_": "dict\n    Every choice with its scores, as in ``GridSearchCV``.",
    "n_splits_": "int\n    The number of splits.",
}
_OF_CLASSES = {"classes_"}
_OF_SEARCH = {"C_", "verdict_", "assessment_", "best_params_", "best_score_", "best_index_", "cv_results_", "n_splits_"}


def _section(title: str, entries: list[str]) -> str:
    return f"{title}\n    {'-' * len(title)}\n" + "\n".join("    " + entry.replace("\n", "\n    ") for entry in entries)


def with_parameters(cls: T) -> T:
    """Writes out the parameters and attributes in the documentation of an estimator."""
    estimator: Any = cls
    names, task = list(inspect.signature(estimator).parameters), estimator._task
    search = "Cs" in names
    losses = [f'"{name}"' for name in _core.losses(task)]
    loss = f"{{{', '.join(losses)}}}, default={losses[0]}\n    {_LOSSES[task]}"
    texts = {**_PARAMETERS, "loss": loss}
    if search:
        texts |= _SEARCHED
    attributes = {
        name: text
        for name, text in _ATTRIBUTES.items()
        if (search or name not in _OF_SEARCH) and (task == "classification" or name not in _OF_CLASSES)
    }
    return _written(cls, texts, attributes)


def with_sections(parameters: dict[str, str], attributes: dict[str, str]) -> Callable[[T], T]:
    """Writes out the parameters of an estimator, these and those that all share, and its attributes."""
    return lambda cls: _written(cls, {**_PARAMETERS, **parameters}, attributes)


def _written(cls: T, texts: dict[str, str], attributes: dict[str, str]) -> T:
    names = inspect.signature(cls).parameters
    parameters = _section("Parameters", [f"{name} : {texts[name]}" for name in names])
    described = _section("Attributes", [f"{name} : {text}" for name, text in attributes.items()])
    doc = cls.__doc__ or ""
    cls.__doc__ = doc.replace("{parameters}", parameters).replace("{attributes}", described)
    return cls
