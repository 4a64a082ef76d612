"""Functions that are known, drawn with seeds of the suite's own."""

import numpy as np
from sklearn.datasets import make_friedman2, make_friedman3

from ..modelling.tasks import Data

NEW = 2000
#: No draw of another experiment has these seeds.
SHIFT = 10_000


def friedman_of(make, noise, idle):
    """A draw of Friedman's second or third function of four inputs, noise as a part of its deviation, and inputs that do not matter."""

    def draw(samples, seed):
        rng = np.random.default_rng([SHIFT, seed])
        X, y = make(samples + NEW, noise=0.0, random_state=SHIFT + seed)
        X = np.asfortranarray(np.hstack([X, rng.uniform(size=(samples + NEW, idle))]))
        y_new = y[samples:]
        y = y[:samples] + noise * y_new.std() * rng.standard_normal(samples)
        return Data(X[:samples], y, X[samples:], y_new)

    return draw


friedman2 = friedman_of(make_friedman2, 1 / 3, 6)
friedman3 = friedman_of(make_friedman3, 1 / 3, 6)


def gaussian_process(samples, inputs, matter, seed, new=1000):
    """A draw of a Gaussian process whose lengths are 1 to 3 in the inputs that matter, noise a fifth of its deviation."""
    rng = np.random.default_rng([2 * SHIFT, seed])
    X = np.asfortranarray(rng.standard_normal((samples + new, inputs)))
    Z = X[:, rng.choice(inputs, matter, replace=False)] / rng.uniform(1.0, 3.0, matter)
    squares = np.sum(Z**2, axis=1)
    K = np.exp(-0.5 * np.maximum(squares[:, None] + squares - 2.0 * Z @ Z.T, 0.0))
    K[np.diag_indices_from(K)] += 1e-8
    f = np.linalg.cholesky(K) @ rng.standard_normal(len(K))
    y = f[:samples] + 0.2 * rng.standard_normal(samples)
    return Data(X[:samples], y, X[samples:], f[samples:])


def spectra(samples, bands, rank, seed, new=500):
    """Sums of a few smooth bands with amounts that vary, the target linear in the amounts, and little noise in both."""
    rng = np.random.default_rng([3 * SHIFT, seed])
    grid = np.linspace(0.0, 1.0, bands)
    centres, widths = rng.uniform(size=rank), rng.uniform(0.05, 0.2, rank)
    shapes = np.exp(-0.5 * ((grid - centres[:, None]) / widths[:, None]) ** 2)
    amounts = rng.lognormal(sigma=0.5, size=(samples + new, rank))
    X = np.asfortranarray(amounts @ shapes + 0.01 * rng.standard_normal((samples + new, bands)))
    f = amounts @ rng.standard_normal(rank)
    y = f[:samples] + 0.1 * f.std() * rng.standard_normal(samples)
    return Data(X[:samples], y, X[samples:], f[samples:])
