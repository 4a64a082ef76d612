"""The problems: linear features, no intercept, each with the exponent and the gamma that are written here.

Gamma is what LpRegressorCV and LpClassifierCV choose for these data (20 values, 5 folds), to one digit; and once a hundredth of
it, where first-order methods have less to do. Those of the paper's Table 1 have its gamma, and a gap of 1e-8 to reach; those with
many samples and few features have columns of deviation 1 and gamma = 1, scikit-learn's C.
"""

from dataclasses import dataclass

import numpy as np

from banach import datasets

from . import SOLVERS, SOLVERS_FOR_WIDE
from .objective import Logistic, Problem, Squared


@dataclass(frozen=True)
class Recipe:
    """How a problem is made."""

    title: str
    samples: int
    features: int
    p: float
    gamma: float
    loss: type = Squared
    rounds: int = 10
    tolerance: float = 1e-6
    contenders: tuple = SOLVERS

    def make(self, seed=0):
        X, y, _ = datasets.make_sparse_linear(self.samples, self.features, random_state=seed)
        if self.samples > self.features:
            # Its columns have norm 1, about.
            X, y = X * np.sqrt(self.samples), y * np.sqrt(self.samples)
        if self.loss is Logistic:
            y = np.where(y + 0.5 * np.random.default_rng(seed).standard_normal(len(y)) > 0, 1.0, -1.0)
        return Problem(X, y, self.p, self.gamma, self.loss)


TABLE1 = {"tolerance": 1e-8, "contenders": ("ours", "lbfgsb_dual")}
TALL = ("ours", "logistic_regression")

RECIPES = {
    "small": Recipe("n = 60, d = 600, p = 4/3, squared loss, gamma = 500", 60, 600, 4 / 3, 500.0),
    "wide": Recipe("n = 200, d = 20,000, p = 4/3, squared loss, gamma = 400", 200, 20_000, 4 / 3, 400.0),
    "wide-loose": Recipe(
        "n = 200, d = 20,000, p = 4/3, squared loss, gamma = 4", 200, 20_000, 4 / 3, 4.0, contenders=SOLVERS_FOR_WIDE
    ),
    "near-one": Recipe(
        "n = 200, d = 20,000, p = 1.1, squared loss, gamma = 900", 200, 20_000, 1.1, 900.0, contenders=SOLVERS_FOR_WIDE
    ),
    "logistic": Recipe("n = 100, d = 2,000, p = 4/3, logistic loss, gamma = 3", 100, 2_000, 4 / 3, 3.0, Logistic),
    "table1": Recipe(
        "n = 200, d = 100,000, p = 4/3, squared loss, gamma = 10, gap 1e-8", 200, 100_000, 4 / 3, 10.0, **TABLE1
    ),
    "table1-near-one": Recipe(
        "n = 200, d = 100,000, p = 1.05, squared loss, gamma = 10, gap 1e-8", 200, 100_000, 1.05, 10.0, **TABLE1
    ),
    "tall-logistic-small": Recipe(
        "n = 1,070, d = 17, p = 2, logistic loss, gamma = 1", 1_070, 17, 2.0, 1.0, Logistic, contenders=TALL
    ),
    "tall-logistic": Recipe(
        "n = 100,000, d = 50, p = 2, logistic loss, gamma = 1", 100_000, 50, 2.0, 1.0, Logistic, contenders=TALL
    ),
    "tall": Recipe(
        "n = 1,000,000, d = 50, p = 1.1, squared loss, gamma = 1",
        1_000_000,
        50,
        1.1,
        1.0,
        rounds=3,
        contenders=("ours",),
    ),
}

QUICK = {
    "small": Recipe("n = 20, d = 60, p = 4/3, squared loss", 20, 60, 4 / 3, 1.0, rounds=1),
    "logistic": Recipe(
        "n = 20, d = 60, p = 4/3, logistic loss", 20, 60, 4 / 3, 1.0, Logistic, 1, contenders=("ours", "fista")
    ),
}
