"""What the command shows on a terminal, and nowhere else."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PROGRAM = Path(sys.executable).with_name("banach")


def test_shuffled_targets_are_counted_on_terminals(tmp_path):
    pty = pytest.importorskip("pty", reason="terminals of Unix")
    data = tmp_path / "data.csv"
    np.savetxt(data, np.random.default_rng(0).normal(size=(20, 3)), delimiter=",", header="x0,x1,y", comments="")
    for flags, is_shown in (([], True), (["--quiet"], False)):
        ours, its = pty.openpty()
        command = [PROGRAM, "fit", data, "--target", "y", "--p", "1.2", "--permutations", "3", "--json", *flags]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its)
        os.close(its)
        seen = b""
        # The end of a terminal is an error of reading on Linux.
        with contextlib.suppress(OSError):
            while part := os.read(ours, 4096):
                seen += part
        os.close(ours)
        told, _ = run.communicate()
        assert run.returncode == 0 and json.loads(told)["assessment"]["permutations"]["permutations"] == 3
        assert (b"shuffled targets" in seen) == is_shown
