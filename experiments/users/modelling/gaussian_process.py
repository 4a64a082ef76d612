"""scikit-learn's Gaussian process with a length for every input, learned by maximum likelihood."""

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "Gaussian process"
NEEDS = ()
GIVEN = "a length for every input, by maximum likelihood from one start"


class Process(GaussianProcessRegressor):
    """As many lengths as there are inputs."""

    def fit(self, X, y):
        self.kernel = ConstantKernel() * RBF(np.full(X.shape[1], 3.0), (1e-1, 1e4)) + WhiteKernel(0.1, (1e-6, 1e1))
        return super().fit(X, y)


def build(task):
    return make_pipeline(StandardScaler(), Process(normalize_y=True))
