"""FISTA on the primal (Beck and Teboulle 2009) with adaptive restarts (O'Donoghue and Candes 2015)."""

from contextlib import suppress

import numpy as np

from .products import fastest_layout
from .watch import Over, Watch

TITLE = "FISTA"
NEEDS = ()
GIVEN = (
    "two products a step on two threads of BLAS in the fastest layout, none for the point that is extrapolated to; the exact "
    "Lipschitz constant; restarts; the closed form of the proximity operator for p = 4/3 and 3/2, else Newton's method with numpy's `power`, which is slow; the gap "
    "costs it nothing"
)
EVERY = 5


def prox(v, step, p):
    """argmin_x (x - v)^2/2 + (step/p) |x|^p, entry by entry: |x| = s^(1/(p-1)) with s^(1/(p-1)) + step s = |v|."""
    size = np.abs(v)
    if abs(p - 4 / 3) < 1e-12:
        # A cubic with one real root, by the hyperbolic sine.
        s = 2.0 * np.sqrt(step / 3.0) * np.sinh(np.arcsinh(1.5 * size / step * np.sqrt(3.0 / step)) / 3.0)
        return np.copysign(s * s * s, v)
    if p == 1.5:
        s = 2.0 * size / (step + np.sqrt(step * step + 4.0 * size))
        return np.copysign(s * s, v)
    power = 1.0 / (p - 1.0)
    whole = round(power) if abs(power - round(power)) < 1e-9 else power
    # From above the root Newton's method is monotone, as the function is convex and grows.
    s = np.minimum(size / step, size ** (p - 1.0))
    for _ in range(100):
        lower = s ** (whole - 1)
        change = (lower * s + step * s - size) / (power * lower + step)
        s -= change
        if np.max(np.abs(change) / np.maximum(s, 1e-300), initial=0.0) < 1e-12:
            break
    return np.copysign(s**whole, v)


class Run:
    """One minimisation."""

    def __init__(self, problem, X, tolerance, limit):
        self.problem, self.X = problem, X
        self.watch = Watch(problem, tolerance, limit)

    def minimise(self):
        self.watch.resume()
        with suppress(Over):
            self.iterate()
        return self.watch

    def iterate(self):
        problem, X = self.problem, self.X
        step = 1.0 / (problem.gamma * problem.loss.smoothness * np.linalg.eigvalsh(X @ X.T)[-1])
        w, t = np.zeros(X.shape[1]), np.zeros(X.shape[0])
        z, t_z, momentum, count = w, t, 1.0, 0
        while True:
            before, t_before, w = w, t, prox(z + step * (problem.alpha(t_z) @ X), step, problem.p)
            t = X @ w
            if (z - w) @ (w - before) > 0.0:
                momentum = 1.0
            following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
            ahead = (momentum - 1.0) / following
            z, t_z, momentum = w + ahead * (w - before), t + ahead * (t - t_before), following
            count += 1
            if count % EVERY == 0:
                self.question(w, t)

    def question(self, w, t):
        watch, problem = self.watch, self.problem
        watch.pause()
        alpha = problem.alpha(t)
        watch.ask(w.copy, problem.primal(w, t), problem.best_multiple(alpha, alpha @ self.X))
        watch.resume()


def prepare(problem, tolerance, limit):
    return *fastest_layout(problem.X), tolerance, limit


def solve(problem, prepared):
    X, layout, tolerance, limit = prepared
    watch = Run(problem, X, tolerance, limit).minimise()
    return {
        "seconds": watch.seconds,
        "processor": watch.processor,
        "w": watch.best,
        "evaluations": EVERY * watch.questions,
        "trace": watch.trace,
        "settings": f"{layout} order",
    }
