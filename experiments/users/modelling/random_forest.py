"""scikit-learn's random forests."""

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

TITLE = "Random forest"
NEEDS = ()
GIVEN = (
    "500 trees; of the columns for a split the square root, a tenth or, of up to 1000 columns, a third, by the error of the samples "
    "out of the bag"
)
SHARES = ("sqrt", 0.1)


class Forest(BaseEstimator):
    """The forest with the best score out of the bag."""

    def __init__(self, kind):
        self.kind = kind

    def fit(self, X, y):
        shares = (*SHARES, 1 / 3) if X.shape[1] <= 1000 else SHARES
        forests = [self.kind(500, max_features=share, oob_score=True, random_state=0).fit(X, y) for share in shares]
        self.best_ = max(forests, key=lambda forest: forest.oob_score_)
        return self

    def predict(self, X):
        return self.best_.predict(X)


class Regressor(RegressorMixin, Forest):
    """For numbers."""


class Classifier(ClassifierMixin, Forest):
    """For classes."""

    def predict_proba(self, X):
        return self.best_.predict_proba(X)

    @property
    def classes_(self):
        return self.best_.classes_


def build(task):
    return Classifier(RandomForestClassifier) if task.classes else Regressor(RandomForestRegressor)
