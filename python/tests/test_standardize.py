"""Columns in the units of people: standardize=True does what the command does, and without it a warning tells of them."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import banach
from banach import (
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    ScaleWarning,
    _core,
    lp_path,
    stability_selection,
)

ESTIMATORS = [LpRegressor, LpRegressorCV, LpClassifier, LpClassifierCV]


@pytest.fixture(scope="module")
def frame():
    """Kilograms, metres, years, and a column with one value."""
    rng = np.random.default_rng(1)
    values = rng.standard_normal((80, 3)) * [50.0, 0.1, 2.0] + [70.0, 1.7, 20.0]
    return pd.DataFrame(values, columns=["mass", "height", "year"]).assign(one=3.0)


@pytest.fixture(scope="module")
def y(frame):
    z = (frame - frame.mean()) / [50.0, 0.1, 2.0, 1.0]
    return (z["mass"] - 2 * z["height"] + z["mass"] * z["year"]).to_numpy()


def targets(estimator, y):
    return np.where(y > 0, "high", "low") if "Classifier" in estimator.__name__ else y


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_is_a_scaler_in_front(estimator, frame, y):
    told = {"Cs": 4} if estimator.__name__.endswith("CV") else {"C": 3.0}
    own, target = estimator(kernel="poly", standardize=True, **told), targets(estimator, y)
    own.fit(frame, target)
    pipe = make_pipeline(StandardScaler(), estimator(kernel="poly", **told)).fit(frame, target)
    decide = "decision_function" if "Classifier" in estimator.__name__ else "predict"
    np.testing.assert_allclose(getattr(own, decide)(frame), getattr(pipe, decide)(frame), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(own.mean_, pipe[0].mean_)
    np.testing.assert_allclose(own.scale_, pipe[0].scale_)
    assert own.top_features(3)["monomial"][0] == "height"
    again = pickle.loads(pickle.dumps(own))
    np.testing.assert_array_equal(again.predict(frame), own.predict(frame))
    assert clone(own).get_params()["standardize"] is True
    own.set_params(standardize=False, kernel="linear")
    with pytest.warns(ScaleWarning):
        own.fit(frame, target)
    assert not hasattr(own, "mean_")


def saved(model, folder):
    model.save(folder / "equation.banach")
    return folder / "equation.banach"


def test_equations_are_in_the_units_of_x(frame, y, tmp_path):
    model = LpRegressor(kernel="poly", standardize=True, C=100.0, p=1.1).fit(frame, y)
    for equation in (model.equation(), model.equation(9, refit=False)):
        near = np.abs(equation.predict(frame) - model.predict(frame)).max()
        assert near < 0.2, str(equation)
    found = model.equation()
    for same in (found.to_model(), banach.load(saved(found, tmp_path))):
        np.testing.assert_allclose(same.predict(frame), found.predict(frame), rtol=1e-8)
    assert set(model.equation().terms["monomial"]) == {"mass", "height", "mass * year"}
    linear = LpRegressor(standardize=True).fit(frame, y)
    origin = linear.intercept_ - linear.mean_ @ (linear.coef_ / linear.scale_)
    np.testing.assert_allclose(linear.predict(frame), frame.to_numpy() @ (linear.coef_ / linear.scale_) + origin)
    report = linear.report(2, relevance=False)["functions"][0]
    assert report["intercept_original"] == pytest.approx(origin)


def test_sparse_columns_are_divided_and_not_moved(frame, y):
    dense = np.where(np.random.default_rng(2).random((80, 3)) < 0.5, 0.0, frame.to_numpy()[:, :3])
    X = scipy.sparse.csr_array(dense)
    model = LpRegressor(standardize=True, C=10.0).fit(X, y)
    assert not model.mean_.any()
    np.testing.assert_allclose(model.scale_, dense.std(axis=0))
    np.testing.assert_allclose(model.predict(X), model.predict(dense))
    centred = LpRegressor(standardize=True, C=10.0).fit(dense, y)
    np.testing.assert_allclose(centred.predict(X), centred.predict(dense))
    assert centred.mean_.all()


def fitted_by_the_command(tmp_path, frame, y, *arguments):
    table, model = tmp_path / "table.csv", tmp_path / "model.banach"
    frame.assign(y=y).to_csv(table, index=False)
    assert _core.command(["banach", "fit", str(table), "--target", "y", "-o", str(model), "--quiet", *arguments]) == 0
    return table, model


def predicted_by_the_command(capfd, model, table):
    capfd.readouterr()
    assert _core.command(["banach", "predict", str(model), str(table), "--quiet"]) == 0
    return np.array([float(line.split(",")[-1]) for line in capfd.readouterr().out.split()[1:]])


def test_a_file_is_that_of_the_command(tmp_path, capfd, frame, y):
    model = LpRegressor(kernel="poly", standardize=True, C=3.0, p="4/3").fit(frame, y)
    table, of_command = fitted_by_the_command(tmp_path, frame, y, "--kernel", "poly", "--gamma", "3", "--p", "4/3")
    expected = predicted_by_the_command(capfd, of_command, table)
    np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-6, atol=1e-6)
    model.save(tmp_path / "own.banach")
    np.testing.assert_allclose(
        predicted_by_the_command(capfd, tmp_path / "own.banach", table), model.predict(frame), rtol=1e-9
    )
    np.testing.assert_allclose(banach.load(of_command).predict(frame[["mass", "height", "year"]]), expected, rtol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_it_comes_back_from_a_file_as_it_was(estimator, tmp_path, frame, y):
    told = {"Cs": 3} if estimator.__name__.endswith("CV") else {"C": 30.0}
    # Far from 0, where a mean has not enough digits.
    far = frame.assign(mass=frame["mass"] + 1e9)
    model = estimator("4/3", kernel="poly", standardize=True, **told).fit(far, targets(estimator, y))
    assert model._scaling[1].any()
    model.save(tmp_path / "model.banach")
    loaded = banach.load(tmp_path / "model.banach")
    assert type(loaded).__name__ == estimator.__name__.removesuffix("CV")
    assert loaded.get_params()["standardize"] is True
    for own, other in zip(loaded._scaling, model._scaling, strict=True):
        np.testing.assert_array_equal(own, other)
    np.testing.assert_array_equal(loaded.mean_, model.mean_)
    np.testing.assert_array_equal(loaded.scale_, model.scale_)
    np.testing.assert_array_equal(loaded.predict(far), model.predict(far))
    # In the units of X, and not of standardised columns under their names.
    assert str(loaded.equation(3)) == str(model.equation(3))
    loaded.save(tmp_path / "again.banach")
    np.testing.assert_array_equal(banach.load(tmp_path / "again.banach").predict(far), model.predict(far))
    refitted = clone(loaded).fit(far, targets(estimator, y))
    np.testing.assert_allclose(refitted.mean_, model.mean_)


def test_sparse_columns_come_back_from_a_file(tmp_path, frame, y):
    X = scipy.sparse.csr_array(np.where(np.random.default_rng(2).random((80, 4)) < 0.5, 0.0, frame.to_numpy()))
    model = LpRegressor(standardize=True).fit(X, y)
    model.save(tmp_path / "model.banach")
    np.testing.assert_array_equal(banach.load(tmp_path / "model.banach").predict(X), model.predict(X))


def test_a_scaler_in_front_and_its_own_are_one_in_a_file(tmp_path, frame, y):
    own = make_pipeline(StandardScaler(with_mean=False), LpRegressor(standardize=True)).fit(frame, y)
    banach.save(own, tmp_path / "model.banach")
    np.testing.assert_allclose(banach.load(tmp_path / "model.banach").predict(frame), own.predict(frame), rtol=1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_columns_of_very_different_scales_are_noticed_once(estimator, frame, y):
    with pytest.warns(ScaleWarning) as found:
        estimator().fit(frame, targets(estimator, y))
    told = [str(one.message) for one in found if one.category is ScaleWarning]
    assert len(told) == 1
    assert '"height"' in told[0] and '"mass"' in told[0] and "standardize=True" in told[0], told
    assert found[0].filename == __file__


def test_it_is_not_said_where_it_does_not_matter(frame, y):
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        make_pipeline(StandardScaler(), LpRegressor()).fit(frame, y)
        LpRegressor(monomials="standardized").fit(frame, y)
        LpRegressor().fit(frame[["year", "one"]], y)
        LpRegressor().fit(frame[["height"]] * [1e-9], y)
        banach.SparseRegressor().fit(frame, y)
    with pytest.warns(ScaleWarning, match="x1 and .* in x0"):
        LpRegressor().fit(frame.to_numpy(), y)
    with pytest.warns(ScaleWarning):
        LpRegressor().fit(scipy.sparse.csr_array(frame.to_numpy()), y)


def test_paths_and_stability_take_it(frame, y):
    scaled = StandardScaler().fit_transform(frame)
    own, other = lp_path(frame, y, Cs=[1.0, 2.0], standardize=True), lp_path(scaled, y, Cs=[1.0, 2.0])
    np.testing.assert_allclose(own.coefs, other.coefs, rtol=1e-5, atol=1e-7)
    found = stability_selection(LpRegressor("4/3", kernel="poly", standardize=True), frame, y, k=4, n_pairs=3)
    assert set(found["monomial"][:3]) == {"mass", "height", "mass * year"}


def test_what_is_neither_true_nor_false_is_refused(frame, y):
    with pytest.raises(ValueError, match="standardize = 'yes'; allowed: True or False"):
        LpRegressor(standardize="yes").fit(frame, y)


def test_the_command_notes_it_where_columns_are_taken_as_they_are(tmp_path, capfd, frame, y):
    frame.assign(y=y).to_csv(tmp_path / "table.csv", index=False)
    arguments = ["banach", "fit", str(tmp_path / "table.csv"), "--target", "y", "--gamma", "1", "--json", "--quiet"]
    notes = []
    for more in ([], ["--no-standardize"]):
        assert _core.command([*arguments, *more]) in (0, 1)
        notes.append([note for note in json.loads(capfd.readouterr().out)["notes"] if "scales" in note])
    assert notes[0] == [] and len(notes[1]) == 1
    assert '"height"' in notes[1][0] and "leave --no-standardize out" in notes[1][0]
