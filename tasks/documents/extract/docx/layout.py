"""Puts the words of a Word document into lines: paragraphs, rows of tables, and what stands below them.

The lines of a text box, a note or a drawing wait until the paragraph, or the outermost row, that holds them
has ended.
"""

from collections.abc import Iterable
from typing import Final

from tasks.documents.extract.ooxml import xml
from tasks.errors import TooLarge
from tasks.text.normalise import one_line

_DEEPEST: Final = 64
"""So many rows, cells and text boxes are kept apart inside each other; the lines of deeper ones stay in order."""

_MOST: Final = 4_000_000
"""So many rows, cells and text boxes are read, in 3 s; real documents have thousands."""

_MOST_COLUMNS: Final = 63
"""A table of Word has no more."""

_LONG: Final = 1 << 20
"""Characters in a cell from which on its words are not counted out: that takes fifteen times its memory."""

_AT_ONCE: Final = 1 << 16


class _Flow:
    """The lines of a part, or those of a text box until it ends."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.words: list[bytes] = []
        self.heading = False
        self.asides: list[str] = []
        self.rows: list[list[list[str]]] = []  # for each open row the lines of its cells
        self.around: list[list[str]] = []  # for each open cell the lines that its row will join
        self.spans: list[int] = []  # for each open cell the columns that it spans


class Layout:
    """The lines of a part, while they are put together.

    Attributes:
        words: what the open paragraph holds so far, escaped as in the part; scans add to it.
        depth: the number of rows, cells and text boxes that are open.
        headings: the indices of those `lines` that are headings.
    """

    def __init__(self) -> None:
        self.depth = 0
        self.headings: list[int] = []
        self._flow = _Flow()
        self._outer: list[_Flow] = []  # for each open text box what it stands in
        self._beyond = 0  # open ones that are too deep to be kept apart
        self._opened = 0
        self.words = self._flow.words

    @property
    def lines(self) -> list[str]:
        """The paragraphs and rows in reading order, none of them blank; all of them after `finish`."""
        return self._flow.lines

    def end_paragraph(self) -> None:
        """End the open paragraph's line, or that of words outside one."""
        flow = self._flow
        if flow.words:
            text = _joined(flow.words).decode("utf-8", "replace")
            flow.words.clear()
            if "&" in text:
                text = xml.unescaped(text)
            text = text.strip("\r\n")
            if text and not text.isspace():
                if flow.heading:
                    self.headings.append(len(flow.lines))
                flow.lines.append(text)
        flow.heading = False
        if flow.asides and not flow.rows:
            flow.lines += flow.asides
            flow.asides.clear()

    def mark_heading(self) -> None:
        """The open paragraph is a heading, unless it stands in a table or a text box."""
        if not self.depth:
            self._flow.heading = True

    def below(self, lines: Iterable[str]) -> None:
        """Lines to stand below the open paragraph, or the outermost row."""
        stripped = (line.strip("\r\n") for line in lines)
        self._flow.asides += [line for line in stripped if line and not line.isspace()]

    def start(self, kind: str, *, closed: bool) -> None:
        """A `row`, `cell` or `box` of text begins; `closed`: and ends at once.

        Raises:
            TooLarge: there are millions of them.
        """
        self._opened += 1
        if self._opened > _MOST:
            raise TooLarge("The document has millions of table cells, more than can be read. Split it.")
        if self.depth >= _DEEPEST:
            self._beyond += not closed
            return
        flow = self._flow
        in_row = len(flow.rows) > len(flow.around)
        if closed:
            if kind == "cell" and in_row:
                flow.rows[-1].append([])
        elif kind == "row":
            self.end_paragraph()
            if in_row:  # the row before has no end
                self._end_row()
            flow.rows.append([])
            self.depth += 1
        elif kind == "cell":
            if in_row:
                self.end_paragraph()
                flow.around.append(flow.lines)
                flow.spans.append(1)
                flow.lines = []
                self.depth += 1
        else:
            self._outer.append(flow)
            self._flow = _Flow()
            self.words = self._flow.words
            self.depth += 1

    def leave_columns(self, count: int) -> None:
        """The open cell spans so many columns; before the first cell of a row: so many stay empty."""
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
        """What is open ends: `row_end`, `cell_end` or `box_end`."""
        if self._beyond:
            self._beyond -= 1
        elif kind == "row_end":
            self._end_row()
        elif kind == "cell_end":
            self._end_cell()
        else:
            self._end_box()

    def finish(self) -> None:
        """End whatever is open: the part is over, or breaks off."""
        while self._outer:
            self._end_box()
        self._end_flow()

    def _end_cell(self) -> None:
        flow = self._flow
        if flow.rows and len(flow.rows) == len(flow.around):
            self.end_paragraph()
            flow.rows[-1].append(flow.lines)
            flow.rows[-1] += [[]] * (flow.spans.pop() - 1)
            flow.lines = flow.around.pop()
            self.depth -= 1

    def _end_row(self) -> None:
        flow = self._flow
        self._end_cell()
        if flow.rows:
            cells = flow.rows.pop()
            self.depth -= 1
            filled = [lines for lines in cells if lines]
            if len(filled) == 1 and len(filled[0]) > 1:  # a frame round paragraphs rather than a row
                flow.lines += filled[0]
            elif filled:
                flow.lines.append("\t".join(map(_cell, cells)).rstrip("\t"))
            self.end_paragraph()

    def _end_box(self) -> None:
        if self._outer:
            self._end_flow()
            lines = self._flow.lines
            self._flow = self._outer.pop()
            self._flow.asides += lines
            self.words = self._flow.words
            self.depth -= 1

    def _end_flow(self) -> None:
        while self._flow.rows:
            self._end_row()
        self.end_paragraph()


def _joined(words: list[bytes]) -> bytes:
    """`words` as one; Python's own joining takes 80 bytes of memory for each of them."""
    if len(words) <= _AT_ONCE:
        return b"".join(words)
    return b"".join([b"".join(words[at : at + _AT_ONCE]) for at in range(0, len(words), _AT_ONCE)])


def _cell(lines: list[str]) -> str:
    text = " ".join(lines)
    return one_line(text) if len(text) < _LONG else text.replace("\t", " ").replace("\n", " ")
