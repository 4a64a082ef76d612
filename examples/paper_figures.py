"""
The paper's data, by the paper's algorithm and by Newton's method
=================================================================

How many passes over the data does the dual algorithm of Salzo, Suykens and Rosasco take, how many does Newton's method, and
does the answer find the variables that matter? The data are those of Figure 1 of the paper. The figure itself, with the primal
algorithms that it is compared with, is ``banach-lab reproduce figure1``.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from banach import LpRegressor, datasets

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# %%
# Left: the relative duality gap after every pass over the data of the left panel, which bounds the distance from the optimum.

n, d, relevant = (60, 3000, 4) if QUICK else (200, 100_000, 10)
X, y, _ = datasets.make_sparse_linear(n, d, relevant, random_state=0)
figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
for solver, name, color in (("paper", "dual algorithm", "#D55E00"), ("newton", "Newton's method", "#0072B2")):
    for p, text, style in ((4 / 3, "4/3", "-"), (5 / 4, "5/4", "--")):
        model = LpRegressor(p=p, C=10.0, solver=solver, fit_intercept=False).fit(X, y)
        print(
            f"{name:15} p = {text}: relative gap {model.duality_gap_:.0e} after {model.n_evaluations_} passes over the data"
        )
        model.plot_convergence(ax=axes[0], color=color, linestyle=style, label=f"{name}, p = {text}")
axes[0].set_title(f"n = {n}, d = {d}", fontsize="medium", loc="left")
axes[0].legend(frameon=False, fontsize="small")

# %%
# Right: the weights that are found in the data of the right panel, beside the true ones. At p = 4/3 they are shrunk, and many
# small ones are not zero.

n, d, relevant = 85, 1500, 6
X, y, truth = datasets.make_sparse_linear(n, d, relevant, random_state=0)
markers, stems, _ = axes[1].stem(
    [j for j, _ in truth], [w for _, w in truth], linefmt="#E69F00", markerfmt="o", basefmt=" "
)
markers.set(markersize=6, label="true")
shrunk = LpRegressor(p=4 / 3, C=10.0, fit_intercept=False).fit(X, y)
axes[1].plot(shrunk.coef_, color="#0072B2", linewidth=0.8, label="found, p = 4/3")
axes[1].set(xlabel="variable", ylabel="weight")
axes[1].set_title(f"n = {n}, d = {d}, p = 4/3", fontsize="medium", loc="left")
axes[1].legend(frameon=False, fontsize="small")
figure.savefig(OUT / "paper_figure1.png", dpi=120)

# %%
# What the paper leaves out: p nearer to 1.

true = {j for j, _ in truth}
figure, axis = plt.subplots(figsize=(5.5, 4.2), layout="constrained")
for p, color in ((4 / 3, "#0072B2"), (1.05, "#009E73")):
    model = LpRegressor(p=p, C=10.0, fit_intercept=False).fit(X, y)
    largest = np.argsort(-np.abs(model.coef_))[: len(true)]
    print(f"p = {p:.3g}: {len(true & set(largest.tolist()))} of {len(true)} true variables among the largest")
    order = np.sort(np.abs(model.coef_))[::-1]
    axis.loglog(np.arange(1, len(order) + 1), order, color=color, label=f"p = {p:.3g}")
axis.axvline(len(true), color="#555555", linestyle=":", label=f"the {len(true)} true ones")
axis.set(xlabel="rank", ylabel="size of the weight", ylim=(1e-12, 2))
axis.legend(frameon=False, fontsize="small")
figure.savefig(OUT / "paper_weights.png", dpi=120)
print(f"pictures: {OUT}/paper_*.png")
