"""Columns of text, missing values and intervals: from the command to Python, from pipelines to files, and back."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, OrdinalEncoder, StandardScaler

import banach
from banach import AutoRegressor, LpClassifier, LpRegressor, LpRegressorCV, SparseRegressor, _core

CODE = "import sys; from banach import _core; sys.exit(_core.command(['banach', *sys.argv[1:]]))"


def command(*arguments):
    run = subprocess.run(
        [sys.executable, "-c", CODE, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=60),
            "color": rng.choice(["blue", "green", "red"], 60),
            "sex": rng.choice(["f", "m"], 60),
            "ward": rng.choice([1, 2, 30], 60),
        }
    )
    effect = 2 * frame["dose"] + (frame["color"] == "red") - (frame["sex"] == "m") + 0.1 * rng.normal(size=60)
    return frame, effect


def fitted_by_the_command(table, tmp_path, *more):
    frame, effect = table
    frame.assign(effect=effect).to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "model.banach"
    command("fit", tmp_path / "data.csv", "--target", "effect", "--categorical", "ward", "-o", model, "-q", *more)
    frame.to_csv(tmp_path / "new.csv", index=False)
    return model


def predicted(model, path):
    return np.array([float(line.split(",")[0]) for line in command("predict", model, path, "-q").splitlines()[1:]])


@pytest.mark.parametrize("kind", [["--gamma", "1"], ["--sparse"], ["--effort", "quick"]])
def test_frames_with_text_are_predicted_as_files_are(table, tmp_path, kind):
    model = fitted_by_the_command(table, tmp_path, *kind)
    loaded = banach.load(model)
    frame = table[0]
    expected = predicted(model, tmp_path / "new.csv")
    np.testing.assert_allclose(loaded.predict(frame), expected, rtol=1e-12, atol=1e-12)
    # In any order, with others beside, and as categories.
    other = frame[["ward", "sex", "dose", "color"]].assign(more="x").astype({"color": "category"})
    np.testing.assert_allclose(loaded.predict(other), expected, rtol=1e-12, atol=1e-12)
    loaded.save(tmp_path / "again.banach")
    np.testing.assert_array_equal(banach.load(tmp_path / "again.banach").predict(frame), loaded.predict(frame))


def test_what_a_frame_lacks_is_named(table, tmp_path):
    loaded = banach.load(fitted_by_the_command(table, tmp_path, "--gamma", "1"))
    frame = table[0]
    with pytest.raises(ValueError, match="lack columns that the model is made of: color"):
        loaded.predict(frame.drop(columns="color"))
    with pytest.raises(ValueError, match="without the label 'violet' of row 3"):
        loaded.predict(frame.assign(color=[*frame["color"][:3], "violet", *frame["color"][4:]]))
    with pytest.raises(ValueError, match="'dose': 1 value is missing, the first in row 2"):
        loaded.predict(frame.assign(dose=[*frame["dose"][:2], np.nan, *frame["dose"][3:]]))
    with pytest.raises(ValueError, match="'dose': the model was fitted to numbers"):
        loaded.predict(frame.assign(dose="much"))


def test_gaps_are_filled_in_as_they_were(table, tmp_path):
    frame, effect = table
    frame = frame.astype({"color": object})
    frame.loc[4, "dose"] = np.nan
    frame.loc[5, "color"] = None
    model = fitted_by_the_command(
        (frame, effect), tmp_path, "--gamma", "1", "--impute", "median", "--unknown", "ignore"
    )
    loaded = banach.load(model)
    np.testing.assert_allclose(loaded.predict(frame), predicted(model, tmp_path / "new.csv"), rtol=1e-12)
    frame.loc[7, "color"] = "violet"
    frame.to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_allclose(loaded.predict(frame), predicted(model, tmp_path / "new.csv"), rtol=1e-12)


def test_values_are_told_by_their_places(table, tmp_path):
    """Rows of a data frame have labels, which need not begin with 0."""
    loaded = banach.load(fitted_by_the_command(table, tmp_path, "--gamma", "1"))
    later = table[0].iloc[20:].astype({"dose": object})
    later.iloc[7, 0] = "much"
    with pytest.raises(
        ValueError, match="'dose': the model was fitted to numbers in this column; 'much' of row 7 is none"
    ):
        loaded.predict(later)
    later.iloc[7, 0] = pd.Timestamp("2020-01-01")
    with pytest.raises(ValueError, match="of row 7 is none"):
        loaded.predict(later)
    with pytest.raises(ValueError, match="of row 0 is none"):
        loaded.predict(table[0].assign(dose=pd.Timestamp("2020-01-01")))


@pytest.mark.parametrize("kind", ["string", "object", "category"])
def test_gaps_of_every_kind_are_gaps(table, tmp_path, kind):
    frame, effect = table
    frame = frame.astype({"color": object})
    frame.loc[[4, 5], "color"] = None
    model = fitted_by_the_command((frame, effect), tmp_path, "--gamma", "1", "--impute", "mean")
    typed = frame.astype({"color": kind, "dose": "Float64"})
    typed.loc[6, "dose"] = pd.NA
    typed.to_csv(tmp_path / "new.csv", index=False)
    loaded = banach.load(model)
    np.testing.assert_allclose(loaded.predict(typed), predicted(model, tmp_path / "new.csv"), rtol=1e-12)
    objects = typed.astype(object)
    for gap in (pd.NA, pd.NaT, np.nan, None, float("nan"), ""):
        objects.loc[4, "color"] = gap
        objects.loc[6, "dose"] = gap
        np.testing.assert_allclose(loaded.predict(objects), loaded.predict(typed), rtol=1e-12)


#: Cells that two readers may well take for different things.
LABELS = ["1", "01", " 1 ", "1.0", "+1", "1e0", "30", "30.00", "2", "?", "NA", "n/a", "NULL", "nan", "NaN", "", " "]
LABELS += ["none", "-", "x", "true", "TRUE", "1_0", "0x1", "1,5", "inf"]
NUMBERS = [
    "1",
    "01",
    " 1 ",
    "1e0",
    "+.5",
    "?",
    "NA",
    "n/a",
    "None",
    "-",
    ".",
    "missing",
    "nan",
    "",
    "x",
    "1_0",
    "0x1",
    "true",
    "inf",
]


@pytest.mark.parametrize(("column", "cells"), [("ward", LABELS), ("dose", NUMBERS)])
def test_both_doors_take_awkward_cells_for_the_same(table, tmp_path, capfd, column, cells):
    frame, effect = table
    gap = frame.astype({"color": object})
    gap.loc[0, ["color", "dose"]] = [None, np.nan]
    model = fitted_by_the_command((gap, effect), tmp_path, "--gamma", "1", "--impute", "mean")
    loaded = banach.load(model)
    found = {}
    for cell in cells:
        row = frame.iloc[:1].astype(object).assign(**{column: cell})
        row.to_csv(tmp_path / "new.csv", index=False)
        capfd.readouterr()
        code = _core.command(["banach", "predict", str(model), str(tmp_path / "new.csv"), "-q"])
        assert code in (0, 2)
        expected = float(capfd.readouterr().out.split()[1]) if code == 0 else None
        try:
            found[cell] = loaded.predict(row)[0]
        except ValueError:
            found[cell] = None
        assert found[cell] == (None if expected is None else pytest.approx(expected, rel=1e-12)), cell
    # Some are refused, some missing and some equal.
    assert None in found.values() and found["01"] == found["1"] != found["?"] == found["NA"]


def test_labels_that_look_like_numbers_come_back_from_pipelines(table, tmp_path):
    frame, effect = table
    frame = frame.assign(ward=frame["ward"].map({1: "01", 2: "02", 30: "10"}))
    whole = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["ward"]), ("passthrough", ["dose"])), LpRegressor()
    )
    banach.save(whole.fit(frame, effect), tmp_path / "model.banach")
    np.testing.assert_allclose(banach.load(tmp_path / "model.banach").predict(frame), whole.predict(frame), rtol=1e-10)
    frame.to_csv(tmp_path / "new.csv", index=False)
    found = predicted(tmp_path / "model.banach", tmp_path / "new.csv")
    np.testing.assert_allclose(found, whole.predict(frame), rtol=1e-10)
    for labels, message in [
        (["?", "a", "b"], "'[?]', which in files is a missing value"),
        (["01", "1", "2"], "are one number"),
    ]:
        frame["ward"] = np.resize(labels, len(frame))
        with pytest.raises(ValueError, match=message):
            banach.save(whole.fit(frame, effect), tmp_path / "model.banach")


def columns(**more):
    encoder = OneHotEncoder(drop="if_binary", **more)
    return make_column_transformer((encoder, ["color", "sex"]), (SimpleImputer(strategy="median"), ["dose"]))


@pytest.mark.parametrize(
    "steps",
    [
        lambda: [columns(), StandardScaler()],
        lambda: [columns(handle_unknown="ignore")],
        lambda: [ColumnTransformer([("e", OneHotEncoder(), ["color"]), ("n", MinMaxScaler(), ["dose"])])],
        lambda: [
            ColumnTransformer(
                [("e", OneHotEncoder(), [1]), ("n", make_pipeline(StandardScaler(), SimpleImputer()), [0])],
                remainder="drop",
            )
        ],
        lambda: [
            ColumnTransformer([("e", OneHotEncoder(), ["color", "ward"])], remainder="drop"),
            StandardScaler(with_mean=False),
        ],
    ],
)
@pytest.mark.parametrize("model", [lambda: LpRegressor(C=5.0), lambda: SparseRegressor(), lambda: LpRegressorCV(Cs=3)])
def test_pipelines_with_encoders_come_back(table, tmp_path, steps, model):
    frame, effect = table
    whole = make_pipeline(*steps(), model()).fit(frame, effect)
    banach.save(whole, tmp_path / "model.banach")
    np.testing.assert_allclose(banach.load(tmp_path / "model.banach").predict(frame), whole.predict(frame), rtol=1e-10)


def test_the_command_predicts_by_a_pipeline(table, tmp_path):
    frame, effect = table
    steps = ColumnTransformer([("e", OneHotEncoder(), ["color", "ward"]), ("n", MinMaxScaler(), ["dose"])])
    whole = make_pipeline(steps, StandardScaler(), LpRegressor(C=5.0)).fit(frame, effect)
    banach.save(whole, tmp_path / "model.banach")
    frame.to_csv(tmp_path / "new.csv", index=False)
    found = predicted(tmp_path / "model.banach", tmp_path / "new.csv")
    np.testing.assert_allclose(found, whole.predict(frame), rtol=1e-10)


def test_imputers_come_back(table, tmp_path):
    frame, effect = table
    frame.loc[3, "dose"] = np.nan
    whole = make_pipeline(columns(handle_unknown="ignore"), StandardScaler(), LpRegressor()).fit(frame, effect)
    banach.save(whole, tmp_path / "model.banach")
    frame.loc[9, "color"] = "violet"
    with pytest.warns(UserWarning, match="unknown categories"):
        expected = whole.predict(frame)
    np.testing.assert_allclose(banach.load(tmp_path / "model.banach").predict(frame), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            lambda: make_column_transformer((OneHotEncoder(), ["sex"])),
            r"'columntransformer.onehotencoder' \(OneHotEncoder\).*'sex'.*if_binary",
        ),
        (lambda: make_column_transformer((OneHotEncoder(drop="first"), ["color"])), "one for every label"),
        (
            lambda: make_column_transformer((OrdinalEncoder(), ["color"]), ("passthrough", ["dose"])),
            r"\(OrdinalEncoder\) has no place",
        ),
        (lambda: make_column_transformer((OneHotEncoder(min_frequency=25), ["color"])), "puts rare labels together"),
        (lambda: make_pipeline(make_column_transformer(("passthrough", ["dose", "ward"])), PCA()), r"\(PCA\).*joblib"),
    ],
)
def test_steps_that_no_file_can_hold_are_named(table, tmp_path, step, message):
    frame, effect = table
    whole = make_pipeline(step(), LpRegressor()).fit(frame, effect)
    with pytest.raises(ValueError, match=message):
        banach.save(whole, tmp_path / "model.banach")


def test_a_chosen_model_takes_encoders_and_no_scaler(table, tmp_path):
    frame, effect = table
    with pytest.raises(ValueError, match="scales by itself"):
        banach.save(
            make_pipeline(StandardScaler(), AutoRegressor("quick")).fit(frame[["dose"]], effect), tmp_path / "m"
        )
    whole = make_pipeline(columns(), AutoRegressor("quick")).fit(frame, effect)
    banach.save(whole, tmp_path / "model.banach")
    np.testing.assert_allclose(banach.load(tmp_path / "model.banach").predict(frame), whole.predict(frame), rtol=1e-10)


def test_intervals_hold_as_many_new_samples_as_asked_for(tmp_path):
    rng = np.random.default_rng(3)

    def draw(n):
        X = rng.normal(size=(n, 8))
        return X, 2 * X[:, 0] - X[:, 1] + rng.laplace(size=n)

    inside, (fits, n, new) = [], (13, 60, 400)
    for _ in range(fits):
        model = LpRegressorCV(Cs=5).fit(*draw(n))
        X, y = draw(new)
        lower, upper = model.predict_interval(X, 0.8).T
        assert np.allclose((lower + upper) / 2, model.predict(X))
        inside.append(((lower <= y) & (y <= upper)).mean())
    # Given n residuals an interval covers a share that is distributed as Beta(k, n + 1 - k), with which new samples are drawn: of
    # 1000 means over independent fits, one is farther from k/(n + 1) than 3.29 deviations.
    mean = np.ceil((n + 1) * 0.8) / (n + 1)
    variance = mean * (1 - mean) * (1 / (n + 2) + (n + 1) / (n + 2) / new) / fits
    assert abs(np.mean(inside) - mean) < 3.29 * np.sqrt(variance), inside
    # The file has them, and the command gives the same.
    model.save(tmp_path / "model.banach")
    again = banach.load(tmp_path / "model.banach")
    np.testing.assert_array_equal(again.predict_interval(X, 0.8), model.predict_interval(X, 0.8))
    outputs = LpRegressorCV(Cs=3).fit(X[:50], np.column_stack([y[:50], -2 * y[:50]]))
    assert outputs.predict_interval(X).shape == (400, 2, 2)
    whole = make_pipeline(StandardScaler(), LpRegressorCV(Cs=3)).fit(X[:50], y[:50])
    banach.save(whole, tmp_path / "model.banach")
    ends = banach.load(tmp_path / "model.banach").predict_interval(X)
    np.testing.assert_allclose(ends, whole[-1].predict_interval(whole[0].transform(X)))


def test_models_without_held_out_samples_have_no_intervals():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    for model in (LpRegressor(), SparseRegressor()):
        with pytest.raises(ValueError, match="there are no intervals: .*held out"):
            model.fit(X, y).predict_interval(X)
    searched = LpRegressorCV(Cs=3).fit(X, y)
    for coverage in (0, 1, 1.5, np.nan):
        with pytest.raises(ValueError, match="coverage = "):
            searched.predict_interval(X, coverage)
    with pytest.raises(ValueError, match=r"coverage = 0.99; allowed: at most n/\(n \+ 1\)"):
        searched.predict_interval(X, 0.99)
    assert not hasattr(LpClassifier(), "predict_interval")


def test_a_pipeline_without_names_has_no_labels(table, tmp_path):
    frame, effect = table
    whole = make_pipeline(ColumnTransformer([("e", OneHotEncoder(), [1])]), LpRegressor())
    whole.fit(frame.to_numpy(dtype=object), effect)
    with pytest.raises(ValueError, match="fitted to a data frame"):
        banach.save(whole, tmp_path / "model.banach")
    assert isinstance(whole, Pipeline)
