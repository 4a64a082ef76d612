"""How well unseen samples are predicted against a constant, as the compiled part has found it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def assessment_of(told: str | None, classes: np.ndarray | None) -> dict[str, Any] | None:
    """The assessment as a dict, with the labels of the classes and their confusion as an array; None if nothing was held out."""
    if told is None:
        return None
    found = json.loads(told)
    if found["classes"] is not None and classes is not None:
        found["classes"]["labels"] = classes.tolist()
        found["classes"]["confusion"] = np.array(found["classes"]["confusion"])
    return found
