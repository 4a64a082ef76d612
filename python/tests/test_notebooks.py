"""The notebooks run as they are, with what their prose claims held to what they find, and the book shows their present text."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted((ROOT / "examples" / "notebooks").glob("*.py"))


def cells(source: Path) -> list[str]:
    """What the book shows of the cells: prose without its comment signs, and code between fences."""
    heads = r"^# %%(.*)\n"
    _, *parts = re.split(heads, source.read_text(), flags=re.MULTILINE)
    shown = []
    for head, body in zip(parts[::2], parts[1::2], strict=True):
        if "[markdown]" in head:
            shown.append(re.sub(r"^# ?", "", body, flags=re.MULTILINE).strip())
        elif "remove-cell" not in head:
            shown.append(f"```python\n{body.strip()}\n```")
    return shown


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line]


def test_notebooks_are_found():
    assert len(SOURCES) >= 2


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_page_shows_the_notebook(source):
    page = (ROOT / "docs" / f"{source.stem}.md").read_text()
    # Without its first line and what was printed and drawn.
    page = re.sub(r"^<!--[^\n]*-->$|^```text\n.*?^```$|^!\[[^\n]*\)$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert lines(page) == lines("\n".join(cells(source))), "run make notebooks"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_notebook_runs(source, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    import banach

    path = os.pathsep.join([str(Path(banach.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": path}
    command = [sys.executable, "-W", "error", str(source)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
