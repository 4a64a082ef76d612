"""scikit-learn's own checks, with no expected failure but one that gives counts below 0."""

from __future__ import annotations

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from banach import (
    AutoClassifier,
    AutoRegressor,
    LpClassifier,
    LpClassifierCV,
    LpRegressor,
    LpRegressorCV,
    SparseClassifier,
    SparseRegressor,
    TopFeatures,
    _core,
    kernels,
)

REGRESSION = _core.losses("regression")
CLASSIFICATION = _core.losses("classification")

# Few values and folds, as some checks have few samples of a class.
SMALL = {"Cs": 3, "cv": 2}
# Two checks compare a fit with weights to one with repeated samples to seven digits. A gap of 1e-8 promises four; listed
# features get the others by the last steps of Newton's method, other routes are asked for them. That is more than rounding lets
# them prove, and they warn.
EXACT = {"tol": 1e-14}

ESTIMATORS = [
    LpRegressor(),
    *(LpRegressor(loss=loss) for loss in REGRESSION[1:]),
    LpRegressor(p=2.0, fit_intercept=False),
    LpRegressor(p=1.1),
    LpRegressor(2.0, kernel="poly", coef0=1.0, tol=1e-12),
    LpRegressor(kernel="anova", degree=(1, 2), **EXACT),
    # Without the norm, the exponential of data that are not standardised is out of range. At p = 2 the Gram tensor of the
    # 300 samples of some checks is small; a range of degrees has a shorter way.
    LpRegressor(2.0, kernel="exp", scale=0.01, normalize_kernel=True, **EXACT),
    LpRegressor(kernel=kernels.Exponential(scale=0.05, degrees=(1, 3)), normalize_kernel=True),
    LpClassifier(),
    *(LpClassifier(loss=loss, **({} if loss == "hinge" else EXACT)) for loss in CLASSIFICATION[1:]),
    LpClassifier(2.0, kernel="poly", coef0=1.0, tol=1e-13),
    LpClassifier(kernel="anova", degree=(1, 2), loss=CLASSIFICATION[-1], **EXACT),
    LpClassifier(2.0, kernel="exp", scale=0.01, normalize_kernel=True),
    LpRegressorCV(**SMALL),
    LpRegressorCV(2.0, kernel="exp", tol=1e-12, **SMALL),
    LpClassifierCV(**SMALL),
    LpClassifierCV(loss="hinge", tol=1e-9, **SMALL),
    SparseRegressor(),
    SparseRegressor(fit_intercept=False, max_terms=2),
    SparseRegressor("poly", degree=(1, 2)),
    SparseRegressor("poly", degree=(1, 2), hierarchy="strong"),
    *(SparseRegressor(penalty=penalty) for penalty in ("l1", "mcp", "scad")),
    SparseClassifier(),
    SparseClassifier(fit_intercept=False, max_terms=2),
    SparseClassifier("poly", degree=(1, 2), hierarchy="weak"),
    *(SparseClassifier(penalty=penalty) for penalty in ("l1", "mcp", "scad")),
    AutoRegressor("quick"),
    AutoClassifier("quick"),
    TopFeatures(),
    TopFeatures(SparseRegressor(), k=3),
]


def not_for_counts(estimator):
    """This check draws targets of both signs, whatever the tags say."""
    counts = getattr(estimator, "loss", None) == "poisson"
    return {"check_regressor_multioutput": "its targets are below 0"} if counts else {}


@pytest.mark.filterwarnings("ignore:The fit did not converge. rounding:sklearn.exceptions.ConvergenceWarning")
# Some checks have samples at a distance of 100 from zero, where exponentials lose six digits.
@pytest.mark.filterwarnings("ignore:. fits? of the cross-validation did not:sklearn.exceptions.ConvergenceWarning")
# The data of many checks are noise, of which nothing can be named.
@pytest.mark.filterwarnings("ignore:None of the .* can be named:UserWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=not_for_counts)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
