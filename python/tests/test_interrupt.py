"""Ctrl-C ends a fit at once; other Python threads run while one fits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest

import banach
from banach import LpRegressor, LpRegressorCV, datasets

PACKAGE = str(Path(banach.__file__).parents[1])

PROGRAM = """
import os, signal, sys, threading, time
import numpy as np
from banach import *

rng = np.random.default_rng(0)
X, y = np.asfortranarray(rng.standard_normal((150, 6000))), rng.standard_normal(150)

def interrupt(name, work):
    sent = []
    def press():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    timer = threading.Timer(0.5, press)
    timer.start()
    try:
        work()
    except KeyboardInterrupt:
        print(name, time.monotonic() - sent[0], sep=",")
    else:
        timer.cancel()
        print(name, "finished", sep=",")

interrupt("tiles", lambda: LpRegressor(kernel="poly", degree=2, p=1.1, C=100.0, route="tiles", tol=1e-12).fit(X, y))
interrupt("degree 3", lambda: LpRegressor(kernel="poly", degree=3, p=1.1, C=100.0, route="tiles").fit(X[:, :400], y))
interrupt("streamed", lambda: LpRegressor(kernel="exp", scale=1e-5, route="streamed", C=100.0).fit(X[:, :50], y))
interrupt("gram", lambda: LpRegressor(kernel="exp", scale=1e-5, route="gram", C=100.0).fit(X, y))
interrupt("search", lambda: LpRegressorCV(kernel="poly", degree=2, p=[1.1, 1.2, 1.3], route="tiles").fit(X, y))
interrupt("path", lambda: lp_path(X, y, kernel="poly", degree=2, p=1.1, route="tiles"))
interrupt("tensor", lambda: gram_tensor(X[:120, :20], kernel="poly", degree=2))
fitted = LpRegressor(kernel="poly", degree=2, p=1.1, route="tiles", tol=0.5).fit(X, y)
interrupt("stability", lambda: stability_selection(fitted, n_pairs=50))
interrupt("equation", lambda: fitted.equation(5))
# The process is well.
print("afterwards", LpRegressor(p=1.5).fit(X[:, :20], y).status_, sep=",")
"""


def test_interrupts_end_long_work_at_once_and_leave_the_process_well():
    environment = {**os.environ, "PYTHONPATH": PACKAGE}
    command = [sys.executable, "-c", PROGRAM]
    ran = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr
    print(ran.stdout)
    *interrupted, afterwards = [line.split(",") for line in ran.stdout.splitlines()]
    assert len(interrupted) == 9
    for name, seconds in interrupted:
        assert seconds != "finished", f"{name} was too short to be interrupted"
        # Seconds do not gate; these tell an interrupt from the end of the work.
        assert float(seconds) < 5, name
    assert afterwards == ["afterwards", "converged"]


def test_an_interrupt_is_caught_in_the_process_that_fits():
    # A shell that started this in the background may have had it ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((100, 3000)), rng.standard_normal(100)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        LpRegressor(kernel="poly", degree=2, p=1.1, C=1000.0, route="tiles", tol=1e-13).fit(X, y)
        time.sleep(10)
    signal.signal(signal.SIGINT, before)


def test_other_threads_run_during_a_fit():
    rng = np.random.default_rng(0)
    X, y = np.asfortranarray(rng.standard_normal((100, 1500))), rng.standard_normal(100)
    counts, done = [], threading.Event()

    def count():
        while not done.is_set():
            counts.append(time.monotonic())
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    begin = time.monotonic()
    LpRegressor(kernel="poly", degree=2, p=1.1, route="tiles").fit(X, y)
    end = time.monotonic()
    done.set()
    other.join()
    within = [at for at in counts if begin < at < end]
    # A thread that had to wait for the interpreter would not have counted at all.
    assert len(within) > 10


def test_fits_in_many_threads_at_once_do_not_disturb_each_other():
    problems = [datasets.make_sparse_linear(60, 500, 3, random_state=seed)[:2] for seed in range(6)]
    alone = [LpRegressor(p=1.1).fit(X, y).dual_coef_ for X, y in problems]
    together = [None] * len(problems)

    def work(at):
        together[at] = LpRegressor(p=1.1).fit(*problems[at]).dual_coef_

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(problems))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


def test_one_model_predicts_in_many_threads_at_once():
    X, y, _ = datasets.make_sparse_linear(60, 500, 3, random_state=0)
    model = LpRegressor().fit(X, y)
    expected = model.predict(X)
    answers = joblib.Parallel(n_jobs=4, backend="threading")(joblib.delayed(model.predict)(X) for _ in range(12))
    for answer in answers:
        np.testing.assert_array_equal(answer, expected)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_fits_in_its_workers(backend):
    problems = [datasets.make_sparse_linear(40, 100, 3, random_state=seed)[:2] for seed in range(4)]
    fits = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(LpRegressor().fit)(X, y) for X, y in problems)
    for fitted, (X, y) in zip(fits, problems, strict=True):
        np.testing.assert_array_equal(fitted.dual_coef_, LpRegressor().fit(X, y).dual_coef_)


def test_an_error_in_a_progress_bar_ends_the_fit(monkeypatch):
    def fail(*_):
        raise RuntimeError("the bar broke")

    monkeypatch.setattr("banach._progress.Bar.__call__", fail)
    rng = np.random.default_rng(0)
    X, y = np.asfortranarray(rng.standard_normal((100, 1500))), rng.standard_normal(100)
    with pytest.raises(RuntimeError, match="the bar broke"):
        LpRegressorCV(kernel="poly", degree=2, p=1.1, route="tiles", verbose=1).fit(X, y)
