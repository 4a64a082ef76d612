"""One model on one set, split after split, in a process of its own."""

import resource

import numpy as np
from sklearn.metrics import log_loss

from ..modelling import measure
from .sets import SETS

#: Seconds of the processor for one fit.
LIMIT = 600
#: No probability counts as smaller.
LEAST = 1e-6


class Measurement(measure.Measurement):
    """One fit for every split."""

    fits = 1

    @staticmethod
    def chosen(problem, quick):
        return SETS[problem]

    def measure(self, seed):
        allow(LIMIT)
        data = self.task.draw(seed)
        fitted, seconds, processor, _, _, memory = self.fit(data)
        result = {"seconds": seconds, "processor": processor, "fit_bytes": memory}
        return {**result, **self.errors(data, fitted)}

    def errors(self, data, fitted):
        """What the suite compares: of numbers the mean square and what there was to explain, of classes two losses."""
        predictions = fitted.predict(data.X_new)
        if not self.task.classes:
            predictions = np.asarray(predictions).ravel()
            return {
                "square": float(np.mean((predictions - data.y_new) ** 2)),
                "variance": float(np.var(data.y_new)),
            }
        losses = {"wrong": float(np.mean(predictions != data.y_new))}
        if hasattr(fitted, "predict_proba"):
            chances = np.clip(fitted.predict_proba(data.X_new), LEAST, 1.0)
            chances /= chances.sum(axis=1, keepdims=True)
            losses["log_loss"] = float(log_loss(data.y_new, chances, labels=fitted.classes_))
        return losses


def allow(seconds):
    """The system ends the process after so many more seconds of the processor."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    most = int(used.ru_utime + used.ru_stime + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
