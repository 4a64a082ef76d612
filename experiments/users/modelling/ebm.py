"""interpret's explainable boosting machine: a sum of functions of one and of two inputs."""

TITLE = "EBM"
NEEDS = ("interpret",)
GIVEN = "`ExplainableBoostingRegressor` or `Classifier` as it is"


def build(task):
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if task.classes else ExplainableBoostingRegressor
    return kind(n_jobs=task.threads, random_state=0)
