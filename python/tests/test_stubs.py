"""The types that the package promises are those that it has; its examples are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import banach

PACKAGE = Path(banach.__file__).parents[1]
MODULES = sorted(module.name for module in pkgutil.iter_modules(banach.__path__) if module.name != "_core")
CONFIGURATION = Path(__file__).parents[2] / "pyproject.toml"
SOURCE = Path(__file__).parents[1]


def run(*command: str, **path: str):
    ran = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        cwd=CONFIGURATION.parent / "python" / "tests",
        env={**path, "PATH": ""},
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_stub_of_the_compiled_part_is_true():
    pytest.importorskip("mypy")
    # An installed package is found by itself, and mypy does not want to be told.
    path = {} if PACKAGE.name == "site-packages" else {"PYTHONPATH": str(PACKAGE), "MYPYPATH": str(PACKAGE)}
    run("mypy.stubtest", "banach._core", "--mypy-config-file", str(CONFIGURATION), **path)


def test_the_package_agrees_with_its_types():
    pytest.importorskip("mypy")
    run("mypy", "--config-file", str(CONFIGURATION), str(SOURCE / "banach"), MYPYPATH=str(SOURCE))


def test_the_package_says_that_it_is_typed():
    assert (PACKAGE / "banach" / "py.typed").exists()
    assert (PACKAGE / "banach" / "_core.pyi").exists()


@pytest.mark.parametrize("name", ["__init__", *MODULES])
def test_examples_in_the_documentation_are_true(name):
    module = banach if name == "__init__" else importlib.import_module(f"banach.{name}")
    assert doctest.testmod(module).failed == 0


def test_the_examples_are_found():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        test for name in MODULES for test in finder.find(importlib.import_module(f"banach.{name}")) if test.examples
    ]
    assert len(found) >= 6


@pytest.mark.parametrize(
    "name", ["LpRegressor", "LpClassifier", "LpRegressorCV", "LpClassifierCV", "SparseRegressor", "SparseClassifier"]
)
def test_every_parameter_and_attribute_is_documented(name):
    kind = getattr(banach, name)
    for parameter in inspect.signature(kind).parameters:
        assert f"    {parameter} : " in kind.__doc__, parameter
    assert "{" not in kind.__doc__.replace('{"', "")


def test_all_names_exist_and_are_documented():
    for name in banach.__all__:
        assert getattr(banach, name).__doc__
