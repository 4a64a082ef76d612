"""banach: the search for C and p by cross-validation."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from banach import LpClassifierCV, LpRegressorCV

from .found import Found

TITLE = "banach"
NEEDS = ()
GIVEN = (
    "`LpRegressorCV` with p of 4/3, 1.1, 1.05, 1.02 and 20 values of C; standardised monomials for products; "
    '`kernel="exp"` as it is for the smooth function; `LpClassifierCV` with p of 4/3, 1.1, 1.05 for classes'
)
EXPONENTS = [4 / 3, 1.1, 1.05, 1.02]


def search(task):
    if task.classes:
        return LpClassifierCV(EXPONENTS[:3], cv=task.folds(), n_jobs=task.threads)
    if task.degree == 1:
        return LpRegressorCV(EXPONENTS, cv=task.folds(), n_jobs=task.threads)
    if task.degree == 2:
        products = {"kernel": "poly", "degree": (1, 2), "monomials": "standardized"}
        return LpRegressorCV(EXPONENTS, **products, cv=task.folds(), n_jobs=task.threads)
    return LpRegressorCV(kernel="exp", cv=task.folds(), n_jobs=task.threads)


def build(task):
    return make_pipeline(StandardScaler(), search(task))


def found(pipeline, k):
    return Found(list(pipeline[-1].top_features(k)["exponents"]))


def settings(pipeline):
    return {name: value for name, value in pipeline[-1].best_params_.items() if name in ("p", "C", "scale")}
