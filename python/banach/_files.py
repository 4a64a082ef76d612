"""Model files: what ``banach fit -o`` writes, ``banach predict`` reads, and both ways from Python."""

from __future__ import annotations

import json
import os
from typing import Any, cast

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from . import _core, kernels
from ._auto import AutoClassifier, AutoRegressor
from ._classifier import LpClassifier
from ._columns import ColumnEncoder, ModelPipeline
from ._lp_model import LpModel
from ._pipelines import known_of
from ._regressor import LpRegressor
from ._sparse import SparseClassifier, SparseRegressor

#: What can be saved.
_MODELS = (LpModel, SparseRegressor, SparseClassifier, AutoRegressor, AutoClassifier)

_ALLOWED = (
    "LpRegressor, LpClassifier or one of their CV kin, SparseRegressor, SparseClassifier, AutoRegressor, AutoClassifier, or a pipeline "
    "that ends with one"
)

#: What the parameters of a loss are called here and in a file.
_OF_LOSS = {"epsilon": "epsilon", "rho": "rho", "tau": "quantile"}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Writes a fitted model to a file that :func:`load` and the ``banach`` command read.

    Parameters
    ----------
    model : estimator or Pipeline
        An estimator of this package, or a pipeline that ends with one. Before it, a file can hold scalers, ``SimpleImputer`` for
        numbers and ``OneHotEncoder`` for text, also in a ``ColumnTransformer``; another step is refused by its name, and why.
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
    known: dict[str, Any] = dict.fromkeys(
        ("names", "scaling", "encodings", "fills", "imputes", "ignores_unknown", "exposure")
    )
    if isinstance(model, Pipeline):
        if not isinstance(model[-1], _MODELS):
            raise ValueError(f"the last step of the pipeline is {type(model[-1]).__name__}; allowed: {_ALLOWED}")
        check_is_fitted(model[-1], "_model")
        steps, model = model, model[-1]
        if len(steps) > 1:
            known |= known_of(steps)
        if isinstance(model, (AutoRegressor, AutoClassifier)) and known["scaling"] is not None:
            raise ValueError("a chosen model scales by itself, and is saved without a scaler; fit it without one")
    elif not isinstance(model, _MODELS):
        raise ValueError(f"model = {model!r}; allowed: {_ALLOWED}")
    check_is_fitted(model, "_model")
    known["names"] = known["names"] or model._names()
    known["classes"] = model.classes_.tolist() if hasattr(model, "classes_") else None
    known["target"] = getattr(model, "_target", None)
    if isinstance(model, LpModel):
        known["exposure"] = getattr(model, "_exposure", None)
        if model._scaling is not None:
            known["scaling"] = _joined(known["scaling"], model._scaling)
        _core.save_model(model._model, os.fspath(path), cast(Any, known))
    elif isinstance(model, (AutoRegressor, AutoClassifier)):
        _core.save_auto(model._model, os.fspath(path), cast(Any, known))
    else:
        samples, weight = model._fitted_to
        _core.save_sparse(model._model, os.fspath(path), cast(Any, known), (samples, model.n_features_in_), weight)


def _joined(first: tuple[Any, Any, Any] | None, second: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
    """One ``(x - mean)/deviation`` for two, of the steps before a model and its own; means with what is missing to them."""
    if first is None:
        return second
    (mean, correction, deviation), (own_mean, own_correction, own_deviation) = first, second
    return mean + deviation * own_mean, correction + deviation * own_correction, deviation * own_deviation


def load(path: str | os.PathLike[str]) -> Any:
    """Reads a model that :func:`save`, ``model.save`` or ``banach fit -o`` has written.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    LpRegressor, LpClassifier, SparseRegressor, SparseClassifier, AutoRegressor, AutoClassifier or Pipeline
        The fitted model; of a search, the model that it chose. One with a penalty whose columns were scaled, by itself, by a scaler or by
        the command line, has ``standardize=True`` and the stored means and deviations. Where the file says more of the columns, a
        fitted ``Pipeline`` of that and the model, which predicts from the columns of a data frame as
        they are: with text where the model was fitted to labels, and with missing values where these were filled in. A model of
        counts that were collected over exposures takes these from the data frame too, by the name of their column.

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
        (samples, features), model = found["shape"], sparse_model(spec, found["classes"])
    else:
        samples, features, model = core.alpha.shape[1], core.n_features, _lp_model(spec, found["classes"], core)
        if found["scaling"] is not None:
            model.standardize = True
            model._scaling = found["scaling"]
            model.mean_, _, model.scale_ = found["scaling"]
        if found["exposure"] is not None:
            model._exposure = tuple(found["exposure"])
        if model._spec().kernel != core.kernel:
            raise ValueError(f"{os.fspath(path)}: a kernel that cannot be had from Python: {core.kernel}")
    model._target = found["target"]
    model.n_features_in_ = features
    steps: list[tuple[str, Any]] = []
    if names is not None and (found["encodings"] or found["imputes"]):
        fills = found["fills"] if found["fills"] is not None or found["scaling"] is None else found["scaling"][0]
        told = {"encodings": found["encodings"], "fills": fills, "imputes": found["imputes"]}
        steps = [("columns", ColumnEncoder(names.tolist(), **told, ignores_unknown=found["ignores_unknown"]))]
    if found["scaling"] is not None and not isinstance(model, LpModel):
        steps.append(("standardscaler", _scaler(found["scaling"], None if steps else names, samples)))
    if names is not None and not steps:
        model.feature_names_in_ = names
    elif steps:
        # In a pipeline the model sees arrays; it knows the names for its tables only.
        model._stored_names = names
    if isinstance(core, _core.SparseModel):
        model._adopt(core, samples, found["weight"])
    else:
        model._adopt(core)
    return ModelPipeline([*steps, (type(model).__name__.lower(), model)]) if steps else model


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


def sparse_model(spec: dict[str, Any], classes: list[Any] | None) -> SparseRegressor | SparseClassifier:
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


def _scaler(
    scaling: tuple[np.ndarray, np.ndarray, np.ndarray], names: np.ndarray | None, samples: int
) -> StandardScaler:
    scaler = StandardScaler()
    scaler.mean_, _, scaler.scale_ = scaling
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
