"""From the runs of a method on a set to the figures of the page."""

from dataclasses import dataclass
from statistics import mean, median, stdev

UNTRIED = "not measured"


@dataclass(frozen=True)
class Scored:
    """The error on every split, by seed: the part of the variance that is not explained, or of wrong classes."""

    title: str
    errors: dict
    log_losses: dict
    processor: float

    @property
    def error(self):
        return mean(self.errors.values())

    @property
    def deviation(self):
        """The standard error of the mean over the splits, as if these were independent."""
        return stdev(self.errors.values()) / len(self.errors) ** 0.5 if len(self.errors) > 1 else 0.0

    @property
    def log_loss(self):
        return mean(self.log_losses.values()) if self.log_losses else None

    def shown(self):
        chances = "" if self.log_loss is None else f", log-loss {self.log_loss:.3f}"
        return f"{self.error:.4f} +- {self.deviation:.4f}{chances}, {self.processor:.1f} s of the processor"


def scored(figures, seeds):
    """Of the runs with these seeds; None unless all of them are there."""
    runs = {int(seed): run for seed, run in figures.get("runs", {}).items()}
    runs = {seed: runs[seed] for seed in seeds if seed in runs}
    if len(runs) < len(list(seeds)):
        return None
    if all("square" in run for run in runs.values()):
        # Squares of all splits over what there was to explain in all of them: no split with equal targets decides.
        variance = mean(run["variance"] for run in runs.values())
        errors = {seed: run["square"] / variance for seed, run in runs.items()}
    else:
        errors = {seed: run["wrong"] for seed, run in runs.items()}
    return Scored(
        figures["title"],
        errors,
        {seed: run["log_loss"] for seed, run in runs.items() if "log_loss" in run},
        median(run["processor"] for run in runs.values()),
    )


def unfinished(figures):
    """Why there are no figures of all splits."""
    missing = ", ".join(figures.get("missing", ()))
    return f"{missing} is not there" if missing else figures.get("failed", UNTRIED)
