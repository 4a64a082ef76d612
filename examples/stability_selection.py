"""
Which genes can be relied on?
=============================

A model of few samples and many variables always names some variables, also where there is nothing to find. Stability
selection looks at random halves of the samples and counts how often their evidence names a variable; here for the genes that tell monocytes
from dendritic cells, and for the same cells with shuffled labels.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from banach import LpClassifier, StabilityDisplay, datasets, stability_selection

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)
PAIRS = 10 if QUICK else 50

# %%
# Two hundred cells of two types that are hard to tell apart, 765 genes.

cells = datasets.load_blood_cells(as_frame=True)
two = cells.target.isin(["monocyte", "dendritic cell"])
X = StandardScaler().set_output(transform="pandas").fit_transform(cells.data[two])
y = cells.target[two]

# %%
# Both halves of every random split are searched for the genes that their evidence names, at most ten.

found = stability_selection(LpClassifier(p=1.1), X, y, k=10, n_pairs=PAIRS)
print(f"{found.n_fits} halves of {len(y)} cells")
for row in found.rows()[:8]:
    print(
        f"  {row['monomial']:10} named by {100 * row['frequency']:3.0f} % of the halves{' *' if row['stable'] else ''}"
    )
print(found.caption)

# %%
# The same with shuffled labels, where every gene that is named is named by chance.

shuffled = np.random.default_rng(0).permutation(y)
nothing = stability_selection(LpClassifier(p=1.1), X, shuffled, k=10, n_pairs=PAIRS)
most = max(nothing["frequency"], default=0.0)
print(
    f"\nshuffled labels: {int(nothing['stable'].sum())} stable genes, the most frequent in {100 * most:.0f} % of the halves"
)

# %%
# Both as pictures.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
StabilityDisplay.from_table(found, k=12, ax=axes[0])
StabilityDisplay.from_table(nothing, k=12, ax=axes[1])
axes[0].set_title("monocytes against dendritic cells", fontsize="medium", loc="left")
axes[1].set_title("the same cells with shuffled labels", fontsize="medium", loc="left")
figure.savefig(OUT / "stability_selection.png", dpi=120)
print(f"picture: {OUT}/stability_selection.png")
