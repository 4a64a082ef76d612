"""What can go wrong is said in words that help: the parameter, what was got, what is allowed."""

from __future__ import annotations

import inspect
import re
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from banach import (
    AutoRegressor,
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    SparseRegressor,
    TopFeatures,
    _core,
    _parameters,
    datasets,
    gram_tensor,
    kernels,
    lp_path,
    stability_selection,
)

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 4))
Y = X[:, 0] + 0.3 * rng.standard_normal(20)
LABELS = np.where(Y > 0, "up", "down")

# Values of the wrong type and out of range.
WRONG = {
    "p": ["two", None, True, 0.9, 0.5, 2.5, -1.0, np.nan, np.inf, 1 + 1j],
    "C": ["large", None, False, 0.0, -1.0, np.nan, np.inf],
    "kernel": ["rbf", None, 3, "LINEAR ", np.dot],
    "monomials": ["centred", None, 1],
    "coef0": ["1", None, np.nan, -1.0, np.inf],
    "scale": [None, 0.0, -1.0, np.nan, np.inf],
    "degree": ["two", -1, 1.5, (1,), (2, 1), (1, 2, 3), (0.5, 2), True],
    "normalize_kernel": [None, 1, "no"],
    "loss": ["l2", None, 2],
    "fit_intercept": [None, 1, "yes"],
    "tol": ["small", None, -1e-3, np.nan, np.inf],
    "max_iter": [0, -5, 1.5, None, "many", True],
    "solver": ["sgd", None, 1],
    "solver_options": [
        "2.1",
        {"step": 1.0},
        {1: 2},
        {"algorithm": 2.1},
        {"algorithm": "2.2"},
        {"rule": "never"},
        {"delta": 0.0},
        {"delta": True},
        {"theta": "half"},
        {"theta": 1.0},
        {"lambda_bar": -1.0},
        {"lambda_bar": np.nan},
    ],
    "route": ["direct", None, 1],
    "memory_limit": ["much", 0, -1, "2XB", np.nan, "1.2.3GB", [1]],
    "n_jobs": [0, 1.5, "all", 5000, True],
}
OF_REGRESSION = {
    "epsilon": ["wide", None, -0.1, np.nan, np.inf],
    "rho": ["one", None, 0.0, -1.0, np.nan],
    "quantile": ["half", None, 0.0, 1.0, -0.5, 1.5, np.nan],
}
OF_SEARCH = {
    "Cs": [0, -1, "many", [], [0.0], [-1.0], ["a"], [np.nan], None, 1.5],
    "p": [[], ["two"], [0.5]],
    "degree": [[], [-1]],
    "scale": [[], "large", [0.0]],
    "refit": [None, 1, "yes"],
}
# A parameter that counts only with others.
WITH = {
    "coef0": {"kernel": "poly"},
    "scale": {"kernel": "poly"},
    "degree": {"kernel": "poly"},
    "epsilon": {"loss": "epsilon_insensitive"},
    "rho": {"loss": "huber"},
    "quantile": {"loss": "quantile"},
    "solver_options": {"solver": "paper"},
}


def cases(of):
    return [(name, value) for name, values in of.items() for value in values]


def assert_named(error, name, value):
    text = str(error)
    assert name in text, text
    assert "allowed" in text or "expected" in text, text
    got = value if isinstance(value, str) else None
    if got is not None:
        assert got in text, text


@pytest.mark.parametrize(("name", "value"), cases({**WRONG, **OF_REGRESSION}), ids=str)
def test_a_wrong_parameter_of_a_regressor_is_named(name, value):
    model = LpRegressor(**{**WITH.get(name, {}), name: value})
    with pytest.raises(ValueError) as caught:
        model.fit(X, Y)
    assert_named(caught.value, name, value)


@pytest.mark.parametrize(("name", "value"), cases(WRONG), ids=str)
def test_a_wrong_parameter_of_a_classifier_is_named(name, value):
    model = LpClassifier(**{**WITH.get(name, {}), name: value})
    with pytest.raises(ValueError) as caught:
        model.fit(X, LABELS)
    assert_named(caught.value, name, value)


@pytest.mark.parametrize(("name", "value"), cases(OF_SEARCH), ids=str)
@pytest.mark.parametrize("kind", [LpRegressorCV, LpClassifierCV])
def test_a_wrong_parameter_of_a_search_is_named(kind, name, value):
    model = kind(**{"Cs": 2, "cv": 2, **WITH.get(name, {}), name: value})
    with pytest.raises(ValueError) as caught:
        model.fit(X, Y if kind is LpRegressorCV else LABELS)
    assert_named(caught.value, name, value)


