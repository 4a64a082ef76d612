"""What is packed: the conda recipe says what pyproject.toml says, and wheels are held against their tags."""

import importlib.util
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rattler_build import RenderConfig, Stage0Recipe, VariantConfig

import banach

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomllib", reason="comes with Python 3.11")

ROOT = Path(__file__).resolve().parents[2]
CONDA = ROOT / "packaging" / "conda"


@pytest.fixture
def recipe(monkeypatch):
    version = subprocess.run(["make", "-s", "version"], cwd=ROOT, check=True, capture_output=True, text=True)
    monkeypatch.setenv("BANACH_VERSION", version.stdout.strip())
    (rendered,) = Stage0Recipe.from_file(str(CONDA / "recipe.yaml")).render(
        VariantConfig.from_file(str(CONDA / "variants.yaml")), RenderConfig()
    )
    return rendered.recipe.to_dict()


@pytest.fixture
def try_wheels():
    spec = importlib.util.spec_from_file_location("try_wheels", ROOT / "packaging" / "try_wheels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def names_and_versions(requirements):
    return {tuple(re.fullmatch(r"([\w-]+)\s*(.*)", one.replace(" ", "")).groups()) for one in requirements}


def test_the_version_is_that_of_the_package(recipe):
    assert recipe["package"] == {"name": "banach", "version": banach.__version__}
    assert banach.__version__ not in (CONDA / "recipe.yaml").read_text()


def test_requirements_are_those_of_the_project(recipe, project):
    told, needs = project["project"], recipe["requirements"]
    python = ("python", told["requires-python"])
    assert names_and_versions(needs["run"]) == names_and_versions(told["dependencies"]) | {python}
    built_by = names_and_versions(project["build-system"]["requires"])
    assert names_and_versions(needs["host"]) == built_by | {python, ("pip", "")}
    assert recipe["about"]["license"] == told["license"] and recipe["about"]["license_file"] == told["license-files"]
    assert recipe["about"]["summary"] == told["description"]
    assert all((ROOT / file).is_file() for file in recipe["about"]["license_file"])
    assert (CONDA / recipe["source"][0]["path"]).resolve() == ROOT


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("banach-0.1.0-cp310-abi3-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", None),
        ("banach-0.1.0-cp310-abi3-manylinux_2_17_aarch64.manylinux2014_aarch64.whl", None),
        ("banach-0.1.0-cp310-abi3-linux_x86_64.whl", "expected manylinux"),
        ("banach-0.1.0-cp311-cp311-manylinux_2_17_x86_64.whl", "expected cp310-abi3"),
    ],
)
def test_wheels_of_one_python_or_one_distribution_are_refused(tmp_path, try_wheels, name, wrong):
    (tmp_path / name).write_bytes(b"")
    if wrong is None:
        try_wheels.check_tags(tmp_path / name)
    else:
        with pytest.raises(SystemExit, match=wrong):
            try_wheels.check_tags(tmp_path / name)


@pytest.mark.parametrize(
    ("machine", "glibc", "wrong"),
    [
        (183, b"GLIBC_2.2.5\0GLIBC_2.17\0", None),
        (62, b"GLIBC_2.17\0", "is for x86_64"),
        (183, b"GLIBC_2.9\0GLIBC_2.28\0", "asks for glibc 2.28"),
    ],
)
def test_libraries_of_another_machine_or_a_later_glibc_are_refused(tmp_path, try_wheels, machine, glibc, wrong):
    wheel = tmp_path / "banach-0.1.0-cp310-abi3-manylinux2014_aarch64.manylinux_2_17_aarch64.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        packed.writestr("banach/_core.abi3.so", b"\x7fELF".ljust(18, b"\0") + machine.to_bytes(2, "little") + glibc)
    if wrong is None:
        try_wheels.check_library(wheel)
    else:
        with pytest.raises(SystemExit, match=wrong):
            try_wheels.check_library(wheel)
