"""Assembles the words of a Word document into lines: paragraphs, rows of tables, and what follows them.

The lines of a text box, a note or a drawing are held back until the paragraph, or the outermost row, around them has
ended.

Words are collected in the part's order, with `PARAGRAPH` at the end of each paragraph, and turned into lines many
paragraphs at a time. What belongs below a paragraph is kept separately with its position among the words.

Lines are collected with the places that begin in them. Lines may still be moved, in cells, boxes and notes; their
places move with them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tasks.errors import TooLarge
from tasks.language.normalise import clean, one_line
from tasks.reading import text_writer
from tasks.reading.docx.numbering import ListNumber
from tasks.reading.ooxml import xml
from tasks.reading.text_writer import Writer

_MOST_MARKED: Final = 100_000
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
        return len(self._marked) >= _MOST_MARKED

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
        opening = self._opening(text_writer.TABLE, label, "\1{}\3")
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
            self.below(self._marks.around(text_writer.TEXT_BOX, "", flow.lines) if flow.kind == "box" else flow.lines)

    def _end_flow(self) -> None:
        flow = self._flow
        while flow.rows:
            self._end_row()
        self._to_lines()
        while flow.tables:
            self._close(flow.tables.pop())


def _part_from_table(lines: list[str]) -> None:
    """Add an empty line if the last line ends a table, to separate it from the next table."""
    if lines and lines[-1].endswith(_TABLE_CLOSING):
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
