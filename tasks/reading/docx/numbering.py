"""The numbers in front of paragraphs, which a Word document does not hold: they are counted as Word counts them.

`Numbering` holds the lists of a document, `ListCounter` counts those of one story, `ParagraphNumbers` says which
paragraphs of a part are counted.

A paragraph, or its style, names a list (`numId`) and a level. The list refers to a definition (`abstractNum`), which it
shares with others, and may change some levels of it or begin them anew. Lists of one definition count on together.
Where ISO/IEC 29500-1, 17.9 leaves something open, this does what Word and LibreOffice do.
"""

import re
from collections.abc import Callable
from typing import Final

from tasks.reading.docx.list_levels import LEVELS, Definition, ListLevels, ListNumber, number_of
from tasks.reading.docx.styles import StyleNumber, Styles
from tasks.reading.ooxml import xml

_IDENTITY: Final = rb"""(?=\s)[^<]*?\s%b\s*+=\s*+["']([0-9]++)["']"""
_LEVEL_STYLE: Final = rb"""<w:pStyle\s(?:[^<]*?\s)??w:val\s*+=\s*+["']%b["']"""
_REFERENCE: Final = re.compile(rb"""<w:(ilvl|numId)\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([0-9]{1,9})["']""")

_MOST_NUMBERS: Final = 100_000
"""That are counted in one document, in a second; contracts have thousands."""

_MOST_CHARACTERS: Final = 16 << 20
"""Of all numbers of one document together."""

_MOST_DEFINITIONS: Final = 20_000
_LONGEST_DEFINITION: Final = 1 << 16
"""In bytes: nine levels take 10 KB where a program is wordy."""

_MOST_LINKS: Final = 20
_MOST_REFERENCES: Final = 10_000
_MOST_LOOKED_FOR: Final = 30
"""So many lists are looked for one by one; then it is quicker to find all."""

_LONGEST_PROPERTIES: Final = 4_000
_SPECIAL: Final = re.compile(rb"<w:(?:sectPr|del|moveFrom)[\s>]")
_DELETED: Final = re.compile(rb"<w:(?:del|moveFrom)[\s>]")
_WORDS_OR_END: Final = re.compile(rb"<w:t(?:\s[^<>]*+)?>[^<]|</w:p\s*+>")


class Numbering:
    """The lists of a document.

    Attributes:
        is_full: so many numbers were written that those to come are left out.
    """

    def __init__(self, load: Callable[[], bytes]) -> None:
        """`load` gives the part with the definitions as scanners take it."""
        self._load = load
        self._lists: dict[int, ListLevels | None] = {}
        self._loaded: bytes | None = None
        self._elements: tuple[_Elements, _Elements] | None = None
        self._numbers = 0
        self._characters = 0
        self.is_full = False

    def counter(self, styles: Styles) -> "ListCounter":
        """A counter for one story: the body, a header, all footnotes."""
        return ListCounter(self, styles)

    def names_style(self, style: bytes) -> bool:
        """Whether a level is made for paragraphs of that style."""
        return xml.holds(self._data, style) and re.search(_LEVEL_STYLE % re.escape(style), self._data) is not None

    def list(self, list_id: int, styles: Styles) -> ListLevels | None:
        """The list of that id; None where there is none, or where its definition is lost."""
        if list_id not in self._lists:
            self._lists[list_id] = self._read(list_id, styles)
        return self._lists[list_id]

    def note_number(self, characters: int) -> None:
        """One more paragraph was counted."""
        self._numbers += 1
        self._characters += characters
        if self._numbers > _MOST_NUMBERS or self._characters > _MOST_CHARACTERS:
            self.is_full = True

    @property
    def _data(self) -> bytes:
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded

    def _read(self, list_id: int, styles: Styles) -> ListLevels | None:
        """The list of that id; a definition may refer to a style, that to another list, and that to its definition."""
        lists, definitions = self._lists_and_definitions()
        own = list_ = lists.read(list_id)
        for _ in range(_MOST_LINKS):
            if list_ is None or own is None:
                break
            definition = definitions.read(list_.definition)
            if definition is None:
                break
            facts = styles[definition.link] if definition.link else None
            if facts is None or facts.number is None:
                return ListLevels(list_id, definition, own, list_.definition)
            list_ = lists.read(facts.number.list_id)
        return None

    def _lists_and_definitions(self) -> tuple["_Elements", "_Elements"]:
        if self._elements is None:
            data = self._data
            first = data.rfind(b"</w:abstractNum>")  # definitions, which are longer, come before lists
            self._elements = (
                _Elements(data, b"w:num", b"w:numId", max(first, 0)),
                _Elements(data, b"w:abstractNum", b"w:abstractNumId"),
            )
        return self._elements


