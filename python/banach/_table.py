"""Small tables for people to read, and for pandas and polars to take over."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

_ROWS = 30


class Table(Mapping[str, Any]):
    """Named columns of equal length, with a line on what is known of them.

    ``table["weight"]`` is a column, ``table.rows()`` are dicts, ``table.to_pandas()`` and ``table.to_polars()`` are data
    frames where those packages are installed.
    """

    def __init__(self, columns: Mapping[str, Any], caption: str = "", **more: Any) -> None:
        self._columns = dict(columns)
        self.caption = caption
        for name, value in more.items():
            setattr(self, name, value)

    if TYPE_CHECKING:
        # What else is known, such as ``complete`` or ``degrees``.
        def __getattr__(self, name: str) -> Any: ...

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def n_rows(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def rows(self) -> list[dict[str, Any]]:
        """The rows, as dicts."""
        return [dict(zip(self._columns, row, strict=True)) for row in zip(*self._columns.values(), strict=True)]

    def to_pandas(self) -> Any:
        """The same as a ``pandas.DataFrame``."""
        import pandas

        return pandas.DataFrame(self._columns)

    def to_polars(self) -> Any:
        """The same as a ``polars.DataFrame``."""
        import polars

        return polars.DataFrame({name: list(column) for name, column in self._columns.items()})

    def _cells(self) -> list[list[str]]:
        shown = min(self.n_rows, _ROWS)
        return [[_text(column[row]) for column in self._columns.values()] for row in range(shown)]

    def __str__(self) -> str:
        names, cells = list(self._columns), self._cells()
        widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(names)]
        numbers = [_is_number(column) for column in self._columns.values()]

        def line(row: list[str]) -> str:
            parts = zip(row, widths, numbers, strict=True)
            return "  ".join(cell.rjust(width) if number else cell.ljust(width) for cell, width, number in parts).rstrip()

        lines = [line(names), *map(line, cells)]
        if self.n_rows > _ROWS:
            lines.append(f"... {self.n_rows - _ROWS} more rows")
        if self.caption:
            lines.append(self.caption)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        def row(cells: list[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

        body = "".join(row(cells, "td") for cells in self._cells())
        more = f"<p>{self.n_rows - _ROWS} more rows</p>" if self.n_rows > _ROWS else ""
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        return f"<table>{caption}<thead>{row(list(self._columns), 'th')}</thead><tbody>{body}</tbody></table>{more}"


def _is_number(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "fiu"


def _text(cell: Any) -> str:
    if isinstance(cell, (float, np.floating)):
        return "" if np.isnan(cell) else f"{cell:.4g}"
    return str(cell)
