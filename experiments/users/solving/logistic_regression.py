"""scikit-learn's LogisticRegression with its default solver, L-BFGS on the primal, for p = 2: its objective is the same there."""

import time
import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from .objective import judge
from .products import leave_the_cores_to_numpy

TITLE = "LogisticRegression"
NEEDS = ("sklearn", "threadpoolctl")
GIVEN = "the largest `tol` of 1e-2, 1e-3, ... whose answer has the gap, found beforehand; rows in C's order"
TOLERANCES = tuple(10.0**-k for k in range(2, 12))


def prepare(problem, tolerance, limit):
    leave_the_cores_to_numpy()
    X = problem.X.copy(order="C")
    for tol in TOLERANCES:
        model = LogisticRegression(C=problem.gamma, fit_intercept=False, tol=tol, max_iter=10_000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, problem.y)
        if judge(problem, model.coef_.ravel()).relative_gap <= tolerance:
            break
    return X, model


def solve(problem, prepared):
    X, model = prepared
    began, processor = time.perf_counter(), time.process_time()
    model.fit(X, problem.y)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    return {
        "seconds": seconds,
        "processor": processor,
        "w": model.coef_.ravel(),
        "evaluations": int(model.n_iter_[0]),
        "settings": f"tol {model.tol:.0e}",
    }
