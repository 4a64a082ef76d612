"""The command line, which is the same program as the one that cargo builds."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> None:
    # The program has a handler of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.command(["banach", *sys.argv[1:]]))
