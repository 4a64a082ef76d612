"""The problems: linear features, no intercept, each with the exponent and the gamma that are written here.

Gamma is of the size that LpRegressorCV and LpClassifierCV choose for these data (20 values, 5 folds), to one digit.
"""

from dataclasses import dataclass

import numpy as np

from banach import datasets

from . import SOLVERS
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
    rounds: int = 3
    contenders: tuple = SOLVERS

    def make(self, seed=0):
        X, y, _ = datasets.make_sparse_linear(self.samples, self.features, random_state=seed)
        if self.loss is Logistic:
            y = np.where(y + 0.5 * np.random.default_rng(seed).standard_normal(len(y)) > 0, 1.0, -1.0)
        return Problem(X, y, self.p, self.gamma, self.loss)


RECIPES = {
    "small": Recipe("n = 60, d = 600, p = 4/3, squared loss", 60, 600, 4 / 3, 1.0, rounds=5),
    "wide": Recipe("n = 200, d = 20,000, p = 4/3, squared loss", 200, 20_000, 4 / 3, 1.0),
    "near-one": Recipe("n = 200, d = 20,000, p = 1.1, squared loss", 200, 20_000, 1.1, 1.0),
    "logistic": Recipe("n = 100, d = 2,000, p = 4/3, logistic loss", 100, 2_000, 4 / 3, 1.0, Logistic),
}

QUICK = {
    "small": Recipe("n = 20, d = 60, p = 4/3, squared loss", 20, 60, 4 / 3, 1.0, rounds=1),
    "logistic": Recipe("n = 20, d = 60, p = 4/3, logistic loss", 20, 60, 4 / 3, 1.0, Logistic, 1, ("ours", "fista")),
}
