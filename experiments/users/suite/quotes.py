"""Figures of docs/suite.md in other pages: `python -m users.suite.quotes` writes them anew, and a test finds what is out of date.

A table is a quote if its first heading is `error`, `seconds` or `mean rank`: rows are sets, or groups of sets, and the other columns methods, all by
the names that the suite has for them. What is not measured is a dash.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["README.md", "docs/from-glmnet.md", "docs/from-pls.md", "docs/from-random-forests.md"]
TABLE = re.compile(r"^\|.*\n\|[-| :]+\|\n(?:\|.*\n)+", re.MULTILINE)
KINDS = ("error", "seconds", "mean rank")
NUMBER = re.compile(r"[0-9.e-]+( ± [0-9.e-]+)?")


def rows(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def figures(suite):
    """`(kind, set, method)` to what the suite's page says. The first table with a figure counts."""
    found = {}
    for table in TABLE.finditer(suite):
        before = suite[: table.start()].rstrip()
        above = before.rsplit("\n", 1)[-1]
        if above.startswith(("Log-loss", "Splits")):
            continue
        head, _, *body = rows(table[0])
        ranks, seconds = above.startswith("Mean ranks"), above.startswith("Seconds")
        group = before.rsplit("\n## ", 1)[-1].split("\n", 1)[0]
        for name, *cells in body:
            for method, cell in zip(head[1:], cells, strict=True):
                value = cell.replace("*", "")
                if ranks and method == "mean rank":
                    found["mean rank", group, name] = value
                elif NUMBER.fullmatch(value) and not ranks:
                    found.setdefault(("seconds" if seconds else "error", name, method), value)
    return found


def renewed(page, found):
    """The page with the figures that there are now."""

    def quote(table):
        head, rule, *body = rows(table[0])
        if head[0] not in KINDS:
            return table[0]
        cells = [[row[0], *(found.get((head[0], row[0], method), "-") for method in head[1:])] for row in body]
        lines = [f"| {' | '.join(line)} |" for line in (head, *cells)]
        return "\n".join([lines[0], f"|{'|'.join(rule)}|", *lines[1:]]) + "\n"

    return TABLE.sub(quote, page)


def main():
    found = figures((ROOT / "docs" / "suite.md").read_text())
    for name in PAGES:
        page = ROOT / name
        text = page.read_text()
        if renewed(text, found) != text:
            page.write_text(renewed(text, found))
            print(f"{name} has new figures: read what it says of them", file=sys.stderr)


if __name__ == "__main__":
    main()
