"""
The figures of the paper
========================

How many iterations does the dual algorithm take where accelerated proximal gradient descent (FISTA) takes more than a
thousand, and does the answer find the variables that matter? Figure 1 of Salzo, Suykens and Rosasco, computed anew.

At full size this takes a few minutes, most of them for FISTA.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from banach import LpRegressor, datasets, reproduce

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# %%
# Left: the distance from the optimum, relative to it, in every iteration.

figure1 = reproduce("figure1", quick=QUICK)
left, right = figure1["request"]["left"], figure1["request"]["right"]
names = {"dual_gradient": "dual algorithm", "fista": "FISTA"}
colors = {"dual_gradient": "#0072B2", "fista": "#D55E00"}
styles = {"4/3": "-", "5/4": "--"}

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for curve in figure1["curves"]:
    algorithm, p, precision = curve["algorithm"], curve["p"], np.array(curve["precision"])
    reached = np.flatnonzero(precision <= 1e-8)
    count = f"{reached[0]} iterations" if len(reached) else f"more than {len(precision) - 1} iterations"
    print(f"{names[algorithm]:15} p = {p}: {count} to a precision of 1e-8")
    shown = np.where(precision > 0, precision, np.nan)
    axes[0].loglog(
        np.arange(1, len(shown) + 1), shown, color=colors[algorithm], ls=styles[p], label=f"{names[algorithm]}, p = {p}"
    )
axes[0].set(xlabel="iteration", ylabel="precision", ylim=(1e-16, 2))
axes[0].set_title(f"n = {left['samples']}, d = {left['features']}", fontsize="medium", loc="left")
axes[0].legend(frameon=False, fontsize="small")

# %%
# Right: the weights that are found, beside the true ones. At p = 4/3 they are shrunk, and many small ones are not zero.

estimate, truth = np.array(figure1["estimate"]), figure1["truth"]
markers, stems, _ = axes[1].stem(
    [j for j, _ in truth], [w for _, w in truth], linefmt="#E69F00", markerfmt="o", basefmt=" "
)
markers.set(markersize=6, label="true")
axes[1].plot(estimate, color="#0072B2", linewidth=0.8, label="found, p = 4/3")
axes[1].set(xlabel="variable", ylabel="weight")
axes[1].set_title(f"n = {right['samples']}, d = {right['features']}, p = 4/3", fontsize="medium", loc="left")
axes[1].legend(frameon=False, fontsize="small")
figure.savefig(OUT / "paper_figure1.png", dpi=120)
found = figure1["found"]
print(f"true variables among the {len(truth)} largest at p = 4/3, draw by draw: {', '.join(map(str, found))}")

# %%
# Two things that the paper leaves out: Newton's method on the same kind of data, and p nearer to 1.

X, y, truth = datasets.make_sparse_linear(right["samples"], right["features"], right["relevant"], random_state=0)
true = {j for j, _ in truth}
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for p, color in ((4 / 3, "#0072B2"), (1.05, "#009E73")):
    model = LpRegressor(p=p, C=10.0, fit_intercept=False).fit(X, y)
    largest = np.argsort(-np.abs(model.coef_))[: len(true)]
    print(
        f"p = {p:.3g}: {len(true & set(largest.tolist()))} of {len(true)} true variables among the largest, "
        f"relative gap {model.duality_gap_:.0e} after {model.n_evaluations_} passes over the data"
    )
    model.plot_convergence(ax=axes[0], color=color, label=f"p = {p:.3g}")
    order = np.sort(np.abs(model.coef_))[::-1]
    axes[1].loglog(np.arange(1, len(order) + 1), order, color=color, label=f"p = {p:.3g}")
axes[0].legend(frameon=False, fontsize="small")
axes[1].axvline(len(true), color="#555555", linestyle=":", label=f"the {len(true)} true ones")
axes[1].set(xlabel="rank", ylabel="size of the weight", ylim=(1e-12, 2))
axes[1].legend(frameon=False, fontsize="small")
figure.savefig(OUT / "paper_newton.png", dpi=120)
print(f"pictures: {OUT}/paper_*.png")
