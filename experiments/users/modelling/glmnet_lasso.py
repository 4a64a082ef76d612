"""glmnet's Lasso, the Fortran of the R package, by python-glmnet."""

import sys

from .counted import with_count
from .expansion import found, written_out

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found", "with_option"]

TITLE = "glmnet"
NEEDS = ("glmnet",)
GIVEN = "`glmnet.ElasticNet(alpha=1)` of python-glmnet with its own five folds and the alpha of the smallest error (cut_point = 0)"


def build(task, count=100):
    from glmnet import ElasticNet

    model = ElasticNet(alpha=1, n_lambda=count, n_splits=5, cut_point=0.0, n_jobs=task.threads, standardize=False)
    return written_out(task, model)


def with_option(count):
    """The contender with so many alphas."""
    return with_count(sys.modules[__name__], count, "alphas")
