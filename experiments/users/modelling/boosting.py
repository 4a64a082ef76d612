"""scikit-learn's gradient boosting, one tree after another: that by histograms wants more samples than there are here."""

from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

TITLE = "Gradient boosting"
NEEDS = ()
GIVEN = (
    "depths 1 and 3, 100 and 300 trees, of the columns for a split the square root or, of up to 200 columns, all; "
    "rate 0.05, 0.7 of the samples for a tree"
)


class Search(GridSearchCV):
    """All columns for every split where they are few."""

    def fit(self, X, y):
        shares = ["sqrt", None] if X.shape[1] <= 200 else ["sqrt"]
        self.param_grid = {"max_depth": [1, 3], "n_estimators": [100, 300], "max_features": shares}
        return super().fit(X, y)


def build(task):
    kind = GradientBoostingClassifier if task.classes else GradientBoostingRegressor
    scoring = "neg_log_loss" if task.classes else "neg_mean_squared_error"
    model = kind(learning_rate=0.05, subsample=0.7, random_state=0)
    return Search(model, {}, cv=task.folds(), scoring=scoring)
