"""From the runs of a contender to the figures of its row."""

from dataclasses import dataclass
from statistics import mean, median, stdev

#: The gap of most problems; a group may have its own.
TOLERANCE = 1e-6


def best_objective(group):
    """The smallest objective that anyone has reached."""
    return min(run["objective"] for one in group["contenders"].values() for run in one["runs"])


@dataclass(frozen=True)
class Solved:
    """A solver on a problem: the best of its rounds."""

    title: str
    seconds: float
    processor: float | None
    seconds_to_objective: float | None
    with_cvxpy: float | None
    relative_gap: float
    excess: float
    evaluations: int
    peak_bytes: int
    fit_bytes: int
    rounds: int
    reached: bool


def solved(group):
    """A row for everyone who has an answer, by name."""
    least, tolerance = best_objective(group), group.get("tolerance", TOLERANCE)
    rows = {}
    for name, one in group["contenders"].items():
        if not one["runs"]:
            continue
        run = min(one["runs"], key=lambda run: run["seconds"])
        objective = [run["seconds"]] if run["objective"] <= least * (1.0 + tolerance) else []
        objective += [seconds for seconds, primal, _ in run["trace"] if primal <= least * (1.0 + tolerance)]
        rows[name] = Solved(
            one["title"],
            run["seconds"],
            run.get("processor"),
            min(objective, default=None),
            run.get("seconds_with_cvxpy"),
            max(run["relative_gap"], 0.0),
            run["objective"] / least - 1.0,
            run["evaluations"],
            max(run["peak_bytes"] for run in one["runs"]),
            max(run["fit_bytes"] for run in one["runs"]),
            len(one["runs"]),
            run["relative_gap"] <= 1.001 * tolerance,
        )
    return rows


@dataclass(frozen=True)
class Modelled:
    """A model on a kind of data, over its draws."""

    title: str
    seconds: float
    processor: float
    peak_bytes: int
    fit_bytes: int
    errors: tuple
    true_of_largest: float | None
    draws_with_all: int | None
    error_of_largest: float | None
    selected: float | None
    selected_true: float | None
    exact: int | None
    fits: int

    @property
    def error(self):
        return mean(self.errors)

    @property
    def deviation(self):
        return stdev(self.errors) if len(self.errors) > 1 else None


def modelled(group):
    """A row for everyone who has an answer, by name."""
    rows = {}
    for name, one in group["contenders"].items():
        runs = one["runs"]
        if not runs:
            continue

        def average(key, runs=runs):
            return mean(run[key] for run in runs) if all(key in run for run in runs) else None

        def count(key, runs=runs):
            return sum(run[key] for run in runs) if all(key in run for run in runs) else None

        rows[name] = Modelled(
            one["title"],
            median(run["seconds"] for run in runs),
            median(run["processor"] for run in runs),
            max(run["peak_bytes"] for run in runs),
            max(run["fit_bytes"] for run in runs),
            tuple(run["error"] for run in runs),
            average("true_of_largest"),
            count("all_found"),
            average("error_of_largest"),
            average("selected"),
            average("selected_true"),
            count("exact"),
            min(run["fits"] for run in runs),
        )
    return rows


def wins(ours, other):
    """Of how many draws that both have, ours is better in how many."""
    pairs = list(zip(ours.errors, other.errors, strict=False))
    return sum(a < b for a, b in pairs), len(pairs)
