"""The part of docs/benchmarks.md that `make bench` writes, between two marks; the rest of the page is left alone."""

from . import losses
from .summary import modelled, solved, wins

BEGIN = "<!-- begin: written by `make bench` -->"
END = "<!-- end: written by `make bench` -->"


def write(text, page):
    """Replaces what is between the marks."""
    before, found, rest = page.read_text().partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise ValueError(f"{page}: the lines {BEGIN} and {END} are missing")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}")


def text(results):
    solving = [group for group in results["groups"] if group["kind"] == "solving"]
    modelling = [group for group in results["groups"] if group["kind"] == "modelling"]
    parts = [HEAD, circumstances(results)]
    if solving:
        parts += [SOLVING, *(solver_table(group) for group in solving), given(solving)]
    if modelling:
        parts += [MODELLING, *(model_table(group) for group in modelling), given(modelling)]
    parts += [where_we_lose(results["groups"]), absent(results["groups"])]
    return "\n\n".join(part for part in parts if part) + "\n"


HEAD = """## Against what users would pick instead

`make bench` makes an environment of its own with the packages of
[requirements.txt](../experiments/users/requirements.txt) and the release build of banach, measures, and writes this section
([experiments/users](../experiments/users)). `python -m users --quick` in `experiments` takes small sizes and prints."""

SOLVING = """### The same problem, to the same gap

![The relative duality gap against seconds, for every solver and problem; of banach and Clarabel only the end is known](images/peers.svg)

min over w of `gamma sum_i L(y_i, <x_i, w>) + (1/p) ||w||_p^p`, linear features, no intercept, until the relative duality gap is
at most 1e-6, or what is said. Gamma is what cross-validation chooses, to one digit, and once a hundredth of it. One function judges all answers: the objective of w and the best dual bound that its residuals, or the solver's own dual
vector, prove. *To the objective*: when the objective was within 1e-6 of the smallest that anyone found, which a user cannot know
but which needs no proof. Times are the best of the rounds; who takes over 5 s has one. Memory: what the run takes on top of what was there before it (packages, data,
and an opponent's copy of the data in the layout that it likes best), and in brackets the peak of the process."""

MODELLING = """### Models of the same data

Everyone standardises, chooses by 5-fold cross-validation and fits, which is the time (where gamma and alpha are given, the fit alone is); new samples give the error. Error: the part of the new
targets' variance that is not explained, or the part of wrong classes; mean and standard deviation over the draws. *Largest*: of as
many of its largest coefficients as there are true monomials, how many are true, in how many draws all of them, and the error when these alone are fitted by
least squares: models of the same size. *Selected*: the coefficients that are not zero, true + false, and in how many draws they are the true ones and no others; for `LpRegressorCV` no
coefficient is zero, and its equation is what selects. Time: median over the draws of the best of up to three fits. Memory: the peak on
top of the packages and the data, and in brackets that of the process. Where products are true, they are products of variables as they
were drawn: of standardised ones they need a few linear terms as well, for everybody."""


LOSING = "All that is ahead of us in the tables above, found by a rule and not chosen; noise counts against us as well."


def circumstances(results):
    machine, groups = results["machine"], results["groups"]
    loads = [load for group in groups for load in group["loads"]]
    minutes = sum(group["minutes"] for group in groups)
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version)
    gigabytes = "unknown" if machine["memory_bytes"] is None else f"{machine['memory_bytes'] / 2**30:.0f} GB"
    return (
        f"{machine['date']}: {machine['cpu']}, {machine['cores']} cores, {gigabytes} of memory, {machine['system']}. Python {machine['python']}, "
        f"{versions}. Two threads for everyone, each contender in a process of its own, in turns. The run took {minutes:.0f} minutes; "
        f"the load of the machine, of which we are one or two, was {min(loads):.1f} to {max(loads):.1f}"
        + (": **it was shared, so look at the ratios.**" if max(loads) > 2.5 else ".")
    )


