"""X w and X' alpha in the layout that is fastest on this machine, for solvers of the primal."""

import time

import numpy as np


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
