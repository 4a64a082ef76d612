"""glmnet's Lasso, the Fortran of the R package, by python-glmnet."""

from .expansion import found, written_out

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "glmnet"
NEEDS = ("glmnet",)
GIVEN = "`glmnet.ElasticNet(alpha=1)` of python-glmnet with its own five folds and the alpha of the smallest error (cut_point = 0)"


def build(task):
    from glmnet import ElasticNet

    return written_out(task, ElasticNet(alpha=1, n_splits=5, cut_point=0.0, n_jobs=task.threads, standardize=False))
