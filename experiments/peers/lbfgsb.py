"""SciPy's L-BFGS-B on the dual of the squared loss, as fast as numpy makes it.

    min over alpha of  Lambda(alpha) = (1/q) ||X' alpha||_q^q + ||alpha||^2/(2 gamma) - <y, alpha>

Reads from standard input the line `data SAMPLES FEATURES`, then X, one feature after another, and y as raw
little-endian float64. Prints one JSON line when the data are there, and answers every line
`solve P GAMMA TOLERANCE` with another.

What the opponent is given:
- both products run in BLAS on every core, in the layout of X that is fastest on this machine (`fastest_product`);
- SciPy's own BLAS, which it uses on vectors of length n, has one thread: a second pool would slow the products down;
- whole powers are products, in place; Q comes from Euler's identity q Q = <alpha, omega>, without a pass of its own;
- the better start of zero and the minimiser on the ray alpha = t y, whose first evaluation is known by homogeneity;
- the best number of corrections of `CORRECTIONS`, found beforehand and not timed;
- it stops at the first evaluation, in a line search too, whose relative duality gap is at most the tolerance. The gap
  is the sum of gamma/2 (y_i - omega_i - alpha_i/gamma)^2, from what the evaluation has found already.
"""

import json
import sys
import time

import numpy as np
import scipy
from scipy.optimize import minimize
from threadpoolctl import ThreadpoolController

CORRECTIONS = (10, 20, 30, 50)
STARTS = ("zero", "ray")
BLOCK = 12_500
ROUNDS = 20


def j_q(u, w, q):
    """w = sign(u)|u|^(q-1); u is overwritten. Whole powers by repeated squaring: np.power is ten times slower."""
    power = round(q - 1.0)
    if power != q - 1.0:
        np.abs(u, out=w)
        np.power(w, q - 1.0, out=w)
        np.copysign(w, u, out=w)
        return
    negative = np.signbit(u) if power % 2 == 0 else None
    empty = True
    while True:
        if power & 1 and empty:
            np.copyto(w, u)
            empty = False
        elif power & 1:
            np.multiply(w, u, out=w)
        power >>= 1
        if power == 0:
            break
        np.multiply(u, u, out=u)
    if negative is not None:
        np.negative(w, out=w, where=negative)


def leave_the_cores_to_numpy():
    """SciPy brings a BLAS of its own, whose threads, between two tiny products, wait where numpy's should work."""
    for library in ThreadpoolController().lib_controllers:
        if "scipy.libs" in library.filepath:
            library.set_num_threads(1)


class FeatureMajor:
    """omega = X J_q(X' alpha) by two products with the features one after another."""

    def __init__(self, columns):
        self.x = columns
        self.u, self.w = np.empty(len(columns)), np.empty(len(columns))

    def omega(self, alpha, q):
        np.dot(self.x, alpha, out=self.u)
        j_q(self.u, self.w, q)
        return np.dot(self.w, self.x)


class SampleMajor:
    """The same with the samples one after another, in blocks of features: X is read once where a block fits a cache."""

    def __init__(self, columns, block):
        starts = range(0, len(columns), block)
        self.blocks = [np.ascontiguousarray(columns[start : start + block].T) for start in starts]
        self.u, self.w = np.empty(block), np.empty(block)

    def omega(self, alpha, q):
        total = np.zeros(len(alpha))
        for x in self.blocks:
            u, w = self.u[: x.shape[1]], self.w[: x.shape[1]]
            np.dot(alpha, x, out=u)
            j_q(u, w, q)
            total += np.dot(x, w)
        return total


def fastest_product(columns, y):
    """The layout of X with the fastest evaluation on this machine, timed in turn."""
    products = {
        "feature-major": FeatureMajor(columns),
        "sample-major": SampleMajor(columns, len(columns)),
        "sample-major blocks": SampleMajor(columns, BLOCK),
    }
    seconds = dict.fromkeys(products, np.inf)
    for _ in range(ROUNDS):
        for name, product in products.items():
            started = time.perf_counter()
            product.omega(y, 4.0)
            seconds[name] = min(seconds[name], time.perf_counter() - started)
    best = min(seconds, key=seconds.get)
    return products[best], best, seconds[best]


