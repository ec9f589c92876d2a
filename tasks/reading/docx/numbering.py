"""The numbers in front of paragraphs, which a Word document does not contain: they are counted as Word counts them.

`Numbering` holds the lists of a document, `ListCounter` counts those of one story, `ParagraphNumbers` determines which
paragraphs of a part are counted.

A paragraph, or its style, names a list (`numId`) and a level. The list refers to a definition (`abstractNum`), which it
shares with others, and may change or restart some of its levels. Lists with one definition continue each other's
numbers. Where ISO/IEC 29500-1, 17.9 leaves something open, this follows Word and LibreOffice.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, NamedTuple

from tasks.reading.docx.styles import StyleNumber, Styles, is_on
from tasks.reading.numerals import numeral
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.xml import ATTRIBUTES

LEVELS: Final = 9
_LEVEL: Final = re.compile(rb"""<w:lvl(Override)?(?=\s)[^<]*?\sw:ilvl\s*+=\s*+["']([0-8])["']""")
_HEAD: Final = re.compile(
    rb"""<w:(abstractNumId|numStyleLink|multiLevelType)\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)"""
)
_START: Final = re.compile(rb"""<w:startOverride\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)""")
_SETTING: Final = re.compile(rb"<w:(start|numFmt|lvlRestart|isLgl|suff|lvlText)(?=[\s/>])(%b)/?>" % ATTRIBUTES)
_HIDDEN: Final = re.compile(rb"<w:vanish(?=[\s/>])(%b)/?>" % ATTRIBUTES)
_FONTS: Final = re.compile(rb"<w:rFonts(?=\s)(%b)/?>" % ATTRIBUTES)
_PARAGRAPH_STYLE: Final = re.compile(rb"""<w:pStyle\s(?:[^<]*?\s)??w:val\s*+=\s*+["']([^"'<]*+)""")
_PLACEHOLDER: Final = re.compile("%([1-9])")
_SYMBOL_FONT: Final = re.compile(rb"""["'](?:Symbol|Wingdings|Webdings|ZapfDingbats|Monotype Sorts|Marlett)""")
_BULLET: Final = "•"

_LONGEST: Final = 80
"""Characters of one number; those of real lists stay below thirty."""


class ListNumber(NamedTuple):
    """A number in front of a paragraph, with the space after it if there is one; a bullet counts nothing."""

    text: str
    bullet: bool


@dataclass(slots=True)
class Level:
    """What a definition says about one level."""

    start: int = 0
    number_format: str = "decimal"
    width: int = 0  # of a number with zeros in front
    pieces: list[str] = field(default_factory=list)  # words; at odd positions the level, from 1, whose number is meant
    restart: int | None = None  # the level, from 1, after which this one begins anew; 0 for never
    legal: bool = False  # all numbers in digits
    gap: str = " "
    hidden: bool = False
    symbols: bool = False  # in a font whose letters are pictures

    def numeral(self, *, legal: bool) -> Callable[[int], str]:
        """How its numbers are written; with `legal`, in digits."""
        if self.width:
            return f"{{:0{self.width}}}".format
        in_digits = legal and self.number_format not in ("none", "decimalZero")
        return (
            str if in_digits or self.number_format == "decimal" else partial(numeral, number_format=self.number_format)
        )

    def bullet(self) -> str:
        """The sign in place of a number; pictures from symbol fonts become plain bullets."""
        text = "".join(piece if at % 2 == 0 else f"%{piece}" for at, piece in enumerate(self.pieces)).strip()
        if len(text) == 1 and (self.symbols or text.isalnum() or "\ue000" <= text <= "\uf8ff" or text == "·"):
            return _BULLET
        return text


class _Shown(NamedTuple):
    """What a level shows: words, each with the level whose number follows and its format, and the
    words after the last.
    """

    numbers: list[tuple[str, int, Callable[[int], str]]]
    end: str
    gap: str
    bullet: ListNumber | None


class Definition:
    """What a definition says about its levels, or a list that changes some; levels are parsed on demand.

    Attributes:
        definition: the definition that a list refers to.
        link: the style whose list a definition refers to.
        single: it has one level alone.
    """

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._data = data
        self._start = start
        self._end = end
        self.definition = -1
        self.link = b""
        self.single = False
        first = data.find(b"<w:lvl", start, end)
        for kind, value in _HEAD.findall(data, start, first if first >= 0 else end):
            if kind == b"abstractNumId":
                self.definition = parse_number(value)
            elif kind == b"numStyleLink":
                self.link = value
            else:
                self.single = value == b"singleLevel"
        self._levels: dict[int, Level | None] = {}

    def level(self, level: int) -> Level | None:
        """The definition of a level; None if it is not defined."""
        if level not in self._levels:
            span = self._spans[0].get(level)
            self._levels[level] = _read_level(self._data, *span) if span is not None else None
        return self._levels[level]

    @cached_property
    def starts(self) -> dict[int, int]:
        """The numbers with which a list restarts levels."""
        if not xml.holds(self._data, b"<w:startOverride", self._start, self._end):
            return {}
        found = ((level, _START.search(self._data, *span)) for level, span in self._spans[1].items())
        return {level: parse_number(start[1]) for level, start in found if start is not None}

    @cached_property
    def restarts(self) -> bool:
        """Whether a level says when it restarts."""
        return xml.holds(self._data, b"<w:lvlRestart", self._start, self._end)

    @cached_property
    def styles(self) -> dict[bytes, int]:
        """The levels that are linked to a paragraph style."""
        links = ((level, _PARAGRAPH_STYLE.search(self._data, *span)) for level, span in self._spans[0].items())
        styles: dict[bytes, int] = {}
        for level, link in links:
            if link is not None:
                styles.setdefault(link[1], level)
        return styles

    @cached_property
    def _spans(self) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
        """The positions of the levels, and of a list's overrides of them."""
        spans: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] = ({}, {})
        tags = list(_LEVEL.finditer(self._data, self._start, self._end))
        for tag, behind in zip(tags, [*(tag.start() for tag in tags[1:]), self._end], strict=False):
            spans[tag[1] is not None][int(tag[2])] = tag.start(), behind
        return spans


