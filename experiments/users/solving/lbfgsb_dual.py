"""SciPy's L-BFGS-B on the dual, in n unknowns, with the fast products of experiments/peers/lbfgsb.py."""

from contextlib import suppress

import numpy as np
from peers import lbfgsb
from scipy.optimize import minimize

from .objective import Squared
from .watch import Over, Watch

TITLE = "L-BFGS-B on the dual"
NEEDS = ("scipy", "threadpoolctl")
GIVEN = (
    "both products on two threads of BLAS in the fastest of three layouts; whole powers as products; the best of two starts "
    "and four numbers of corrections, found beforehand; the gap costs it nothing"
)
INSIDE = 1e-12


class Run:
    """One minimisation."""

    def __init__(self, problem, product, tolerance, limit):
        self.problem, self.product = problem, product
        self.watch = Watch(problem, tolerance, limit)

    def start(self, kind):
        """Where to begin: zero (or the middle of the box), or the best point on the ray of y."""
        problem, y, q = self.problem, self.problem.y, self.problem.q
        if kind == "plain":
            return np.zeros_like(y) if problem.loss is Squared else 0.5 * problem.gamma * y
        square, low, high = (y @ self.product.omega(y, q)) / q, 0.0, problem.gamma
        for _ in range(80):
            t = 0.5 * (low + high)
            slope = q * square * t ** (q - 1.0) + y @ problem.loss.conjugate_slope(y, t * y / problem.gamma)
            low, high = (t, high) if slope < 0.0 else (low, t)
        return low * y

    def lambda_and_gradient(self, alpha):
        problem, watch = self.problem, self.watch
        y, gamma = problem.y, problem.gamma
        omega = self.product.omega(alpha, problem.q)
        inner = alpha @ omega
        value = inner / problem.q + gamma * problem.loss.conjugate(y, alpha / gamma)
        gradient = omega + problem.loss.conjugate_slope(y, alpha / gamma)
        watch.pause()
        watch.ask(alpha.copy, gamma * problem.loss.value(y, omega) + inner / problem.p, value)
        watch.resume()
        return value, gradient

    def minimise(self, kind, corrections):
        self.watch.resume()
        problem = self.problem
        bounds = None
        if problem.loss is not Squared:
            ends = np.sort(np.outer(problem.y * problem.gamma, (INSIDE, 1.0 - INSIDE)), axis=1)
            bounds = list(map(tuple, ends))
        options = {"maxcor": corrections, "ftol": 0.0, "gtol": 0.0, "maxiter": 100_000, "maxfun": 100_000}
        with suppress(Over):
            minimize(
                self.lambda_and_gradient, self.start(kind), jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            self.watch.pause()
        return self.watch


def prepare(problem, tolerance, limit):
    lbfgsb.leave_the_cores_to_numpy()
    product, layout, _ = lbfgsb.fastest_product(np.ascontiguousarray(problem.X.T), problem.y)
    choices = [(start, corrections) for start in ("plain", "ray") for corrections in lbfgsb.CORRECTIONS]
    runs = {choice: Run(problem, product, tolerance, limit / 4).minimise(*choice) for choice in choices}
    best = min(runs, key=lambda choice: (runs[choice].gap > tolerance, runs[choice].questions))
    return product, best, layout, tolerance, limit


def solve(problem, prepared):
    product, best, layout, tolerance, limit = prepared
    watch = Run(problem, product, tolerance, limit).minimise(*best)
    u = problem.X.T @ watch.best
    return {
        "seconds": watch.seconds,
        "processor": watch.processor,
        "w": np.sign(u) * np.abs(u) ** (problem.q - 1.0),
        "alpha": watch.best,
        "evaluations": watch.questions,
        "trace": watch.trace,
        "settings": f"{layout}, start {best[0]}, {best[1]} corrections",
    }
