"""Packages that hold data: downloaded by name, never installed, and read as archives.

packages.csv says where each comes from and which version was read when this was written. PyPI has that version for ever; Debian serves
the one of its release.
"""

import csv
import io
import subprocess
import sys
import tarfile
import zipfile
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

INDEX = Path(__file__).with_name("packages.csv")


class NotServedError(LookupError):
    """The registries of this machine do not have the package."""


@lru_cache
def index():
    with INDEX.open() as file:
        return {row["package"]: row for row in csv.DictReader(file)}


def download(name, folder):
    """The archive of a package in the folder, which is asked for once."""
    found = archive(name, folder)
    if found is not None:
        return found
    folder.mkdir(parents=True, exist_ok=True)
    row = index()[name]
    if row["registry"] == "debian":
        command = ["apt-get", "download", name]
    else:
        wanted = f"{name}=={row['version']}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", wanted]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotServedError(f"{name}: there is no {command[0]} on this machine") from error
    if done.returncode != 0:
        raise NotServedError(f"{name} {row['version']} of {row['registry']} is not served to this machine")
    return archive(name, folder)


def archive(name, folder):
    """What has been downloaded. Names of wheels begin as that of the package, whatever the case."""
    for file in sorted(folder.glob("*")):
        begin, _, rest = file.name.partition("_" if file.suffix == ".deb" else "-")
        if file.suffix in (".deb", ".whl") and rest and begin.lower() == name.lower():
            return file
    return None


def version(file):
    """That of an archive, which its name holds."""
    return unquote(file.name.split("_" if file.suffix == ".deb" else "-")[1])


def member(file, ending):
    """The bytes of the one file in an archive whose path ends so."""
    if file.suffix == ".whl":
        with zipfile.ZipFile(file) as wheel:
            return wheel.read(one(wheel.namelist(), ending, file))
    tar = subprocess.run(["dpkg-deb", "--fsys-tarfile", file], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(tar)) as package:
        return package.extractfile(one(package.getnames(), ending, file)).read()


def one(paths, ending, file):
    found = [path for path in paths if path.endswith(f"/{ending}")]
    if len(found) != 1:
        raise LookupError(f"{file.name}: {len(found)} files end with {ending}, one was expected")
    return found[0]
