"""One model on one kind of data, draw after draw, in a process of its own."""

import time
from importlib import import_module

import numpy as np
from joblib import parallel_config

from .. import memory
from .found import refitted
from .tasks import QUICK, TASKS

FITS = 3
ENOUGH_SECONDS = 3.0
WARM_COLUMNS = 20


class Measurement:
    """A model that has been fitted to a few columns once, so that nothing is compiled or loaded while it is timed."""

    def __init__(self, problem, contender, quick):
        self.task = (QUICK if quick else TASKS)[problem]
        self.model = import_module(f".{contender}", __package__)
        data = self.task.draw(0)
        with parallel_config("threading", n_jobs=2):
            self.model.build(self.task).fit(np.asfortranarray(data.X[:, :WARM_COLUMNS]), data.y)

    def fit(self, data):
        """The fitted model, the best time with that of the processors, and the number of fits."""
        best, began, fits = (np.inf, np.inf), time.perf_counter(), 0
        with parallel_config("threading", n_jobs=2):
            while fits < FITS and (fits == 0 or time.perf_counter() - began < ENOUGH_SECONDS):
                fitted = self.model.build(self.task)
                start, processor = time.perf_counter(), time.process_time()
                fitted.fit(data.X, data.y)
                best = min(best, (time.perf_counter() - start, time.process_time() - processor))
                fits += 1
        return fitted, *best, fits

    def measure(self, seed):
        data = self.task.draw(seed)
        memory.forget_peak()
        before = memory.present()
        fitted, seconds, processor, fits = self.fit(data)
        peak = memory.peak()
        result = {
            "seconds": seconds,
            "processor": processor,
            "fits": fits,
            "peak_bytes": peak,
            "fit_bytes": peak - before,
            "error": self.error(data, fitted.predict(data.X_new)),
        }
        if hasattr(self.model, "settings"):
            result["settings"] = self.model.settings(fitted)
        return {**result, **self.support(data, fitted)}

    def error(self, data, predictions):
        """The part of wrong classes, or the part of the target's variance that is not explained."""
        if self.task.classes:
            return float(np.mean(predictions != data.y_new))
        return float(np.mean((predictions - data.y_new) ** 2) / np.var(data.y_new))

    def support(self, data, fitted):
        """How many of as many monomials as are true, and of those that the model holds, are true."""
        if not hasattr(self.model, "found") or self.task.classes or self.task.degree > 2:
            return {}
        k = len(data.truth)
        found = self.model.found(fitted, max(k, 1))
        result = {}
        if found.selected is not None:
            result["selected"] = len(found.selected)
            result["selected_true"] = len(data.truth.intersection(found.selected))
        if k:
            result["true_of_largest"] = len(data.truth.intersection(found.largest))
            result["error_of_largest"] = self.error(data, refitted(found.largest, data))
        return result
