"""The text of a filing: a report of hundreds of pages in one HTML file, half of it tables, all of it wanted.

What finds the main text of a page drops tables, and takes minutes for a file of this size. Here every block is a
paragraph, and every table one with its rows in lines. Runs in a process of the pool (`page.py`).
"""

import re
from typing import Any, Final

from lxml import etree

from tasks.companies.web.html import decode, parsed
from tasks.language.normalise import MARK, plain_line

_LONGEST: Final = 24 << 20
"""Bytes that are read, 2 s for them."""
_CHARACTERS: Final = 1_000_000
"""Of the text: most annual reports have 400,000, and to look through a million takes 2 s."""
_HIDDEN: Final = frozenset("head script style noscript template ix:header ix:hidden".split())  # noqa: SIM905 - a list of words
_UNSHOWN: Final = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body center dd div dl dt fieldset footer form h1 h2 h3 h4 h5 h6 header hr li "  # noqa: SIM905 - likewise
    "main nav ol p pre section table title tr ul".split()
)
_BEFORE: Final = re.compile(r"[$€£¥(]+")
_AFTER: Final = re.compile(r"[)%]+")


def read_report(data: bytes, content_type: str) -> list[str]:
    """The paragraphs of an HTML filing, each of one line, but a table: its rows are lines, cells parted by tabs."""
    tree = parsed(decode(data[:_LONGEST], content_type))
    reading = _Reading()
    walk = etree.iterwalk(tree, events=("start", "end"))
    for event, element in walk:
        if event == "start":
            if element.tag in _HIDDEN or _UNSHOWN.search(element.get("style") or ""):
                walk.skip_subtree()
            else:
                reading.begin(element.tag, element.text)
        else:
            reading.end(element.tag, element.tail)
            if reading.characters > _CHARACTERS:
                break
    reading.flush()
    return reading.paragraphs


class _Reading:
    """What was read so far. An element that is skipped ends without having begun, which changes nothing."""

    def __init__(self) -> None:
        self.paragraphs: list[str] = []
        self.characters = 0
        self._text: list[str] = []
        self._rows: list[str] = []
        self._tables = 0

    def begin(self, tag: Any, text: str | None) -> None:
        if tag in _BLOCKS:
            self._part()
        if tag == "table":
            self._tables += 1
        if text:
            self._text.append(text)

    def end(self, tag: Any, tail: str | None) -> None:
        if tag in {"td", "th"}:
            self._text.append(MARK)
        elif tag == "tr":
            self._row()
        elif tag == "table":
            self._row()
            self._tables = max(0, self._tables - 1)
            if not self._tables:
                self._put("\n".join(self._rows))
                self._rows = []
        elif tag in _BLOCKS:
            self._part()
        elif tag == "br":
            self._text.append(" ")
        if tail:
            self._text.append(tail)

    def flush(self) -> None:
        """Take what is left open."""
        self._row()
        self._put("\n".join(self._rows))

    def _part(self) -> None:
        """A block begins or ends: within a table a word's end, elsewhere a paragraph's."""
        if self._tables:
            self._text.append(" ")
        else:
            self._put(plain_line("".join(self._text)))
            self._text = []

    def _row(self) -> None:
        cells = [plain_line(cell) for cell in "".join(self._text).split(MARK)]
        self._text = []
        row = "\t".join(_joined([cell for cell in cells if cell]))
        if row:
            self._rows.append(row)

    def _put(self, paragraph: str) -> None:
        if paragraph:
            self.paragraphs.append(paragraph)
            self.characters += len(paragraph)


def _joined(cells: list[str]) -> list[str]:
    """The cells of a row, with the signs that filings set in cells of their own: `$`, `12`, `%` are two cells."""
    joined: list[str] = []
    before = ""
    for cell in cells:
        if _AFTER.fullmatch(cell) and joined:
            joined[-1] += cell
        elif _BEFORE.fullmatch(cell):
            before += cell
        else:
            joined.append(before + cell)
            before = ""
    return [*joined, before] if before else joined
