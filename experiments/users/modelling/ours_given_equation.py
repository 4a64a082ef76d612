"""banach with p and C given, and its equation: up to 12 of the largest monomials, as many as 10 folds decide."""

from sklearn.model_selection import KFold

from .found import Found
from .ours_equation import Equation
from .ours_given import with_option

TITLE = "banach, p = 1.02, its equation"
NEEDS = ()
GIVEN = "that fit with p = 1.02, then `equation(12, cv=10 folds)`, which is not told how many are true"
TERMS = 12
FOLDS = KFold(10, shuffle=True, random_state=0)


def told(data):
    build = with_option("1.02").told(data)
    return lambda: Equation(build(), FOLDS, TERMS)


def found(model, k):
    return Found(list(model.search.top_features(k)["exponents"]), list(model.equation_.monomials))
