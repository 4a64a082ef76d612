"""Where a peer is ahead of us, found in the figures by the same rule for all of them."""

from .summary import modelled, solved, wins

CLEARLY = 1.05


def of_solvers(group):
    rows = solved(group)
    ours = rows.get("ours")
    if ours is None:
        return ["no answer of ours"]
    others = [row for name, row in rows.items() if name != "ours"]
    faster = [
        f"{row.title} takes {row.seconds / ours.seconds:.2f} of our time"
        for row in others
        if row.reached and row.seconds < ours.seconds
    ]
    sooner = [
        f"{row.title} has the objective to 1e-6 in {row.seconds_to_objective / ours.seconds:.2f} of our time"
        for row in others
        if row.seconds_to_objective is not None
        and row.seconds_to_objective < ours.seconds
        and row.seconds >= ours.seconds
    ]
    smaller = [
        f"{row.title} takes {row.fit_bytes / 2**20:.0f} MB more than it had before, we {ours.fit_bytes / 2**20:.0f} MB"
        for row in others
        if row.fit_bytes + 2**20 < ours.fit_bytes
    ]
    return faster + sooner + smaller


def of_models(group):
    rows = modelled(group)
    if "ours" not in rows:
        return ["no answer of ours"]
    own = [row for name, row in rows.items() if name.startswith("ours")]
    others = [row for name, row in rows.items() if not name.startswith("ours")]
    best, quickest = min(own, key=lambda row: row.error), rows["ours"]
    better = [
        f"{row.title} has a smaller error than {best.title} ({row.error:.3g} against {best.error:.3g}; "
        f"ours is better in {wins(best, row)[0]} of {wins(best, row)[1]} draws)"
        for row in others
        if row.error < best.error
    ]
    faster = sorted(
        (row.seconds / quickest.seconds, row.title) for row in others if CLEARLY * row.seconds < quickest.seconds
    )
    lines = list(better)
    if faster:
        lines.append("faster, our time = 1: " + ", ".join(f"{title} {ratio:.2g}" for ratio, title in faster))
    known = [row for row in others if row.true_of_largest is not None]
    lines += [
        f"{row.title} has more true ones among its largest ({row.true_of_largest:.1f} against {quickest.true_of_largest:.1f})"
        for row in known
        if row.true_of_largest > quickest.true_of_largest
    ]
    smaller = [row for row in others if row.fit_bytes + 2**20 < quickest.fit_bytes]
    if smaller:
        sizes = ", ".join(f"{row.title} {row.fit_bytes / 2**20:.0f} MB" for row in smaller)
        lines.append(f"less memory for the fit than our {quickest.fit_bytes / 2**20:.0f} MB: {sizes}")
    return lines
