"""skglm's minimax concave penalty, which does not shrink what is large."""

from types import SimpleNamespace

from .expansion import found, written_out
from .path_cv import PathCV
from .tasks import FOLDS

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found", "with_option"]

TITLE = "skglm MCP"
NEEDS = ("skglm",)
GIVEN = "`MCPRegression.path` with its default gamma = 3, else as skglm Lasso"


def path(X, y, alphas):
    from skglm import MCPRegression

    return MCPRegression(fit_intercept=False).path(X, y, alphas)[1]


def build(task, folds=FOLDS):
    return written_out(task, PathCV(path, task.folds(folds), task.threads))


def with_option(folds):
    """The contender with so many folds."""
    return SimpleNamespace(
        TITLE=f"{TITLE}, {folds} folds",
        NEEDS=NEEDS,
        GIVEN=f"the same by {folds} folds",
        build=lambda task: build(task, int(folds)),
        found=found,
    )
