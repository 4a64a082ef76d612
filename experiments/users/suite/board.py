"""All figures side by side: ranks, wins, and where others are ahead."""

from dataclasses import dataclass
from statistics import mean, stdev

from . import real, store, summary
from .sets import OURS, REAL, SETS

#: A difference of so many standard errors is called clear.
CLEAR = 2.0


@dataclass(frozen=True)
class Group:
    """Sets that are compared with each other, and who takes part in all of them."""

    title: str
    names: tuple

    @property
    def methods(self):
        return tuple(
            method
            for method in SETS[self.names[0]].contenders
            if all(method in SETS[name].contenders for name in self.names)
        )


class Board:
    """What is known: rows by (set, method), and why others have none."""

    def __init__(self, folder):
        self.rows, self.notes, self.given = {}, {}, {}
        for name, task in SETS.items():
            for method in task.contenders:
                figures = store.read(folder, name, method)
                row = summary.scored(figures, task.seeds())
                if row is None:
                    absent = not figures and name in REAL and real.source(name) is None
                    self.notes[name, method] = "its package is not served" if absent else summary.unfinished(figures)
                else:
                    self.rows[name, method] = row
                    self.given[method] = (figures["title"], figures["given"])

    def title(self, method):
        return self.given[method][0]

    @property
    def ours(self):
        """The first of ours that has figures: the measure of the others."""
        return next((one for one in OURS if any(method == one for _, method in self.rows)), None)

    def measured(self, group):
        """The methods of a group that have figures on any of its sets."""
        return [method for method in group.methods if any((name, method) in self.rows for name in group.names)]

    def ranks(self, group, key="error"):
        """The mean rank of every method over the sets that all were tried on; equals share a rank, and who failed is behind all others."""
        methods = self.measured(group)
        found = {method: [] for method in methods}
        for name in group.names:
            if any(self.notes.get((name, method)) == summary.UNTRIED for method in methods):
                continue
            values = {method: self.value(name, method, key) for method in methods}
            for method, value in values.items():
                better = sum(other < value for other in values.values())
                equal = sum(other == value for other in values.values())
                found[method].append(better + (equal + 1) / 2)
        return {method: mean(ranks) for method, ranks in found.items() if ranks}

    def value(self, name, method, key):
        row = self.rows.get((name, method))
        value = None if row is None else getattr(row, key)
        return float("inf") if value is None else value

    def wins(self, name, method):
        """On how many splits ours is better, equal and worse; None unless both have figures."""
        pairs = self.pairs(name, method)
        if pairs is None:
            return None
        return sum(a < b for a, b in pairs), sum(a == b for a, b in pairs), sum(a > b for a, b in pairs)

    def pairs(self, name, method):
        ours, other = self.rows.get((name, self.ours)), self.rows.get((name, method))
        if ours is None or other is None:
            return None
        return [(error, other.errors[seed]) for seed, error in ours.errors.items()]

    def ahead(self, name):
        """Who has a smaller mean error than ours, the best first: (method, mean difference, its standard error)."""
        found = []
        for method in SETS[name].contenders:
            pairs = None if method in OURS else self.pairs(name, method)
            if not pairs:
                continue
            differences = [a - b for a, b in pairs]
            if mean(differences) > 0.0:
                found.append((method, mean(differences), stdev(differences) / len(differences) ** 0.5))
        return sorted(found, key=lambda one: -one[1])