class ListLevels:
    """The levels of a list, with its changes to the definition; lists that are `counted` together share numbers."""

    def __init__(self, list_id: int, definition: Definition, own: Definition, counted: int) -> None:
        self.id = list_id
        self.counted = counted
        self.single = definition.single
        self.starts = own.starts
        self.restarts = definition.restarts or own.restarts
        self._definition = definition
        self._own = own
        self._shown: dict[int, _Shown | None] = {}

    def start(self, level: int) -> int:
        """The first number of a level."""
        own = self._level(level)
        return self.starts.get(level, own.start if own is not None else 1)

    def find_level(self, style: StyleNumber | None) -> int:
        """The level of a paragraph with a style that names none: a level may name the style."""
        if style is None:
            return 0
        for definition in (self._own, self._definition):
            if style.style in definition.styles:
                return definition.styles[style.style]
        return style.level or 0

    def begins_anew(self, level: int, after: int) -> bool:
        """Whether `level` restarts after the higher level `after` was used."""
        own = self._level(level)
        return own is None or own.restart is None or after < own.restart

    def written(self, level: int, counts: Sequence[int | None]) -> ListNumber | None:
        """The number of a paragraph on that level; None if nothing is shown."""
        if level not in self._shown:
            self._shown[level] = self._read_shown(level)
        shown = self._shown[level]
        if shown is None:
            return None
        if shown.bullet is not None:
            return shown.bullet
        pieces = [before + numeral(counts[other] or 0) for before, other, numeral in shown.numbers]
        text = ("".join(pieces) + shown.end).strip()[:_LONGEST]
        return ListNumber(text + shown.gap, bullet=False) if text else None

    def _level(self, level: int) -> Level | None:
        return self._own.level(level) or self._definition.level(level)

    def _read_shown(self, level: int) -> _Shown | None:
        facts = self._level(level)
        if facts is None or facts.hidden:
            return None
        if facts.number_format == "bullet":
            text = facts.bullet()
            return _Shown([], "", "", ListNumber(text + facts.gap, bullet=True)) if text else None
        numbers: list[tuple[str, int, Callable[[int], str]]] = []
        words = ""
        for position, piece in enumerate(facts.pieces):
            if position % 2 == 0:
                words += piece
                continue
            other = int(piece) - 1
            of_level = self._level(other)
            if of_level is not None and of_level.number_format != "bullet" and other <= level:
                numbers.append((words, other, of_level.numeral(legal=facts.legal)))
                words = ""
        return _Shown(numbers, words, facts.gap, None)


