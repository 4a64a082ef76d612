"""What users may say, in the form that the compiled part takes.

Types are checked here, ranges in the compiled part: every refusal is a ``ValueError`` that names the parameter, what
was got and what is allowed.
"""

from __future__ import annotations

import math
import numbers
import os
import re
from collections.abc import Iterable, Mapping

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from . import _core

_UNITS = {"": 1, "b": 1, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30}


def refused(name: str, got: object, allowed: str) -> ValueError:
    return ValueError(f"{name} = {got!r}; allowed: {allowed}")


def real(name: str, value: object, allowed: str = "a number") -> float:
    if isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)):
        return float(value)
    raise refused(name, value, allowed)


def exponent(value: object, allowed: str = "a number with 1 <= p <= 2, or a fraction such as '4/3'") -> float:
    """The exponent p of a penalty, as a number or as text, which the compiled part reads as the command does."""
    return _core.exponent(value) if isinstance(value, str) else real("p", value, allowed)


def reals(name: str, values: object, allowed: str) -> list[float]:
    """Several numbers."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise refused(name, values, allowed)
    return [real(name, value, allowed) for value in values]


def whole(name: str, value: object, allowed: str = "a whole number >= 0", least: int = 0) -> int:
    if isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and least <= int(value) < 2**63:
        return int(value)
    raise refused(name, value, allowed)


def boolean(name: str, value: object) -> bool:
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise refused(name, value, "True or False")


def text(name: str, value: object, allowed: str) -> str:
    if isinstance(value, str):
        return str(value)
    raise refused(name, value, allowed)


def solver_options(value: object) -> dict[str, str | float | None]:
    """Every option of a solver, None where nothing was said; which solver takes it is checked in the compiled part."""
    allowed = "None, or a dict of algorithm, rule, delta, theta and lambda_bar, or some of them"
    options: dict[str, str | float | None] = dict.fromkeys(("algorithm", "rule", "delta", "theta", "lambda_bar"))
    if value is None:
        return options
    if not isinstance(value, Mapping) or not set(value) <= set(options):
        raise refused("solver_options", value, allowed)
    for name, told in value.items():
        if told is None:
            continue
        label = f"solver_options[{name!r}]"
        if name == "algorithm":
            options[name] = text(label, told, '"2.1" or "3.3"')
        elif name == "rule":
            options[name] = text(label, told, '"restart" or "monotone"')
        else:
            options[name] = real(label, told)
    return options


def degree(value: object) -> int | tuple[int, int] | None:
    """One degree, or the lowest and the highest; nothing for those that the library takes."""
    allowed = "None, a whole number >= 0, or a pair (min, max) of such numbers"
    if value is None:
        return None
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (whole("degree", end, allowed) for end in value)
        if low > high:
            raise refused("degree", value, f"a pair (min, max) with the lower degree first, here {(high, low)}")
        return low, high
    return whole("degree", value, allowed)


def hierarchy(value: object) -> str:
    """Which products may be terms, in the word of the core."""
    return "none" if value is None else text("hierarchy", value, "None, weak or strong")


def grid(Cs: object) -> tuple[list[float] | None, int]:
    """Given values of C, or so many that the data suggest."""
    allowed = "a whole number >= 1 or a list of finite numbers > 0"
    if isinstance(Cs, numbers.Integral):
        return None, whole("Cs", Cs, allowed, least=1)
    values = reals("Cs", Cs, allowed)
    if not values or not all(0 < C < math.inf for C in values):
        raise refused("Cs", Cs, allowed)
    return values, 0


def memory(limit: object) -> int | None:
    """Bytes, from a number or from text such as ``"2GB"``."""
    allowed = "None, a number of bytes > 0 or a size such as '2GB'"
    if limit is None:
        return None
    if isinstance(limit, str):
        match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-zA-Z]*)\s*", limit)
        if match is None or match[2].lower() not in _UNITS:
            raise refused("memory_limit", limit, allowed)
        limit = float(match[1]) * _UNITS[match[2].lower()]
    size = real("memory_limit", limit, allowed)
    if not 1 <= size < 2**63:
        raise refused("memory_limit", limit, allowed)
    return int(size)


def threads(n_jobs: object) -> int:
    """The number of threads; 0 for all cores.

    ``None`` follows ``OMP_NUM_THREADS``, which joblib sets in its workers so that they do not crowd each other out.
    """
    if n_jobs is None:
        first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
        return int(first) if first.isdigit() and "RAYON_NUM_THREADS" not in os.environ else 0
    allowed = "None, a whole number from 1 to 1024, or a negative one: -1 for all cores, -2 for all but one, ..."
    jobs = whole("n_jobs", n_jobs, allowed, least=-1024)
    if jobs == 0 or jobs > 1024:
        raise refused("n_jobs", n_jobs, allowed)
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


def seed(random_state: object) -> int:
    """The seed that a ``random_state`` of scikit-learn's stands for."""
    if isinstance(random_state, numbers.Integral):
        return whole("random_state", random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise refused("random_state", random_state, "None, a whole number >= 0 or a RandomState") from None


def holds_classes(y: object) -> bool:
    """Whether targets are labels, if nothing else tells: text and truth values are, numbers are not."""
    return np.asarray(y).dtype.kind in "OSUb" and type_of_target(y) in ("binary", "multiclass")
