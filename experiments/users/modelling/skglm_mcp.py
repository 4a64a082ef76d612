"""skglm's minimax concave penalty, which does not shrink what is large."""

from .expansion import found, written_out
from .path_cv import PathCV

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "skglm MCP"
NEEDS = ("skglm",)
GIVEN = "`MCPRegression.path` with its default gamma = 3, else as skglm Lasso"


def path(X, y, alphas):
    from skglm import MCPRegression

    return MCPRegression(fit_intercept=False).path(X, y, alphas)[1]


def build(task):
    return written_out(task, PathCV(path, task.folds()))
