"""The data: training samples, samples to test on, and where they are known the monomials that matter."""

from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from banach import datasets

from ..contender import THREADS

FOLDS = 5


@dataclass(frozen=True)
class Data:
    """One draw. A monomial is a tuple of pairs, a variable and its exponent."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    truth: frozenset = field(default_factory=frozenset)


@dataclass(frozen=True)
class Task:
    """A kind of data, and who takes part."""

    title: str
    about: str
    draw: callable
    degree: int = 1
    classes: bool = False
    draws: int = 5
    contenders: tuple = ()
    first: int = 0
    threads: int = THREADS

    def seeds(self):
        """The draws."""
        return list(range(self.first, self.first + self.draws))

    def folds(self, number=FOLDS):
        """The folds that everybody chooses by; glmnet makes its own."""
        kind = StratifiedKFold if self.classes else KFold
        return kind(number, shuffle=True, random_state=0)


def wide_linear(samples, features, true, seed):
    """Columns of variance 1 whose neighbours have correlation 1/2; true weights of size 1 to 2, noise a fifth of the signal."""
    rng = np.random.default_rng(1000 + seed)
    weights = np.zeros(features)
    support = rng.choice(features, true, replace=False)
    weights[support] = rng.choice([-1.0, 1.0], true) * rng.uniform(1.0, 2.0, true)

    def inputs(count):
        X = np.asfortranarray(rng.standard_normal((count, features)))
        for j in range(1, features):
            X[:, j] = 0.5 * X[:, j - 1] + np.sqrt(0.75) * X[:, j]
        return X

    X, X_new = inputs(samples), inputs(1000)
    noise = 0.2 * np.std(X_new @ weights)
    y = X @ weights + noise * rng.standard_normal(samples)
    return Data(X, y, X_new, X_new @ weights, frozenset(((int(j), 1),) for j in support))


def interactions(samples, variables, true, seed):
    """The paper's second experiment: six products of two normal variables, or squares, and noise."""
    new = 500
    X, y, truth = datasets.make_sparse_quadratic(samples + new, variables, true, random_state=seed)
    # The target of new samples keeps its noise, which is 1/400 of a true monomial's variance.
    return Data(
        np.asfortranarray(X[:samples]),
        y[:samples],
        X[samples:],
        y[samples:],
        frozenset(monomial for monomial, _ in truth),
    )


def friedman(samples, inputs, seed):
    """Friedman's first function of five inputs, noise 1, and inputs that do not matter."""
    X, y = make_friedman1(samples, n_features=inputs, noise=1.0, random_state=seed)
    X_new, y_new = make_friedman1(2000, n_features=inputs, noise=0.0, random_state=10_000 + seed)
    return Data(np.asfortranarray(X), y, X_new, y_new)


def fermentation(seed):
    """Spectra of 21 samples, a third of them kept for testing."""
    X, y = datasets.load_fermentation(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, test_size=1 / 3, random_state=seed)
    return Data(np.asfortranarray(X), y, X_new, y_new)


def blood_cells(seed, train=100):
    """Genes of blood cells of four types; about as many of each type as there are."""
    X, y = datasets.load_blood_cells(return_X_y=True)
    X, X_new, y, y_new = train_test_split(X, y, train_size=train, stratify=y, random_state=seed)
    # A gene without counts in these cells is a constant column, and of no use to anyone.
    useful = X.std(axis=0) > 0.0
    return Data(np.asfortranarray(X[:, useful]), y, X_new[:, useful], y_new)


WIDE = ("ours", "ours_equation", "ours_sparse", "lasso", "celer_lasso", "skglm_lasso", "skglm_mcp", "glmnet_lasso")
PRODUCTS = (
    "ours", "ours_equation", "ours_sparse", "lasso", "poly_lasso", "celer_lasso", "skglm_mcp", "glmnet_lasso", "kernel_ridge", "svr",
)  # fmt: skip
#: Who names few terms: ours first, which is the measure of the others.
FEW_TERMS = (
    "ours_sparse", "skglm_mcp", "skglm_mcp@20", "celer_lasso", "glmnet_lasso", "abess_ebic", "relaxed_lasso",
)  # fmt: skip
#: Draws from here on were used for no choice: not in developing the search, and not in its documents.
FRESH = 7100
MANY_PRODUCTS = ("ours", "celer_lasso", "glmnet_lasso")
HINDSIGHT = (
    "ours_given@1.02", "ours_given@1.1", "ours_given@1.05", "ours_given@1.005", "ours_given_equation", "celer_hindsight",
)  # fmt: skip
SMOOTH = (
    "ours", "lasso", "poly_lasso", "celer_lasso", "skglm_mcp", "glmnet_lasso", "kernel_ridge", "svr",
    "gaussian_process",
)  # fmt: skip
SPECTRA = (
    "ours",
    "ours_auto",
    "ours_equation",
    "lasso",
    "celer_lasso",
    "skglm_mcp",
    "glmnet_lasso",
    "kernel_ridge",
    "svr",
)
#: One search for one parameter, on one thread: what a search costs by itself.
SEARCHES = ("ours_search", "celer_lasso@20", "glmnet_lasso@20")
CLASSES = ("ours", "ours_auto", "logistic_l1", "celer_logistic", "skglm_logistic", "glmnet_logistic", "svc")

