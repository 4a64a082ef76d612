"""celer's Lasso by working sets."""

import sys

from .counted import with_count
from .expansion import found, written_out
from .path_cv import ALPHAS, PathCV

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found", "with_option"]

TITLE = "celer"
NEEDS = ("celer",)
GIVEN = (
    "`celer_path` with LassoCV's grid, tol 1e-4 (its default), on the same monomials; celer 0.7.4's own "
    "`LassoCV` does not run with scikit-learn 1.9 (`n_alphas` is gone)"
)


def path(X, y, alphas):
    from celer import celer_path

    return celer_path(X, y, "lasso", alphas=alphas, tol=1e-4)[1]


def build(task, count=ALPHAS):
    return written_out(task, PathCV(path, task.folds(), task.threads, count))


def with_option(count):
    """The contender with so many alphas."""
    return with_count(sys.modules[__name__], count, "alphas")
