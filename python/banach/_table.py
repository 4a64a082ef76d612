"""Small tables for people to read, and for pandas and polars to take over."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

_ROWS = 30
#: Columns for programs; people read the same in another one.
_UNSHOWN = frozenset({"exponents"})


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

    # Columns are arrays, which do not compare to one truth value.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

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

    def _shown(self) -> tuple[list[str], list[bool], list[list[str]]]:
        """The names of the columns that people read, which of them are numbers, and their cells."""
        columns = {name: column for name, column in self._columns.items() if name not in _UNSHOWN}
        shown = min(self.n_rows, _ROWS)
        cells = [[_text(column[row]) for column in columns.values()] for row in range(shown)]
        return list(columns), [_is_number(column) for column in columns.values()], cells

    def __str__(self) -> str:
        names, numbers, cells = self._shown()
        widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(names)]

        def line(row: list[str]) -> str:
            parts = zip(row, widths, numbers, strict=True)
            return "  ".join(
                cell.rjust(width) if number else cell.ljust(width) for cell, width, number in parts
            ).rstrip()

        lines = [line(names), *map(line, cells)]
        if self.n_rows > _ROWS:
            lines.append(f"... {self.n_rows - _ROWS} more rows")
        if self.caption:
            lines.append(self.caption)
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        names, numbers, cells = self._shown()

        def row(texts: list[str], tag: str) -> str:
            sides = ["right" if number else "left" for number in numbers]
            parts = zip(texts, sides, strict=True)
            return (
                "<tr>"
                + "".join(
                    f'<{tag} style="text-align: {side}; padding: 0.15em 0.8em">{html.escape(text)}</{tag}>'
                    for text, side in parts
                )
                + "</tr>"
            )

        lines = [f"{self.n_rows - _ROWS} more rows"] if self.n_rows > _ROWS else []
        lines += [html.escape(self.caption)] if self.caption else []
        style = "caption-side: bottom; text-align: left; padding: 0.4em 0.8em"
        caption = f'<caption style="{style}">{"<br>".join(lines)}</caption>' if lines else ""
        body = "".join(row(texts, "td") for texts in cells)
        return f"<table>{caption}<thead>{row(names, 'th')}</thead><tbody>{body}</tbody></table>"


def _is_number(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype.kind in "fiu"


def _text(cell: Any) -> str:
    if isinstance(cell, (float, np.floating)):
        return "" if np.isnan(cell) else f"{cell:.4g}"
    return str(cell)
