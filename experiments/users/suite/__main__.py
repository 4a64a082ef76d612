"""`python -m users.suite`: measures what is not measured yet, and writes the page."""

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def main():
    parser = argparse.ArgumentParser(prog="users.suite", description="banach on real wide data and synthetic tasks")
    parser.add_argument("--only-set", nargs="+", action="extend", default=[], metavar="NAME", help="these sets alone")
    parser.add_argument(
        "--method", nargs="+", action="extend", default=[], metavar="NAME", help="these methods alone; ours, peers"
    )
    parser.add_argument("--dev", action="store_true", help="the splits for development; prints, and keeps nothing")
    parser.add_argument("--again", action="store_true", help="measure again what is known")
    parser.add_argument(
        "--report",
        action="store_true",
        help="measure nothing: the page from the figures that there are, which says what was not measured",
    )
    parser.add_argument("--data", type=Path, help="the folder of the data; target/suite-data")
    parser.add_argument(
        "--results", type=Path, default=Path(__file__).parent / "figures", help="the folder of the figures"
    )
    arguments = parser.parse_args()
    if arguments.data:
        os.environ["SUITE_DATA"] = str(arguments.data.resolve())

    # Where the data are is decided before they are known by name.
    from . import schedule, summary
    from .sets import DEVELOPMENT

    def log(line):
        print(line, file=sys.stderr, flush=True)

    pairs = list(schedule.plan(arguments.only_set, arguments.method))
    if not arguments.dev:
        if not arguments.report:
            schedule.run(arguments.results, pairs, arguments.again, log)
        return write(arguments.results, arguments.report)
    for name, method in schedule.available(pairs, log):
        figures = schedule.measured(name, method, DEVELOPMENT, log)
        row = summary.scored(figures, DEVELOPMENT)
        print(f"{name} {method}: {row.shown() if row else summary.unfinished(figures)}", flush=True)


def write(folder, asked):
    """The page, if it was asked for or there is something of everybody on all sets; else what there is is printed."""
    from . import page, quotes, summary
    from .board import Board

    board = Board(folder)
    text = page.text(board)
    if summary.UNTRIED in board.notes.values() and not asked:
        print(text)
    else:
        (ROOT / "docs" / "suite.md").write_text(text)
        quotes.main()


if __name__ == "__main__":
    sys.exit(main())
