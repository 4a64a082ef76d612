"""glmnet's multinomial regression with the l1 penalty, by python-glmnet."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

TITLE = "glmnet LogitNet"
NEEDS = ("glmnet",)
GIVEN = "`glmnet.LogitNet(alpha=1)`, multinomial, its own five folds and path, the best accuracy (cut_point = 0)"


def build(task):
    from glmnet import LogitNet

    return make_pipeline(
        StandardScaler(), LogitNet(alpha=1, n_splits=5, cut_point=0.0, n_jobs=task.threads, standardize=False)
    )
