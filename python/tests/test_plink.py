"""Genotypes of PLINK, held against bed-reader on the files of another package."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import banach
from banach import LpRegressor, _core, read_plink

bed_reader = pytest.importorskip("bed_reader")


@pytest.fixture(scope="module")
def toys():
    """500 people, 10,000 variants on five chromosomes, phenotypes and a covariate in text without names of columns."""
    spec = find_spec("fastlmm")
    assert spec is not None, "python/requirements-data.txt has it"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "feature_selection" / "examples"


@pytest.fixture(scope="module")
def bed(toys):
    return toys / "toydata.5chrom.bed"


def told_by(path):
    """Genotypes, and everything else, as bed-reader has it."""
    with bed_reader.open_bed(path, num_threads=1) as opened:
        return opened.read(dtype="float64"), opened.properties


def filled(genotypes):
    means = np.nanmean(genotypes, axis=0)
    return np.where(np.isnan(genotypes), means, genotypes)


def of_table(path):
    return {line.split()[1]: float(line.split()[2]) for line in path.read_text().splitlines()}


@pytest.fixture
def holes(tmp_path):
    """A cohort of 203 samples with missing genotypes, rare and constant variants, on chromosomes 1, 2 and X."""
    rng = np.random.default_rng(0)
    n, d = 203, 120
    frequency = rng.uniform(0.0, 0.6, d)
    frequency[:5] = 0.0
    genotypes = rng.binomial(2, frequency, (n, d)).astype(float)
    genotypes[rng.uniform(size=(n, d)) < rng.uniform(0.0, 0.2, d)] = np.nan
    properties = {
        "fid": [f"f{k // 3}" for k in range(n)],
        "iid": [f"i{k}" for k in range(n)],
        "sex": [1 + k % 2 for k in range(n)],
        "pheno": [("-9" if k % 7 == 0 else str(k % 11 + 0.5)) for k in range(n)],
        "chromosome": [str(["1", "2", "X"][k % 3]) for k in range(d)],
        "sid": [f"rs{k}" for k in range(d)],
        "allele_1": ["A" if k % 4 else "AT" for k in range(d)],
        "allele_2": ["G"] * d,
    }
    bed_reader.to_bed(tmp_path / "cohort.bed", genotypes, properties, num_threads=1)
    return tmp_path / "cohort", genotypes, properties


def test_real_genotypes_are_those_of_bed_reader(toys, bed):
    expected, known = told_by(bed)
    read = read_plink(bed)
    varied = np.nanstd(expected, axis=0) > 0
    np.testing.assert_allclose(read.X, filled(expected[:, varied]), atol=1e-12)
    assert read.X.flags.f_contiguous and read.y is None and read.counts["constant"] == (~varied).sum()
    names = [f"{sid}_{allele}" for sid, allele in zip(known["sid"], known["allele_1"], strict=True)]
    assert read.names == list(np.array(names)[varied])
    assert read.ids == list(zip(known["fid"].tolist(), known["iid"].tolist(), strict=True))
    assert str(read) == f"Genotypes(500 of 500 samples, {varied.sum()} columns from 10000 variants)"
    # The phenotype of the .fam, and tables that name no columns.
    np.testing.assert_allclose(read_plink(bed, target="phenotype", chromosomes=5).y, known["pheno"].astype(float))
    told = read_plink(bed, pheno=toys / "toydataTrain.phe", covar=toys / "toydata.cov", covariates="COVAR1", maf=0.2)
    phenotypes, covariates = of_table(toys / "toydataTrain.phe"), of_table(toys / "toydata.cov")
    kept = np.array([iid in phenotypes for iid in known["iid"]])
    assert [iid for _, iid in told.ids] == known["iid"][kept].tolist() and told.counts["without_phenotype"] == 250
    np.testing.assert_allclose(told.y, [phenotypes[iid] for _, iid in told.ids])
    np.testing.assert_allclose(told.X[:, -1], [covariates[iid] for _, iid in told.ids])
    share = expected[kept].mean(axis=0) / 2
    common = np.minimum(share, 1 - share) >= 0.2
    assert told.names == [*np.array(names)[common], "COVAR1"]
    np.testing.assert_allclose(told.X[:, :-1], expected[kept][:, common])
    assert told.counts["too_rare"] == (~common).sum()


def test_the_other_half_of_the_people_has_the_same_columns(toys, bed):
    train = read_plink(bed, pheno=toys / "toydataTrain.phe", chromosomes=1)
    test = read_plink(bed, pheno=toys / "toydataTest.phe", like=train)
    phenotypes = of_table(toys / "toydataTest.phe")
    assert test.names == train.names and len(test.ids) == len(phenotypes)
    assert not {iid for _, iid in test.ids} & {iid for _, iid in train.ids}
    np.testing.assert_allclose(test.y, [phenotypes[iid] for _, iid in test.ids])
    expected, known = told_by(bed)
    rows = [known["iid"].tolist().index(iid) for _, iid in test.ids]
    columns = [known["sid"].tolist().index(name.rsplit("_", 1)[0]) for name in test.names]
    np.testing.assert_allclose(test.X, expected[rows][:, columns])
    model = LpRegressor(p=1.5, C=0.01, standardize=True).fit(train.frame, train.y)
    assert np.isfinite(model.predict(test.frame)).all() and model.feature_names_in_.tolist() == train.names


def test_what_is_left_out_is_counted_in_order(holes):
    path, genotypes, known = holes
    counted = {"A1": genotypes, "A2": 2 - genotypes}
    chromosomes = np.array(known["chromosome"])
    for count, allele in [("A1", "allele_1"), ("A2", "allele_2")]:
        told = read_plink(path, count=count, chromosomes=["1", "chrX"], geno=0.15, maf=0.01)
        missing = np.isnan(genotypes).mean(axis=0)
        share = np.nanmean(genotypes, axis=0) / 2
        here = chromosomes != "2"
        present = here & (missing <= 0.15)
        common = present & (np.minimum(share, 1 - share) >= 0.01)
        assert told.counts["other_chromosomes"] == (~here).sum() > 0
        assert told.counts["too_many_missing"] == (here & ~present).sum() > 0
        assert told.counts["too_rare"] == (present & ~common).sum() > 0
        assert told.counts["filled"] == np.isnan(genotypes[:, common]).sum() > 0
        np.testing.assert_allclose(told.X, filled(counted[count][:, common]), atol=1e-12)
        assert told.names == [f"rs{k}_{known[allele][k]}" for k in np.flatnonzero(common)]
        np.testing.assert_allclose(told.means, told.X.mean(axis=0), atol=1e-12)


def test_phenotypes_and_covariates_by_the_names_of_samples(holes, tmp_path):
    path, _, known = holes
    read = read_plink(path, target="phenotype", covariates="sex")
    kept = np.array([value != "-9" for value in known["pheno"]])
    assert read.counts["without_phenotype"] == (~kept).sum()
    np.testing.assert_array_equal(read.y, np.array(known["pheno"], dtype=float)[kept])
    np.testing.assert_array_equal(read.X[:, -1], np.array(known["sex"])[kept])
    lines = ["#IID\tcase\tPC1\tPC2\tcity"]
    lines += [f"i{k}\t{'case' if k % 3 else 'control'}\t{k}\t{-k}\t{'AB'[k % 2]}" for k in range(20, 200)]
    (tmp_path / "traits.tsv").write_text("\n".join(lines))
    read = read_plink(path, pheno=tmp_path / "traits.tsv", target="case", covariates=["PC*", "city"])
    assert read.names[-3:] == ["PC1", "PC2", "city=B"] and read.counts["without_phenotype"] == 23
    assert read.y.tolist() == ["case" if k % 3 else "control" for k in range(20, 200)]
    np.testing.assert_array_equal(read.X[:, -2], -np.arange(20, 200))
    again = read_plink(path, pheno=tmp_path / "traits.tsv", target="case", like=read)
    np.testing.assert_allclose(again.X, read.X, atol=1e-12)


def test_another_cohort_is_counted_and_filled_in_as_the_first(holes, tmp_path):
    path, genotypes, known = holes
    train = read_plink(path, maf=0.01)
    turned = np.arange(len(known["sid"])) % 2 == 1
    other = genotypes[::-1].copy()
    other[:, turned] = 2 - other[:, turned]
    first = np.where(turned, known["allele_2"], known["allele_1"])
    second = np.where(turned, known["allele_1"], known["allele_2"])
    ids = {"fid": known["fid"][::-1], "iid": known["iid"][::-1]}
    order = np.arange(len(turned))[::-1]
    properties = {"chromosome": known["chromosome"], "sid": known["sid"], "allele_1": first, "allele_2": second}
    properties = {name: np.array(values)[order] for name, values in properties.items()}
    bed_reader.to_bed(tmp_path / "other.bed", other[:, order], properties | ids, num_threads=1)
    read = read_plink(tmp_path / "other", like=train)
    assert read.names == train.names and read.counts["second_allele"] > 10
    np.testing.assert_allclose(read.X, train.X[::-1], atol=1e-12)
    # The command does the same with a model from Python.
    y = train.X[:, 3] + 0.1 * np.arange(len(train.X)) / len(train.X)
    model = LpRegressor(p=1.5, C=1.0, standardize=True).fit(train.frame, y)
    model_file, predicted = tmp_path / "model.banach", tmp_path / "predicted.csv"
    banach.save(model, model_file)
    arguments = ["banach", "predict", str(model_file), str(tmp_path / "other.bed"), "--impute", "mean", "--quiet"]
    assert _core.command([*arguments, "-o", str(predicted)]) == 0
    values = np.loadtxt(predicted, skiprows=1)
    np.testing.assert_allclose(values, model.predict(read.frame), rtol=1e-9)


def test_wrong_files_and_parameters_are_refused(holes, tmp_path):
    path, _, _ = holes
    for parameters, message in [
        ({"count": "A"}, "count = 'A'; allowed: 'A1' or 'A2'"),
        ({"maf": 2}, "maf = 2; allowed: a number from 0 to 1"),
        ({"chromosomes": "7"}, "it has 1, 2, X"),
        ({"target": "height"}, 'no column "height" for target'),
        ({"covariates": "age"}, "for covariates"),
    ]:
        with pytest.raises(ValueError, match=message.replace("(", r"\(")):
            read_plink(path, **parameters)
    with pytest.raises(ValueError, match="maf is decided by like"):
        read_plink(path, maf=0.1, like=read_plink(path))
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_plink(tmp_path / "nowhere")
    whole = path.with_suffix(".bed").read_bytes()
    for bytes_, message in [
        (whole[:-1], "cut short"),
        (whole[:2] + b"\0" + whole[3:], "one after another"),
        (b"PK", "6c 1b 01"),
    ]:
        path.with_suffix(".bed").write_bytes(bytes_)
        with pytest.raises(ValueError, match=message):
            read_plink(path)
