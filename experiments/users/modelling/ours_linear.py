"""banach: the search over p and C as it is, linear."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from banach import LpClassifierCV, LpRegressorCV

TITLE = "banach, linear"
NEEDS = ()
GIVEN = "`LpRegressorCV()` or `LpClassifierCV()` as it is, on standardised columns"


def build(task):
    kind = LpClassifierCV if task.classes else LpRegressorCV
    return make_pipeline(StandardScaler(), kind(n_jobs=task.threads))