def test_nothing_is_checked_before_fit():
    for name, values in WRONG.items():
        for value in values:
            assert getattr(LpRegressor(**{name: value}), name) is value


def test_options_of_another_solver_are_refused():
    for solver in ["auto", "newton"]:
        with pytest.raises(ValueError, match=r"solver_options\['theta'\] = 0.9; .*solver paper"):
            LpRegressor(solver=solver, solver_options={"theta": 0.9}).fit(X, Y)
    with pytest.raises(ValueError, match="squared"):
        LpRegressor(solver="paper", solver_options={"algorithm": "2.1"}, loss="huber").fit(X, Y)
    with pytest.raises(ValueError, match=r"solver_options\['lambda_bar'\] = 2; .* below 1, .* this C "):
        LpRegressor(solver="paper", solver_options={"algorithm": "2.1", "lambda_bar": 2.0}, C=1.0).fit(X, Y)


def test_a_loss_of_the_other_task_is_refused_with_the_losses_of_this_one():
    with pytest.raises(ValueError, match="squared"):
        LpRegressor(loss="hinge").fit(X, Y)
    with pytest.raises(ValueError, match="logistic"):
        LpClassifier(loss="squared").fit(X, LABELS)


def test_numpy_numbers_are_numbers():
    model = LpRegressor(np.float32(1.5), C=np.int64(2), degree=np.int32(2), kernel="poly", max_iter=np.int16(100))
    model.set_params(fit_intercept=np.True_, memory_limit=np.float64(1e9), n_jobs=np.int8(1)).fit(X, Y)
    assert model.status_ == "converged"


@pytest.mark.parametrize("limit", ["2GB", "500 MB", "1GiB", "1e9", 10**9, 1e9, "0.5gb"])
def test_sizes_of_memory_may_be_written_in_many_ways(limit):
    if limit == "1e9":
        with pytest.raises(ValueError, match="memory_limit"):
            LpRegressor(memory_limit=limit).fit(X, Y)
    else:
        LpRegressor(memory_limit=limit).fit(X, Y)


def test_kernel_objects_are_checked():
    wrong = [
        kernels.Polynomial(degree=-1),
        kernels.Anova(3, 2),
        kernels.Exponential(scale=-1.0),
        kernels.PowerSeries([-1.0]),
        kernels.PowerSeries([]),
        kernels.PowerSeries(None),
        kernels.PowerSeries("1, 2"),
        kernels.Series("tangent"),
        kernels.Normalized("exp"),
        kernels.Normalized(None),
    ]
    for kernel in wrong:
        with pytest.raises(ValueError):
            LpRegressor(kernel=kernel).fit(X, Y)


def test_a_fit_that_ends_early_warns_with_gap_tolerance_and_advice():
    with pytest.warns(ConvergenceWarning) as caught:
        model = LpRegressor(loss="absolute", C=100.0, max_iter=1, tol=1e-12).fit(X, Y)
    (warning,) = caught
    text = str(warning.message)
    gap, tol = re.search(r"relative duality gap is (\S+), and tol=(\S+) was", text).groups()
    assert float(gap) == pytest.approx(model.duality_gap_, rel=0.01)
    assert float(tol) == 1e-12
    assert model.duality_gap_ > 1e-12
    assert "max_iter=1" in text
    assert "Raise max_iter" in text
    assert warning.filename == __file__
    assert model.status_ == "iteration_limit"


def test_a_search_warns_of_fits_that_end_early():
    with pytest.warns(ConvergenceWarning) as caught:
        LpRegressorCV(loss="absolute", Cs=[100.0], max_iter=1, cv=2).fit(X, Y)
    texts = [str(warning.message) for warning in caught]
    assert any("2 fits of the cross-validation did not converge" in text for text in texts)
    assert all(warning.filename == __file__ for warning in caught)


def test_a_fit_without_tolerance_says_that_it_stalled():
    with pytest.warns(ConvergenceWarning, match="no step makes further progress"):
        model = LpRegressor(p=1.5, tol=0.0).fit(X, Y)
    assert model.status_ == "stalled"
    assert model.duality_gap_ < 1e-10


