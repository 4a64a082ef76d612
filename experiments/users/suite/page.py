"""The page docs/suite.md, all of which is written by `make suite`."""

from .. import machine
from ..report import table
from . import real, summary
from .board import CLEAR, Group
from .measure import LEAST, LIMIT
from .sets import FEW_INPUTS, REAL, SETS, SYNTHETIC, TIMED

NUMBERS = Group("Real numbers", tuple(name for name, one in REAL.items() if not one.classes))
CLASSES = Group("Real classes", tuple(name for name, one in REAL.items() if one.classes))
DRAWN = Group("Synthetic", tuple(SYNTHETIC))
FEW = Group("Few inputs", tuple(name for name, task in SETS.items() if "ebm" in task.contenders))
GROUPS = (NUMBERS, CLASSES, DRAWN)

HEAD = f"""# The suite

Real wide data out of packages, and synthetic tasks: banach against what users would pick instead, on the same splits. All of this page is
written by `make suite` ([experiments/users/suite](../experiments/users/suite)).

```console
make suite                     # downloads the packages, measures what is not measured yet, writes this page
make suite ONLY=ours AGAIN=1   # ours once more; or names of methods
make suite SETS="yarn khan"    # these sets alone
```

A quarter of the samples of a real set is new, as many of every class as there are, 5 times, and 10 times where there are at most 100
samples; synthetic sets are drawn 5 times. Everyone gets the same training samples as they are, with means for what is missing, chooses by its own search among them,
and has one thread. Who needs more than {LIMIT} s of the processor for a fit is left out. Splits and draws with the seeds 0 to 4 were there to choose our rules by; those of this page begin at 100.

Error of numbers: the mean square over that of the new targets from their mean, both over all splits; 1 is a constant. Error of classes: the part that is wrong.
Behind it the standard error over the splits, as if they were independent, which they are not quite. Log-loss: for those who have probabilities, none of which counts as less than
{LEAST:g}. **Bold** is the smallest. Where products or smooth functions are true, in the synthetic sets, celer, skglm MCP, abess, KernelRidge and *banach, few terms* are told the degree
and have all monomials up to it; the others are told nothing."""

UNFINISHED = """**Not everyone has been measured on all sets yet**: [who is missing](#who-did-not-finish). Ranks are over the sets that all shown methods were tried on."""

TIMES = """Errors and median seconds of the processor of *banach, auto* and of our search for a linear model alone, and the ratio of these seconds, on one thread; where there is a peer, its error."""

LOSING = """## Where we lose

All who have a smaller mean error than *{ours}*, found by a rule and not chosen; noise counts against us as well. Behind the name the mean difference over the splits and its
standard error; clear means more than {clear:g} of these."""


def text(board):
    parts = [HEAD, circumstances(), UNFINISHED if summary.UNTRIED in board.notes.values() else ""]
    parts += [part for group in GROUPS for part in section(board, group)]
    parts += [few_inputs(board), times(board), losses(board), sources(), given(board), absent(board)]
    return "\n\n".join(part for part in parts if part) + "\n"


def circumstances():
    host = machine.describe()
    versions = ", ".join(f"{name} {version}" for name, version in host["versions"].items() if version)
    return f"{host['date']}: {host['cpu']}, {host['system']}, Python {host['python']}, {versions}."


def section(board, group):
    """Errors, log-losses, wins and times of the sets of a group."""
    methods = board.measured(group)
    if not methods:
        return []
    parts = [f"## {group.title}", matrix(board, group.names, methods, error)]
    if group is CLASSES:
        parts += ["Log-loss:", matrix(board, group.names, with_chances(board, group), log_loss)]
    if board.ours:
        others = [method for method in methods if method != board.ours]
        parts += [
            f"Splits on which *{board.title(board.ours)}* is better, equal and worse:",
            matrix(board, group.names, others, won),
        ]
    parts += ["Seconds of the processor for the search and the fit, the median:"]
    parts += [matrix(board, group.names, methods, seconds)]
    return [*parts, "Mean ranks over these sets:", rank_table(board, group)]


def with_chances(board, group):
    """The methods that have probabilities."""
    return [
        method
        for method in board.measured(group)
        if any((name, method) in board.rows and board.rows[name, method].log_losses for name in group.names)
    ]


def few_inputs(board):
    """Those that learn a length or a function for every input are compared where there are few."""
    methods = board.measured(FEW)
    if not methods:
        return ""
    intro = f"Sets with at most {FEW_INPUTS} inputs, real and synthetic, with a Gaussian process and EBM, which take part in no others."
    return "\n\n".join(
        [f"## {FEW.title}", intro, matrix(board, FEW.names, methods, error), "Mean ranks:", rank_table(board, FEW)]
    )


