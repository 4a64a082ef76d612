"""Real data by name: from a file beside the packages, which is made from them when it is asked for first."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np
import sklearn

from . import packages
from .readers import READERS

FOLDER = Path(os.environ.get("SUITE_DATA") or Path(__file__).resolve().parents[3] / "target" / "suite-data")


def without_tails(patterns):
    """Peaks were made smooth, and have tails down to 1e-57, which a scaler would take for values."""
    return np.where(patterns < 1e-2 * patterns.max(), 0.0, patterns)


#: What is done to the samples of a set before anyone sees them.
PREPARED = {"throat": np.log1p, "degelder": without_tails}


def prepare(name, folder=FOLDER):
    """Writes the file of a set, unless it is there; raises `NotServedError` if its package cannot be had."""
    file = folder / f"{name}.npz"
    if file.exists():
        return file
    reader = READERS[name]
    if reader.package is None:
        archive, source = None, f"scikit-learn {sklearn.__version__}"
    else:
        archive = packages.download(reader.package, folder)
        source = f"{reader.package} {packages.version(archive)}"
    X, y = reader.read(archive)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, X=X, y=y, source=source)
    return file


@lru_cache(1)
def load(name):
    """X with nan where a value is missing, y, and groups where there are some; what the suite did not write may differ in form."""
    with np.load(FOLDER / f"{name}.npz") as file:
        data = {key: file[key] for key in file.files}
    X, y = np.array(data["X"], float), data["y"]
    if data["X"].dtype == np.int8:
        X[X < 0] = np.nan
    if "X_test" in data:
        X, y = np.vstack([X, data["X_test"]]), np.concatenate([y, data["y_test"]])
    X = PREPARED.get(name, np.asarray)(X)
    return {"X": X, "y": y, **({"groups": data["groups"]} if "groups" in data else {})}


def source(name):
    """The package and version that the file of a set was made from, or None where there is no such file."""
    file = FOLDER / f"{name}.npz"
    if not file.exists():
        return None
    with np.load(file) as data:
        return str(data["source"]) if "source" in data else "a file of unknown origin"
