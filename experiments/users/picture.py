"""The gap against time, for every solver and problem."""

from .summary import TOLERANCE


def draw(results, path):
    """Writes the picture; without matplotlib there is none."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "banach", "svg.fonttype": "path", "font.size": 9})
    from matplotlib import pyplot

    groups = [
        group
        for group in results["groups"]
        if group["kind"] == "solving" and group.get("tolerance", TOLERANCE) == TOLERANCE
    ]
    figure, axes = pyplot.subplots(1, len(groups), figsize=(3.2 * len(groups), 3.4), sharey=True, layout="constrained")
    for axis, group in zip(axes, groups, strict=True):
        for at, one in enumerate(group["contenders"].values()):
            if one["runs"]:
                course(axis, one, f"C{at}")
        axis.set(xscale="log", yscale="log", title=group["title"].replace("p = ", "\np = "), xlabel="seconds")
        axis.axhline(TOLERANCE, color="0.5", linewidth=0.8, linestyle=":")
    axes[0].set(ylabel="relative duality gap", ylim=(1e-9, 2.0))
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    figure.savefig(path, metadata={"Date": None})


def course(axis, one, color):
    """The best gap so far against time, where it is known, and the end of the run."""
    run = min(one["runs"], key=lambda run: run["seconds"])
    best, times, gaps = float("inf"), [], []
    for seconds, _, gap in run["trace"]:
        best = min(best, gap)
        times.append(seconds)
        gaps.append(best)
    if times:
        axis.plot(times, gaps, color=color, linewidth=1.2)
    axis.plot([run["seconds"]], [max(run["relative_gap"], 1e-9)], "o", color=color, markersize=5, label=one["title"])
