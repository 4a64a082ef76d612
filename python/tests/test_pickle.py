"""Models survive pickles, copies and other processes, to the last bit."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from pathlib import Path

import joblib
import numpy as np
import pytest
import scipy.sparse

import banach
from banach import LpClassifier, LpClassifierCV, LpRegressor, LpRegressorCV, SparseRegressor, TopFeatures, kernels

PACKAGE = str(Path(banach.__file__).parents[1])
rng = np.random.default_rng(1)
X, NEW = rng.standard_normal((25, 5)), rng.standard_normal((8, 5))
Y = X[:, 0] * X[:, 1] + X[:, 2]
NAMES = np.array(["low", "middle", "top"])[np.digitize(Y, [-0.5, 0.5])]


def sparse(X):
    return scipy.sparse.csc_array(np.where(np.abs(X) > 0.6, X, 0.0))


MODELS = {
    **{
        f"route {route}": lambda route=route: LpRegressor(kernel="poly", degree=2, route=route).fit(X, Y)
        for route in ("features", "tiles", "gram", "streamed")
    },
    "infinite kernel": lambda: LpRegressor(kernel="exp", scale=0.1).fit(X, Y),
    "kernel object": lambda: LpRegressor(kernel=kernels.Normalized(kernels.Anova(1, 2)), p=4 / 3).fit(X, Y),
    "standardized monomials": lambda: LpRegressor(kernel="poly", degree=2, monomials="standardized", p=1.1).fit(X, Y),
    "weights": lambda: LpRegressor(loss="huber").fit(X, Y, sample_weight=np.linspace(0, 1, 25)),
    "many outputs": lambda: LpRegressor().fit(X, np.column_stack([Y, -Y, X[:, 3]])),
    "two classes": lambda: LpClassifier().fit(X, Y > 0),
    "strings": lambda: LpClassifier(loss="hinge").fit(X, NAMES),
    "searched": lambda: LpRegressorCV(Cs=3, cv=3).fit(X, Y),
    "searched classes": lambda: LpClassifierCV(Cs=3, cv=3).fit(X, NAMES),
}


def said(model, X):
    """Everything that a model says of points."""
    answers = [model.predict(X)]
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            answers.append(getattr(model, name)(X))
    return answers


def assert_same(one, other, X):
    for a, b in zip(said(one, X), said(other, X), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "through", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_a_copy_says_the_same(name, through):
    model = MODELS[name]()
    other = through(model)
    assert_same(model, other, NEW)
    assert other.route_ == model.route_
    assert other.duality_gap_ == model.duality_gap_
    one, two = model.top_features(3), other.top_features(3)
    assert one["exponents"] == two["exponents"]
    np.testing.assert_array_equal(one["weight"], two["weight"])
    assert one.order_proven == two.order_proven


def test_a_copy_explains_itself_as_the_model_does():
    model = LpRegressor(kernel="poly", degree=2, p=1.1).fit(X, Y)
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(model.relevance()["share"], other.relevance()["share"])
    assert str(model.equation(3)) == str(other.equation(3))
    assert other._model.history == model._model.history


def test_a_pickle_of_a_pickle_is_the_same_pickle():
    model = LpRegressor().fit(X, Y)
    once = pickle.dumps(model)
    assert pickle.dumps(pickle.loads(once)) == pickle.dumps(pickle.loads(pickle.dumps(pickle.loads(once))))


def test_a_sparse_model_survives():
    model = LpRegressor(kernel="poly", degree=2).fit(sparse(X), Y)
    assert_same(model, pickle.loads(pickle.dumps(model)), sparse(NEW))


def test_joblib_writes_and_reads_models(tmp_path):
    model = MODELS["strings"]()
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(model, joblib.load(tmp_path / "model.joblib"), NEW)


def test_joblib_reads_a_model_whose_data_are_mapped_from_the_file(tmp_path):
    model = LpRegressor(route="features").fit(X, Y)
    joblib.dump(model, tmp_path / "model.joblib")
    assert_same(model, joblib.load(tmp_path / "model.joblib", mmap_mode="r"), NEW)


@pytest.mark.parametrize("kernel", [kernels.Linear(), kernels.Exponential(0.3, (1, 3)), kernels.PowerSeries([0, 1.0])])
def test_kernels_survive(kernel):
    assert pickle.loads(pickle.dumps(kernel)) == kernel


def test_unfitted_estimators_survive():
    for model in (LpRegressor(p=1.2), TopFeatures(SparseRegressor())):
        assert str(pickle.loads(pickle.dumps(model))) == str(model)


PROGRAM = """
import pickle, sys
with open(sys.argv[1], "rb") as file:
    pairs = pickle.load(file)
answers = []
for model, X in pairs:
    names = ("predict", "decision_function", "predict_proba")
    answers.append([getattr(model, name)(X) for name in names if hasattr(model, name)])
with open(sys.argv[2], "wb") as file:
    pickle.dump(answers, file)
"""


def elsewhere(program, pairs, folder):
    """What models say of points in a new process."""
    given, answered = folder / "given.pickle", folder / "answered.pickle"
    given.write_bytes(pickle.dumps(pairs))
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = [sys.executable, "-W", "error", "-c", program, given, answered]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert ran.returncode == 0, ran.stderr
    return pickle.loads(answered.read_bytes())


def test_models_say_the_same_in_a_fresh_process(tmp_path):
    pairs = [(make(), NEW) for make in MODELS.values()] + [(LpRegressor().fit(sparse(X), Y), sparse(NEW))]
    answers = elsewhere(PROGRAM, pairs, tmp_path)
    for (model, points), answer in zip(pairs, answers, strict=True):
        for here, there in zip(said(model, points), answer, strict=True):
            np.testing.assert_array_equal(here, there)


WITHOUT_BANACH = """
import sys
sys.modules["banach"] = None
try:
    import banach
except ImportError:
    pass
else:
    raise SystemExit("banach can be imported")
"""


def test_the_pipeline_of_an_equation_works_without_banach(tmp_path):
    pipelines = [MODELS[name]().equation(3).to_pipeline() for name in ("route tiles", "two classes", "strings")]
    answers = elsewhere(WITHOUT_BANACH + PROGRAM, [(pipeline, NEW) for pipeline in pipelines], tmp_path)
    for pipeline, answer in zip(pipelines, answers, strict=True):
        np.testing.assert_array_equal(answer[0], pipeline.predict(NEW))
