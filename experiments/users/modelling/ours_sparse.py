"""banach: the few terms with the smallest criterion, of all monomials."""

from banach import SparseClassifier, SparseRegressor

from .found import Found

TITLE = "banach, few terms"
NEEDS = ()
GIVEN = "`SparseRegressor()`, with `kernel='poly', degree=(1, 2)` where there are products; for classes `SparseClassifier()`; no folds"


def build(task):
    kind = SparseClassifier if task.classes else SparseRegressor
    return kind("poly", degree=(1, task.degree)) if task.degree > 1 else kind()


def found(model, k):
    monomials = list(model.terms_["exponents"])
    return Found(monomials[:k], monomials)
