"""
Interactions in wide data
=========================

A measurement on 200 cells depends on products of genes, and there are 760 genes to choose from: 289,180 genes and pairs of
genes, far more than cells. Which of them is it, and can the answer be trusted?

The genes are those of real blood cells, with all their correlations. The measurement is made up, so that we know the
answer.
"""

import sys
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LassoCV
from sklearn.metrics import r2_score

from banach import LpRegressorCV, datasets, kernels

QUICK = "--quick" in sys.argv  # small sizes, for the tests
OUT = Path("out/examples")
OUT.mkdir(parents=True, exist_ok=True)

# %%
# The data: genes of mean 0 and variance 1, and a measurement that is made of two pairs and one single gene. Thirty per
# cent noise is added.

genes = datasets.load_blood_cells(as_frame=True).data
genes = genes.loc[:, (genes > 0).mean() > (0.3 if QUICK else 0)]
genes = (genes - genes.mean()) / genes.std(ddof=0)
signal = 2 * genes["LST1"] * genes["COX6A1"] - 1.5 * genes["HLA-DMB"] * genes["IFITM2"] + genes["SCP2"]
rng = np.random.default_rng(0)
y = signal + 0.3 * signal.std() * rng.normal(size=len(signal))

cells = rng.permutation(len(genes))
train, test = cells[: 120 if QUICK else 200], cells[120 if QUICK else 200 :]
X_train, X_test, y_train, y_test = genes.iloc[train], genes.iloc[test], y.iloc[train], y.iloc[test]
monomials = kernels.Anova(1, 2).cardinality(genes.shape[1])
print(f"{len(train)} cells to learn from, {genes.shape[1]} genes, {monomials} genes and pairs of genes")

# %%
# A linear model sees little of it: products of variables of mean 0 are hardly correlated with the variables.

linear = LassoCV(cv=5, max_iter=20_000).fit(X_train, y_train)
print(f"Lasso on the genes:    R^2 {r2_score(y_test, linear.predict(X_test)):.3f} on {len(test)} other cells")

# %%
# All genes and all pairs at once. The features are never listed: memory stays that of a few tiles of them. C is chosen by
# cross-validation. A duality gap of 1e-10 makes the intervals below narrow.

begin = time.perf_counter()
model = LpRegressorCV(kernel="anova", degree=(1, 2), p=1.05, Cs=6 if QUICK else 20, tol=1e-10).fit(X_train, y_train)
seconds = time.perf_counter() - begin
print(
    f"genes and pairs:       R^2 {model.score(X_test, y_test):.3f}, fitted in {seconds:.1f} s by the {model.route_} route"
)

# %%
# Which monomials matter, by an exact search over all of them. The intervals and the last line are proven from the duality
# gap: they hold for the exact optimum, not only for the numbers that the solver happened to stop at.

top = model.top_features(6)
print(f"\n{top}\n")

# %%
# An equation with exact zeros: the terms that the evidence of all samples names among the same monomials.

equation = model.equation(8)
print(equation)
print(equation.terms)
print(f"the equation:          R^2 {r2_score(y_test, equation.predict(X_test.to_numpy())):.3f}")

# %%
# The same as pictures.

model.plot_features(8).figure_.savefig(OUT / "interactions_features.png", dpi=120)
model.plot_relevance(10).figure_.savefig(OUT / "interactions_relevance.png", dpi=120)
model.plot_cv().figure_.savefig(OUT / "interactions_cv.png", dpi=120)
print(f"pictures: {OUT}/interactions_*.png")
