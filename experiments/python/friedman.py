"""Friedman's first function: `LpRegressorCV(kernel="exp")` as it is against what users would pick instead.

n = 100 samples of 10 inputs, of which 5 matter, noise 1, 10 draws. Everything is chosen by 5-fold cross-validation on
the same folds of the training data, after StandardScaler. R^2 is that of 2000 new points without noise.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVR

from banach import LpRegressorCV

FOLDS = KFold(5, shuffle=True, random_state=0)
INPUTS = 10


def scaled(search, **grid):
    """A grid search with standardised targets, for models without an intercept or with a width in units of y."""
    regressor = TransformedTargetRegressor(search, transformer=StandardScaler())
    return GridSearchCV(regressor, {f"regressor__{name}": values for name, values in grid.items()}, cv=FOLDS)


def models():
    gammas = np.logspace(-3, 1, 13) / INPUTS
    ard = ConstantKernel(1.0) * RBF(np.full(INPUTS, 3.0), (1e-1, 1e4)) + WhiteKernel(0.1, (1e-6, 1e1))
    process = GaussianProcessRegressor(ard, normalize_y=True)
    return {
        'LpRegressorCV(kernel="exp")': LpRegressorCV(kernel="exp", cv=FOLDS),
        "the same, p = 4/3 alone": LpRegressorCV(4 / 3, kernel="exp", degree=(0, 5), cv=FOLDS),
        "RBF kernel ridge, grid search": scaled(KernelRidge(kernel="rbf"), alpha=np.logspace(-6, 2, 25), gamma=gammas),
        "RBF SVR, grid search": scaled(
            SVR(kernel="rbf", max_iter=200_000), C=np.logspace(-1, 4, 11), gamma=gammas, epsilon=[0.01, 0.03, 0.1, 0.3]
        ),
        "LassoCV, all monomials to degree 3": make_pipeline(
            PolynomialFeatures(3, include_bias=False), StandardScaler(), LassoCV(cv=FOLDS, max_iter=20_000)
        ),
        "Gaussian process, a length per input": process,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    arguments = parser.parse_args()
    scores = {name: [] for name in models()}
    seconds = dict.fromkeys(scores, 0.0)
    for seed in range(arguments.first, arguments.first + arguments.draws):
        X, y = make_friedman1(100, n_features=INPUTS, noise=1.0, random_state=seed)
        new_X, new_y = make_friedman1(2000, n_features=INPUTS, noise=0.0, random_state=10_000 + seed)
        for name, model in models().items():
            begin = time.perf_counter()
            with warnings.catch_warnings():
                # The far corners of some grids, and lengths of inputs that do not matter.
                warnings.simplefilter("ignore", ConvergenceWarning)
                model = make_pipeline(StandardScaler(), model).fit(X, y)
            seconds[name] += time.perf_counter() - begin
            scores[name].append(r2_score(new_y, model.predict(new_X)))
    ours = next(iter(scores))
    print("| method | mean test R^2 | deviation | smallest | draws that ours wins | time, ours = 1 |")
    print("|---|---|---|---|---|---|")
    for name, values in scores.items():
        wins = sum(a > b for a, b in zip(scores[ours], values, strict=True))
        won = "" if name == ours else f"{wins} of {len(values)}"
        row = f"{np.mean(values):.3f} | {np.std(values, ddof=1):.3f} | {np.min(values):.3f}"
        print(f"| {name} | {row} | {won} | {seconds[name] / seconds[ours]:.2f} |")


if __name__ == "__main__":
    main()
