"""The suite of real and synthetic data: its splits, its readers of archives, its figures and its page, without network."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVR

import banach

EXPERIMENTS = Path(__file__).resolve().parents[2] / "experiments"


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    monkeypatch.syspath_prepend(str(EXPERIMENTS))


def test_a_split_knows_nothing_of_new_samples():
    from users.suite.split import split

    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 6))
    X[:, 0] = np.arange(40)
    X[:, 1] = 3.0
    X[::7, 2] = np.nan
    data = split(X, np.arange(40.0), seed=3)
    assert data.X.shape == (30, 5) and data.X_new.shape == (10, 5) and data.X.flags.f_contiguous
    train = data.y.astype(int)
    filled = np.nanmean(X[train, 2])
    np.testing.assert_allclose(data.X[np.isnan(X[train, 2]), 1], filled)
    np.testing.assert_allclose(data.X_new[np.isnan(X[data.y_new.astype(int), 2]), 1], filled)
    np.testing.assert_array_equal(np.sort(np.concatenate([data.y, data.y_new])), np.arange(40))


def test_groups_stay_together_and_classes_keep_their_parts():
    from users.suite.split import split

    X = np.random.default_rng(0).standard_normal((60, 3))
    groups = np.repeat(np.arange(12), 5)
    data = split(X, groups.astype(float), groups)
    assert not set(data.y) & set(data.y_new)
    y = np.repeat(["a", "b", "c"], [12, 16, 32])
    data = split(X, y, classes=True)
    assert [(data.y_new == one).sum() for one in "abc"] == [3, 4, 8]


def test_a_rotation_changes_no_kernel():
    from users.modelling.rotation import Rotation

    rng = np.random.default_rng(0)
    X, y, X_new = rng.standard_normal((30, 200)), rng.standard_normal(30), rng.standard_normal((9, 200))
    rotation = Rotation().fit(X)
    assert rotation.transform(X).shape == (30, 31)
    for model, unit in [(KernelRidge(kernel="rbf"), 0.5), (KernelRidge(kernel="poly", degree=2), 1.0), (SVR(), 0.5)]:
        expected = model.set_params(gamma=unit / 200).fit(X, y).predict(X_new)
        turned = model.set_params(gamma=unit / 31).fit(rotation.transform(X), y).predict(rotation.transform(X_new))
        np.testing.assert_allclose(turned, expected, atol=1e-9)
    np.testing.assert_array_equal(Rotation().fit(X[:, :5]).transform(X[:, :5]), X[:, :5])


def test_synthetic_sets_are_drawn_by_their_seeds():
    from users.suite import synthetic
    from users.suite.sets import DEVELOPMENT, SETS

    def process(seed):
        return synthetic.gaussian_process(20, 6, 3, seed, new=30)

    def friedman3(seed):
        return synthetic.friedman3(30, seed)

    def spectra(seed):
        return synthetic.spectra(20, 40, 3, seed)

    for draw in (process, friedman3, spectra):
        one, same, other = (draw(seed) for seed in (100, 100, 101))
        np.testing.assert_array_equal(one.X, same.X)
        np.testing.assert_array_equal(one.y_new, same.y_new)
        assert one.X.shape == other.X.shape and not np.array_equal(one.X, other.X)
        assert np.isfinite(one.y).all() and one.X.shape[1] == one.X_new.shape[1]
    assert all(not set(DEVELOPMENT) & set(task.seeds()) and task.draws >= 5 for task in SETS.values())


def test_every_real_set_has_a_reader_and_its_package_is_listed():
    from users.suite import packages
    from users.suite.readers import READERS
    from users.suite.sets import REAL

    assert set(READERS) == set(REAL) and len(REAL) >= 16
    assert {reader.package for reader in READERS.values() if reader.package} == set(packages.index())


def wheel(folder, name, files):
    path = folder / name
    with zipfile.ZipFile(path, "w") as file:
        for member, data in files.items():
            file.writestr(member, data)
    return path


def test_archives_are_found_and_read(tmp_path):
    from users.suite import packages

    file = wheel(tmp_path, "fastlmm-0.6.13-py3-none-any.whl", {"a/x.csv": "1", "b/x.csv": "2", "b/y.csv": "3"})
    (tmp_path / "r-cran-x_1%3a2.0-1_all.deb").touch()
    assert packages.archive("fastLMM", tmp_path) == file and packages.download("fastlmm", tmp_path) == file
    assert packages.archive("r-cran", tmp_path) is None
    assert packages.version(file) == "0.6.13"
    assert packages.version(packages.archive("r-cran-x", tmp_path)) == "1:2.0-1"
    assert packages.member(file, "y.csv") == b"3"
    with pytest.raises(LookupError, match="2 files end with x.csv"):
        packages.member(file, "x.csv")


def test_genotypes_of_plink(tmp_path):
    from users.suite.readers import toydata

    # Samples from the lowest bits on: 2, missing, 1, 0, 0 of the first variable, 0, 1, 2, 2, missing of the second.
    packed = bytes([0x6C, 0x1B, 0x01, 0b11_10_01_00, 0b11, 0b00_00_10_11, 0b01])
    phenotypes = "".join(f"p{i} p{i} {i / 2}\n" for i in range(5))
    file = wheel(tmp_path, "fastlmm-0-any.whl", {"e/toydata.5chrom.bed": packed, "e/toydata.phe": phenotypes})
    X, y = toydata(file)
    np.testing.assert_array_equal(X, np.transpose([[2, np.nan, 1, 0, 0], [0, 1, 2, 2, np.nan]]))
    np.testing.assert_array_equal(y, [0.0, 0.5, 1.0, 1.5, 2.0])


def figures(title, errors, first=100, **more):
    runs = {first + i: {"square": 2.0 * one, "variance": 2.0, "processor": 1.0} for i, one in enumerate(errors)}
    return {"title": title, "given": "it", "runs": runs, **more}


def test_errors_are_pooled_over_the_splits():
    from users.suite.summary import scored, unfinished

    runs = {
        100: {"square": 1.0, "variance": 1.0, "processor": 1.0},
        101: {"square": 1.0, "variance": 3.0, "processor": 3.0},
    }
    row = scored({"title": "x", "runs": runs}, [100, 101])
    assert row.error == pytest.approx(0.5) and row.deviation == 0.0 and row.processor == 2.0
    assert scored({"title": "x", "runs": runs}, [100, 101, 102]) is None
    assert unfinished({"missing": ["celer"]}) == "celer is not there" and unfinished({}) == "not measured"


def test_the_page_says_where_we_lose(tmp_path):
    from users.suite import page, schedule, store
    from users.suite.board import Board, Group

    ours = figures("banach, linear", [0.2, 0.4, 0.3, 0.3, 0.3])
    store.write(tmp_path, "tecator", "ours_linear", ours)
    store.write(tmp_path, "tecator", "ridge", figures("Ridge", [0.1, 0.3, 0.2, 0.2, 0.21]))
    store.write(tmp_path, "tecator", "pls", figures("PLS", [0.3, 0.3, 0.4, 0.3, 0.4]))
    store.write(tmp_path, "tecator", "svr", figures("SVR", [0.1], failed="more processor time than is allowed"))
    board = Board(tmp_path)
    assert board.ours == "ours_linear" and board.wins("tecator", "pls") == (3, 1, 1)
    assert board.ranks(Group("", ("tecator",))) == {"ours_linear": 2.0, "ridge": 1.0, "pls": 3.0}
    text = page.text(board)
    assert "- *Meat*, 0.3: Ridge 0.098 ± 0.002, clear." in text
    assert "| Meat | 0.3 ± 0.03 | **0.202** ± 0.03 |" in text
    assert "`svr`, more processor time than is allowed: Meat." in text
    # What is known, or has failed, is not measured again.
    for method in ("ours_linear", "svr"):
        known = store.read(tmp_path, "tecator", method)
        assert schedule.measured("tecator", method, range(100, 105), print, known) == known


@pytest.mark.parametrize("method", ["ridge", "ours_sparse"])
def test_a_method_runs_on_the_splits_for_development(tmp_path, method):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((28, 30))
    np.savez(tmp_path / "yarn.npz", X=X, y=X[:, 0] + 0.1 * rng.standard_normal(28))
    path = os.pathsep.join([str(Path(banach.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [
        sys.executable,
        "-m",
        "users.suite",
        "--dev",
        "--data",
        str(tmp_path),
        "--only-set",
        "yarn",
        "--method",
        method,
    ]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, cwd=EXPERIMENTS, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"yarn {method}: 0."), done.stdout + done.stderr


def test_objects_of_r(tmp_path):
    pytest.importorskip("rdata")
    import gzip
    import struct

    from users.suite.r_files import saved

    def integers(*values):
        return struct.pack(f">{len(values)}i", *values)

    def symbol(name):
        return integers(1, 0x40009, len(name)) + name

    # pairlist(x = as.raw(c(1, 2, 0, 3)) with dim = c(2, 2)), as save() writes it.
    attributes = integers(0x402) + symbol(b"dim") + integers(13, 2, 2, 2) + integers(254)
    raw = integers(0x200 | 24, 4) + bytes([1, 2, 0, 3]) + attributes
    body = integers(2, 0x30600, 0x20300) + integers(0x402) + symbol(b"x") + raw + integers(254)
    objects = saved(gzip.compress(b"RDX2\nX\n" + body))
    np.testing.assert_array_equal(objects["x"].array(), [[1, 0], [2, 3]])


def test_a_figure_is_quoted_as_the_suite_has_it():
    from users.suite.quotes import figures, renewed

    suite = """