def solver_table(group):
    rows = solved(group)
    ours = rows["ours"]
    head = [
        "solver",
        "seconds",
        "time, ours = 1",
        "processor, ours = 1",
        "to the objective, ours = 1",
        "relative gap",
        "objective above the best",
        "evaluations",
        "memory",
        "rounds",
    ]
    body = []
    for row in rows.values():
        ratio = f"{row.seconds / ours.seconds:.3g}"
        body.append(
            [
                row.title,
                seconds(row.seconds) + (f" ({seconds(row.with_cvxpy)} with CVXPY)" if row.with_cvxpy else ""),
                ratio if row.reached else f"not reached in {ratio}",
                "" if row.processor is None else f"{row.processor / ours.processor:.3g}",
                "no" if row.seconds_to_objective is None else f"{row.seconds_to_objective / ours.seconds:.3g}",
                f"{row.relative_gap:.1e}",
                f"{row.excess:.0e}" if row.excess > 1e-15 else "0",
                f"{row.evaluations}",
                f"{megabytes(row.fit_bytes)} ({megabytes(row.peak_bytes)})",
                f"{row.rounds}",
            ]
        )
    return f"**{group['title']}**\n\n{table(head, body)}"


def model_table(group):
    rows = modelled(group)
    first, ours = next(iter(rows.items()))
    known = any(row.true_of_largest is not None for row in rows.values())
    selects = any(row.selected is not None for row in rows.values())
    head = ["model", "error", "draws that banach wins", "seconds", "time, ours = 1", "processor, ours = 1", "memory"]
    head += ["true of the largest", "draws with all", "error of the largest"] if known else []
    head += [*(["selected, true + false", "draws with these alone"] if known else ["selected"])] if selects else []
    body = []
    for name, row in rows.items():
        deviation = "" if row.deviation is None else f" +- {row.deviation:.2g}"
        line = [
            row.title,
            f"{row.error:.3g}{deviation}",
            "" if name == first else "{} of {}".format(*wins(ours, row)),
            seconds(row.seconds) + ("" if row.fits == 3 else " *"),
            f"{row.seconds / ours.seconds:.2g}",
            f"{row.processor / ours.processor:.2g}",
            f"{megabytes(row.fit_bytes)} ({megabytes(row.peak_bytes)})",
        ]
        if known:
            line += [
                number(row.true_of_largest, ".1f"),
                number(row.draws_with_all, "d"),
                number(row.error_of_largest, ".3g"),
            ]
        if selects and row.selected is None:
            line += ["", ""] if known else [""]
        elif selects and known:
            line += [f"{row.selected_true:.1f} + {row.selected - row.selected_true:.1f}", number(row.exact, "d")]
        elif selects:
            line.append(f"{row.selected:.1f}")
        body.append(line)
    star = (
        ""
        if all(row.fits == 3 for row in rows.values())
        else "\n\n\\* fewer than three fits for a draw, as they take over 1.5 s."
    )
    count = max(len(row.errors) for row in rows.values())
    draws = "1 draw" if count == 1 else f"{count} draws"
    return f"**{group['title']}**: {group['about']}. {draws}.\n\n{table(head, body)}{star}"


def given(groups):
    """What each contender is given, once."""
    told = {one["title"]: one["given"] for group in groups for one in group["contenders"].values() if "title" in one}
    return "What each is given:\n\n" + "\n".join(f"- *{title}*: {what}." for title, what in told.items())


def where_we_lose(groups):
    lines = []
    for group in groups:
        found = (losses.of_solvers if group["kind"] == "solving" else losses.of_models)(group)
        kind = "The solver, " if group["kind"] == "solving" else ""
        lines.append(f"- *{kind}{group['title']}*: {'; '.join(found) or 'nothing'}.")
    return f"### Where we lose\n\n{LOSING}\n\n" + "\n".join(lines)


def absent(groups):
    lines = []
    for group in groups:
        for name, one in group["contenders"].items():
            if "missing" in one:
                lines.append(f"- {group['title']}: {name}, {', '.join(one['missing'])} is not installed.")
            elif "failed" in one:
                lines.append(f"- {group['title']}: {one.get('title', name)}, {one['failed']}.")
    return "### Who did not finish\n\n" + "\n".join(lines) if lines else ""


def seconds(value):
    return f"{value:.1f} s" if value >= 10 else f"{value:.2f} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def megabytes(value):
    return f"{value / 2**20:.{0 if value > 10 * 2**20 else 1}f} MB"


def number(value, form):
    return "" if value is None else format(value, form)


def table(head, body):
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