@pytest.mark.parametrize("parameters", [{}, {"kernel": "poly"}, {"kernel": "exp", "scale": 0.1}], ids=str)
def test_memory_is_refused_in_advance_with_the_table_of_routes(parameters):
    with pytest.raises(MemoryError) as caught:
        LpRegressor(memory_limit=100, **parameters).fit(X, Y)
    text = str(caught.value)
    routes = ["gram", "streamed"] if parameters.get("kernel") == "exp" else ["features", "tiles", "gram", "streamed"]
    for route in routes:
        assert route in text
    assert re.search(r"\d+(\.\d+)? ?([kMG]i?)?B|bytes", text), text


def test_a_route_that_is_asked_for_is_refused_with_the_bytes_it_needs():
    with pytest.raises(MemoryError, match="gram"):
        LpRegressor(kernel="exp", scale=0.1, route="gram", memory_limit="1kB").fit(X, Y)
    with pytest.raises(MemoryError):
        LpRegressorCV(kernel="exp", scale=0.1, route="gram", memory_limit="1kB").fit(X, Y)
    with pytest.raises(MemoryError):
        gram_tensor(X, memory_limit=100)


def test_a_route_that_cannot_be_taken_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="exp|infinite|features"):
        LpRegressor(kernel="exp", scale=0.1, route="features").fit(X, Y)
    with pytest.raises(ValueError, match="q"):
        LpRegressor(p=1.3, route="gram").fit(X, Y)


def test_degrees_in_the_wrong_order_are_shown_in_the_right_one():
    with pytest.raises(ValueError, match=r"degree = \(2, 1\); .* here \(1, 2\)"):
        LpRegressor(kernel="poly", degree=(2, 1)).fit(X, Y)


ODD_SPLITS = [
    [1, 2],
    [([0, 1], [2], [3])],
    [([0, 1], [20])],
    [([0.5], [1.5])],
    [(["a"], ["b"])],
    [(None, [1])],
    [(np.ones(3, dtype=bool), np.ones(20, dtype=bool))],
    21,
    1,
]


@pytest.mark.parametrize("cv", ODD_SPLITS, ids=str)
def test_splits_that_are_none_are_named(cv):
    for model, y in ((LpRegressorCV(cv=cv), Y), (LpClassifierCV(cv=cv), LABELS)):
        with pytest.raises(ValueError, match=r"^cv\b"):
            model.fit(X, y)


METHODS = [
    "top_features",
    "relevance",
    "equation",
    "explain",
    "report",
    "leave_one_out",
    "plot_features",
    "plot_relevance",
    "plot_convergence",
    "plot_path",
]


@pytest.mark.parametrize("method", METHODS)
def test_a_model_that_is_not_fitted_says_so(method):
    for model in (LpRegressor(), LpClassifier(), LpRegressorCV(), LpClassifierCV()):
        with pytest.raises(NotFittedError):
            getattr(model, method)()


def test_predictions_before_fit_say_so():
    for model in (LpRegressor(), LpClassifier(), LpRegressorCV(), LpClassifierCV()):
        with pytest.raises(NotFittedError):
            model.predict(X)
    for method in ("decision_function", "predict_proba", "predict_log_proba"):
        with pytest.raises(NotFittedError):
            getattr(LpClassifier(), method)(X)
    with pytest.raises(NotFittedError):
        LpRegressorCV().plot_cv()
    with pytest.raises(NotFittedError):
        stability_selection(LpRegressor())
    for method in ("transform", "get_feature_names_out"):
        with pytest.raises(NotFittedError):
            getattr(TopFeatures(), method)(X)


def test_losses_without_probabilities_say_so():
    model = LpClassifier(loss="hinge").fit(X, LABELS)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "logistic" in f"{caught.value} {caught.value.__cause__}"


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="class"):
        LpClassifier().fit(X, ["same"] * 20)
    with pytest.raises(ValueError, match="'rare'"):
        LpClassifier().fit(X, ["usual"] * 19 + ["rare"], sample_weight=[1.0] * 19 + [0.0])


def test_a_class_with_one_sample_is_named_by_its_label():
    labels = ["usual", "other"] * 9 + ["usual", "rare"]
    with pytest.raises(ValueError, match="the class 'rare' has one sample"):
        LpClassifierCV().fit(X, labels)


