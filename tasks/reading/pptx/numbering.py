"""The numbers in front of paragraphs, which a presentation does not hold: they are counted as PowerPoint counts them.

A paragraph, or the list style of its shape, names a scheme (ECMA-376 part 1, 20.1.10.61) and where it begins.
Paragraphs of one level and scheme count on; one of another scheme, or of a higher level, begins anew. What a layout
says of the shape is not looked at: numbers stand in the slide itself.
"""

import re
from itertools import islice
from typing import Final, NamedTuple

from tasks.reading.docx.numerals import numeral
from tasks.reading.ooxml import drawings, xml

TAG: Final = b"<a:buAutoNum"
_MOST: Final = 10_000
"""Paragraphs of one shape that are counted; those of a shape with more stand without numbers."""

_PARAGRAPH: Final = re.compile(rb"<a:p(?=[\s>])" + xml.ATTRIBUTES + rb">")
_PROPERTIES: Final = re.compile(rb"\s*+<a:pPr(?=[\s/>])(" + xml.ATTRIBUTES + rb"/?>)")
_LEVEL: Final = re.compile(rb"<a:lvl([1-9])pPr(?=[\s/>])" + xml.ATTRIBUTES + rb"(?<!/)>")
_BULLET: Final = re.compile(rb"<a:bu(AutoNum|None|Char|Blip)(?=[\s/>])(" + xml.ATTRIBUTES + rb"/?>)")
_NUMERALS: Final = {
    "arabic": "decimal",
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "circleNum": "decimalEnclosedCircle",
}
_SCHEME: Final = re.compile(r"(arabic|alphaLc|alphaUc|romanLc|romanUc|circleNum)(.*)")
_SHAPES: Final = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Plain": "{}"}


class _Scheme(NamedTuple):
    """How paragraphs are numbered, and from where on."""

    name: str
    first: int

    def written(self, number: int) -> str:
        parts = _SCHEME.fullmatch(self.name)
        if parts is None:  # of East Asian scripts, Hebrew, Thai: in digits
            return f"{number}."
        return _SHAPES.get(parts[2], "{}").format(numeral(number, _NUMERALS[parts[1]]))


def paragraphs(data: bytes, start: int, stop: int) -> list[str]:
    """The paragraphs that have words between `start` and `stop` of a part, with the numbers that PowerPoint shows."""
    style_end = max(data.find(b"</a:lstStyle", start, stop), start)
    styles = _styles(data, start, style_end)
    found = list(islice(_PARAGRAPH.finditer(data, style_end, stop), _MOST + 1))
    if len(found) > _MOST:
        return drawings.paragraphs(data, start, stop)
    lines: list[str] = []
    counts: dict[int, tuple[_Scheme, int]] = {}
    for paragraph, following in zip(found, [*(match.start() for match in found[1:]), stop], strict=True):
        words = drawings.paragraphs(data, paragraph.start(), following)
        if not words:
            continue
        level, scheme = _numbered(data, paragraph.end(), following, styles)
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        before = counts.pop(level, None)
        if scheme is not None:
            number = before[1] + 1 if before is not None and before[0] == scheme else scheme.first
            counts[level] = scheme, number
            words[0] = f"{scheme.written(number)} {words[0]}"
        lines += words
    return lines


def _styles(data: bytes, start: int, stop: int) -> dict[int, _Scheme]:
    """The schemes of a shape's own levels."""
    schemes: dict[int, _Scheme] = {}
    for level in _LEVEL.finditer(data, start, stop):
        end = data.find(b"</a:lvl", level.end(), stop)
        scheme = _scheme(data, level.end(), end if end >= 0 else stop)
        if isinstance(scheme, _Scheme):
            schemes[int(level[1]) - 1] = scheme
    return schemes


def _numbered(data: bytes, start: int, stop: int, styles: dict[int, _Scheme]) -> tuple[int, _Scheme | None]:
    """The level of the paragraph whose content begins at `start`, and its scheme."""
    properties = _PROPERTIES.match(data, start, stop)
    if properties is None:
        return 0, styles.get(0)
    named = xml.attribute(properties[1], b"lvl")
    level = int(named) if named.isdecimal() and len(named) == 1 else 0
    own: _Scheme | bool = False
    if not properties[1].endswith(b"/>"):
        end = data.find(b"</a:pPr", properties.end(), stop)
        own = _scheme(data, properties.end(), end if end >= 0 else stop)
    if isinstance(own, _Scheme):
        return level, own
    return level, None if own else styles.get(level)


def _scheme(data: bytes, start: int, stop: int) -> _Scheme | bool:
    """The scheme that properties name; True where they name another bullet, or none, False where they are silent."""
    bullet = _BULLET.search(data, start, stop)
    if bullet is None:
        return False
    if bullet[1] != b"AutoNum":
        return True
    first = xml.attribute(bullet[2], b"startAt")
    return _Scheme(xml.attribute(bullet[2], b"type"), int(first) if first.isdecimal() and len(first) < 6 else 1)
