"""scikit-learn's LassoCV on the columns as they are."""

from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .expansion import found

__all__ = ["GIVEN", "NEEDS", "TITLE", "build", "found"]

TITLE = "LassoCV"
NEEDS = ()
GIVEN = "`LassoCV` as it is (100 alphas), its folds on two threads; no products"


def build(task):
    return make_pipeline(StandardScaler(), LassoCV(cv=task.folds(), n_jobs=task.threads))
