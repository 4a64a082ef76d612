"""One model on one kind of data, draw after draw, in a process of its own."""

import time
from dataclasses import replace

import numpy as np
from joblib import parallel_config

from .. import contenders, memory
from .found import refitted
from .tasks import QUICK, TASKS

FITS = 3
ENOUGH_SECONDS = 3.0
WARM_COLUMNS = 20


class Measurement:
    """A model that has been fitted to a few columns once, so that nothing is compiled or loaded while it is timed."""

    fits = FITS

    def __init__(self, problem, contender, quick):
        self.task = self.chosen(problem, quick)
        self.model = contenders.load("modelling", contender)
        data = self.task.draw(0)
        few = replace(data, X=np.asfortranarray(data.X[:, :WARM_COLUMNS]))
        with parallel_config("threading", n_jobs=self.task.threads):
            self.build(few)().fit(few.X, few.y)

    @staticmethod
    def chosen(problem, quick):
        return (QUICK if quick else TASKS)[problem]

    def build(self, data):
        """What makes models to fit; one that is told what cross-validation would have to find out learns it from the data."""
        if hasattr(self.model, "told"):
            return self.model.told(data)
        return lambda: self.model.build(self.task)

    def fit(self, data):
        """The fitted model, the best time with that of the processors, the number of fits, and what they took of memory."""
        best, began, fits = (np.inf, np.inf), time.perf_counter(), 0
        with parallel_config("threading", n_jobs=self.task.threads):
            build = self.build(data)
            memory.forget_peak()
            before = memory.present()
            while fits < self.fits and (fits == 0 or time.perf_counter() - began < ENOUGH_SECONDS):
                fitted = build()
                start, processor = time.perf_counter(), time.process_time()
                fitted.fit(data.X, data.y)
                best = min(best, (time.perf_counter() - start, time.process_time() - processor))
                fits += 1
        peak = memory.peak()
        return fitted, *best, fits, peak, peak - before

    def measure(self, seed):
        data = self.task.draw(seed)
        fitted, seconds, processor, fits, peak, more = self.fit(data)
        result = {
            "seconds": seconds,
            "processor": processor,
            "fits": fits,
            "peak_bytes": peak,
            "fit_bytes": more,
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
            result["all_found"] = result["true_of_largest"] == k
            if found.selected is not None:
                result["exact"] = result["selected"] == result["selected_true"] == k
            result["error_of_largest"] = self.error(data, refitted(found.largest, data))
        return result