class _Elements:
    """The elements of one name, lists or definitions, by their ids: the first of each, read once."""

    def __init__(self, data: bytes, name: bytes, attribute: bytes, first: int = 0) -> None:
        """`attribute` names the id; they mostly stand behind the byte `first`."""
        self._data = data
        self._first = first
        self._opening = b"<" + name
        self._bound = re.compile(rb"</?%b[\s>]" % name)
        self._usual = b'<%b %b="%%d"' % (name, attribute)
        self._identity = re.compile(_IDENTITY % attribute)
        self._looked_for = 0
        self._all: dict[int, int] | None = None
        self._read: dict[int, Definition | None] = {}

    def read(self, number: int) -> Definition | None:
        """The element of that id; None where there is none."""
        if number not in self._read:
            start = self._find(number) if len(self._read) < _MOST_DEFINITIONS else -1
            self._read[number] = Definition(self._data, start, self._end(start)) if start >= 0 else None
        return self._read[number]

    def _end(self, start: int) -> int:
        end = min(len(self._data), start + _LONGEST_DEFINITION)
        bound = self._bound.search(self._data, start, end)
        return end if bound is None else bound.start()

    def _find(self, number: int) -> int:
        """Where in the tag of that element its id ends; -1 where there is none."""
        self._looked_for += 1
        if self._looked_for <= (_MOST_LOOKED_FOR if self._first else 2):
            usual = self._usual % number
            at = self._data.find(usual, self._first)
            if at >= 0:
                return at + len(usual)
        if self._all is None:
            self._all = self._positions()
        return self._all.get(number, -1)

    def _positions(self) -> dict[int, int]:
        """Where the ids of all end, however they are written."""
        positions: dict[int, int] = {}
        at = self._data.find(self._opening)
        while at >= 0:
            at += len(self._opening)
            identified = self._identity.match(self._data, at)
            if identified is not None:
                positions.setdefault(number_of(identified[1]), identified.end())
            at = self._data.find(self._opening, at)
        return positions


class ListCounter:
    """Counts the lists of one story, paragraph by paragraph."""

    def __init__(self, numbering: Numbering, styles: Styles) -> None:
        self._numbering = numbering
        self._styles = styles
        self._counts: dict[int, list[int | None]] = {}
        self._begun: set[tuple[int, int]] = set()
        self._items: dict[tuple[bytes | None, StyleNumber | None], _Item | None] = {}

    @property
    def is_full(self) -> bool:
        """Whether no more is counted."""
        return self._numbering.is_full

    def number(self, reference: bytes | None, style: StyleNumber | None) -> ListNumber | None:
        """Count a paragraph, and give its number; None where it has none.

        Args:
            reference: the elements within its `w:numPr`; None where it has no such element.
            style: what its style says.
        """
        key = reference, style
        if key not in self._items:
            if len(self._items) > _MOST_REFERENCES:
                self._items.clear()
            self._items[key] = self._item(reference, style)
        item = self._items[key]
        if item is None:
            return None
        number = item.next()
        self._numbering.note_number(len(number.text) if number is not None else 0)
        return number

    def _item(self, reference: bytes | None, style: StyleNumber | None) -> "_Item | None":
        """How a paragraph is counted."""
        values = {name: int(value) for name, value in _REFERENCE.findall(reference or b"")}
        list_id = values.get(b"numId", style.list_id if style is not None else 0)
        own = self._numbering.list(list_id, self._styles) if list_id else None
        if own is None:
            return None
        level = values[b"ilvl"] if b"ilvl" in values else own.level_of(style)
        counts = self._counts.setdefault(own.counted, [None] * LEVELS)
        return _Item(own, 0 if own.single else min(level, LEVELS - 1), counts, self._begun)


class _Item:
    """A level of a list in one story; `counts` are those of all lists that are counted together."""

    def __init__(self, own: ListLevels, level: int, counts: list[int | None], begun: set[tuple[int, int]]) -> None:
        self._own = own
        self._level = level
        self._counts = counts
        self._begun = begun
        self._starts = level in own.starts
        self._deeper: list[int | None] = [None] * (LEVELS - 1 - level)

    def next(self) -> ListNumber | None:
        """Count one more paragraph, and give its number."""
        own, level, counts = self._own, self._level, self._counts
        before = counts[level]
        if before is not None and not self._starts:
            counts[level] = before + 1
        else:
            self._begin(before)
        if level and None in counts[:level]:
            for higher in range(level):
                counts[higher] = own.start(higher) if counts[higher] is None else counts[higher]
        if not own.restarts:
            counts[level + 1 :] = self._deeper
        else:
            for deeper in range(level + 1, LEVELS):
                counts[deeper] = None if own.begins_anew(deeper, level) else counts[deeper]
        return own.written(level, counts)

    def _begin(self, before: int | None) -> None:
        """Count the first paragraph of this level: a list may begin it anew, once."""
        begun = self._own.id, self._level
        anew = before is None or (self._starts and begun not in self._begun)
        self._counts[self._level] = self._own.start(self._level) if anew or before is None else before + 1
        if self._starts:
            self._begun.add(begun)


class ParagraphNumbers:
    """Counts the numbered paragraphs of one part in their order."""

    def __init__(self, data: bytes, end: int, counter: ListCounter) -> None:
        self._data = data
        self._end = end
        self._counter = counter
        self._style: StyleNumber | None = None
        self._style_until = -1
        self._looked_from, self._looked_to, self._has_words = 0, 0, False

    @property
    def is_full(self) -> bool:
        """Whether no more is counted."""
        return self._counter.is_full

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
        """Whether a paragraph whose end was deleted counts (no), or one that ends with a section (if it has words)."""
        if _DELETED.search(properties) is not None:
            return False
        end = at + len(properties)
        if not self._looked_from <= end < self._looked_to:
            found = _WORDS_OR_END.search(self._data, end, self._end)
            self._looked_from, self._looked_to = end, found.start() + 1 if found is not None else self._end
            self._has_words = found is not None and not found[0].startswith(b"</w:p")
        return self._has_words