def _read_level(data: bytes, start: int, end: int) -> Level:
    level = Level()
    shape = data.find(b"<w:pPr", start, end)  # how it looks comes last
    shape = shape if shape >= 0 else end
    if xml.holds(data, b"<w:lvlText", shape, end):
        shape = end
    for name, rest in _SETTING.findall(data, start, shape):
        if rest.startswith(b' w:val="') and rest.endswith(b'"/') and rest.count(b'"') == 2:
            value = xml.unescape(rest[8:-2].decode("utf-8", "replace"))
        else:
            value = xml.attribute(rest, b"w:val")
        _set(level, name, value, rest)
    hidden = _HIDDEN.search(data, start, end) if xml.holds(data, b"<w:vanish", start, end) else None
    level.hidden = hidden is not None and is_on(xml.attribute(hidden[1], b"w:val"))
    if level.number_format == "bullet":
        fonts = _FONTS.search(data, start, end)
        level.symbols = fonts is not None and _SYMBOL_FONT.search(fonts[1]) is not None
    return level


def _set(level: Level, name: bytes, value: str, rest: bytes) -> None:
    if name == b"start":
        level.start = parse_number(value)
    elif name == b"numFmt":
        level.number_format = value
        if value == "custom":  # "001, 002, 003, ..."
            first = xml.attribute(rest, b"w:format").partition(",")[0].strip()
            level.width = min(len(first), _LONGEST) if first.isdecimal() else 0
    elif name == b"lvlText":
        level.pieces = _PLACEHOLDER.split(value[:_LONGEST])
    elif name == b"lvlRestart":
        level.restart = parse_number(value)
    elif name == b"isLgl":
        level.legal = is_on(value)
    elif name == b"suff":
        level.gap = "" if value == "nothing" else " "


def parse_number(value: str | bytes) -> int:
    """`value` as a number; 0 if it is not a number, or absurd."""
    return int(value) if value.isdigit() and value.isascii() and len(value) < 10 else 0


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
        """`load` returns the part with the definitions, in the form for scanners."""
        self._load = load
        self._lists: dict[int, ListLevels | None] = {}
        self._loaded: bytes | None = None
        self._elements: tuple[_Elements, _Elements] | None = None
        self._numbers = 0
        self._characters = 0
        self.is_full = False

    def names_style(self, style: bytes) -> bool:
        """Whether a level is linked to that paragraph style."""
        return xml.holds(self._data, style) and re.search(_LEVEL_STYLE % re.escape(style), self._data) is not None

    def list(self, list_id: int, styles: Styles) -> ListLevels | None:
        """The list with that id; None if there is none, or its definition is missing."""
        if list_id not in self._lists:
            self._lists[list_id] = self._read(list_id, styles)
        return self._lists[list_id]

    def note_number(self, characters: int) -> None:
        """Count one more numbered paragraph."""
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
        """The list with that id; a definition may refer to a style, the style to another list, and that to its
        definition.
        """
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
            self._elements = _Elements(self._data, b"w:num"), _Elements(self._data, b"w:abstractNum")
        return self._elements


class _Elements:
    """The elements of one name (lists or definitions) by their ids: the first with each id, read once."""

    def __init__(self, data: bytes, name: bytes) -> None:
        self._data = data
        self._bound = re.compile(rb"</?%b[\s>]" % name)
        self._read: dict[int, Definition | None] = {}
        found = xml.find_elements(data, b"<" + name, name + b"Id")
        self._positions = {parse_number(number): at for number, at in found.items()}  # behind each id

    def read(self, number: int) -> Definition | None:
        """The element with that id; None if there is none."""
        if number not in self._read:
            start = self._positions.get(number, -1) if len(self._read) < _MOST_DEFINITIONS else -1
            self._read[number] = Definition(self._data, start, self._end(start)) if start >= 0 else None
        return self._read[number]

    def _end(self, start: int) -> int:
        end = min(len(self._data), start + _LONGEST_DEFINITION)
        bound = self._bound.search(self._data, start, end)
        return end if bound is None else bound.start()


