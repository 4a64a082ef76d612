"""Every example runs in its quick mode, with warnings as errors, and makes the pictures that it names."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))


def test_examples_are_found():
    assert len(SCRIPTS) >= 6


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    import banach

    # The same package as in this process, wherever it is, from a folder of its own.
    path = os.pathsep.join([str(Path(banach.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": path}
    command = [sys.executable, "-W", "error", str(script), "--quick"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    pictures = sorted((tmp_path / "out" / "examples").glob("*.png"))
    assert pictures and all(picture.stat().st_size > 5_000 for picture in pictures)
    assert "picture" in done.stdout.splitlines()[-1]
