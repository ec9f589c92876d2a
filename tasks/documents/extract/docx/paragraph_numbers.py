"""Which paragraphs of a part have a number: by their own properties, or by their style."""

import re
from typing import Final

from tasks.documents.extract.docx.list_levels import ListNumber
from tasks.documents.extract.docx.numbering import ListCounter
from tasks.documents.extract.docx.styles import StyleNumber

_LONGEST_PROPERTIES: Final = 4_000
_SPECIAL: Final = re.compile(rb"<w:(?:sectPr|del|moveFrom)[\s>]")
_WORDS_OR_END: Final = re.compile(rb"<w:t(?:\s[^<>]*+)?>[^<]|</w:p\s*+>")


class ParagraphNumbers:
    """Counts the numbered paragraphs of one part in their order."""

    def __init__(self, data: bytes, end: int, counter: ListCounter) -> None:
        self._data = data
        self._end = end
        self._counter = counter
        self._style: StyleNumber | None = None
        self._style_until = -1
        self._looked_from, self._looked_to, self._has_words = 0, 0, False

    def by_style(self, style: StyleNumber, at: int) -> ListNumber | None:
        """The number of the paragraph whose style, named at `at`, belongs to a list, unless it has one of its own."""
        if self._counter.is_full:
            return None
        properties = self._properties(at)
        if b"<w:numPr" in properties:
            self._style, self._style_until = style, at + len(properties)
            return None
        if _SPECIAL.search(properties) is not None and not self._is_counted(properties, at):
            return None
        return self._counter.number(None, style)

    def own(self, reference: bytes, at: int) -> ListNumber | None:
        """The number of the paragraph whose properties refer to a list up to `at`."""
        if self._counter.is_full:
            return None
        properties = self._properties(at)
        if _SPECIAL.search(properties) is not None and not self._is_counted(properties, at):
            return None
        return self._counter.number(reference, self._style if at <= self._style_until else None)

    def _properties(self, at: int) -> bytes:
        """The properties of a paragraph from `at` on, without what they were before."""
        end = self._data.find(b"</w:pPr", at, at + _LONGEST_PROPERTIES)
        properties = self._data[at : end if end >= 0 else at + _LONGEST_PROPERTIES]
        return properties.partition(b"<w:pPrChange")[0]

    def _is_counted(self, properties: bytes, at: int) -> bool:
        """Whether a paragraph that ends with a section, or whose end was deleted, counts: if it has words."""
        end = at + len(properties)
        if not self._looked_from <= end < self._looked_to:
            found = _WORDS_OR_END.search(self._data, end, self._end)
            self._looked_from, self._looked_to = end, found.start() + 1 if found is not None else self._end
            self._has_words = found is not None and not found[0].startswith(b"</w:p")
        return self._has_words
