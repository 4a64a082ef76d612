"""The real data of the package are what their descriptions say."""

import numpy as np
import pytest

from banach import datasets


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


@pytest.mark.parametrize("load", [datasets.load_blood_cells, datasets.load_fermentation])
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
