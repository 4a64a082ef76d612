"""SciPy's L-BFGS-B on the primal, in d unknowns: F is smooth for p > 1, though its curvature is infinite at w_k = 0."""

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from .products import fastest_layout, leave_the_cores_to_numpy, signed_power
from .watch import Over, Watch

TITLE = "L-BFGS-B on the primal"
NEEDS = ("scipy", "threadpoolctl")
GIVEN = (
    "both products on two threads of BLAS in the fastest layout; roots without `power`; the best of three numbers of "
    "corrections, found beforehand in 8 s each; the dual bound from its residuals, at the best multiple, costs it nothing"
)
CORRECTIONS = (10, 30, 100)
TUNING = 8.0


class Run:
    """One minimisation."""

    def __init__(self, problem, X, tolerance, limit):
        self.problem, self.X = problem, X
        self.watch = Watch(problem, tolerance, limit)

    def objective_and_gradient(self, w):
        problem, watch = self.problem, self.watch
        t = self.X @ w
        alpha = problem.alpha(t)
        u = alpha @ self.X
        root = signed_power(w, problem.p - 1.0)
        value = problem.gamma * problem.loss.value(problem.y, t) + (w @ root) / problem.p
        watch.pause()
        watch.ask(w.copy, value, problem.best_multiple(alpha, u))
        watch.resume()
        return value, root - u

    def minimise(self, corrections):
        self.watch.resume()
        options = {"maxcor": corrections, "ftol": 0.0, "gtol": 0.0, "maxiter": 1_000_000, "maxfun": 1_000_000}
        start = np.zeros(self.X.shape[1])
        with suppress(Over):
            minimize(self.objective_and_gradient, start, jac=True, method="L-BFGS-B", options=options)
            self.watch.pause()
        return self.watch


def prepare(problem, tolerance, limit):
    leave_the_cores_to_numpy()
    X, layout = fastest_layout(problem.X)
    runs = {corrections: Run(problem, X, tolerance, TUNING).minimise(corrections) for corrections in CORRECTIONS}
    best = min(runs, key=lambda choice: (runs[choice].gap > tolerance, runs[choice].seconds, runs[choice].gap))
    if all(run.gap > tolerance for run in runs.values()):
        best = min(runs, key=lambda choice: runs[choice].gap)
    return X, best, layout, tolerance, limit


def solve(problem, prepared):
    X, best, layout, tolerance, limit = prepared
    watch = Run(problem, X, tolerance, limit).minimise(best)
    return {
        "seconds": watch.seconds,
        "processor": watch.processor,
        "w": watch.best,
        "evaluations": watch.questions,
        "trace": watch.trace,
        "settings": f"{layout} order, {best} corrections",
    }
