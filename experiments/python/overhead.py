"""What the Python layer costs per call: the time of a call less the time that the compiled part worked.

Prints milliseconds at n = 100, d = 1000 with a linear kernel, the best and the median of many calls.
"""

from __future__ import annotations

import time

import numpy as np

from banach import LpRegressor, datasets


def calls(function, count=200):
    """Milliseconds of every call."""
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        function()
        times.append(1e3 * (time.perf_counter() - begin))
    return np.array(times)


def row(what, times, wanted):
    print(f"{what:<34} {times.min():8.3f} {np.median(times):8.3f}   {wanted}")


def main():
    X, y, _ = datasets.make_sparse_linear(n_samples=100, n_features=1000, random_state=0)
    model = LpRegressor().fit(X, y)
    overhead, inside = [], []

    def fit():
        begin = time.perf_counter()
        model.fit(X, y)
        total = 1e3 * (time.perf_counter() - begin)
        inside.append(1e3 * model._model.seconds)
        overhead.append(total - inside[-1])

    calls(fit)
    print(f"{'n = 100, d = 1000, milliseconds':<34} {'best':>8} {'median':>8}   wanted")
    row("fit, compiled part", np.array(inside), "")
    row("fit, everything else", np.array(overhead), "under 3")
    row("predict, all of it", calls(lambda: model.predict(X)), "under 1")


if __name__ == "__main__":
    main()
