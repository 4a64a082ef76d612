"""skglm's Lasso by Anderson-accelerated coordinate descent."""

from .expansion import found, written_out
from .path_cv import PathCV

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "skglm Lasso"
NEEDS = ("skglm",)
GIVEN = "`Lasso.path`, tol 1e-4 (its default, absolute), else as celer; what numba takes to compile is not counted"


def path(X, y, alphas):
    from skglm import Lasso

    return Lasso(fit_intercept=False).path(X, y, alphas)[1]


def build(task):
    return written_out(task, PathCV(path, task.folds(), task.threads))