TASKS = {
    "wide": Task(
        "Wide and linear",
        "n = 100, d = 10,000, neighbouring columns with correlation 1/2, 10 true columns, noise a fifth of the signal",
        lambda seed: wide_linear(100, 10_000, 10, seed),
        contenders=WIDE,
    ),
    "products": Task(
        "Products",
        "n = 150, d = 200, 20,300 monomials of degrees 1 and 2, of which 6 of degree 2 are true (the paper's Table 2), noise 0.05",
        lambda seed: interactions(150, 200, 6, seed),
        degree=2,
        contenders=PRODUCTS,
    ),
    "smooth": Task(
        "Smooth",
        "Friedman's first function, n = 100, 5 inputs that matter and 10 that do not, noise 1",
        lambda seed: friedman(100, 15, seed),
        degree=3,
        contenders=SMOOTH,
    ),
    "fermentation": Task(
        "Fermentation",
        "real: glucose from spectra, 14 samples of 1047 bands, 7 to test on, 10 splits",
        fermentation,
        draws=10,
        contenders=SPECTRA,
    ),
    "blood-cells": Task(
        "Blood cells",
        "real: four types of cells from 765 genes, 100 cells, 226 to test on",
        blood_cells,
        classes=True,
        contenders=CLASSES,
    ),
    "search-wide": Task(
        "One search, wide and linear, one thread",
        "the draws of Wide and linear: 5 folds, 20 values of C or alpha",
        lambda seed: wide_linear(100, 10_000, 10, seed),
        draws=3,
        contenders=SEARCHES,
        threads=1,
    ),
    "search-very-wide": Task(
        "One search, very wide and linear, one thread",
        "as Wide and linear with n = 200, d = 100,000: 5 folds, 20 values of C or alpha",
        lambda seed: wide_linear(200, 100_000, 10, seed),
        draws=1,
        contenders=SEARCHES,
        threads=1,
    ),
    "search-products": Task(
        "One search, products, one thread",
        "the draws of Products: 5 folds, 20 values of C or alpha; writing the monomials out is in the time of those who need it",
        lambda seed: interactions(150, 200, 6, seed),
        degree=2,
        draws=3,
        contenders=SEARCHES,
        threads=1,
    ),
    "search-blood-cells": Task(
        "One search, blood cells, one thread",
        "the splits of Blood cells: 5 folds, 20 values of C or lambda",
        blood_cells,
        classes=True,
        draws=3,
        contenders=("ours_search", "glmnet_logistic@20"),
        threads=1,
    ),
    "many-products": Task(
        "Many products",
        "as Products with d = 650: 212,225 monomials",
        lambda seed: interactions(150, 650, 6, seed),
        degree=2,
        draws=1,
        contenders=MANY_PRODUCTS,
    ),
    "table2": Task(
        "The paper's Table 2, gamma and alpha given",
        "n = 90, d = 650, 211,575 monomials of degree 2, of which 6 are true, noise 0.05",
        lambda seed: interactions(90, 650, 6, seed),
        degree=2,
        draws=10,
        contenders=HINDSIGHT,
    ),
    "few-wide": Task(
        "Few terms, wide and linear, draws of the development",
        "the draws of Wide and linear",
        lambda seed: wide_linear(100, 10_000, 10, seed),
        contenders=FEW_TERMS,
    ),
    "few-wide-fresh": Task(
        "Few terms, wide and linear, fresh draws",
        "as Wide and linear, on draws that nothing was chosen by",
        lambda seed: wide_linear(100, 10_000, 10, seed),
        draws=10,
        contenders=FEW_TERMS,
        first=FRESH,
    ),
    "few-products": Task(
        "Few terms, products, fresh draws",
        "as Products, on draws that nothing was chosen by",
        lambda seed: interactions(150, 200, 6, seed),
        degree=2,
        contenders=(*FEW_TERMS, "abess_ebic@raw"),
        first=FRESH,
    ),
    "few-table2": Task(
        "Few terms, the paper's Table 2, fresh draws",
        "n = 90, d = 650, 212,225 monomials of degrees 1 and 2, of which 6 of degree 2 are true, noise 0.05",
        lambda seed: interactions(90, 650, 6, seed),
        degree=2,
        draws=10,
        contenders=("ours_sparse", "abess_ebic", "abess_ebic@raw"),
        first=FRESH,
    ),
}

QUICK = {
    "wide": Task(
        "Wide and linear",
        "n = 40, d = 200, 3 true columns",
        lambda seed: wide_linear(40, 200, 3, seed),
        draws=1,
        contenders=("ours", "ours_equation", "ours_sparse", "lasso", "kernel_ridge"),
    ),
    "products": Task(
        "Products",
        "n = 50, d = 10, 65 monomials, 2 true",
        lambda seed: interactions(50, 10, 2, seed),
        degree=2,
        draws=1,
        contenders=("ours", "poly_lasso", "celer_lasso", "glmnet_lasso"),
    ),
    "table2": Task(
        "The paper's Table 2, gamma and alpha given",
        "n = 40, d = 12, 2 true",
        lambda seed: interactions(40, 12, 2, seed),
        degree=2,
        draws=1,
        contenders=("ours_given@1.02", "ours_given_equation", "celer_hindsight"),
    ),
    "few-wide-fresh": Task(
        "Few terms, wide and linear, fresh draws",
        "n = 40, d = 200, 3 true columns",
        lambda seed: wide_linear(40, 200, 3, seed),
        draws=1,
        contenders=FEW_TERMS,
        first=FRESH,
    ),
}
