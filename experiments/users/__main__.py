"""`python -m users`: measures, keeps the figures in a file, and writes the page and the picture."""

import argparse
import json
import sys
from pathlib import Path

from . import report, schedule

ROOT = Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser(prog="users", description="banach against what users would pick instead")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, in under a minute; nothing is written into docs/"
    )
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        help="solving, modelling, or a problem such as solving/wide; may be repeated; the other figures of the file stay",
    )
    parser.add_argument(
        "--among",
        action="append",
        default=[],
        help="only these contenders, such as ours; the figures are printed and not kept",
    )
    parser.add_argument("--results", type=Path, default=ROOT / "target" / "users.json", help="the file of the figures")
    parser.add_argument("--report", action="store_true", help="measure nothing: the page from the file of the figures")
    arguments = parser.parse_args()

    if not arguments.report:
        only, among = arguments.only, arguments.among
        results = schedule.run(arguments.quick, only, among, lambda line: print(line, file=sys.stderr, flush=True))
        if among:
            print(report.text(results))
            return
        if arguments.only and arguments.results.exists():
            results = schedule.merged(json.loads(arguments.results.read_text()), results)
        arguments.results.parent.mkdir(parents=True, exist_ok=True)
        arguments.results.write_text(json.dumps(results, indent=1) + "\n")
    results = json.loads(arguments.results.read_text())
    text = report.text(results)
    if results["quick"] or not schedule.is_complete(results):
        print(text)
    else:
        report.write(text, ROOT / "docs" / "benchmarks.md")
        from . import picture

        picture.draw(results, ROOT / "docs" / "images" / "peers.svg")


if __name__ == "__main__":
    main()
