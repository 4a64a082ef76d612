"""The command line, which is the same program as the one that cargo builds."""

from __future__ import annotations

import signal
import sys

from . import _core


def main() -> None:
    if sys.stdout is None:
        # Standard output was closed when Python started. What is written there would be lost, or end in another file.
        print("error: standard output is closed; send it to a file, or to /dev/null", file=sys.stderr)
        sys.exit(2)
    # The program has a handler of its own.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_core.command(["banach", *sys.argv[1:]]))
