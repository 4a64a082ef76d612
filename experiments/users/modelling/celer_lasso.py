"""celer's Lasso by working sets."""

from .expansion import found, written_out
from .path_cv import PathCV

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "celer"
NEEDS = ("celer",)
GIVEN = (
    "`celer_path` with LassoCV's grid, tol 1e-4 (its default), on the same monomials; celer 0.7.4's own "
    "`LassoCV` does not run with scikit-learn 1.9 (`n_alphas` is gone)"
)


def path(X, y, alphas):
    from celer import celer_path

    return celer_path(X, y, "lasso", alphas=alphas, tol=1e-4)[1]


def build(task):
    return written_out(task, PathCV(path, task.folds(), task.threads))