FITTED = LpRegressor(kernel="poly", degree=2).fit(X, Y)
ARGUMENTS = [
    ("k", lambda: FITTED.top_features(0)),
    ("k", lambda: FITTED.top_features(1.5)),
    ("output", lambda: FITTED.top_features(1, output=1)),
    ("output", lambda: FITTED.relevance(output=-1)),
    ("output", lambda: FITTED.equation(2, output=3)),
    ("seconds", lambda: FITTED.top_features(1, seconds="all")),
    ("seconds", lambda: FITTED.top_features(1, seconds=-1.0)),
    ("k", lambda: FITTED.equation("all")),
    ("refit", lambda: FITTED.equation(2, refit=None)),
    ("k", lambda: FITTED.report(-1)),
    ("relevance", lambda: FITTED.report(relevance=1)),
    ("select", lambda: FITTED.report(select=0)),
    ("stability", lambda: FITTED.report(stability=2.5)),
    ("random_state", lambda: FITTED.report(random_state=None)),
    ("k", lambda: TopFeatures(k=0).fit(X, Y)),
    ("k", lambda: stability_selection(FITTED, k=0)),
    ("n_pairs", lambda: stability_selection(FITTED, n_pairs=0)),
    ("threshold", lambda: stability_selection(FITTED, threshold=0.4)),
    ("threshold", lambda: stability_selection(FITTED, threshold=1.5)),
    ("random_state", lambda: stability_selection(FITTED, random_state=-1)),
    ("output", lambda: stability_selection(FITTED, output=1)),
    ("Cs", lambda: lp_path(X, Y, Cs=0)),
    ("Cs", lambda: lp_path(X, Y, Cs=[])),
    ("Cs", lambda: lp_path(X, Y, Cs=[-1.0])),
    ("Cs", lambda: lp_path(X, Y, Cs=["a"])),
    ("Cs", lambda: FITTED.plot_path(Cs=0)),
    ("p", lambda: gram_tensor(X, p=1.3)),
    ("p", lambda: gram_tensor(X, p=3.0)),
    ("n_samples", lambda: datasets.make_sparse_linear(0)),
    ("n_informative", lambda: datasets.make_sparse_linear(10, 5, 6)),
    ("n_informative", lambda: datasets.make_sparse_quadratic(10, 2, 4)),
    ("noise", lambda: datasets.make_monomials(noise=-1.0)),
    ("noise", lambda: datasets.make_monomials(noise=np.nan)),
    ("random_state", lambda: datasets.make_monomials(random_state="lucky")),
]


@pytest.mark.parametrize(("name", "call"), ARGUMENTS)
def test_a_wrong_argument_of_a_function_is_named(name, call):
    with pytest.raises(ValueError) as caught:
        call()
    assert name in str(caught.value), str(caught.value)


# What only callers of the Rust library set.
NO_ARGUMENTS = {
    "lower_share",
    "upper_factor",
    "the number of points",
    "a",
    "the number of samples of positive weight",
    "intercept",
    "radius",
    "status",
}


def test_the_words_of_errors_are_arguments():
    callables = [
        *(LpRegressor, LpRegressorCV, LpClassifier, LpClassifierCV, SparseRegressor, AutoRegressor),
        *(
            LpRegressor.fit,
            LpRegressor.predict_interval,
            LpRegressor.top_features,
            lp_path,
            stability_selection,
            SparseRegressor.stability,
        ),
        *(kernels.PowerSeries, kernels.Series, kernels.Kernel.cardinality),
    ]
    arguments = {name for call in callables for name in inspect.signature(call).parameters}
    names = _core.argument_names()
    assert {name for name, word in names if word.split("[")[0] not in arguments} == NO_ARGUMENTS
    for _, word in names:
        if "[" in word:
            option = re.fullmatch(r"solver_options\['(\w+)'\]", word)[1]
            assert option in _parameters.solver_options(None)


def test_advice_is_in_the_words_of_python():
    with pytest.raises(ValueError, match=r"no sample counts.* C = 1e-200 is 0"):
        LpRegressor(C=1e-200).fit(X, Y, np.full(20, 1e-200))
    with pytest.raises(MemoryError, match=r'take route="streamed".* raise memory_limit if'):
        LpRegressor(kernel="exp", scale=0.1, route="gram", memory_limit=20_000).fit(X, Y)


@pytest.mark.parametrize("module", ["matplotlib", "matplotlib.pyplot"])
def test_plots_without_matplotlib_say_how_to_get_it(monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    if module == "matplotlib":
        monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for plot in (FITTED.plot_features, FITTED.plot_relevance, FITTED.plot_convergence, FITTED.plot_path):
        with pytest.raises(ImportError, match=r"plots need matplotlib: pip install 'banach\[plot\]'"):
            plot()
