"""The machine and the versions that the figures belong to."""

import os
import platform
from datetime import date
from importlib import metadata

PACKAGES = (
    "banach", "numpy", "scipy", "scikit-learn", "cvxpy", "clarabel", "celer", "skglm", "numba", "python-glmnet", "abess",
    "interpret-core",
)  # fmt: skip


def _first(path, field):
    try:
        with open(path) as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return "unknown"


def describe():
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = None
    kilobytes = _first("/proc/meminfo", "MemTotal").split()[0]
    return {
        "cpu": _first("/proc/cpuinfo", "model name"),
        "cores": os.cpu_count(),
        "memory_bytes": 1024 * int(kilobytes) if kilobytes.isdigit() else None,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "versions": versions,
        "date": date.today().isoformat(),
    }
