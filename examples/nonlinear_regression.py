"""
Nonlinear regression
====================

A smooth function of five variables, five more that do not matter, a hundred noisy samples. How well does the exponential
kernel with p = 4/3, which holds all products of all degrees, predict new samples, against kernel ridge regression with
Gaussians?

The function is Friedman's first: ``10 sin(pi a b) + 20 (c - 1/2)^2 + 10 d + 5 e``.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from banach import LpRegressorCV

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)
DRAWS = 2 if QUICK else 10
N_TRAIN, N_TEST = (50, 500) if QUICK else (100, 2000)
NAMES = ["a", "b", "c", "d", "e", *(f"noise {j}" for j in range(1, 6))]

# %%
# The models. Ours has no choices to make: it searches the scale of the kernel and C by itself. Kernel ridge regression
# gets a grid of the same size. Kernel ridge regression has no intercept of its own, so y is centred for it.


def ours():
    return make_pipeline(StandardScaler().set_output(transform="pandas"), LpRegressorCV(kernel="exp"))


def gaussians():
    grid = {"alpha": np.logspace(-4, 2, 5 if QUICK else 20), "gamma": np.logspace(-3, 0, 5)}
    return make_pipeline(StandardScaler(), GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=5))


def linear():
    return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 20)))


# %%
# Every draw has its own samples to learn from and its own to test on.

scores = {"exponential kernel, p = 4/3": [], "Gaussian kernel ridge": [], "linear ridge": []}
for draw in range(DRAWS):
    X, y = make_friedman1(N_TRAIN + N_TEST, n_features=10, noise=1.0, random_state=draw)
    X = pd.DataFrame(X, columns=NAMES)
    X_train, y_train, X_test, y_test = X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:]
    centre = y_train.mean()
    model = ours().fit(X_train, y_train)
    scores["exponential kernel, p = 4/3"].append(model.score(X_test, y_test))
    scores["Gaussian kernel ridge"].append(gaussians().fit(X_train, y_train - centre).score(X_test, y_test - centre))
    scores["linear ridge"].append(linear().fit(X_train, y_train).score(X_test, y_test))

print(f"R^2 on {N_TEST} new samples, {N_TRAIN} to learn from, {DRAWS} draws")
print(f"{'':29}{'mean':>7}{'worst':>7}{'best':>7}")
for name, values in scores.items():
    print(f"{name:29}{np.mean(values):7.3f}{min(values):7.3f}{max(values):7.3f}")
wins = np.sum(np.array(scores["exponential kernel, p = 4/3"]) > scores["Gaussian kernel ridge"])
print(f"the exponential kernel is better in {wins} of {DRAWS} draws")

# %%
# What the last model is made of. The kernel has infinitely many monomials; shares of variables are exact all the same.

last = model[-1]
print(f"\nchosen: scale {last.best_params_['scale']:.3g}, C {last.C_:.3g}\n")
print(last.top_features(6))
print(f"\n{last.relevance()}")

# %%
# The same as pictures.

last.plot_relevance().figure_.savefig(OUT / "nonlinear_relevance.png", dpi=120)
last.plot_features(8).figure_.savefig(OUT / "nonlinear_features.png", dpi=120)
last.plot_cv().figure_.savefig(OUT / "nonlinear_cv.png", dpi=120)
print(f"\npictures: {OUT}/nonlinear_*.png")
