"""Assembles the words of a Word document into lines: paragraphs, rows of tables, and what follows them.

The lines of a text box, a note or a drawing are held back until the paragraph, or the outermost row, around them has
ended.

Words are collected in the part's order, with `PARAGRAPH` at the end of each paragraph, and turned into lines many
paragraphs at a time. What belongs below a paragraph is kept separately with its position among the words.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tasks.errors import TooLarge
from tasks.reading import places
from tasks.reading.docx.lines import (
    BULLET,
    FACT,
    HEADING,
    MARKED,
    NO_END,
    NUMBER,
    PARAGRAPH,
    POSITION,
    Marks,
    after_number,
    drop_marks,
    ends_table,
    join_words,
    row_lines,
    without_deleted_ends,
)
from tasks.reading.docx.numbering import ListNumber
from tasks.reading.ooxml import xml

_DEEPEST: Final = 64
"""So many rows, cells and text boxes are kept apart inside each other; the lines of deeper ones stay in order."""

_MOST_BEYOND: Final = 200_000
"""What may be opened beyond the deepest level and not closed: each takes time, and none is read."""
_MOST: Final = 4_000_000
"""So many rows, cells and text boxes are read, in 3 s; real documents have thousands."""

_MOST_COLUMNS: Final = 63
"""A table of Word has no more."""


@dataclass(slots=True)
class _Table:
    """An open table, or the part of it after a frame, with the positions of its rows among the lines."""

    lines: list[str]
    depth: int  # of the rows round it
    header_row: bool
    headers: int = 0  # rows at its beginning that are repeated on each page
    rows: int = 0
    first: int = -1
    last: int = -1


class _Flow:
    """The lines of a part, or of a text box until it ends."""

    def __init__(self, kind: str = "") -> None:
        self.kind = kind
        self.lines: list[str] = []
        self.words: list[bytes] = []
        self.plain = True  # no facts and marks among the words
        self.asides: list[str] = []
        self.rows: list[list[list[str]]] = []  # for each open row the lines of its cells
        self.around: list[list[str]] = []  # for each open cell the lines that its row will join
        self.spans: list[int] = []  # for each open cell the columns that it spans
        self.tables: list[_Table] = []
        self.repeated: list[bool] = []  # for each open row whether it is one of its table's headers
        self.deleted: list[bool] = []  # and whether it was deleted


class Layout:
    """The lines of a part while they are being assembled.

    Attributes:
        words: what the open paragraphs hold so far, escaped as in the part; scans add to it.
        depth: the number of rows, cells and text boxes that are open.
        headings: the indices of those `lines` that are headings.
    """

    def __init__(self, marks: Marks) -> None:
        self.depth = 0
        self.headings: list[int] = []
        self._marks = marks
        self._flow = _Flow()
        self._outer: list[_Flow] = []  # for each open text box what it stands in
        self._beyond = 0  # open ones that are too deep to be kept apart
        self._opened = 0
        self._below: list[list[str]] = []
        self.words = self._flow.words

    @property
    def lines(self) -> list[str]:
        """The paragraphs and rows in reading order, with an empty line between tables; complete after `finish`."""
        return self._flow.lines

    def flush(self) -> None:
        """Turn the finished paragraphs into lines, to free the memory of their words."""
        ended, _, open_words = join_words(self.words).rpartition(PARAGRAPH)
        self.words[:] = [ended]
        self._to_lines(open_words)

    def mark_heading(self) -> None:
        """Make the open paragraph a heading, unless it is in a table or text box."""
        if not self.depth:
            self._flow.plain = False
            self.words.append(HEADING.encode())

    def mark(self, bound: str) -> None:
        """Put a bound of a place (see `Marks`) here."""
        self._flow.plain = False
        self.words.append(f"{MARKED}{bound}".encode())

    def number(self, number: ListNumber) -> None:
        """Put a number in front of the open paragraph, which has no words yet."""
        self._flow.plain = False
        self.words.append(xml.escape(number.text + (BULLET if number.bullet else NUMBER)))

    def delete_end(self, *, parted: bool) -> None:
        """Record that the end of the open paragraph was deleted, so that the next one continues it.

        `parted`: something stands between the two.
        """
        self._flow.plain = False
        self.words.append(NO_END[parted].encode())

    def below(self, lines: Iterable[str]) -> None:
        """Add lines below the open paragraph, or the outermost row."""
        filled = [words for line in lines if (words := line.strip("\r\n")) and not words.isspace()]
        if self._flow.rows:
            self._flow.asides += filled
        elif filled:
            self._flow.plain = False
            self.words.append(b"\5%d\6" % len(self._below))
            self._below.append(filled)

    def here(self, lines: Iterable[str]) -> None:
        """Insert paragraphs and rows that come from elsewhere."""
        self._to_lines()
        self._flow.lines += lines

    def start_table(self, *, header_row: bool) -> None:
        """Begin a table; `header_row`: its style makes the first row a header."""
        flow = self._flow
        if not self._beyond and len(flow.tables) < _DEEPEST:
            self._count(1)
            flow.tables.append(_Table(flow.lines, len(flow.rows), header_row))

    def repeat_row(self) -> None:
        """Make the open row a header of its table."""
        if self._flow.rows and not self._beyond:
            self._flow.repeated[-1] = True

    def delete_row(self) -> None:
        """Leave out the open row, which was deleted."""
        if self._flow.rows and not self._beyond:
            self._flow.deleted[-1] = True

    def end_table(self) -> None:
        """End the open table and its rows."""
        flow = self._flow
        if flow.tables and not self._beyond:
            while len(flow.rows) > flow.tables[-1].depth:
                self._end_row()
            self._to_lines()
            self._close(flow.tables.pop())

    def start(self, kind: str, *, closed: bool) -> None:
        """Begin a `row`, `cell`, `box` of text or `drawn_paragraph`; if `closed`, end it at once.

        Raises:
            TooLarge: there are millions of them.
        """
        self._count(1)
        if self.depth >= _DEEPEST:
            self._open_beyond(not closed)
            return
        flow = self._flow
        in_row = len(flow.rows) > len(flow.around)
        if closed:
            if kind == "cell" and in_row:
                flow.rows[-1].append([])
        elif kind == "row":
            self._to_lines()
            if in_row:  # the row before has no end
                self._end_row()
            flow.rows.append([])
            flow.repeated.append(False)
            flow.deleted.append(False)
            self.depth += 1
        elif kind == "cell":
            if in_row:
                self._to_lines()
                flow.around.append(flow.lines)
                flow.spans.append(1)
                flow.lines = []
                self.depth += 1
        else:
            self._outer.append(flow)
            self._flow = _Flow(kind)
            self.words = self._flow.words
            self.depth += 1

    def leave_columns(self, count: int) -> None:
        """Make the open cell span that many columns or, before a row's first cell, leave that many empty."""
        flow = self._flow
        count = min(count, _MOST_COLUMNS)
        if self._beyond or not flow.rows:
            return
        self._opened += count
        if len(flow.around) == len(flow.rows):
            flow.spans[-1] = max(count, 1)
        elif not flow.rows[-1]:
            flow.rows[-1] += [[]] * count

    def end(self, kind: str) -> None:
        """End what is open: `row_end`, `cell_end`, or `box_end` and `drawn_end`."""
        if self._beyond:
            self._beyond -= 1
        elif kind == "row_end":
            self._end_row()
        elif kind == "cell_end":
            self._end_cell()
        else:
            self._end_box()

    def finish(self) -> None:
        """End everything that is open, because the part is over or breaks off."""
        while self._outer:
            self._end_box()
        self._end_flow()

    def _open_beyond(self, opened: bool) -> None:
        self._beyond += opened
        if self._beyond > _MOST_BEYOND:
            raise TooLarge("The document has tables within tables without end. Ask for it again.")

    def _count(self, number: int) -> None:
        self._opened += number
        if self._opened > _MOST:
            raise TooLarge("The document has millions of table cells, more than can be read. Split it.")

    def _to_lines(self, rest: bytes = b"") -> None:
        """Convert all words to lines; `rest` are those of a paragraph that is still open."""
        flow = self._flow
        if not flow.words:
            return
        text = join_words(flow.words).decode("utf-8", "replace")
        flow.words[:] = [rest] if rest else []
        if "&" in text:
            text = xml.unescape(text)
        if "\n" in text or "\r" in text:
            paragraphs = [paragraph.strip("\r\n") for paragraph in text.split("\0")]
        else:
            paragraphs = text.split("\0")
        if flow.plain:
            flow.lines += [paragraph for paragraph in paragraphs if paragraph and not paragraph.isspace()]
            return
        if any(mark in text for mark in NO_END):
            paragraphs = without_deleted_ends(paragraphs)
        for paragraph in paragraphs:
            if FACT in paragraph:
                self._add_paragraph(paragraph)
            elif paragraph and not paragraph.isspace():
                flow.lines.append(paragraph)
        if not rest:
            flow.plain = True
            if not self._outer:
                self._below.clear()

    def _add_paragraph(self, text: str) -> None:
        """Make a line from a paragraph with facts and marks."""
        lines = self._flow.lines
        below: list[str] = []
        if "\6" in text:
            alone = POSITION.fullmatch(text)
            if alone is not None:
                lines += self._below_at(int(alone[1]))
                return
            pieces = POSITION.split(text)
            text = "".join(pieces[::2]).replace(MARKED, "")
            for position in map(int, pieces[1::2]):
                below += self._below_at(position)
        heading = HEADING in text
        if heading:
            text = text.replace(HEADING, "")
        number, mark, words = after_number(text)
        words = words.strip("\r\n")
        if words and not drop_marks(words).isspace():
            if heading:
                self.headings.append(len(lines))
            lines.append(number + (words.lstrip() if number.endswith(" ") else words))
        elif mark == NUMBER:
            lines.append(number.rstrip())
        lines += below

    def _below_at(self, position: int) -> Iterable[str]:
        return self._below[position] if position < len(self._below) else ()

    def _end_cell(self) -> None:
        flow = self._flow
        if flow.rows and len(flow.rows) == len(flow.around):
            self._to_lines()
            flow.rows[-1].append(flow.lines)
            flow.rows[-1] += [[]] * (flow.spans.pop() - 1)
            flow.lines = flow.around.pop()
            self.depth -= 1

    def _end_row(self) -> None:
        flow = self._flow
        self._end_cell()
        if not flow.rows:
            return
        self._to_lines()
        cells, repeated, deleted = flow.rows.pop(), flow.repeated.pop(), flow.deleted.pop()
        self.depth -= 1
        filled = [lines for lines in cells if lines and not deleted]
        table = flow.tables[-1] if flow.tables else None
        if table is not None and (table.depth != len(flow.rows) or table.lines is not flow.lines):
            table = None
        if len(filled) == 1 and len(filled[0]) > 1:  # a frame round paragraphs rather than a row
            if table is not None:
                self._close(table)
            flow.lines += filled[0]
        elif filled:
            for text, inner in row_lines(cells):
                if table is not None and inner:
                    self._close(table)
                    _part_from_table(table.lines)
                elif table is not None:
                    _add_row(table, repeated=repeated)
                flow.lines.append(text)
        if flow.asides and not flow.rows:
            flow.lines += flow.asides
            flow.asides.clear()

    def _close(self, table: _Table) -> None:
        """Mark the rows of a table, up to its end or to a frame in it."""
        if table.first >= 0:
            headers = table.headers or table.header_row
            opening, closing = self._marks.table(str(int(headers)) if headers else "")
            table.lines[table.first] = opening + table.lines[table.first]
            table.lines[table.last] += closing
            table.first, table.header_row, table.headers = -1, False, 0
            table.rows += 1  # what follows has no headers

    def _end_box(self) -> None:
        if self._outer:
            self._end_flow()
            flow = self._flow
            self._flow = self._outer.pop()
            self.words = self._flow.words
            self.depth -= 1
            self.below(self._marks.around(places.TEXT_BOX, "", flow.lines) if flow.kind == "box" else flow.lines)

    def _end_flow(self) -> None:
        flow = self._flow
        while flow.rows:
            self._end_row()
        self._to_lines()
        while flow.tables:
            self._close(flow.tables.pop())


def _part_from_table(lines: list[str]) -> None:
    """Add an empty line if the last line ends a table, to separate it from the next table."""
    if lines and ends_table(lines[-1]):
        lines.append("")


def _add_row(table: _Table, *, repeated: bool) -> None:
    """Note that the next line to be added is a row of `table`."""
    lines = table.lines
    if table.first < 0:
        _part_from_table(lines)
        table.first = len(lines)
    table.last = len(lines)
    if repeated and table.headers == table.rows:
        table.headers += 1
    table.rows += 1
