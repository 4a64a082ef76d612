"""A clock that stands still while an iterate is judged: opponents do not pay for our questions."""

import time


class Over(Exception):  # noqa: N818 - an end, not an error
    """The gap is small enough, or the time that an opponent has is over."""


class Watch:
    """Counts the time of a run, and keeps what it had reached when."""

    def __init__(self, problem, tolerance, limit):
        self.problem, self.tolerance, self.limit = problem, tolerance, limit
        self.seconds, self.processor, self.questions = 0.0, 0.0, 0
        self.gap, self.best = float("inf"), None
        self.trace = []
        self.resume()

    def pause(self):
        self.seconds += time.perf_counter() - self.began
        self.processor += time.process_time() - self.began_processor

    def resume(self):
        self.began, self.began_processor = time.perf_counter(), time.process_time()

    def ask(self, keep, primal, dual):
        """Ends the run if this iterate will do; `keep` makes a copy of it."""
        self.questions += 1
        gap = self.problem.relative_gap(primal, dual)
        self.trace.append((self.seconds, float(primal), float(gap)))
        if gap < self.gap:
            self.gap = gap
            if gap <= self.tolerance or self.best is None or self.questions % 50 == 0:
                self.best = keep()
        if gap <= self.tolerance:
            raise Over
        if self.seconds > self.limit:
            self.best = keep()
            raise Over
