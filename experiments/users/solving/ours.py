"""banach, by its Python package: LpRegressor or LpClassifier, as installed."""

import time

import banach

from .objective import Logistic

TITLE = "banach"
NEEDS = ()
GIVEN = "`fit` of the estimator: checks of its input, the plan and the certificate are in its time"


def prepare(problem, tolerance, limit):
    kind = banach.LpClassifier if problem.loss is Logistic else banach.LpRegressor
    return kind(problem.p, C=problem.gamma, fit_intercept=False, tol=tolerance, n_jobs=2)


def solve(problem, model):
    began, processor = time.perf_counter(), time.process_time()
    model.fit(problem.X, problem.y)
    seconds, processor = time.perf_counter() - began, time.process_time() - processor
    return {
        "seconds": seconds,
        "processor": processor,
        "w": model.coef_.ravel(),
        "alpha": model.dual_coef_.ravel(),
        "evaluations": int(model.n_evaluations_),
    }
