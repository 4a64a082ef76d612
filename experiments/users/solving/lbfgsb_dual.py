"""SciPy's L-BFGS-B on the dual, in n unknowns; Q comes from Euler's identity q Q = <alpha, omega>, without a pass of its own."""

from contextlib import suppress

import numpy as np
from scipy.optimize import minimize

from .objective import Squared
from .products import fastest_product, leave_the_cores_to_numpy
from .watch import Over, Watch

TITLE = "L-BFGS-B on the dual"
NEEDS = ("scipy", "threadpoolctl")
GIVEN = (
    "both products on two threads of BLAS in the fastest of three layouts; whole powers as products; the best of two starts "
    "and four numbers of corrections, found beforehand; the evaluation at the start and the gap cost it nothing"
)
INSIDE = 1e-12
CORRECTIONS = (10, 20, 30, 50)


class Run:
    """One minimisation."""

    def __init__(self, problem, product, tolerance, limit):
        self.problem, self.product = problem, product
        self.watch = Watch(problem, tolerance, limit)
        self.evaluations = 0

    def omega(self, alpha):
        self.evaluations += 1
        return self.product.omega(alpha, self.problem.q)

    def start(self, kind):
        """Where to begin, and omega there: zero (or the middle of the box), or the best point on the ray of y. Of degree q - 1 in
        alpha, omega is known on the whole ray from one evaluation."""
        problem, y, q = self.problem, self.problem.y, self.problem.q
        if kind == "plain" and problem.loss is Squared:
            return np.zeros_like(y), np.zeros_like(y)
        omega, low, high = self.omega(y), 0.0, problem.gamma
        if kind == "plain":
            t = 0.5 * problem.gamma
            return t * y, t ** (q - 1.0) * omega
        square = (y @ omega) / q
        for _ in range(80):
            t = 0.5 * (low + high)
            slope = q * square * t ** (q - 1.0) + y @ problem.loss.conjugate_slope(y, t * y / problem.gamma)
            low, high = (t, high) if slope < 0.0 else (low, t)
        return low * y, low ** (q - 1.0) * omega

    def lambda_and_gradient(self, alpha):
        problem, watch = self.problem, self.watch
        y, gamma = problem.y, problem.gamma
        start, known = self.known
        omega = known if np.array_equal(alpha, start) else self.omega(alpha)
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
        self.known = self.start(kind)
        with suppress(Over):
            minimize(
                self.lambda_and_gradient, self.known[0], jac=True, method="L-BFGS-B", bounds=bounds, options=options
            )
            self.watch.pause()
        return self


def prepare(problem, tolerance, limit):
    leave_the_cores_to_numpy()
    product, layout = fastest_product(problem.X, problem.y)
    choices = [(start, corrections) for start in ("plain", "ray") for corrections in CORRECTIONS]
    runs = {choice: Run(problem, product, tolerance, limit / 4).minimise(*choice) for choice in choices}
    best = min(runs, key=lambda choice: (runs[choice].watch.gap > tolerance, runs[choice].evaluations))
    return product, best, layout, tolerance, limit


def solve(problem, prepared):
    product, best, layout, tolerance, limit = prepared
    run = Run(problem, product, tolerance, limit).minimise(*best)
    watch = run.watch
    u = problem.X.T @ watch.best
    return {
        "seconds": watch.seconds,
        "processor": watch.processor,
        "w": np.sign(u) * np.abs(u) ** (problem.q - 1.0),
        "alpha": watch.best,
        "evaluations": run.evaluations,
        "trace": watch.trace,
        "settings": f"{layout}, start {best[0]}, {best[1]} corrections",
    }
