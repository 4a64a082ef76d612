"""The figures: a file for every method, written after every split, so that a run may be ended and continued on any machine."""

import json
import os


def path(folder, method):
    return folder / f"{method}.json"


def load(folder, method):
    file = path(folder, method)
    return json.loads(file.read_text()) if file.exists() else {"sets": {}}


def read(folder, name, method):
    """What is known of a method on a set: its title, what it is given, and runs by seed; or why there are none."""
    known = load(folder, method)
    found = known["sets"].get(name)
    return {} if found is None else {"title": known.get("title"), "given": known.get("given"), **found}


def write(folder, name, method, figures):
    """With six digits of every figure, and a line for every set, so that changes can be read."""
    folder.mkdir(parents=True, exist_ok=True)
    known = load(folder, method)
    known |= {key: figures[key] for key in ("title", "given") if key in figures}
    runs = {str(seed): {key: rounded(value) for key, value in run.items()} for seed, run in figures["runs"].items()}
    others = {key: value for key, value in figures.items() if key not in ("title", "given", "runs")}
    known["sets"][name] = {"runs": runs, **others}
    head = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in known.items() if key != "sets"]
    sets = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in sorted(known["sets"].items())]
    text = "{\n" + ",\n".join([*head, '"sets": {\n' + ",\n".join(sets) + "\n}"]) + "\n}\n"
    part = path(folder, method).with_suffix(".part")
    part.write_text(text)
    os.replace(part, path(folder, method))


def rounded(value):
    return float(f"{value:.6g}") if isinstance(value, float) else value
