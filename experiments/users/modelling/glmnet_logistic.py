"""glmnet's multinomial regression with the l1 penalty, by python-glmnet."""

import sys

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .counted import with_count

TITLE = "glmnet LogitNet"
NEEDS = ("glmnet",)
GIVEN = "`glmnet.LogitNet(alpha=1)`, multinomial, its own five folds and path, the best accuracy (cut_point = 0)"


def build(task, count=100):
    from glmnet import LogitNet

    model = LogitNet(alpha=1, n_lambda=count, n_splits=5, cut_point=0.0, n_jobs=task.threads, standardize=False)
    return make_pipeline(StandardScaler(), model)


def with_option(count):
    """The contender with so many lambdas."""
    return with_count(sys.modules[__name__], count, "lambdas")
