"""`python -m users.chance`: how often tables without a signal are called better than a constant, and tables with one."""

import argparse
import warnings

import numpy as np

from banach import AutoClassifier, AutoRegressor


def normal(rng, rows, columns):
    return rng.normal(size=(rows, columns))


def skewed(rng, rows, columns):
    """Many small values and a few large ones, as of incomes."""
    return np.exp(1.5 * rng.normal(size=(rows, columns)))


def heavy(rng, rows):
    """Numbers without a variance."""
    return rng.standard_cauchy(rows)


def outlier(rng, rows):
    y = rng.normal(size=rows)
    y[7] = 1e4
    return y


def rare(rng, rows, columns):
    return (rng.random((rows, columns)) < 0.03).astype(float)


def of_variables(rng, X, share, count=1):
    """So much of the variance is that of a few variables."""
    signal = X[:, :count].sum(axis=1) / np.sqrt(count)
    return np.sqrt(share) * signal + np.sqrt(1.0 - share) * rng.normal(size=len(X))


def classes(rng, rows, count):
    """As many of each as there are places."""
    return rng.permutation(np.arange(rows) % count)


#: What is drawn: a table and its target.
NOISE = {
    "noise, 20 x 40": lambda rng: (normal(rng, 20, 40), rng.normal(size=20)),
    "noise, 40 x 30": lambda rng: (normal(rng, 40, 30), rng.normal(size=40)),
    "noise, 60 x 1000": lambda rng: (normal(rng, 60, 1000), rng.normal(size=60)),
    "two classes of noise, 40 x 30": lambda rng: (normal(rng, 40, 30), classes(rng, 40, 2)),
    "three classes of noise, 60 x 30": lambda rng: (normal(rng, 60, 30), classes(rng, 60, 3)),
    "a skewed target, 60 x 6": lambda rng: (normal(rng, 60, 6), skewed(rng, 60, 1)[:, 0]),
    "a target without a variance, 60 x 6": lambda rng: (normal(rng, 60, 6), heavy(rng, 60)),
    "a target with one outlier, 60 x 6": lambda rng: (normal(rng, 60, 6), outlier(rng, 60)),
    "skewed columns and target, 60 x 6": lambda rng: (skewed(rng, 60, 6), skewed(rng, 60, 1)[:, 0]),
    "skewed columns, a target without a variance, 60 x 6": lambda rng: (skewed(rng, 60, 6), heavy(rng, 60)),
    "rare columns of 0 and 1, a skewed target, 60 x 30": lambda rng: (rare(rng, 60, 30), skewed(rng, 60, 1)[:, 0]),
}
SIGNALS = {
    "a quarter of the variance from one variable, 40 x 30": (40, 30, 0.25, 1),
    "two fifths of it from one variable, 60 x 1000": (60, 1000, 0.4, 1),
    "15 % of it from three variables, 80 x 10": (80, 10, 0.15, 3),
}


def judged(draw, tables):
    """How many tables are called better, and of how many of these evidence names terms."""
    better = named = 0
    for seed in range(tables):
        X, y = draw(np.random.default_rng(1000 + seed))
        model = (AutoRegressor if y.dtype.kind == "f" else AutoClassifier)("quick").fit(X, y)
        found = model.assessment_
        if found is not None and found["better"]:
            better += 1
            named += found["evidence"]
    return better, named


def signal(rows, columns, share, count):
    def draw(rng):
        X = normal(rng, rows, columns)
        return X, of_variables(rng, X, share, count)

    return draw


def main():
    parser = argparse.ArgumentParser(prog="users.chance", description=__doc__.split(": ")[1])
    parser.add_argument("--tables", type=int, default=40, help="of each kind; 40")
    tables = parser.parse_args().tables
    warnings.simplefilter("ignore")
    print("| tables | called better | of which evidence names terms |\n|---|---|---|")
    total = 0
    for name, draw in NOISE.items():
        better, named = judged(draw, tables)
        total += better
        print(f"| {name} | {better} of {tables} | {named} |", flush=True)
    print(f"| **all without a signal** | **{total} of {tables * len(NOISE)}** | |")
    for name, size in SIGNALS.items():
        better, named = judged(signal(*size), tables)
        print(f"| {name} | {better} of {tables} | {named} |", flush=True)


if __name__ == "__main__":
    main()
