"""banach at one p: as many values of C as others try of their alphas."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from banach import LpClassifierCV, LpRegressorCV

from .ours import found

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "banach, p = 1.05"
NEEDS = ()
GIVEN = "`LpRegressorCV` or `LpClassifierCV` with p = 1.05 and 20 values of C, more where the best lies at an end; standardised monomials for products"


def build(task):
    kind = LpClassifierCV if task.classes else LpRegressorCV
    products = {"kernel": "poly", "degree": (1, 2), "monomials": "standardized"} if task.degree == 2 else {}
    return make_pipeline(StandardScaler(), kind([1.05], Cs=20, **products, cv=task.folds(), n_jobs=task.threads))
