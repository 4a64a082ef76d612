"""Model files: what ``banach fit -o`` writes, ``banach predict`` reads, and both ways from Python."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from . import _core, kernels
from ._auto import AutoClassifier, AutoRegressor
from ._base import LpModel
from ._classifier import LpClassifier
from ._regressor import LpRegressor
from ._sparse import SparseClassifier, SparseRegressor

#: What can be saved.
_MODELS = (LpModel, SparseRegressor, SparseClassifier, AutoRegressor, AutoClassifier)

#: What the parameters of a loss are called here and in a file.
_OF_LOSS = {"epsilon": "epsilon", "rho": "rho", "tau": "quantile"}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model to a file that :func:`load` and the ``banach`` command read.

    Parameters
    ----------
    model : estimator or Pipeline
        An estimator of this package, or a pipeline of a ``StandardScaler`` and one.
    path : str or path
        The file. It is written under another name and then renamed.

    Examples
    --------
    >>> import os, tempfile, banach
    >>> X, y, truth = banach.datasets.make_sparse_quadratic(n_samples=40, n_features=8, random_state=0)
    >>> model = banach.LpRegressor(C=10.0).fit(X, y)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.banach")
    >>> banach.save(model, path)
    >>> bool((banach.load(path).predict(X) == model.predict(X)).all())
    True
    """
    scaler = None
    if isinstance(model, Pipeline):
        steps = [step for _, step in model.steps]
        if len(steps) != 2 or not isinstance(steps[0], StandardScaler) or not isinstance(steps[1], _MODELS):
            raise ValueError(
                "a pipeline can be saved if it is a StandardScaler followed by LpRegressor, LpClassifier, one of their CV kin, "
                "SparseRegressor or SparseClassifier; a chosen model scales by itself"
            )
        scaler, model = steps
    elif not isinstance(model, _MODELS):
        raise ValueError(
            f"model = {model!r}; allowed: LpRegressor, LpClassifier or one of their CV kin, SparseRegressor, SparseClassifier, AutoRegressor, "
            "AutoClassifier, or a "
            "pipeline of a StandardScaler and one"
        )
    check_is_fitted(model, "_model")
    names, scaling = model._names(), None
    if scaler is not None:
        d = scaler.n_features_in_
        means = np.zeros(d) if not scaler.with_mean else scaler.mean_
        scaling = (means, np.ones(d) if scaler.scale_ is None else scaler.scale_)
        told = getattr(scaler, "feature_names_in_", None)
        names = names if told is None else [str(name) for name in told]
    classes = model.classes_.tolist() if hasattr(model, "classes_") else None
    target = getattr(model, "_target", None)
    known: _core._Known = {"names": names, "target": target, "classes": classes, "scaling": scaling}
    if isinstance(model, LpModel):
        _core.save_model(model._model, os.fspath(path), known)
    elif isinstance(model, (AutoRegressor, AutoClassifier)):
        _core.save_auto(model._model, os.fspath(path), known)
    else:
        samples, weight = model._fitted_to
        _core.save_sparse(model._model, os.fspath(path), known, (samples, model.n_features_in_), weight)


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model that :func:`save`, ``model.save`` or ``banach fit -o`` has written.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    LpRegressor, LpClassifier, SparseRegressor, SparseClassifier, AutoRegressor, AutoClassifier or Pipeline
        The fitted model; of a search, the model that it chose. Where the file has the means and deviations of the
        columns, as the files of the command line do, a fitted ``Pipeline`` of a ``StandardScaler`` and the model, so that it
        predicts from the columns as they are.

    Raises
    ------
    ValueError
        If the file is not a model, is damaged, or comes from a later version of the format.
    OSError
        If it cannot be read.
    """
    found = _core.load_model(os.fspath(path))
    spec, core = json.loads(found["spec"]), found["model"]
    names = None if found["names"] is None else np.asarray(found["names"], dtype=object)
    model: Any
    if isinstance(core, _core.AutoModel):
        model = _auto_model(spec, found["classes"])
        samples, features = core.n_samples, core.n_features
    elif isinstance(core, _core.SparseModel):
        (samples, features), model = found["shape"], _sparse_model(spec, found["classes"])
    else:
        samples, features, model = core.alpha.shape[1], core.n_features, _lp_model(spec, found["classes"], core)
        if model._spec().kernel != core.kernel:
            raise ValueError(f"{os.fspath(path)}: a kernel that cannot be had from Python: {core.kernel}")
    model._target = found["target"]
    model.n_features_in_ = features
    if found["scaling"] is None and names is not None:
        model.feature_names_in_ = names
    elif found["scaling"] is not None:
        # In a pipeline the model sees arrays; it knows the names for its tables only.
        model._stored_names = names
    if isinstance(core, _core.SparseModel):
        model._adopt(core, samples, found["weight"])
    else:
        model._adopt(core)
    if found["scaling"] is None:
        return model
    scaler = _scaler(found["scaling"], names, samples)
    return Pipeline([("standardscaler", scaler), (type(model).__name__.lower(), model)])


def _lp_model(spec: dict[str, Any], classes: list[Any] | None, core: _core.Model) -> LpRegressor | LpClassifier:
    """An estimator with the parameters of a file."""
    parameters = _parameters_of(spec)
    if classes is None:
        regressor = LpRegressor(**parameters)
        regressor._single = len(core.relative_gaps) == 1
        return regressor
    classifier = LpClassifier(**parameters)
    classifier.classes_ = np.asarray(classes)
    return classifier


def _auto_model(spec: dict[str, Any], classes: list[Any] | None) -> AutoRegressor | AutoClassifier:
    """The same for a chosen model."""
    told = {"effort": spec["effort"], "max_seconds": spec["seconds"], "random_state": spec["seed"]}
    if classes is None:
        return AutoRegressor(**told)
    classifier = AutoClassifier(**told)
    classifier.classes_ = np.asarray(classes)
    return classifier


def _sparse_model(spec: dict[str, Any], classes: list[Any] | None) -> SparseRegressor | SparseClassifier:
    """The same for few terms. How a kernel weights monomials does not matter, only which it has."""
    kernel = spec["kernel"]
    if kernel["name"] == "poly" and kernel["degrees"] is not None:
        told: dict[str, Any] = {"kernel": "poly", "degree": tuple(kernel["degrees"])}
    elif kernel["name"] == "poly" and kernel["coef0"] == 0.0:
        told = {"kernel": "poly", "degree": kernel["degree"]}
    elif kernel["name"] in ("linear", "anova", "exp"):
        told = _kernel_parameters(kernel)
        told.pop("scale", None)
    else:
        told = {"kernel": _kernel(kernel)}
    hierarchy = None if spec["hierarchy"] == "none" else spec["hierarchy"]
    told |= {name: spec[name] for name in ("penalty", "max_terms", "fit_intercept")} | {"hierarchy": hierarchy}
    if classes is None:
        return SparseRegressor(**told)
    classifier = SparseClassifier(**told)
    classifier.classes_ = np.asarray(classes)
    return classifier


def _scaler(scaling: tuple[np.ndarray, np.ndarray], names: np.ndarray | None, samples: int) -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, scaler.scale_ = scaling
    scaler.var_ = scaler.scale_**2
    scaler.n_features_in_, scaler.n_samples_seen_ = len(scaler.mean_), samples
    if names is not None:
        scaler.feature_names_in_ = names
    return scaler


def _parameters_of(spec: dict[str, Any]) -> dict[str, Any]:
    """The parameters of an estimator, from those in a file."""
    loss = dict(spec["loss"])
    return {
        "p": spec["p"],
        "C": spec["gamma"],
        **_kernel_parameters(spec["kernel"]),
        "monomials": spec["monomials"],
        "loss": loss.pop("name"),
        **{_OF_LOSS[name]: value for name, value in loss.items()},
        "fit_intercept": spec["fit_intercept"],
        "tol": spec["tolerance"],
        "max_iter": spec["max_iterations"],
        **_solver_parameters(spec["solver"]),
        "route": spec["route"] or "auto",
    }


def _solver_parameters(solver: str | dict[str, Any]) -> dict[str, Any]:
    """A name, or a name and what the solver was told."""
    if isinstance(solver, str):
        return {"solver": solver}
    options = dict(solver)
    return {"solver": options.pop("name"), "solver_options": options}


def _kernel_parameters(spec: dict[str, Any]) -> dict[str, Any]:
    """By name where a name says it all."""
    name = spec["name"]
    if name == "normalized" and spec["kernel"]["name"] != "normalized":
        return {**_kernel_parameters(spec["kernel"]), "normalize_kernel": True}
    if name == "linear":
        return {"kernel": "linear"}
    if name == "poly" and (spec["degrees"] is None or spec["coef0"] != 0.0):
        degree = spec["degree"] if spec["degrees"] is None else tuple(spec["degrees"])
        return {"kernel": "poly", "degree": degree, "scale": spec["scale"], "coef0": spec["coef0"]}
    if name == "anova":
        return {"kernel": "anova", "degree": tuple(spec["degrees"])}
    if name == "exp":
        degree = {} if spec["degrees"] is None else {"degree": tuple(spec["degrees"])}
        return {"kernel": "exp", "scale": spec["scale"], **degree}
    return {"kernel": _kernel(spec)}


def _kernel(spec: dict[str, Any]) -> kernels.Kernel:
    """The same as an object."""
    name = spec["name"]
    if name == "linear":
        return kernels.Linear()
    if name == "poly":
        degree: Any = spec["degree"] if spec["degrees"] is None else tuple(spec["degrees"])
        return kernels.Polynomial(degree, spec["scale"], spec["coef0"])
    if name == "anova":
        return kernels.Anova(*spec["degrees"])
    if name == "exp":
        return kernels.Exponential(spec["scale"], None if spec["degrees"] is None else tuple(spec["degrees"]))
    if name == "power_series":
        return kernels.PowerSeries(spec["coefficients"], spec["scale"])
    if name == "series":
        return kernels.Series(spec["series"], spec["scale"])
    return kernels.Normalized(_kernel(spec["kernel"]))
