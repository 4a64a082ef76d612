"""The memory of a fit at n = 200, d = 100,000, as a multiple of X: each layout in a process of its own.

The peak is that of the process above what it had when X was there, plus X itself.
"""

from __future__ import annotations

import resource
import subprocess
import sys

import numpy as np

SAMPLES, FEATURES = 200, 100_000
LAYOUTS = {
    "float64, Fortran": ("no copy", "under 1.2"),
    "float64, C": ("one copy", "under 2.2"),
    "float32, Fortran": ("no copy", "under 0.6"),
    "float32, C": ("one copy", "under 1.1"),
    "int8, Fortran": ("no copy", "under 0.2"),
}


def peak():
    """Bytes that the process has ever held."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def present():
    """Bytes that the process holds now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def measure(layout):
    import banach

    rng = np.random.default_rng(0)
    # Imports and threads have had their memory before X is made.
    small = rng.standard_normal((20, 10))
    banach.LpRegressor().fit(small, small[:, 0]).predict(small)
    order = "F" if "Fortran" in layout else "C"
    X = np.empty((SAMPLES, FEATURES), dtype=layout.split(",")[0], order=order)
    for rows in range(0, SAMPLES, 10):
        X[rows : rows + 10] = 30 * rng.standard_normal((10, FEATURES))
    y = X[:, 0].astype(float) - X[:, 1]
    before = present()
    model = banach.LpRegressor().fit(X, y)
    assert model.status_ == "converged" and model.route_ == "features", (model.status_, model.route_)
    size = 8 * SAMPLES * FEATURES
    print((peak() - before) / size + X.nbytes / size)


def main():
    print(f"n = {SAMPLES}, d = {FEATURES}, linear kernel, route features: peak memory as a multiple of X in float64")
    for layout, (copies, wanted) in LAYOUTS.items():
        process = subprocess.run([sys.executable, __file__, layout], capture_output=True, text=True, check=True)
        print(f"{layout:<18} {float(process.stdout):6.3f}   {copies}: {wanted}")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(sys.argv[1])
    else:
        main()
