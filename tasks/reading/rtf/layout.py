"""Puts the words of an RTF document into lines: paragraphs, rows of tables, and what stands below them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.places import INSERTED, TABLE
from tasks.reading.text_writer import Writer

Mark = tuple[int, int, str]
"""Where inserted words begin and end in their line, and by whom they are."""

_DEEPEST_TABLE: Final = 16
_MOST_CELLS: Final = 2_000_000


@dataclass
class RtfLine:
    """A paragraph or a row, with the inserted words in it; `inner`: a row of a table in a cell."""

    text: str
    marks: list[Mark] = field(default_factory=list)
    inner: bool = False


@dataclass
class Aside:
    """Lines that stand below a paragraph: what they are, the label of their place, and the lines."""

    kind: str
    label: str
    lines: list[str]


class Story:
    """The body of a document, or what is said in a note, a comment, a header, a text box.

    Attributes:
        lines: what a story beside the body holds when it has ended.
    """

    def __init__(self, writer: Writer | None = None) -> None:
        self.lines: list[str] = []
        self._writer = writer
        self._pieces: list[str] = []
        self._length = 0
        self._marks: list[Mark] = []
        self._asides: list[Aside] = []
        self._below_table: list[Aside] = []
        self._cells: list[list[RtfLine]] = []  # those of the open row, each with its paragraphs
        self._cell: list[RtfLine] = []  # the open cell's paragraphs
        self._nested: list[list[str]] = [[] for _ in range(_DEEPEST_TABLE)]  # by depth, the cells of open nested rows
        self._rows: list[RtfLine] = []
        self._header_rows = 0
        self._count = 0

    def words(self, text: str, inserted: str | None = None) -> None:
        """Add words to the open paragraph; `inserted` is by whom and when, where somebody inserted them."""
        if inserted is not None and text.strip():
            self._marks.append((self._length, self._length + len(text), inserted))
        self._pieces.append(text)
        self._length += len(text)

    def aside(self, aside: Aside) -> None:
        """Lines to stand below the open paragraph, or the table that it is in."""
        self._asides.append(aside)

    def end_paragraph(self, *, heading: bool, in_table: bool) -> None:
        """The open paragraph ends."""
        line = self._taken()
        if in_table:
            if line is not None:
                self._cell.append(line)
            return
        self._end_table()
        if line is not None:
            self._write(line, heading=heading)
        asides, self._asides = self._asides, []
        self._write_asides(asides)

    def end_cell(self) -> None:
        """The open cell of the open row ends."""
        line = self._taken()
        if line is not None:
            self._cell.append(line)
        self._count += 1
        if self._count <= _MOST_CELLS:
            self._cells.append(self._cell)
        self._cell = []

    def end_row(self, *, heads: bool) -> None:
        """The open row ends; `heads`: it is repeated on every page."""
        cells, self._cells = self._cells, []
        if self._cell or self._pieces:
            self.end_cell()
            cells += self._cells
            self._cells = []
        self._below_table += self._asides
        self._asides = []
        filled = [cell for cell in cells if cell]
        if len(filled) == 1 and len(filled[0]) > 1:  # a frame round paragraphs rather than a row
            self._rows += filled[0]
        elif filled:
            if heads and len(self._rows) == self._header_rows:
                self._header_rows += 1
            for rows in _rows(cells):
                if rows[0].inner:
                    self._end_table()
                self._rows += rows
                if rows[0].inner:
                    self._end_table()

    def end_nested_cell(self, depth: int) -> None:
        """A cell of a table within a cell ends, so many tables deep (2 or more)."""
        line = self._taken()
        self._nested[min(depth, _DEEPEST_TABLE) - 1].append(line.text if line else "")

    def end_nested_row(self, depth: int) -> None:
        """A row of a table within a cell ends: a line of the cell."""
        cells = self._nested[min(depth, _DEEPEST_TABLE) - 1]
        text = "\t".join(map(one_line, cells)).rstrip("\t")
        cells.clear()
        if text:
            self._cell.append(RtfLine(text, inner=True))

    def finish(self, *, heading: bool = False) -> None:
        """End whatever is open."""
        if self._cells or self._cell:
            self.end_row(heads=False)
        self.end_paragraph(heading=heading, in_table=False)

    def _taken(self) -> RtfLine | None:
        """The open paragraph, if it has words."""
        if not self._pieces:
            return None
        text = "".join(self._pieces)
        marks, self._marks, self._pieces, self._length = self._marks, [], [], 0
        indented = len(text) - len(text.lstrip(" "))
        if indented:
            text = text[indented:]
            marks = [(max(begin - indented, 0), end - indented, label) for begin, end, label in marks if end > indented]
        return RtfLine(text, marks) if text.strip() else None

    def _write(self, line: RtfLine, *, heading: bool = False) -> None:
        text = line.text.rstrip()
        if self._writer is None:
            self.lines += [part for part in text.split("\n") if part.strip()]
            return
        if heading:
            self._writer.heading(text)
        start = self._writer.position
        self._writer.line(text)
        for begin, end, label in line.marks:
            self._writer.mark(start + begin, min(start + end, self._writer.position), INSERTED, label)

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        header = str(self._header_rows) if 0 < self._header_rows < len(rows) else ""
        self._header_rows = 0
        if self._writer is not None and any("\t" in row.text for row in rows):
            with self._writer.place(TABLE, header):
                for row in rows:
                    self._write(row)
        else:
            for row in rows:
                self._write(row)
        asides, self._below_table = self._below_table, []
        self._write_asides(asides)

    def _write_asides(self, asides: list[Aside]) -> None:
        for aside in asides:
            if self._writer is None:
                self.lines += aside.lines
            else:
                self._writer.placed(aside.kind, aside.label, "\n".join(aside.lines))


def _rows(cells: list[list[RtfLine]]) -> Iterator[list[RtfLine]]:
    """The lines of a row: one, or where a cell holds a table what stands before it, its rows, and what follows it.

    A table of one row or one column is words of its cell.
    """
    ready: list[list[RtfLine]] = []
    for column, cell in enumerate(cells):
        words = cell
        if sum(line.inner for line in cell) > 1 and any(line.inner and "\t" in line.text for line in cell):
            words = []
            for inner, lines in groupby(cell, attrgetter("inner")):
                if not inner:
                    words = list(lines)
                    continue
                if any([*ready, words]):
                    yield [_row([*ready, words])]
                yield list(lines)
                ready, words = [[] for _ in range(column)], []
        ready.append(words)
    if any(ready):
        yield [_row(ready)]


def _row(cells: list[list[RtfLine]]) -> RtfLine:
    texts: list[str] = []
    marks: list[Mark] = []
    at = 0
    for cell in cells:
        if any(line.marks for line in cell):
            text = " ".join(line.text for line in cell)
            offset = at
            for line in cell:
                marks += [(begin + offset, end + offset, label) for begin, end, label in line.marks]
                offset += len(line.text) + 1
            text = text.replace("\t", " ").replace("\n", " ")  # marks know their offsets
        else:
            text = one_line(" ".join(line.text for line in cell))
        texts.append(text)
        at += len(text) + 1
    return RtfLine("\t".join(texts).rstrip("\t"), marks)
