"""Checks wheels: their tags, that what is inside is for the machine that they name, and that one for this machine works where there is no Rust.

    python packaging/try_wheels.py target/wheels

Every wheel has to be abi3 and manylinux, and its library must be for that machine and ask for no later glibc than the tag says. The one that this machine can install goes into a new environment whose PATH has neither cargo nor
rustc; there the package is imported, a model is fitted, and the command fits and predicts.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

FIT = """
import numpy as np, banach
X, y, truth = banach.datasets.make_sparse_quadratic(n_samples=60, n_features=12, n_informative=2, random_state=0)
model = banach.LpRegressor(p="4/3", kernel="poly", C=10.0).fit(X, y)
assert model.duality_gap_ <= 1e-8, model.duality_gap_
np.savetxt("table.csv", np.column_stack([X, y]), delimiter=",", header=",".join([*(f"x{j}" for j in range(12)), "y"]), comments="")
print("banach", banach.__version__, "fits; relative gap", model.duality_gap_)
"""


#: What the header of a library calls machines (ELF, `e_machine`).
MACHINES = {62: "x86_64", 183: "aarch64"}


def tags(wheel: Path) -> tuple[str, str, str]:
    """Of Python, of its binary interface and of the platform."""
    python, abi, where = wheel.stem.split("-")[-3:]
    return python, abi, where


def check_tags(wheel: Path) -> None:
    """Raises if a wheel is not for every Python from 3.10 on and for Linux distributions of the last ten years."""
    python, abi, where = tags(wheel)
    if (python, abi) != ("cp310", "abi3"):
        raise SystemExit(f"{wheel.name}: {python}-{abi}; expected cp310-abi3, one wheel for every Python from 3.10 on")
    if not all(one.startswith("manylinux") for one in where.split(".")):
        raise SystemExit(f"{wheel.name}: the platform is {where}; expected manylinux, not a single distribution")
    print(f"{wheel.name}: {abi}, {where}, {wheel.stat().st_size / 1e6:.1f} MB")


def check_library(wheel: Path) -> None:
    """Raises if the compiled part is for another machine than the wheel, or asks for a later glibc."""
    with zipfile.ZipFile(wheel) as packed:
        (name,) = (name for name in packed.namelist() if re.search(r"/_core\..*\bso$", name))
        library = packed.read(name)
    where = tags(wheel)[2].split(".")
    if library[:4] != b"\x7fELF":
        raise SystemExit(f"{wheel.name}: {name} is no library of Linux")
    machine = MACHINES.get(int.from_bytes(library[18:20], "little"), "another machine")
    if not all(one.endswith(machine) for one in where):
        raise SystemExit(f"{wheel.name}: {name} is for {machine}")
    # Versions of symbols are strings of the library.
    asked = max((int(a), int(b)) for a, b in re.findall(rb"\bGLIBC_(\d+)\.(\d+)", library))
    promised = [tuple(map(int, found.groups())) for one in where if (found := re.match(r"manylinux_(\d+)_(\d+)_", one))]
    if any(asked > version for version in promised):
        raise SystemExit(f"{wheel.name}: {name} asks for glibc {asked[0]}.{asked[1]}, which is later than {where}")
    print(f"{name} is for {machine} and asks for glibc {asked[0]}.{asked[1]}")


def try_out(wheel: Path) -> None:
    """Installs a wheel into a new environment without Rust, and uses it there."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "venv", with_pip=True)
        environment = {"PATH": f"{home / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": folder, "LANG": "C.UTF-8"}
        # How packages are found is a matter of this machine.
        environment |= {
            name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")
        }
        for program in ("cargo", "rustc"):
            if found := shutil.which(program, path=environment["PATH"]):
                raise SystemExit(f"{found} is there, so nothing is known of machines without Rust")

        def run(*command: str) -> str:
            done = subprocess.run(command, cwd=home, env=environment, check=False, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
            return done.stdout

        run(
            "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--only-binary",
            ":all:",
            str(wheel.resolve()),
        )
        print(run("python", "-c", FIT), end="")
        print(run("banach", "--version"), end="")
        run("banach", "fit", "table.csv", "--target", "y", "--kernel", "poly", "--gamma", "10", "-o", "model.banach")
        lines = run("banach", "predict", "model.banach", "table.csv").splitlines()
        if len(lines) != 61:
            raise SystemExit(f"{len(lines) - 1} predictions of 60 rows")
        print("the command fits and predicts")


def main() -> None:
    """Checks all wheels of a folder."""
    wheels = sorted(Path(sys.argv[1]).glob("banach-*.whl"))
    if not wheels:
        raise SystemExit(f"no wheels in {sys.argv[1]}")
    for wheel in wheels:
        check_tags(wheel)
        check_library(wheel)
    own = [wheel for wheel in wheels if tags(wheel)[2].split(".")[0].endswith(platform.machine())]
    for wheel in own:
        try_out(wheel)
    if not own:
        print(f"none of them is for {platform.machine()}, so none was installed")


if __name__ == "__main__":
    main()
