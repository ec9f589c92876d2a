"""White words on slides with nothing coloured behind them, which nobody sees.

They are enclosed as `xml.UNSEEN_WORDS`. Where it is not certain what stands behind words (in groups
and tables, or where a picture, a filled shape or a background may be), they count as seen.
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from tasks.reading.ooxml import xml
from tasks.reading.ooxml.package import Package
from tasks.reading.pptx.slides import Box, Placeholders, box_in, key_in

_WHITE: Final = rb"""a:(?:srgbClr\s++val="(?:[Ff][A-Fa-f]){3}"|schemeClr\s++val="(?:bg1|lt1)")\s*+/>"""
_RUN: Final = re.compile(
    rb"""(<a:rPr(?:\s[^<>]*+)?>\s*+<a:solidFill>\s*+<%b\s*+</a:solidFill>"""
    rb"""(?:<(?!/?a:(?:rPr|highlight|t|r)[\s/>])[^<>]*+>\s*+)*+</a:rPr>\s*+<a:t(?:\s[^<>]*+)?>)([^<]++)""" % _WHITE
)
_BACKGROUND: Final = re.compile(rb"<p:bg[\s>]")
_WHITE_BACKGROUND: Final = re.compile(rb"""<p:bg>\s*+<p:bg(?:Pr>\s*+<a:solidFill|Ref\s++idx="1001")>\s*+<%b""" % _WHITE)
_LIGHT: Final = re.compile(rb"""<a:lt1>\s*+<a:\w++\s[^<>]*?(?:val|lastClr)="FFFFFF\"""")
"""Of a theme: its light colour is white. A master says by `bg1="lt1"` that its slides stand on that."""

_OTHER_COLOURS: Final = b"<a:overrideClrMapping"
"""In slides and layouts whose light colour may be another than the master's (ISO/IEC 29500-1, 20.1.6.8)."""

_SHAPE: Final = re.compile(rb"<(/?)p:(sp|pic|graphicFrame|cxnSp|grpSp)>")
_LINE: Final = re.compile(rb"<a:ln(?=[\s>])[^<>]*+>.{0,600}?</a:ln>", re.DOTALL)
_FILL: Final = re.compile(rb"""<a:(?:solid|grad|blip|patt|grp)Fill[\s/>]|<a:fillRef\s++idx="[1-9]""")
_HOLDER: Final = re.compile(rb"<p:ph(?=[\s/>])([^<]*+)")
_MOST_COMPARED: Final = 1_000_000
"""Pairs of a shape with white words and a coloured one: a quarter of a second."""


class _Drawn(NamedTuple):
    """A shape, and where its content lies in its part; no box if that is not known."""

    start: int
    end: int
    box: Box | None
    is_coloured: bool
    is_placeholder: bool


class UnseenText:
    """Finds such words on the slides of one presentation."""

    def __init__(self, package: Package, placeholders: Placeholders) -> None:
        self._package = package
        self._placeholders = placeholders

    def mark(self, slide: str, data: bytes) -> bytes:
        """The part of a slide with its unseen words enclosed; itself if it has none."""
        if _RUN.search(data) is None:
            return data
        parts = [(slide, data)]
        for kind in ("slideLayout", "slideMaster"):
            above = self._placeholders.above(parts[-1][0], kind)
            parts.append((above, self._package.scan(above)))
        if not self._stands_on_white([content for _, content in parts], parts[-1][0]):
            return data
        around = [shape for _, content in parts[1:] for shape in _drawn(content) if shape.is_coloured]
        if any(shape.is_placeholder for shape in around):  # its shapes on slides look the same
            return data
        shapes = _drawn(data)
        around += (shape for shape in shapes if shape.is_coloured)
        white = [shape for shape in shapes if not shape.is_coloured and _RUN.search(data, shape.start, shape.end)]
        if len(white) * len(around) > _MOST_COMPARED:
            return data
        pieces: list[bytes] = []
        done = 0
        for shape in white:
            holder = _HOLDER.search(data, shape.start, shape.end)
            box = shape.box or (self._placeholders.box(slide, key_in(holder[1])) if holder else None)
            if box is not None and not _is_over(box, around):
                pieces += data[done : shape.start], _RUN.sub(xml.MARK_UNSEEN, data[shape.start : shape.end])
                done = shape.end
        return b"".join((*pieces, data[done:]))

    def _stands_on_white(self, parts: Sequence[bytes], master: str) -> bool:
        """Whether a slide's background is white; `parts` are the slide, its layout and its master."""
        if not parts[-1] or b'bg1="lt1"' not in parts[-1] or any(_OTHER_COLOURS in part for part in parts[:-1]):
            return False
        themes = [item.target for item in self._package.relationships(master) if item.kind == "theme"]
        if not themes or not _LIGHT.search(self._package.scan(themes[0])):
            return False
        background = next((part for part in parts if _BACKGROUND.search(part)), None)
        return background is None or _WHITE_BACKGROUND.search(background) is not None


def _drawn(data: bytes) -> list[_Drawn]:
    """The shapes of a part that are not in groups, and all that are coloured."""
    shapes: list[_Drawn] = []
    depth = 0
    tags = [*_SHAPE.finditer(data)]
    starts = [*(tag.start() for tag in tags), len(data)]
    for tag, end in zip(tags, starts[1:], strict=True):
        closes, kind = tag.groups()
        if kind == b"grpSp":
            depth += -1 if closes else 1
        elif not closes:
            words = data.find(b"<p:txBody", tag.end(), end)
            head = _LINE.sub(b"", data[tag.end() : words if words >= 0 else end])
            is_coloured = kind != b"sp" or _FILL.search(head) is not None
            is_placeholder = _HOLDER.search(head) is not None
            box = None if depth else box_in(head)
            if is_coloured or not depth:
                shapes.append(_Drawn(tag.end(), end, box, is_coloured, is_placeholder))
    return shapes


def _is_over(box: Box, others: Sequence[_Drawn]) -> bool:
    """Whether a box may lie over one of these shapes."""
    left, top, width, height = box
    return any(
        other.box is None
        or (
            left < other.box[0] + other.box[2]
            and other.box[0] < left + width
            and top < other.box[1] + other.box[3]
            and other.box[1] < top + height
        )
        for other in others
    )
