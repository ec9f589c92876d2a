"""Pages with tagged numbers (inline XBRL): the text of the page, and for each number a place with what its tag says.

While the page is assembled, each number is preceded by characters that no text has (Unicode's noncharacters) and that
identify it: so its place is known whatever happens to the lines around it.
"""

import re
from collections.abc import Mapping
from typing import Final

from tasks.language.normalise import one_line
from tasks.reading.html.grid import HtmlMark
from tasks.reading.html.page import HtmlPage
from tasks.reading.places import TAGGED
from tasks.reading.tags import RESOURCES, Fact, Tags, local

_NAMESPACE: Final = re.compile(r"http://www\.xbrl\.org/20\d\d/inlineXBRL")
_FIRST: Final = 0xFDD0
_BASE: Final = 16
_DIGITS: Final = 5
_BEGINNING: Final = "\ufdef"
_MARK: Final = re.compile(_BEGINNING + f"([\ufdd0-\ufddf]{{{_DIGITS}}})")
_MARKS: Final = re.compile("[\ufdd0-\ufdef]")
_HEAD: Final = 100_000


def is_tagged(text: str) -> bool:
    """Whether a page has tagged numbers."""
    return _NAMESPACE.search(text, 0, _HEAD) is not None


def without_marks(text: str) -> str:
    """A page without the characters that will identify its numbers."""
    return _MARKS.sub("", text)


class TaggedPage(HtmlPage):
    """A page whose numbers are tagged."""

    def __init__(self) -> None:
        super().__init__()
        self._tags = Tags()
        self._facts: list[Fact] = []
        self._open: list[Fact] = []
        self._waiting = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Handle the start of an element."""
        name = tag.rpartition(":")[2]
        if name in RESOURCES:
            self._tags.resource(name, attributes)
        elif name == "nonfraction":
            self._waiting += _number_start(len(self._facts))
            self._open.append(Fact(local(attributes.get("name", "")), attributes))
            self._facts.append(self._open[-1])
        super().start(tag, attributes)

    def end(self, tag: str) -> None:
        """Handle the end of an element."""
        name = tag.rpartition(":")[2]
        if name in RESOURCES:
            self._tags.end_resource(name)
        elif name == "nonfraction" and self._open:
            self._open.pop()
            self._waiting = ""
        super().end(tag)

    def data(self, text: str) -> None:
        """Handle words, and white space between tags."""
        self._tags.words(text)
        for fact in self._open:
            fact.words.append(text)
        if self._waiting and not self._skipped and (words := text.lstrip()):
            text = text[: len(text) - len(words)] + self._waiting + words
            self._waiting = ""
        super().data(text)

    def placed(self, text: str) -> tuple[str, list[HtmlMark]]:
        """A line without the characters before its numbers, and the places of these numbers."""
        pieces, marks, at, length = [], [], 0, 0
        for mark in _MARK.finditer(text):
            pieces.append(text[at : mark.start()])
            length += mark.start() - at
            at = mark.end()
            fact = self._facts[_number(mark[1])]
            tag = self._tags.tag(fact)
            words = one_line("".join(fact.words))
            if tag is not None and words:
                marks.append(HtmlMark(length, length + len(words), TAGGED, tag.label))
        return "".join([*pieces, text[at:]]), marks


def _number_start(number: int) -> str:
    digits = [chr(_FIRST + number // _BASE**power % _BASE) for power in reversed(range(_DIGITS))]
    return _BEGINNING + "".join(digits)


def _number(digits: str) -> int:
    return sum((ord(digit) - _FIRST) * _BASE**power for power, digit in enumerate(reversed(digits)))
