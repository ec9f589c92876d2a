"""Definitions of lists: how each level of one is numbered, and what a list changes of its definition.

ISO/IEC 29500-1, 17.9 describes the elements.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Final, NamedTuple

from tasks.reading.docx.numerals import numeral, padded
from tasks.reading.docx.styles import StyleNumber, is_on
from tasks.reading.ooxml import xml
from tasks.reading.ooxml.xml import ATTRIBUTES

LEVELS: Final = 9
_LEVEL: Final = re.compile(rb"""<w:lvl(Override)?(?=\s)[^<]*?\sw:ilvl\s*+=\s*+["']([0-8])["']""")
_LEVEL_END: Final = re.compile(rb"</w:lvl\s*+>")
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
    """What stands in front of a paragraph, with the space behind it if there is one; a bullet counts nothing."""

    text: str
    bullet: bool


@dataclass(slots=True)
class Level:
    """What a definition says of one level."""

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
        """How its numbers are written; `legal`: in digits."""
        if self.width:
            return partial(padded, width=self.width)
        in_digits = legal and self.number_format not in ("none", "decimalZero")
        return (
            str if in_digits or self.number_format == "decimal" else partial(numeral, number_format=self.number_format)
        )

    def bullet(self) -> str:
        """The sign that stands in a number's place; a picture of a font is a plain one."""
        text = "".join(piece if at % 2 == 0 else f"%{piece}" for at, piece in enumerate(self.pieces)).strip()
        if len(text) == 1 and (self.symbols or text.isalnum() or "\ue000" <= text <= "\uf8ff" or text == "·"):
            return _BULLET
        return text


class _Shown(NamedTuple):
    """What a level shows: words, each with the level whose number follows and how that is written; words behind."""

    numbers: list[tuple[str, int, Callable[[int], str]]]
    end: str
    gap: str
    bullet: ListNumber | None


class Definition:
    """What a definition says of its levels, or a list that changes some; each level is read when it is asked for.

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
                self.definition = number_of(value)
            elif kind == b"numStyleLink":
                self.link = value
            else:
                self.single = value == b"singleLevel"
        self._has_levels = first >= 0
        self._levels: dict[int, Level | None] = {}

    def level(self, level: int) -> Level | None:
        """What is said of a level; None for one that is not defined."""
        if level not in self._levels:
            span = self._find(level) if self._has_levels else None
            self._levels[level] = _read_level(self._data, *span) if span is not None else None
        return self._levels[level]

    @cached_property
    def starts(self) -> dict[int, int]:
        """The numbers with which a list lets levels begin anew."""
        if not xml.holds(self._data, b"<w:startOverride", self._start, self._end):
            return {}
        found = ((level, _START.search(self._data, *span)) for level, span in self._spans[1].items())
        return {level: number_of(start[1]) for level, start in found if start is not None}

    @cached_property
    def restarts(self) -> bool:
        """Whether a level says when it begins anew."""
        return xml.holds(self._data, b"<w:lvlRestart", self._start, self._end)

    @cached_property
    def styles(self) -> dict[bytes, int]:
        """The levels that are made for paragraphs of a style."""
        links = ((level, _PARAGRAPH_STYLE.search(self._data, *span)) for level, span in self._spans[0].items())
        styles: dict[bytes, int] = {}
        for level, link in links:
            if link is not None:
                styles.setdefault(link[1], level)
        return styles

    def _find(self, level: int) -> tuple[int, int] | None:
        """Where a level stands: mostly as all programs write it, which is found quickest."""
        at = self._data.find(b'<w:lvl w:ilvl="%d"' % level, self._start, self._end)
        end = _LEVEL_END.search(self._data, at, self._end) if at >= 0 else None
        return (at, end.start()) if end is not None else self._spans[0].get(level)

    @cached_property
    def _spans(self) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
        """Where the levels stand, and what a list changes of them."""
        spans: tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]] = ({}, {})
        tags = list(_LEVEL.finditer(self._data, self._start, self._end))
        for tag, behind in zip(tags, [*(tag.start() for tag in tags[1:]), self._end], strict=False):
            spans[tag[1] is not None][int(tag[2])] = tag.start(), behind
        return spans


class ListLevels:
    """The levels of a list after its own changes to its definition, with which it is `counted` together with others."""

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
        """What a level begins with."""
        own = self._level(level)
        return self.starts.get(level, own.start if own is not None else 1)

    def level_of(self, style: StyleNumber | None) -> int:
        """The level of a paragraph that has a style and names none: a level may name the style."""
        if style is None:
            return 0
        for definition in (self._own, self._definition):
            if style.style in definition.styles:
                return definition.styles[style.style]
        return style.level or 0

    def begins_anew(self, level: int, after: int) -> bool:
        """Whether `level` begins anew when the higher level `after` was used."""
        own = self._level(level)
        return own is None or own.restart is None or after < own.restart

    def written(self, level: int, counts: Sequence[int | None]) -> ListNumber | None:
        """The number of a paragraph on that level; None where nothing is shown."""
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
            value = xml.unescaped(rest[8:-2].decode("utf-8", "replace"))
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
        level.start = number_of(value)
    elif name == b"numFmt":
        level.number_format = value
        if value == "custom":  # "001, 002, 003, ..."
            first = xml.attribute(rest, b"w:format").partition(",")[0].strip()
            level.width = min(len(first), _LONGEST) if first.isdecimal() else 0
    elif name == b"lvlText":
        level.pieces = _PLACEHOLDER.split(value[:_LONGEST])
    elif name == b"lvlRestart":
        level.restart = number_of(value)
    elif name == b"isLgl":
        level.legal = is_on(value)
    elif name == b"suff":
        level.gap = "" if value == "nothing" else " "


def number_of(value: str | bytes) -> int:
    """`value` as a number; 0 where it is none, or absurd."""
    return int(value) if value.isdigit() and value.isascii() and len(value) < 10 else 0