class Reached(Exception):
    """The relative gap is at most the tolerance."""


class Run:
    """One minimisation."""

    def __init__(self, product, y, p, gamma, tolerance):
        q = p / (p - 1.0)
        self.q = float(round(q)) if abs(q - round(q)) < 1e-9 else q
        self.product, self.y, self.gamma, self.tolerance = product, y, gamma, tolerance
        self.evaluations = 0
        self.known = None
        self.gap, self.dual = np.inf, np.inf

    def omega(self, alpha):
        self.evaluations += 1
        return self.product.omega(alpha, self.q)

    def start(self, kind):
        """The start and its predictions: zero, or the minimiser of t -> Lambda(t y), which costs one evaluation."""
        if kind == "zero":
            return np.zeros_like(self.y), np.zeros_like(self.y)
        omega, square, q = self.omega(self.y), self.y @ self.y, self.q
        slope = (self.y @ omega) / square
        low, high = 0.0, self.gamma
        for _ in range(80):
            t = 0.5 * (low + high)
            if slope * t ** (q - 1.0) + t / self.gamma < 1.0:
                low = t
            else:
                high = t
        return low * self.y, low ** (q - 1.0) * omega

    def lambda_and_gradient(self, alpha):
        if self.known is not None and np.array_equal(alpha, self.known[0]):
            omega = self.known[1]
        else:
            omega = self.omega(alpha)
        y, gamma, q = self.y, self.gamma, self.q
        residual = alpha / gamma
        residual += omega
        residual -= y
        inner, square, linear = alpha @ omega, alpha @ alpha, y @ alpha
        value = inner / q + 0.5 * square / gamma - linear
        error = y - omega
        primal = 0.5 * gamma * (error @ error) + (1.0 - 1.0 / q) * inner
        gap = 0.5 * gamma * (residual @ residual) / max(abs(primal), abs(value), 1e-300)
        if gap < self.gap:
            self.gap, self.dual = gap, value
        if gap <= self.tolerance:
            raise Reached
        return value, residual

    def minimise(self, kind, corrections):
        started = time.perf_counter()
        self.known = self.start(kind)
        try:
            options = {"maxcor": corrections, "ftol": 0.0, "gtol": 0.0, "maxiter": 100_000, "maxfun": 100_000}
            minimize(self.lambda_and_gradient, self.known[0], jac=True, method="L-BFGS-B", options=options)
        except Reached:
            pass
        return {
            "seconds": time.perf_counter() - started,
            "evaluations": self.evaluations,
            "relative_gap": float(self.gap),
            "dual": float(self.dual),
            "start": kind,
            "corrections": corrections,
        }


def choose(product, y, settings):
    """The start and the number of corrections with the fewest evaluations."""
    p, gamma, tolerance = settings
    choices = [(start, corrections) for start in STARTS for corrections in CORRECTIONS]
    runs = [Run(product, y, p, gamma, tolerance).minimise(*choice) for choice in choices]
    best = min(runs, key=lambda run: (run["relative_gap"] > tolerance, run["evaluations"]))
    return best["start"], best["corrections"]


def main():
    source = sys.stdin.buffer
    word, samples, features = source.readline().split()
    if word != b"data":
        sys.exit("the first line is `data SAMPLES FEATURES`")
    samples, features = int(samples), int(features)
    leave_the_cores_to_numpy()
    columns = np.frombuffer(source.read(8 * samples * features), dtype="<f8").reshape(features, samples)
    y = np.frombuffer(source.read(8 * samples), dtype="<f8")
    product, layout, seconds = fastest_product(columns, y)
    del columns
    hello = {"numpy": np.__version__, "scipy": scipy.__version__, "layout": layout, "evaluation_seconds": seconds}
    print(json.dumps(hello), flush=True)
    chosen = {}
    for line in source:
        word, *numbers = line.split()
        if word != b"solve" or len(numbers) != 3:
            sys.exit(f"unknown command {line!r}")
        settings = tuple(float(number) for number in numbers)
        if settings not in chosen:
            chosen[settings] = choose(product, y, settings)
        print(json.dumps(Run(product, y, *settings).minimise(*chosen[settings])), flush=True)


if __name__ == "__main__":
    main()
