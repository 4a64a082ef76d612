"""Real data by name: from a file beside the packages, which is made from them when it is asked for first."""

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

FOLDER = Path(os.environ.get("SUITE_DATA") or Path(__file__).resolve().parents[3] / "target" / "suite-data")


@lru_cache(1)
def load(name):
    """X with nan where a value is missing, y, and groups where there are some."""
    with np.load(FOLDER / f"{name}.npz") as file:
        data = {key: file[key] for key in file.files}
    X, y = np.array(data["X"], float), data["y"]
    if data["X"].dtype == np.int8:
        X[X < 0] = np.nan
    if "X_test" in data:
        X, y = np.vstack([X, data["X_test"]]), np.concatenate([y, data["y_test"]])
    if name == "throat":
        X = np.log1p(X)
    return {"X": X, "y": y, **({"groups": data["groups"]} if "groups" in data else {})}
