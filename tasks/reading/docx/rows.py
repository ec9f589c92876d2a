"""The lines of a row of a Word table: cells split by tabs, and tables that lie in cells as rows of their own."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tasks.language.normalise import one_line
from tasks.reading.docx.marks import table_bounds, without_tables

_LONG: Final = 1 << 20
"""Characters in a cell from which on its words are not counted out: that takes fifteen times its memory."""


class RowLine(NamedTuple):
    """A line of a row; `inner`: it is one of a table in one of its cells."""

    text: str
    inner: bool


class _Piece(NamedTuple):
    """Lines of a cell that are its own, or a table in it."""

    lines: list[str]
    inner: bool


def row_lines(cells: Sequence[list[str]]) -> list[RowLine]:
    """The lines of a row, given those of its cells.

    One, with the words of a cell on it. A table in a cell has lines of its own below what stands before it, and what
    follows it in the row begins another line, in its columns. Where all tables in a cell are of one row or one column
    they are words of the cell.
    """
    if max(map(len, cells)) < 2 or not any(any(map(_is_bound, lines)) for lines in cells):
        return [_line(map(_cell, cells))]
    rows: list[RowLine] = []
    ready: list[str] = []
    for column, lines in enumerate(cells):
        words: list[str] = []
        for piece in _pieces(lines):
            if not piece.inner:
                words += piece.lines
                continue
            ready.append(_cell(words))
            if any(ready):
                rows.append(_line(ready))
            rows += (RowLine(line, inner=True) for line in piece.lines if line)
            ready, words = [""] * column, []
        ready.append(_cell(words))
    if any(ready):
        rows.append(_line(ready))
    return rows


def _line(cells: Iterator[str] | Sequence[str]) -> RowLine:
    return RowLine("\t".join(cells).rstrip("\t"), inner=False)


def _pieces(lines: list[str]) -> list[_Piece]:
    """What stands in a cell, in order."""
    pieces: list[_Piece] = []
    open_tables = 0
    held: list[str] = []
    for line in lines:
        opened, closed = table_bounds(line)
        if opened and not open_tables:
            pieces.append(_Piece(held, inner=False))
            held = []
        held.append(line)
        before, open_tables = open_tables, max(0, open_tables + opened - closed)
        if (before or opened) and not open_tables:
            pieces.append(_Piece(held, inner=True))
            held = []
    pieces.append(_Piece(held, inner=False))
    if any(map(_has_rows, pieces)):
        return pieces
    return [_Piece(lines, inner=False)]


def _has_rows(piece: _Piece) -> bool:
    rows = [line for line in piece.lines if line.strip()]
    return piece.inner and len(rows) > 1 and any("\t" in row.strip() for row in rows)


def _is_bound(line: str) -> bool:
    return any(table_bounds(line))


def _cell(lines: list[str]) -> str:
    text = without_tables(" ".join(lines))
    return one_line(text) if len(text) < _LONG else text.replace("\t", " ").replace("\n", " ")
