"""Counts: the Poisson loss against scikit-learn's, exposures, deviance, and counts that nobody would like to have."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance
from sklearn.preprocessing import StandardScaler

import banach
from banach import LpRegressor, LpRegressorCV, _core


def drawn(n=80, d=6, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    days = rng.uniform(0.2, 30.0, n)
    return X, days, rng.poisson(days * np.exp(0.3 + 0.7 * X[:, 0] - 0.4 * X[:, 1])).astype(float)


def ridge(X, y, C, weights):
    """The model of scikit-learn at p = 2, whose loss is a mean and whose penalty is alpha/2."""
    model = PoissonRegressor(alpha=1.0 / (C * weights.sum()), tol=1e-12, max_iter=10_000, solver="newton-cholesky")
    return model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_model_for_p_2_is_that_of_scikit_learn(C):
    X, _, y = drawn()
    model, other = LpRegressor(2, C=C, loss="poisson", tol=1e-12).fit(X, y), ridge(X, y, C, np.ones(len(y)))
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6)
    assert model.score(X, y) == pytest.approx(other.score(X, y), abs=1e-8)


def test_an_exposure_is_the_model_of_rates_with_weights():
    X, days, y = drawn()
    model = LpRegressor(2, loss="poisson", tol=1e-12).fit(X, y, exposure=days)
    other = ridge(X, y / days, 1.0, days)
    np.testing.assert_allclose(model.predict(X, exposure=days), days * other.predict(X), rtol=1e-6)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6)
    again = LpRegressor(2, loss="poisson", tol=1e-12).fit(X, y, offset=np.log(days))
    np.testing.assert_allclose(again.predict(X, offset=np.log(days)), model.predict(X, exposure=days), rtol=1e-9)
    score = model.score(X, y, exposure=days)
    assert score == pytest.approx(d2_tweedie_score(y / days, model.predict(X), power=1, sample_weight=days))
    # The same as the objective: half of the deviance of the counts.
    deviance = mean_poisson_deviance(y, model.predict(X, exposure=days)) * len(y) / 2
    assert model.primal_value_ == pytest.approx(deviance + 0.5 * (model.coef_**2).sum(), rel=1e-9)


def test_a_search_takes_exposures_and_scores_by_deviance():
    X, days, y = drawn(n=60, d=20)
    model = LpRegressorCV(1.1, Cs=5, cv=4, loss="poisson").fit(X, y, exposure=days)
    assert model.score(X, y, exposure=days) > 0.8
    assert model.report()["validation"]["metric"] == "d2"
    scored = LpRegressorCV(1.1, Cs=5, cv=4, loss="poisson", scoring="neg_mean_poisson_deviance").fit(X, y + 1.0)
    assert np.isfinite(scored.best_score_)
    left_out = model.leave_one_out()
    assert (left_out > 0).all() and d2_tweedie_score(y / days, left_out, power=1, sample_weight=days) > 0.7


@pytest.mark.parametrize("p", [1, 1.05, 4 / 3])
@pytest.mark.parametrize("kernel", [{"kernel": "poly", "degree": (1, 2)}, {"kernel": "exp", "scale": 0.2}])
def test_products_of_counts_are_fitted_with_a_certificate(p, kernel):
    if p == 1 and kernel["kernel"] == "exp":
        pytest.skip("p = 1 needs finitely many monomials")
    X, days, y = drawn(n=40)
    route = {"route": "gram"} if kernel["kernel"] == "exp" and p == 4 / 3 else {}
    if kernel["kernel"] == "exp" and p != 4 / 3:
        pytest.skip("exp needs an even q")
    model = LpRegressor(p, C=1.0, loss="poisson", **kernel, **route).fit(X, y, exposure=days)
    assert model.duality_gap_ <= 1e-8
    assert np.isfinite(model.predict(X * 10, exposure=days)).all()


def test_a_table_of_packages_with_counts():
    """Breast cancer in scikit-learn: cells of concave points, as counts per hundred."""
    from sklearn.datasets import load_breast_cancer

    X, _ = load_breast_cancer(return_X_y=True)
    y, others = np.round(100 * X[:, 7]), StandardScaler().fit_transform(np.delete(X, [7, 27, 17], axis=1))[:200]
    model = LpRegressor(1.1, C=1.0, loss="poisson").fit(others, y[:200])
    other = ridge(others, y[:200], 1.0, np.ones(200))
    assert model.duality_gap_ <= 1e-8
    assert model.score(others, y[:200]) == pytest.approx(other.score(others, y[:200]), abs=0.02)


def test_hostile_counts_are_answered_or_refused():
    X, days, y = drawn(n=30)
    with pytest.raises(ValueError, match="all 30 counts"):
        LpRegressor(loss="poisson").fit(X, np.zeros(30))
    assert np.isfinite(LpRegressor(loss="poisson", fit_intercept=False).fit(X, np.zeros(30)).predict(X)).all()
    with pytest.raises(ValueError, match="counts"):
        LpRegressor(loss="poisson").fit(X, y - 1e3)
    with pytest.raises(ValueError, match="exposure.*leave out"):
        LpRegressor(loss="poisson").fit(X, y, exposure=np.where(np.arange(30) == 4, 0.0, days))
    with pytest.raises(ValueError, match="one of them"):
        LpRegressor(loss="poisson").fit(X, y, exposure=days, offset=days)
    with pytest.raises(ValueError, match="poisson"):
        LpRegressor().fit(X, y, exposure=days)
    with pytest.raises(ValueError, match="exposure"):
        LpRegressor(loss="poisson").fit(X, y, exposure=days[:4])
    huge = LpRegressor(1.5, C=1e-6, loss="poisson").fit(X, 1e12 * y)
    assert huge.duality_gap_ <= 1e-8 and np.isfinite(huge.predict(1e6 * X)).all()


def test_models_of_counts_are_saved(tmp_path):
    X, days, y = drawn()
    model = LpRegressor(1.2, loss="poisson").fit(X, y, exposure=days)
    model.save(tmp_path / "counts.banach")
    again = banach.load(tmp_path / "counts.banach")
    np.testing.assert_array_equal(again.predict(X, exposure=days), model.predict(X, exposure=days))


def by_the_command(capfd, *arguments):
    capfd.readouterr()
    assert _core.command(["banach", *map(str, arguments)]) == 0
    return capfd.readouterr().out


@pytest.mark.parametrize("flag", ["--exposure", "--offset"])
@pytest.mark.parametrize("text", [False, True])
def test_the_column_of_exposures_of_the_command_is_taken_by_its_name(tmp_path, capfd, flag, text):
    X, days, y = drawn(n=40, d=3)
    kind, column = flag[2:], np.log(days) if flag == "--offset" else days
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.insert(1, "days", column)
    if text:
        frame["ward"] = np.resize(["east", "north", "west"], 40)
    table, model = tmp_path / "data.csv", tmp_path / "model.banach"
    frame.assign(count=y).to_csv(table, index=False)
    told = ["--target", "count", "--loss", "poisson", flag, "days", "--model", "lp", "--gamma", "1", "-o", model, "-q"]
    by_the_command(capfd, "fit", table, *told)
    counts = np.array(by_the_command(capfd, "predict", model, table, "-q").split()[1:], dtype=float)
    loaded = banach.load(model)
    np.testing.assert_allclose(loaded.predict(frame), counts, rtol=1e-10)
    # Another exposure in its place, and rates.
    without, ones = frame.drop(columns="days"), np.zeros(40) if flag == "--offset" else np.ones(40)
    rates = counts / days
    np.testing.assert_allclose(loaded.predict(without, **{kind: ones}), rates, rtol=1e-10)
    np.testing.assert_allclose(loaded.predict(frame, exposure=2 * days), 2 * counts, rtol=1e-10)
    for lacking in (without, without.to_numpy()) if not text else (without,):
        with pytest.raises(ValueError, match=f"the {kind} in column 'days', which X lacks; .*{kind}= one number"):
            loaded.predict(lacking)
    expected = d2_tweedie_score(y / days, rates, power=1, sample_weight=days)
    assert loaded.score(frame, y) == pytest.approx(expected, rel=1e-9)
    # And back.
    loaded.save(tmp_path / "again.banach")
    again = np.array(by_the_command(capfd, "predict", tmp_path / "again.banach", table, "-q").split()[1:], dtype=float)
    np.testing.assert_allclose(again, counts, rtol=1e-10)
    np.testing.assert_array_equal(banach.load(tmp_path / "again.banach").predict(frame), loaded.predict(frame))
    assert json.loads(by_the_command(capfd, "info", tmp_path / "again.banach", "--json"))["data"]["target"] == "count"


def test_a_fit_forgets_the_column_of_exposures(tmp_path, capfd):
    X, days, y = drawn(n=40, d=3)
    frame = pd.DataFrame(X, columns=list("abc"))
    frame.assign(days=days, count=y).to_csv(tmp_path / "data.csv", index=False)
    told = ["--target", "count", "--loss", "poisson", "--exposure", "days", "--model", "lp", "--gamma", "1", "-q"]
    by_the_command(capfd, "fit", tmp_path / "data.csv", *told, "-o", tmp_path / "model.banach")
    loaded = banach.load(tmp_path / "model.banach")
    loaded.fit(frame, y)
    assert loaded.predict(frame).shape == (40,)
