"""
The picture of the README
=========================

Makes ``docs/images/python.png``: a model of 289,180 genes and pairs of genes, of which three make up the measurement. The
example on interactions in wide data says more about it.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from banach import LpRegressorCV, datasets

QUICK = "--quick" in sys.argv  # small sizes, for the tests; the picture of the README stays as it is
ROOT = Path(__file__).resolve().parent.parent
OUT = Path("out/examples") if QUICK else ROOT / "docs" / "images"
OUT.mkdir(parents=True, exist_ok=True)

genes = datasets.load_blood_cells(as_frame=True).data
genes = genes.loc[:, (genes > 0).mean() > (0.4 if QUICK else 0)]
genes = (genes - genes.mean()) / genes.std(ddof=0)
y = 2 * genes["LST1"] * genes["COX6A1"] - 1.5 * genes["HLA-DMB"] * genes["IFITM2"] + genes["SCP2"]
rng = np.random.default_rng(0)
y += 0.3 * y.std() * rng.normal(size=len(y))
cells = rng.permutation(len(y))[: 100 if QUICK else 200]

model = LpRegressorCV(kernel="anova", degree=(1, 2), p=1.05, Cs=6 if QUICK else 20).fit(
    genes.iloc[cells], y.iloc[cells]
)

figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="constrained", width_ratios=(1.15, 1, 1))
model.plot_features(7, ax=axes[0])
model.plot_relevance(8, ax=axes[1])
model.plot_cv(ax=axes[2])
for ax, name in zip(axes, ("plot_features", "plot_relevance", "plot_cv"), strict=True):
    ax.set_title(f"model.{name}()", fontsize="medium", loc="left", family="monospace")
# Without the version of matplotlib, the same picture is the same file.
figure.savefig(OUT / "python.png", dpi=100, metadata={"Software": None})
print(f"{model.n_features_in_} genes, {len(cells)} cells, relative duality gap {model.duality_gap_:.1e}")
print(f"picture: {(OUT / 'python.png').relative_to(ROOT) if not QUICK else OUT / 'python.png'}")
