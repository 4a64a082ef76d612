"""The sets: real ones by name, with what they are, and synthetic ones."""

import functools
from dataclasses import dataclass

from ..modelling.tasks import Task, blood_cells, fermentation, friedman, interactions, wide_linear
from . import synthetic
from .real import load
from .split import split

#: The first seed of the splits and draws that the page reports, and those that rules may be chosen by.
REPORTED = 100
DEVELOPMENT = range(5)

OURS = ("ours_auto", "ours_linear", "ours_sparse")
NUMBERS = (
    "ridge", "celer_lasso", "skglm_mcp", "abess_ebic", "pls", "kernel_ridge", "svr", "random_forest", "boosting",
)  # fmt: skip
CLASSES = (
    "ridge", "logistic_l1@neg_log_loss", "abess_logistic", "pls", "svc", "random_forest", "boosting",
)  # fmt: skip
#: Everyone, in the order in which they are measured and shown.
METHODS = (
    *OURS, "ridge", "celer_lasso", "logistic_l1@neg_log_loss", "skglm_mcp", "abess_ebic", "abess_logistic", "pls", "kernel_ridge",
    "svr", "svc", "gaussian_process", "random_forest", "boosting", "ebm",
)  # fmt: skip
#: Who learns a length, or a function, for every input takes part where there are few; here all of these sets are of numbers.
LENGTHS = ("gaussian_process", "ebm")
FEW_INPUTS = 20


def contenders(classes, inputs):
    able = {*OURS, *(CLASSES if classes else NUMBERS), *(LENGTHS if inputs <= FEW_INPUTS else ())}
    return tuple(method for method in METHODS if method in able)


@dataclass(frozen=True)
class Real:
    """A set out of a package: samples, variables, classes or a number, and what it is."""

    title: str
    samples: int
    inputs: int
    classes: bool
    about: str

    def task(self, name):
        def draw(seed):
            data = load(name)
            return split(data["X"], data["y"], data.get("groups"), self.classes, seed)

        return Task(
            self.title,
            f"{self.samples} x {self.inputs}, {self.about}",
            draw,
            classes=self.classes,
            draws=10 if self.samples <= 100 else 5,
            contenders=contenders(self.classes, self.inputs),
            first=REPORTED,
            threads=1,
        )


REAL = {
    "golub": Real("Leukaemia", 38, 3051, True, "two kinds of leukaemia from genes"),
    "khan": Real("Khan", 83, 2308, True, "four small round blue cell tumours from genes"),
    "glioma_idhwt": Real("Glioma", 430, 843, True, "three kinds of glioma from methylation"),
    "throat": Real("Throat", 60, 856, True, "smoker or not from bacteria of the throat, log(1 + count)"),
    "snp400": Real("SNPs", 400, 9445, True, "case or control from genotypes, real but rearranged"),
    "mdrr": Real("MDRR", 528, 342, True, "reversal of multidrug resistance from descriptors of molecules"),
    "pd_speech": Real("Speech", 252, 751, True, "Parkinson's disease from speech"),
    "coffee": Real("Coffee", 60, 1841, True, "origin of coffee from infrared spectra"),
    "braingene": Real("Brain", 120, 4999, False, "one gene from the others, brain cancer"),
    "susie_n2": Real("Two variants", 574, 1002, False, "a trait simulated on real genotypes, two of which matter"),
    "hyper": Real("Blood pressure", 250, 170, False, "blood pressure of mice from markers"),
    "gasoline": Real("Gasoline", 60, 401, False, "octane number from near infrared spectra"),
    "yarn": Real("Yarn", 28, 268, False, "density of yarn from near infrared spectra"),
    "degelder": Real(
        "Steroids", 131, 441, False, "volume of the cell from powder patterns without tails below a hundredth"
    ),
    "tecator": Real("Meat", 215, 100, False, "fat of meat from near infrared spectra"),
    "bloodbrain": Real(
        "Blood and brain", 208, 134, False, "concentrations of drugs in brain and blood from descriptors"
    ),
    "nutrimouse": Real("Mice", 40, 126, False, "C18:2n-6 in the liver from genotype, diet and genes"),
    "toydata": Real("10,000 SNPs", 500, 10_000, False, "a trait simulated on genotypes"),
    "diabetes": Real("Diabetes", 442, 10, False, "progress of diabetes in a year"),
    "hitters": Real("Hitters", 263, 19, False, "logarithm of the salary of baseball players"),
}


def drawn(title, about, draw, inputs, degree=1):
    """A synthetic set. Who writes out monomials is told the degree."""
    return Task(
        title,
        about,
        draw,
        degree=degree,
        contenders=contenders(False, inputs),
        first=REPORTED,
        threads=1,
    )


SYNTHETIC = {
    "friedman1_10": drawn(
        "Friedman 1, 10 inputs",
        "100 x 10, five inputs matter, noise 1",
        functools.partial(friedman, 100, 10),
        10,
        degree=3,
    ),
    "friedman1_15": drawn(
        "Friedman 1, 15 inputs",
        "100 x 15, five inputs matter, noise 1",
        functools.partial(friedman, 100, 15),
        15,
        degree=3,
    ),
    "friedman2": drawn(
        "Friedman 2",
        "100 x 10, four inputs matter, noise a third of the deviation",
        functools.partial(synthetic.friedman2, 100),
        10,
        degree=3,
    ),
    "friedman3": drawn(
        "Friedman 3",
        "100 x 10, four inputs matter, noise a third of the deviation",
        functools.partial(synthetic.friedman3, 100),
        10,
        degree=3,
    ),
    "process": drawn(
        "A Gaussian process",
        "100 x 20, five inputs matter, noise a fifth of the deviation",
        functools.partial(synthetic.gaussian_process, 100, 20, 5),
        20,
        degree=3,
    ),
    "wide": drawn(
        "Wide and linear",
        "100 x 10,000, ten columns matter, noise a fifth of the deviation",
        functools.partial(wide_linear, 100, 10_000, 10),
        10_000,
    ),
    "products": drawn(
        "Products",
        "150 x 200, six products of two variables",
        functools.partial(interactions, 150, 200, 6),
        200,
        degree=2,
    ),
    "table2": drawn(
        "The paper's Table 2",
        "90 x 650, six products of two variables",
        functools.partial(interactions, 90, 650, 6),
        650,
        degree=2,
    ),
    "spectra": drawn(
        "Smooth spectra",
        "95 x 200, rank 5 and little noise",
        functools.partial(synthetic.spectra, 95, 200, 5),
        200,
    ),
}


def timed(title, about, draw, peer=None, classes=False):
    """A set that shows what the default takes, beside our linear search and one peer."""
    contenders = ("ours_auto", "ours_linear", *([peer] if peer else []))
    return Task(title, about, draw, classes=classes, contenders=contenders, first=REPORTED, threads=1)


TIMED = {
    "blood_cells": timed(
        "Blood cells", "100 x 765, four types of cells from genes", blood_cells, peer="svc", classes=True
    ),
    "fermentation": timed(
        "Fermentation", "14 x 1047, glucose in broths from infrared spectra", fermentation, peer="kernel_ridge"
    ),
    "small": timed("Small", "60 x 400, ten columns matter", functools.partial(wide_linear, 60, 400, 10)),
    "very_wide": timed(
        "Very wide", "100 x 100,000, ten columns matter", functools.partial(wide_linear, 100, 100_000, 10)
    ),
}

SETS = {**{name: real.task(name) for name, real in REAL.items()}, **SYNTHETIC, **TIMED}
