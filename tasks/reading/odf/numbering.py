"""Numbers and bullets of lists and headings, as office programs show them (OpenDocument 1.3, part 3, 16.30–16.34)."""

import re
from collections import defaultdict
from typing import Final, NamedTuple

from lxml import etree

from tasks.reading.odf.package import name

_LEVEL: Final = name("text:level")
_STYLE_NAME: Final = name("style:name")
_PATTERN: Final = re.compile(r"%(\d{1,2})%")
_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_BULLET: Final = "•"
_LEVELS: Final = 10
_MOST: Final = 1_000_000


class OdfListLevel(NamedTuple):
    """How one level of a list is numbered: `shape` is 1, a, A, i, I or "" (not at all); `bullet` stands instead."""

    shape: str = ""
    before: str = ""
    after: str = ""
    shown_levels: int = 1
    first: int = 1
    bullet: str = ""
    pattern: str = ""
    in_step: bool = False


class Counter:
    """The numbers of one list, level by level; `levels` are those of its style."""

    def __init__(self, levels: dict[int, OdfListLevel]) -> None:
        self.levels = levels
        self._values: dict[int, int] = {}

    def next(self, level: int, start: int | None = None) -> str:
        """What stands before the next item of a level (from 1): "4.", "(b)", "•"; "" where nothing does."""
        shown = self.levels.get(level, OdfListLevel())
        first = shown.first if start is None else start
        value = self._values.get(level)
        self._values[level] = first if value is None or start is not None else value + 1
        for deeper in [other for other in self._values if other > level]:
            del self._values[deeper]
        if shown.bullet:
            return shown.bullet
        if shown.pattern and shown.shape:
            text = _PATTERN.sub(lambda number: self._number(int(number[1])), shown.pattern)
            return text.strip()  # with what stands before and after
        if not shown.shape:
            return ""
        top = max(1, level - shown.shown_levels + 1)
        numbers = [number for number in map(self._number, range(top, level + 1)) if number]
        return f"{shown.before}{'.'.join(numbers)}{shown.after}".strip()

    def by_levels(self, levels: dict[int, OdfListLevel]) -> "Counter":
        """The same numbers under another style."""
        if not levels or levels is self.levels:
            return self
        other = Counter(levels)
        other._values = self._values
        return other

    def continued(self, levels: dict[int, OdfListLevel]) -> "Counter":
        """A list right behind this one, whose numbers go on where they have the same shape."""
        other = Counter(levels)
        other._values = {
            level: value for level, value in self._values.items() if levels.get(level) == self.levels.get(level)
        }
        return other

    def _number(self, level: int) -> str:
        shown = self.levels.get(level, OdfListLevel())
        return number(self._values.get(level, shown.first), shown.shape, in_step=shown.in_step)


def number(value: int, shape: str, *, in_step: bool = False) -> str:
    """A number in the form `shape`; letters beyond z as `aa, ab`, or with `in_step` as `aa, bb`."""
    if not shape or not 0 < value < _MOST:
        return str(value) if shape else ""
    if shape in ("a", "A"):
        text = _letters(value, in_step=in_step)
        return text.upper() if shape == "A" else text
    if shape in ("i", "I") and value < 5000:
        text = ""
        for size, letters in _ROMAN:
            text += letters * (value // size)
            value %= size
        return text.upper() if shape == "I" else text
    return str(value)


def _letters(value: int, *, in_step: bool) -> str:
    if in_step:
        return chr(ord("a") + (value - 1) % 26) * min(1 + (value - 1) // 26, 20)
    text = ""
    while value:
        value, letter = divmod(value - 1, 26)
        text = chr(ord("a") + letter) + text
    return text


def levels_of(style: etree._Element) -> dict[int, OdfListLevel]:
    """The levels of a text:list-style or text:outline-style."""
    levels: defaultdict[int, OdfListLevel] = defaultdict(OdfListLevel)
    for element in style:
        if not isinstance(element.tag, str):
            continue
        kind = element.tag.rpartition("}")[2]
        level = _integer(element.get(_LEVEL), 0)
        if not 0 < level <= _LEVELS:
            continue
        if kind in ("list-level-style-bullet", "list-level-style-image"):
            character = element.get(name("text:bullet-char"), "").strip()
            plain = character.isprintable() and not "\ue000" <= character[:1] <= "\uf8ff"
            levels[level] = OdfListLevel(bullet=character if character and plain else _BULLET)
        elif kind in ("list-level-style-number", "outline-level-style"):
            levels[level] = OdfListLevel(
                shape=element.get(name("style:num-format"), ""),
                before=element.get(name("style:num-prefix"), ""),
                after=element.get(name("style:num-suffix"), ""),
                shown_levels=min(_integer(element.get(name("text:display-levels")), 1), _LEVELS),
                first=_integer(element.get(name("text:start-value")), 1),
                pattern=element.get(name("loext:num-list-format"), "")[:100],
                in_step=element.get(name("style:num-letter-sync")) == "true",
            )
    return dict(levels)


def _integer(text: str | None, default: int) -> int:
    return int(text) if text is not None and text.isascii() and text.isdecimal() and len(text) < 8 else default
