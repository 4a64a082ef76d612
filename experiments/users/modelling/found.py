"""What a fitted model holds: its monomials by the size of their coefficients."""

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LinearRegression


@dataclass(frozen=True)
class Found:
    """The largest monomials first, as many as were asked for, and all of the model if it has exact zeros."""

    largest: list
    selected: list | None = None


def of_columns(coefficients, k, powers=None):
    """From the coefficients of standardised columns: variables, or monomials with the given powers."""
    size = np.abs(np.ravel(coefficients))
    order = np.argsort(-size, kind="stable")
    nonzero = order[size[order] > 0.0]

    def name(column):
        if powers is None:
            return ((int(column), 1),)
        return tuple((int(j), int(powers[column, j])) for j in np.flatnonzero(powers[column]))

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
