"""The lines of a Word document while they are being collected: paragraphs, rows of tables, and where places begin.

Lines may still be moved, in cells, boxes and notes; their places move with them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tasks.language.normalise import clean, one_line
from tasks.reading import places
from tasks.reading.text_writer import Writer

_MOST: Final = 100_000
"""Places that are kept of one document; real contracts have thousands of insertions at most."""

_BOUND: Final = re.compile("\1([0-9]{0,6})[\2\3]")
_TABLE_BOUND: Final = re.compile("\1[0-9]{0,6}\3")
CLOSING: Final = "\1\2"
_TABLE_CLOSING: Final = "\1\3"


class Marks:
    """The places of a document while their bounds are still marked inside its lines."""

    def __init__(self) -> None:
        self._marked: list[tuple[str, str]] = []

    @property
    def is_full(self) -> bool:
        """Whether the limit for places is reached."""
        return len(self._marked) >= _MOST

    def opening(self, kind: str, label: str = "") -> str:
        """The mark before the words of a place, to be closed by `CLOSING`; "" if there are too many places."""
        return self._opening(kind, label, "\1{}\2")

    def around(self, kind: str, label: str, lines: Sequence[str]) -> list[str]:
        """The lines as one place."""
        if not lines or self.is_full:
            return [*lines]
        opening = self.opening(kind, label)
        marked = [*lines]
        marked[0] = opening + marked[0]
        marked[-1] += CLOSING
        return marked

    def table(self, label: str) -> tuple[str, str]:
        """The marks before the first row and after the last row of a table; see `without_tables`."""
        opening = self._opening(places.TABLE, label, "\1{}\3")
        return opening, _TABLE_CLOSING if opening else ""

    def write(self, text: str, writer: Writer) -> None:
        """Write `text` with its places, and end the line."""
        if "\1" not in text:
            writer.line(text)
            return
        words = _BOUND.sub("", text)
        at = writer.position
        writer.line(words)
        if writer.position != at + len(words) + 1:  # what was not fit to be written moves what stands behind
            pieces = _BOUND.split(text)
            pieces[::2] = map(clean, pieces[::2])
            text = "".join(piece if number % 2 == 0 else f"\1{piece}\2" for number, piece in enumerate(pieces))
        opened: list[tuple[int, int]] = []
        for bound in _BOUND.finditer(text):
            here = at + bound.start()
            at -= bound.end() - bound.start()
            if bound[1]:
                opened.append((int(bound[1]), here))
            elif opened:
                number, start = opened.pop()
                if number < len(self._marked) and here > start:
                    writer.mark(start, here, *self._marked[number])

    def _opening(self, kind: str, label: str, bound: str) -> str:
        if self.is_full:
            return ""
        self._marked.append((kind, label))
        return bound.format(len(self._marked) - 1)


def drop_marks(text: str) -> str:
    """`text` without the marks for places."""
    return _BOUND.sub("", text) if "\1" in text else text


def without_tables(text: str) -> str:
    """`text` for a cell of another table, in which inner tables are no places of their own."""
    return _TABLE_BOUND.sub("", text) if "\1" in text else text


def table_bounds(line: str) -> tuple[int, int]:
    """How many tables begin and end on `line`."""
    if "\3" not in line:
        return 0, 0
    bounds = _TABLE_BOUND.findall(line)
    return sum(bound != _TABLE_CLOSING for bound in bounds), bounds.count(_TABLE_CLOSING)


def ends_table(line: str) -> bool:
    """Whether `line` is the last line of a table."""
    return line.endswith(_TABLE_CLOSING)


PARAGRAPH: Final = b"\0"
"""What ends a paragraph among its words."""

FACT: Final = "\5"
"""Begins what stands among the words of a paragraph and is none of them."""

POSITION: Final = re.compile("\5([0-9]{1,8})\6")
HEADING: Final = "\5\7"
MARKED: Final = "\5\6"
NUMBER: Final = "\5\x0e"
"""Ends the number in front of a paragraph."""

BULLET: Final = "\5\x0f"
"""The same, of one that counts nothing: alone it makes no line."""

NO_END: Final = ("\5\x10", "\5\x11")
"""Stand in a paragraph whose end was deleted; the second where what follows has a `PARAGRAPH` of its own in front."""

_AT_ONCE: Final = 1 << 16


def without_deleted_ends(paragraphs: list[str]) -> list[str]:
    """The paragraphs; one whose end was deleted becomes the beginning of the next, after that one's number."""
    whole: list[str] = []
    begun, parted = "", False
    for paragraph in paragraphs:
        if parted and not paragraph:
            parted = False
        elif mark := next((mark for mark in NO_END if mark in paragraph), ""):
            number, before, words = after_number(paragraph.replace(mark, ""))
            begun, parted = number + before + begun + words, mark == NO_END[1]
        elif begun:
            number, before, words = after_number(paragraph)
            whole.append(number + before + begun + words)
            begun, parted = "", False
        else:
            whole.append(paragraph)
    return [*whole, begun] if begun else whole


def after_number(paragraph: str) -> tuple[str, str, str]:
    """A paragraph's number, what ends the number, and the words; the first two are empty without a number."""
    number, mark, words = paragraph.rpartition(NUMBER)
    return (number, mark, words) if mark else paragraph.rpartition(BULLET)


def join_words(words: list[bytes]) -> bytes:
    """`words` as one; Python's own join takes 80 bytes of memory for each of them."""
    if len(words) <= _AT_ONCE:
        return b"".join(words)
    return b"".join([b"".join(words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)])


_LONG: Final = 1 << 20
"""Characters in a cell from which on its words are not counted out: that takes fifteen times its memory."""


class RowLine(NamedTuple):
    """A line of a row; `inner`: it is one of a table in one of its cells."""

    text: str
    inner: bool


class _Piece(NamedTuple):
    """Lines that belong directly to a cell, or a table inside it."""

    lines: list[str]
    inner: bool


def row_lines(cells: Sequence[list[str]]) -> list[RowLine]:
    """The lines of a row, given those of its cells.

    Usually a single line with the words of all cells. A table inside a cell has its own lines below what precedes
    it, and what follows it in the row begins another line, in its columns. If all tables in a cell have one row or one
    column, they are words of the cell.
    """
    if max(map(len, cells)) < 2 or not any(any(table_bounds(line)) for lines in cells for line in lines):
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
    """The contents of a cell, in order."""
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


def _cell(lines: list[str]) -> str:
    text = without_tables(" ".join(lines))
    return one_line(text) if len(text) < _LONG else text.replace("\t", " ").replace("\n", " ")
