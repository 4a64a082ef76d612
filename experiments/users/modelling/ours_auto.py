"""banach: the model that it chooses by itself."""

import banach

TITLE = "banach, auto"
NEEDS = () if hasattr(banach, "AutoRegressor") else ("banach.AutoRegressor",)
GIVEN = "`AutoRegressor()` or `AutoClassifier()` as it is"


def build(task):
    return banach.AutoClassifier() if task.classes else banach.AutoRegressor()
