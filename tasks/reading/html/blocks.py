"""What a page is made of once its markup is read: lines and tables, and the open line that words are added to."""

import re
from typing import Final, NamedTuple

from tasks.reading.places import ALTERNATIVE_TEXT

_SPACE: Final = re.compile("[ \t\n\r\f]+")
_WIDE_SPACE: Final = re.compile("[ \xa0]{2,}")


class HtmlMark(NamedTuple):
    """The characters from `start` up to `end` of a line are of another kind of place."""

    start: int
    end: int
    kind: str
    label: str


class HtmlLine(NamedTuple):
    r"""A line of a page, with `\n` where it breaks; its kind is a place's, or ""."""

    text: str
    kind: str = ""
    marks: tuple[HtmlMark, ...] = ()


class HtmlTable(NamedTuple):
    """The rows of a table, their cells split by tabs; `header_rows` is 0 where the page names none."""

    rows: list[HtmlLine]
    header_rows: int


Block = HtmlLine | HtmlTable


class Flow:
    """The blocks of a page, or of a cell, while they are put together.

    Attributes:
        blocks: those that have ended.
        kind: of the open line.
        prefix: a list item's bullet or number, until words follow it.
    """

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.kind = ""
        self.prefix = ""
        self._pieces: list[str] = []
        self._length = 0
        self._marks: list[HtmlMark] = []
        self._at_space = True
        self._asides: list[HtmlLine] = []

    def words(self, text: str, *, kept: bool = False, mark: tuple[str, str] | None = None) -> None:
        """Add to the open line.

        Args:
            text: the words, with white space that counts as one space.
            kept: white space counts as it is.
            mark: the kind and label of a place of their own.
        """
        if not kept:
            text = _SPACE.sub(" ", text)
            if self._at_space:
                text = text.lstrip(" ")
        if not text:
            return
        if self.prefix and not text.isspace():
            self._add(self.prefix)
            self.prefix = ""
        if mark is not None and not text.isspace():
            self._mark(len(text), *mark)
        self._add(text)
        self._at_space = text[-1] in " \n"

    def line_break(self) -> None:
        """The words go on in the next line."""
        if self._length and self._pieces[-1] != "\n":
            self._add("\n")
        self._at_space = True

    def aside(self, line: HtmlLine) -> None:
        """A line that stands below the open one."""
        self._asides.append(line)

    def end_line(self) -> None:
        """End the open line, if there is anything in it."""
        if self._pieces:
            text = "".join(self._pieces)
            if self._marks:
                text = text.rstrip()
            else:
                if "\xa0" in text:
                    text = _WIDE_SPACE.sub(" ", text)
                text = text.strip("\n").rstrip()
            if text.strip():
                self.blocks.append(HtmlLine(text, self.kind, tuple(self._marks)))
            self._pieces = []
            self._marks = []
            self._length = 0
        self._at_space = True
        if self._asides:
            self.blocks += self._asides
            self._asides = []

    def _add(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)

    def _mark(self, length: int, kind: str, label: str) -> None:
        last = self._marks[-1] if self._marks else None
        if last is not None and last[1:] == (self._length, kind, label) and kind != ALTERNATIVE_TEXT:
            self._marks[-1] = last._replace(end=last.end + length)
        else:
            self._marks.append(HtmlMark(self._length, self._length + length, kind, label))
