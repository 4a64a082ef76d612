"""banach: the same search, and then an equation of few monomials, as many as predict held-out samples best."""

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from . import ours
from .found import Found

TITLE = "banach, its equation"
NEEDS = ()
GIVEN = (
    "that search, then `equation(20, cv=folds)`: the largest monomials fitted again, their number chosen by the folds"
)


class Equation(RegressorMixin, BaseEstimator):
    """A search, and the equation of what it found."""

    def __init__(self, search, cv, terms=20):
        self.search, self.cv, self.terms = search, cv, terms

    def fit(self, X, y):
        self.search.fit(X, y)
        self.equation_ = self.search.equation(self.terms, cv=self.cv)
        return self

    def predict(self, X):
        return self.equation_.predict(X)


def build(task):
    return make_pipeline(StandardScaler(), Equation(ours.search(task), task.folds()))


def found(pipeline, k):
    model = pipeline[-1]
    return Found(list(model.search.top_features(k)["exponents"]), list(model.equation_.monomials))
