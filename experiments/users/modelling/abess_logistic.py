"""abess: best subsets for classes, their size by the extended BIC."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "abess, EBIC"
NEEDS = ("abess",)
GIVEN = "`abess.LogisticRegression`, or `MultinomialRegression` for several classes, with `ic_type='ebic'` and its own sizes; no folds"


class Subsets(ClassifierMixin, BaseEstimator):
    """The class of abess for as many classes as there are."""

    def __init__(self, thread):
        self.thread = thread

    def fit(self, X, y):
        from abess import LogisticRegression, MultinomialRegression

        kind = LogisticRegression if len(set(y)) == 2 else MultinomialRegression
        self.model_ = kind(ic_type="ebic", thread=self.thread).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        # Its own `predict` cuts names of classes to the length of the first.
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def build(task):
    return make_pipeline(StandardScaler(), Subsets(task.threads))
