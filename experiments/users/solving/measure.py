"""One solver on one problem, in a process of its own."""

from .. import contenders, memory
from . import LIMIT
from .objective import judge
from .problems import QUICK, RECIPES

KEPT = 2000


class Measurement:
    """Makes the problem and lets the solver prepare; neither is timed."""

    def __init__(self, problem, contender, quick):
        recipe = (QUICK if quick else RECIPES)[problem]
        self.solver = contenders.load("solving", contender)
        self.problem = recipe.make()
        self.prepared = self.solver.prepare(self.problem, recipe.tolerance, LIMIT)

    def measure(self, seed):
        memory.forget_peak()
        before = memory.present()
        answer = self.solver.solve(self.problem, self.prepared)
        peak = memory.peak()
        if answer is None:
            return {"failed": "no answer within the limit of time"}
        w, alpha = answer.pop("w"), answer.pop("alpha", None)
        verdict = judge(self.problem, w, alpha)
        trace = answer.pop("trace", [])
        return {
            **answer,
            "objective": verdict.objective,
            "relative_gap": verdict.relative_gap,
            "trace": trace[:: 1 + len(trace) // KEPT],
            "peak_bytes": peak,
            "fit_bytes": peak - before,
        }
