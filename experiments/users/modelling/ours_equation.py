"""banach: the same search, and then an equation by ranking and refit, as before there was evidence."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import ours
from .found import Found
from .ranking_refit import RankingRefit

TITLE = "banach, ranking and refit"
NEEDS = ()
GIVEN = "that search, then its 20 largest monomials fitted again, their number chosen by the folds: the way of before"


def build(task):
    return make_pipeline(StandardScaler(), RankingRefit(ours.search(task), task.folds()))


def found(pipeline, k):
    model = pipeline[-1]
    return Found(list(model.search.top_features(k)["exponents"]), model.monomials_)
