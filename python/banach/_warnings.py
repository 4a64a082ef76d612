"""Warnings, at the line of the user's that called this package."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

from sklearn.exceptions import ConvergenceWarning

_FOLDER = os.path.dirname(__file__)


class ScaleWarning(UserWarning):
    """The scales of columns differ so much that they should be standardised."""


def warn(message: str, category: type[Warning]) -> None:
    """Warns at the line of the user's that called this package."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and os.path.dirname(frame.f_code.co_filename) == _FOLDER:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def warn_of_convergence(message: str) -> None:
    """Warns that an answer is not as good as was asked for."""
    warn(message, ConvergenceWarning)


def warn_of_fits(what: str, unconverged: int, advice: str = "Standardise X, or raise max_iter or tol.") -> None:
    """Warns of fits that did not converge and count all the same."""
    if unconverged:
        fits = "1 fit" if unconverged == 1 else f"{unconverged} fits"
        warn_of_convergence(
            f"{fits} of the {what} did not converge, and count{'s' * (unconverged == 1)} all the same. {advice}"
        )
