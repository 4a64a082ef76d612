"""A progress bar for long fits, in terminals and notebooks alike."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 30
#: Shorter work shows nothing.
_PATIENCE = 0.5


class Bar:
    """Told how many fits are finished, shows it on standard error; silent unless ``verbose``."""

    def __init__(self, what: str, fits: int, verbose: int) -> None:
        self.what, self.fits, self.verbose = what, max(fits, 1), verbose
        self.begin = time.monotonic()
        self.shown = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.shown:
            sys.stderr.write("\n")
            sys.stderr.flush()

    @property
    def callback(self) -> Bar | None:
        """What the compiled part is to call."""
        return self if self.verbose else None

    def __call__(self, finished: int, iteration: int, gap: float) -> None:
        elapsed = time.monotonic() - self.begin
        if elapsed < _PATIENCE:
            return
        done = min(finished, self.fits)
        filled = _WIDTH * done // self.fits
        left = f", {elapsed / done * (self.fits - done):.0f} s left" if 0 < done < self.fits else ""
        bar = "█" * filled + "░" * (_WIDTH - filled)
        state = f", iteration {iteration}, gap {gap:.1e}" if gap < float("inf") else ""
        line = f"{self.what} {bar} {done}/{self.fits}{state}, {elapsed:.0f} s{left}"
        sys.stderr.write(f"\r{line:<110}")
        sys.stderr.flush()
        self.shown = True