class ListCounter:
    """Counts the lists of one story (the body, a header, all footnotes), paragraph by paragraph."""

    def __init__(self, numbering: Numbering, styles: Styles) -> None:
        self.numbering = numbering
        self._styles = styles
        self._counts: dict[int, list[int | None]] = {}
        self._begun: set[tuple[int, int]] = set()
        self._items: dict[tuple[bytes | None, StyleNumber | None], _Item | None] = {}

    def number(self, reference: bytes | None, style: StyleNumber | None) -> ListNumber | None:
        """Count a paragraph and return its number; None if it has none.

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
        self.numbering.note_number(len(number.text) if number is not None else 0)
        return number

    def _item(self, reference: bytes | None, style: StyleNumber | None) -> "_Item | None":
        """The list and level in which a paragraph is counted."""
        values = {name: int(value) for name, value in _REFERENCE.findall(reference or b"")}
        list_id = values.get(b"numId", style.list_id if style is not None else 0)
        own = self.numbering.list(list_id, self._styles) if list_id else None
        if own is None:
            return None
        level = values[b"ilvl"] if b"ilvl" in values else own.find_level(style)
        counts = self._counts.setdefault(own.counted, [None] * LEVELS)
        return _Item(own, 0 if own.single else min(level, LEVELS - 1), counts, self._begun)


class _Item:
    """A level of a list in one story; `counts` are shared by all lists that are counted together."""

    def __init__(self, own: ListLevels, level: int, counts: list[int | None], begun: set[tuple[int, int]]) -> None:
        self._own = own
        self._level = level
        self._counts = counts
        self._begun = begun
        self._starts = level in own.starts
        self._deeper: list[int | None] = [None] * (LEVELS - 1 - level)

    def next(self) -> ListNumber | None:
        """Count one more paragraph and return its number."""
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
        """Count the first paragraph of this level: a list may restart it, once."""
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
        """Whether the limit for counted paragraphs is reached."""
        return self._counter.numbering.is_full

    def by_style(self, style: StyleNumber, at: int) -> ListNumber | None:
        """The number of the paragraph whose style, named at `at`, belongs to a list, unless it has
        a list of its own.
        """
        if self.is_full:
            return None
        properties = self._properties(at)
        if b"<w:numPr" in properties:
            self._style, self._style_until = style, at + len(properties)
            return None
        if _SPECIAL.search(properties) is not None and not self._is_counted(properties, at):
            return None
        return self._counter.number(None, style)

    def own(self, reference: bytes, at: int) -> ListNumber | None:
        """The number of the paragraph whose properties refer to a list before `at`."""
        if self.is_full:
            return None
        properties = self._properties(at)
        if _SPECIAL.search(properties) is not None and not self._is_counted(properties, at):
            return None
        return self._counter.number(reference, self._style if at <= self._style_until else None)

    def _properties(self, at: int) -> bytes:
        """The properties of a paragraph from `at` on, without their tracked earlier state."""
        end = self._data.find(b"</w:pPr", at, at + _LONGEST_PROPERTIES)
        properties = self._data[at : end if end >= 0 else at + _LONGEST_PROPERTIES]
        return properties.partition(b"<w:pPrChange")[0]

    def _is_counted(self, properties: bytes, at: int) -> bool:
        """Whether a paragraph counts: not if its end was deleted; if a section ends with it, only if it has words."""
        if _DELETED.search(properties) is not None:
            return False
        end = at + len(properties)
        if not self._looked_from <= end < self._looked_to:
            found = _WORDS_OR_END.search(self._data, end, self._end)
            self._looked_from, self._looked_to = end, found.start() + 1 if found is not None else self._end
            self._has_words = found is not None and not found[0].startswith(b"</w:p")
        return self._has_words
