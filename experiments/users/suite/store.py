"""The figures: a file for every set and method, written after every split, so that a run may be ended and continued."""

import json
import os


def path(folder, name, method):
    return folder / f"{name}--{method}.json"


def read(folder, name, method):
    """What is known of a method on a set: its title, what it is given, and runs by seed; or why there are none."""
    file = path(folder, name, method)
    return json.loads(file.read_text()) if file.exists() else {}


def write(folder, name, method, figures):
    folder.mkdir(parents=True, exist_ok=True)
    file = path(folder, name, method)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(figures, indent=1) + "\n")
    os.replace(part, file)
