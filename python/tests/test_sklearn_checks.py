"""scikit-learn's own checks, with no expected failure."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from banach import LpClassifier, LpClassifierCV, LpRegressor, LpRegressorCV, TopFeatures, kernels

REGRESSION = ("squared", "absolute", "epsilon_insensitive", "huber", "quantile")
CLASSIFICATION = ("logistic", "hinge", "squared_hinge")

# Few values and folds, as some checks have few samples of a class.
SMALL = {"Cs": 3, "cv": 2}
# Two checks compare a fit with weights to one with repeated samples to seven digits. A gap of 1e-8 promises four; where
# the last Newton step does not give the others by chance, they are asked for.
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
    LpClassifier(loss="hinge"),
    LpClassifier(loss="squared_hinge", **EXACT),
    LpClassifier(2.0, kernel="poly", coef0=1.0, tol=1e-13),
    LpClassifier(kernel="anova", degree=(1, 2), loss="squared_hinge", **EXACT),
    LpClassifier(2.0, kernel="exp", scale=0.01, normalize_kernel=True),
    LpRegressorCV(**SMALL),
    LpRegressorCV(2.0, kernel="exp", tol=1e-12, **SMALL),
    LpClassifierCV(**SMALL),
    LpClassifierCV(loss="hinge", tol=1e-9, **SMALL),
    TopFeatures(),
    TopFeatures(LpRegressor(p=1.2), k=3),
]


@parametrize_with_checks(ESTIMATORS)
def test_every_check_of_scikit_learn_passes(estimator, check):
    check(estimator)
