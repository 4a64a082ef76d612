"""The Lasso on all monomials of degree 2, written out: PolynomialFeatures, StandardScaler, celer.

Reads from standard input the line `data SAMPLES VARIABLES`, then X, one variable after another, and y as raw
little-endian float64. Prints one JSON line when the data are there, and answers the line `lasso ROUNDS TRUTH...`, with
the true monomials numbered x0^2, x0 x1, ..., x1^2, ..., with another.

What the opponent is given:
- its best alpha in hindsight: of a path of 100 alphas, that at which its largest coefficients, as many as there are true
  monomials, hold the most of these; of equals the first;
- only the time to that alpha, by the path or from zero, whichever is faster; choosing it costs nothing;
- features feature by feature, which is how celer reads them, scaled in place; what one round takes is freed before the next;
- celer, whose working sets make it the fastest Lasso that we know of.
"""

import gc
import json
import resource
import sys
import time

import celer
import numpy as np
import sklearn
from celer import celer_path
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

ALPHAS = 100
LAST = 1e-3
TOLERANCE = 1e-6


def peak_bytes():
    """Of this process alone: ru_maxrss counts the process that started it, too."""
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def expand(x):
    features = PolynomialFeatures(2, include_bias=False, order="F").fit_transform(x)
    return StandardScaler(copy=False).fit_transform(features)


def path(z, y, alphas):
    return celer_path(z, y, "lasso", alphas=alphas, tol=TOLERANCE)[1]


def timed(work):
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def best_in_hindsight(coefficients, truth):
    """The alpha whose largest coefficients hold the most true monomials: its place, and how many."""
    found = []
    for column in coefficients.T:
        largest = np.argpartition(-np.abs(column), len(truth))[: len(truth)]
        found.append(sum(column[k] != 0.0 and k in truth for k in largest))
    best = int(np.argmax(found))
    return best, found[best], int(np.count_nonzero(coefficients[:, best]))


def answer(x, y, rounds, truth):
    # The linear monomials come first.
    truth = {x.shape[1] + k for k in truth}
    y = y - y.mean()
    best, expansion, path_seconds, direct_seconds = None, np.inf, np.inf, np.inf
    for _ in range(rounds):
        z, seconds = timed(lambda: expand(x))
        expansion = min(expansion, seconds)
        if best is None:
            largest = np.abs(z.T @ y).max() / len(y)
            alphas = largest * np.geomspace(1.0, LAST, ALPHAS)
            coefficients, whole = timed(lambda: path(z, y, alphas))
            best, found, nonzeros = best_in_hindsight(coefficients, truth)
            del coefficients
        _, seconds = timed(lambda: path(z, y, alphas[: best + 1]))
        path_seconds = min(path_seconds, seconds)
        _, seconds = timed(lambda: path(z, y, alphas[best : best + 1]))
        direct_seconds = min(direct_seconds, seconds)
        del z
        gc.collect()
    return {
        "seconds": expansion + min(path_seconds, direct_seconds),
        "expansion_seconds": expansion,
        "path_seconds": whole,
        "found": found,
        "nonzeros": nonzeros,
        "alpha": float(alphas[best] / largest),
        "peak_bytes": peak_bytes(),
    }


def main():
    source = sys.stdin.buffer
    word, samples, variables = source.readline().split()
    if word != b"data":
        sys.exit("the first line is `data SAMPLES VARIABLES`")
    samples, variables = int(samples), int(variables)
    x = np.frombuffer(source.read(8 * samples * variables), dtype="<f8").reshape(variables, samples).T
    y = np.frombuffer(source.read(8 * samples), dtype="<f8")
    versions = {"numpy": np.__version__, "scikit_learn": sklearn.__version__, "celer": celer.__version__}
    print(json.dumps(versions), flush=True)
    for line in source:
        word, rounds, *truth = line.split()
        if word != b"lasso":
            sys.exit(f"unknown command {line!r}")
        print(json.dumps(answer(x, y, int(rounds), [int(k) for k in truth])), flush=True)


if __name__ == "__main__":
    main()
