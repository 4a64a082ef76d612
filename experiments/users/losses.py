"""Where a peer is ahead of us, found in the figures by the same rule for all of them."""

from .summary import modelled, solved, wins

#: What is nearer than a megabyte is the same memory.
MEGABYTE = 2**20


def of_solvers(group):
    """What is ahead of our solver on a problem."""
    rows = solved(group)
    ours = rows.pop("ours")
    reached = [row for row in rows.values() if row.reached]
    objective = [row for row in rows.values() if row.seconds_to_objective is not None]
    sooner = [row for row in objective if row.seconds_to_objective < ours.seconds <= row.seconds]
    measured = [row for row in reached if row.processor is not None]
    return [
        *listed(
            "less time, ours = 1", ((row.title, row.seconds / ours.seconds) for row in reached), "{:.2g}", below=1.0
        ),
        *listed(
            "less time of the processors, ours = 1",
            ((row.title, row.processor / ours.processor) for row in measured),
            "{:.2g}",
            below=1.0,
        ),
        *listed(
            "the objective is there before our certificate, our time = 1",
            ((row.title, row.seconds_to_objective / ours.seconds) for row in sooner),
            "{:.2g}",
            below=1.0,
        ),
        *less_memory(ours, rows.values()),
    ]


def of_models(group):
    """What is ahead of our models on a kind of data: errors against our best row, the rest against the first."""
    rows = modelled(group)
    ours, own = next(iter(rows.values())), [row for name, row in rows.items() if name.startswith("ours")]
    others = [row for name, row in rows.items() if not name.startswith("ours")]
    best = min(own, key=lambda row: row.error)
    found = []
    for row in sorted(others, key=lambda row: row.error):
        if row.error < best.error:
            won, draws = wins(best, row)
            found.append(f"{row.title} {row.error:.3g} (ours is better in {won} of {draws} draws)")
    if found:
        found = [f"smaller error than the {best.error:.3g} of {best.title}: {', '.join(found)}"]
    known = [row for row in others if row.true_of_largest is not None]
    more = [row for row in known if row.true_of_largest > ours.true_of_largest]
    if more:
        names = ", ".join(f"{row.title} {row.true_of_largest:.1f}" for row in more)
        found.append(f"more true ones among the largest than our {ours.true_of_largest:.1f}: {names}")
    times = ((row.title, row.seconds / ours.seconds) for row in others)
    processors = ((row.title, row.processor / ours.processor) for row in others)
    return [
        *found,
        *listed("less time, ours = 1", times, "{:.2g}", below=1.0),
        *listed("less time of the processors, ours = 1", processors, "{:.2g}", below=1.0),
        *less_memory(ours, others),
    ]


def less_memory(ours, others):
    """Who takes less on top of what was there."""
    limit = ours.fit_bytes - MEGABYTE
    sizes = ((row.title, row.fit_bytes) for row in others)
    few = [(title, size / MEGABYTE) for title, size in sizes if size < limit]
    return listed(f"less memory than our {ours.fit_bytes / MEGABYTE:.0f} MB", few, "{:.0f} MB")


def listed(what, pairs, form, below=float("inf")):
    """The best first; nothing if there is none."""
    few = sorted((value, title) for title, value in pairs if value < below)
    return [f"{what}: " + ", ".join(f"{title} {form.format(value)}" for value, title in few)] if few else []