## Real numbers

|  | banach, auto | PLS |
| --- | --- | --- |
| Yarn | **8.5e-05** ± 1e-05 | - |

Splits on which *banach, auto* is better, equal and worse:

|  | PLS |
| --- | --- |
| Yarn | 7 0 3 |

Seconds of the processor for the search and the fit, the median:

|  | banach, auto | PLS |
| --- | --- | --- |
| Yarn | 17 | 0.16 |

Mean ranks over these sets:

|  | mean rank | splits: ours better, equal, worse |
| --- | --- | --- |
| banach, auto | 1.0 |  |
| PLS | 2.0 | 7 0 3 |
"""
    page = "| error | PLS | banach, auto |\n|---|---|---|\n| Yarn | 1 | 2 |\n\n| seconds | PLS |\n|---|---|\n| Yarn | 3 |\n\n| other |\n|---|\n| 4 |\n"
    page += "\n| mean rank | PLS | Ridge |\n|---|---|---|\n| Real numbers | | |\n"
    new = renewed(page, figures(suite))
    assert "| Real numbers | 2.0 | - |" in new
    assert "| Yarn | - | 8.5e-05 ± 1e-05 |" in new and "| Yarn | 0.16 |" in new and "| 4 |" in new
    assert renewed(new, figures(suite)) == new


def test_quoted_figures_are_those_of_the_suite():
    from users.suite.quotes import PAGES, ROOT, figures, renewed

    found = figures((ROOT / "docs" / "suite.md").read_text())
    for name in PAGES:
        text = (ROOT / name).read_text()
        quotes = [line for line in text.splitlines() if line.startswith(("| error |", "| seconds |", "| mean rank |"))]
        assert quotes, name
        assert renewed(text, found) == text, f"{name}: cd experiments && python -m users.suite.quotes"
