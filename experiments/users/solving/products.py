"""Products with X as fast as numpy makes them on this machine: X w and X' alpha, or omega = X J_q(X' alpha) at once."""

import time

import numpy as np

BLOCK = 12_500
ROUNDS = 20


def leave_the_cores_to_numpy():
    """SciPy brings a BLAS of its own, whose threads, between two tiny products, wait where numpy's should work."""
    from threadpoolctl import ThreadpoolController

    for library in ThreadpoolController().lib_controllers:
        if "scipy.libs" in library.filepath:
            library.set_num_threads(1)


def fastest_layout(X, rounds=10):
    """X in C's or in Fortran's order, whichever multiplies faster, both products together."""
    layouts = {"C": np.ascontiguousarray(X), "F": np.asfortranarray(X)}
    seconds = dict.fromkeys(layouts, np.inf)
    w, alpha = np.ones(X.shape[1]), np.ones(X.shape[0])
    for _ in range(rounds):
        for name, matrix in layouts.items():
            began = time.perf_counter()
            matrix @ w
            alpha @ matrix
            seconds[name] = min(seconds[name], time.perf_counter() - began)
    best = min(seconds, key=seconds.get)
    return layouts[best], best


def signed_power(w, power):
    """sign(w)|w|^power; roots of small order without np.power, which is several times slower."""
    size = np.abs(w)
    if abs(power - 1 / 3) < 1e-12:
        return np.cbrt(w)
    return np.copysign(np.sqrt(size) if power == 0.5 else size**power, w)


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


def fastest_product(X, y):
    """The layout of X with the fastest evaluation on this machine, timed in turn."""
    columns = np.ascontiguousarray(X.T)
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
    return products[best], best
