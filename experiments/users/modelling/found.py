"""What a fitted model holds: its monomials by the size of their coefficients."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from sklearn.linear_model import LinearRegression


@dataclass(frozen=True)
class Found:
    """The largest monomials first, as many as were asked for, and all of the model if it has exact zeros."""

    largest: list
    selected: list | None = None


@lru_cache
def pairs(variables):
    """The two variables of every product, in the order of `PolynomialFeatures`; its `powers_` would be a matrix of a gigabyte."""
    return np.triu_indices(variables)


def of_columns(coefficients, k, variables):
    """From the coefficients of standardised columns: the variables, then the products of two of them."""
    size = np.abs(np.ravel(coefficients))
    order = np.argsort(-size, kind="stable")
    nonzero = order[size[order] > 0.0]

    def name(column):
        if column < variables:
            return ((int(column), 1),)
        i, j = (int(both[column - variables]) for both in pairs(variables))
        return ((i, 2),) if i == j else ((i, 1), (j, 1))

    selected = [name(column) for column in nonzero[:2000]]
    return Found(selected[:k], selected)


def values(monomials, X):
    """The monomials at the samples, one column each."""
    return np.column_stack([np.prod([X[:, j] ** power for j, power in monomial], axis=0) for monomial in monomials])


def refitted(monomials, data):
    """The predictions at new samples of least squares on these monomials alone."""
    if not monomials:
        return np.full(len(data.y_new), data.y.mean())
    model = LinearRegression().fit(values(monomials, data.X), data.y)
    return model.predict(values(monomials, data.X_new))
