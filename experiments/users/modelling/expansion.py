"""Monomials written out in front of a linear model: standardised, feature by feature, which is how these solvers read them."""

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from .found import of_columns


def written_out(task, model, variables="standardised"):
    """The model on all monomials of the task, or on its columns where the task is linear; the variables of products may stay as they are."""
    if task.degree == 1:
        return make_pipeline(StandardScaler(), model)
    expand = PolynomialFeatures(task.degree, include_bias=False, order="F")
    before = [StandardScaler()] if variables == "standardised" else []
    return make_pipeline(*before, expand, StandardScaler(copy=False), model)


def found(pipeline, k):
    """The largest monomials of a model that was written out."""
    return of_columns(pipeline[-1].coef_, k, pipeline.n_features_in_)
