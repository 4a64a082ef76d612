"""banach with p and C given, and an equation by ranking and refit: up to 12 of the largest monomials, as many as 10 folds decide."""

from sklearn.model_selection import KFold

from .found import Found
from .ours_given import with_option
from .ranking_refit import RankingRefit

TITLE = "banach, p = 1.02, ranking and refit"
NEEDS = ()
GIVEN = "that fit with p = 1.02, then its 12 largest monomials, their number chosen by 10 folds, which are not told how many are true"
TERMS = 12
FOLDS = KFold(10, shuffle=True, random_state=0)


def told(data):
    build = with_option("1.02").told(data)
    return lambda: RankingRefit(build(), FOLDS, TERMS)


def found(model, k):
    return Found(list(model.search.top_features(k)["exponents"]), model.monomials_)
