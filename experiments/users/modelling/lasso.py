"""scikit-learn's LassoCV on the columns as they are."""

from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .expansion import found

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "LassoCV"
NEEDS = ()
GIVEN = "`LassoCV`, 100 alphas, 20,000 iterations, its folds on two threads; no products"


def build(task):
    return make_pipeline(StandardScaler(), LassoCV(cv=task.folds(), max_iter=20_000, n_jobs=2))