def times(board):
    """What the default takes, and what the search for a linear model does."""
    if any((name, method) not in board.rows for name in TIMED for method in SETS[name].contenders):
        return ""
    body = []
    for name, task in TIMED.items():
        auto, linear, *peer = task.contenders
        ratio = board.rows[name, auto].processor / board.rows[name, linear].processor
        others = f"{board.title(peer[0])} {error(board, name, peer[0], peer)}" if peer else ""
        cells = [error(board, name, method, (auto, linear)) for method in (auto, linear)]
        body.append(
            [
                f"{task.title}, {task.about}",
                *cells,
                others,
                *(seconds(board, name, method, ()) for method in (auto, linear)),
                f"{ratio:.1f}",
            ]
        )
    head = ["", "error", "linear", "a peer", "seconds", "linear", "ratio"]
    return f"## What the default takes\n\n{TIMES}\n\n{table(head, body)}"


def matrix(board, names, methods, cell):
    """Sets by methods."""
    body = [[SETS[name].title, *(cell(board, name, method, methods) for method in methods)] for name in names]
    return table(["", *(board.title(method) for method in methods)], body)


def error(board, name, method, methods):
    row = board.rows.get((name, method))
    if row is None:
        return "-"
    best = row.error <= min(board.value(name, other, "error") for other in methods)
    shown = f"{row.error:.3g}"
    return f"{f'**{shown}**' if best else shown} ± {row.deviation:.1g}"


def log_loss(board, name, method, methods):
    value = board.value(name, method, "log_loss")
    if value == float("inf"):
        return "-"
    best = value <= min(board.value(name, other, "log_loss") for other in methods)
    return f"**{value:.3f}**" if best else f"{value:.3f}"


def won(board, name, method, _):
    counts = board.wins(name, method)
    return "-" if counts is None else "{} {} {}".format(*counts)


def seconds(board, name, method, _):
    row = board.rows.get((name, method))
    return "-" if row is None else f"{row.processor:.2g}" if row.processor < 10 else f"{row.processor:.0f}"


def rank_table(board, group):
    """The best first; who failed on a set is behind all others there."""
    ranks = board.ranks(group)
    by_chances = board.ranks(group, "log_loss") if group is CLASSES else {}
    chosen = with_chances(board, group) if group is CLASSES else ()
    head = ["", "mean rank", *(["by log-loss"] if group is CLASSES else []), "splits: ours better, equal, worse"]
    body = []
    for method, rank in sorted(ranks.items(), key=lambda one: one[1]):
        counts = [board.wins(name, method) for name in group.names]
        counts = [sum(one) for one in zip(*(count for count in counts if count), strict=True)]
        line = [board.title(method), f"{rank:.1f}"]
        if group is CLASSES:
            line.append(f"{by_chances[method]:.1f}" if method in chosen else "-")
        body.append([*line, "" if method == board.ours or not counts else "{} {} {}".format(*counts)])
    return table(head, body)


def losses(board):
    if board.ours is None:
        return ""
    lines = []
    for name, task in SETS.items():
        ahead = board.ahead(name)
        if ahead:
            said = [
                f"{board.title(method)} {difference:.2g} ± {deviation:.1g}{', clear' if difference > CLEAR * deviation else ''}"
                for method, difference, deviation in ahead
            ]
            lines.append(f"- *{task.title}*, {board.rows[name, board.ours].error:.3g}: {'; '.join(said)}.")
    return "\n\n".join([LOSING.format(ours=board.title(board.ours), clear=CLEAR), "\n".join(lines) or "Nowhere."])


def sources():
    body = [[f"`{name}`", task.title, task.about, source(name), f"{task.draws}"] for name, task in SETS.items()]
    return "## The sets\n\n" + table(["name", "", "", "from", "splits"], body)


def source(name):
    return (real.source(name) or "not served") if name in REAL else "drawn"


def given(board):
    lines = [f"- *{title}* (`{method}`): {what}." for method, (title, what) in board.given.items()]
    return "## What each is given\n\n" + "\n".join(lines)


def absent(board):
    """The same reason for several sets is said once."""
    reasons = {}
    for (name, method), why in board.notes.items():
        reasons.setdefault((method, why), []).append(SETS[name].title)
    lines = [f"- `{method}`, {why}: {', '.join(titles)}." for (method, why), titles in reasons.items()]
    return "## Who did not finish\n\n" + "\n".join(lines) if lines else ""
