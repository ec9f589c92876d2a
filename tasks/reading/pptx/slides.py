"""The shapes of a slide, or of its notes, that have words or an alternative text, in the order of reading.

Scanned as bytes, in the form that `canonical` gives: from each shape's tag straight to its end, and its words only
where there are any. 350 slides and notes (2 MB) take 16 ms, a fourth of what building their trees takes; the time is
linear in the bytes, whatever these are.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

from tasks.errors import TooLarge
from tasks.language.normalise import one_line
from tasks.reading.ooxml import drawings, xml
from tasks.reading.ooxml.alternative_text import alternative_text
from tasks.reading.pptx import numbering
from tasks.reading.pptx.order import in_reading_order
from tasks.reading.pptx.placeholders import Box, PlaceholderKey, box_in, key_in

MOST: Final = 100_000
"""The most shapes and groups with words that one slide may hold: they are held in memory until all are found."""

_LEAVES: Final = (b"sp", b"pic", b"cxnSp", b"graphicFrame")
_NEXT: Final = re.compile(rb"<(?:p:(%b|grpSp)|(/p:grpSp|/p:spTree))(?=[\s/>])([^<]*+)" % b"|".join(_LEAVES))
_ENDS: Final = {name: (b"</p:" + name, len(b"</p:" + name)) for name in _LEAVES}
_HEAD: Final = re.compile(
    rb"[^<]*+(?:<(?!p:(?:cNvPr|ph|spPr|grpSpPr|xfrm)[\s/>])[^<]*+)*+"
    rb"(?:<p:cNvPr(?=[\s/>])([^<]*+)((?:<(?!p:(?:ph|spPr|grpSpPr|xfrm)[\s/>])[^<]*+)*+))?+"
    rb"(?:<p:ph(?=[\s/>])([^<]*+))?+"
    rb"(?:<(?!a:off\s|p:txBody|a:(?:prst|cust)Geom)[^<]*+)*+"
    rb"(<a:off\s[^<]*+(?:</a:off\s*+>\s*+)?+(?:<a:ext\s[^<]*+)?+)?+"
)
"""What the first tags of a shape tell: its properties, what is below them, its placeholder, and its place."""

_USUAL_NAME: Final = re.compile(rb' id="[0-9]*+" name="([^"<&]*+)"')
_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(?=\s)([^<]*+)")
_DESCRIBED: Final = re.compile(rb"<p:cNvPr[^<]*?\s(?:descr|title)\s*+=")
_TABLE: Final = re.compile(rb"<a:tblPr(?=\s)([^<]*+)")
_TRUE: Final = ("1", "true", "on")

Drawing = Callable[[str], list[str]]
"""Gives the lines of the chart or diagram that the relationship of this id leads to."""

Place = Callable[[PlaceholderKey], Box | None]
"""Gives the place of a placeholder that has none of its own."""


class Shape:
    """A shape with its words, those of a table as rows, and what its first tags tell.

    Attributes:
        text: its lines; "" when it has none.
        alternative: its alternative text; "" where it only repeats the words.
        header_rows: how many rows of a table are headers ("1"), "" where nothing tells; None if it is no table.
        members: the shapes of a group; None if it is none.
    """

    __slots__ = ("_holder", "_offset", "_properties", "alternative", "header_rows", "members", "text")

    def __init__(self, head: re.Match[bytes], text: str, members: "list[Shape] | None" = None) -> None:
        self._properties, below, self._holder, self._offset = head.groups(b"")
        self.text = text
        self.alternative = alternative_text(self._properties, below)
        if self.alternative and self.alternative == one_line(text):
            self.alternative = ""
        self.header_rows: str | None = None
        self.members = members

    @property
    def name(self) -> str:
        """The name that it has in the file, "" when it has none."""
        usual = _USUAL_NAME.match(self._properties)
        return usual[1].decode("utf-8", "replace") if usual is not None else xml.attribute(self._properties, b"name")

    @property
    def placeholder(self) -> PlaceholderKey | None:
        """The placeholder that it fills."""
        return key_in(self._holder) if self._holder else None

    @property
    def box(self) -> Box | None:
        """The place that it gives itself."""
        return box_in(self._offset) if self._offset else None


def shapes(data: bytes, drawing: Drawing, place: Place) -> Iterator[Shape]:
    """The shapes of a part that have words or an alternative text, in the order of reading; groups as a whole.

    `place` is called only where the order depends on it.

    Raises:
        TooLarge: there are more than MOST, or one of them is too large.
    """
    waiting = in_reading_order(_tree(data, drawing), place)[::-1]
    while waiting:
        shape = waiting.pop()
        if shape.text or shape.alternative:
            yield shape
        if shape.members:
            waiting += reversed(in_reading_order(shape.members, place))


def _tree(data: bytes, drawing: Drawing) -> list[Shape]:
    """The shapes as they are grouped, without those that have neither words nor an alternative text."""
    groups: list[list[Shape]] = [[]]
    heads: list[re.Match[bytes]] = []
    count = 0
    at = data.find(b"<p:spTree")
    tag = _NEXT.search(data, at) if at >= 0 else None
    while tag is not None:
        name, closing, rest = tag.groups()
        at = tag.end()
        if rest[-2:] == b"/>" or (rest[-1:].isspace() and rest.rstrip().endswith(b"/>")):
            pass
        elif name == b"grpSp":
            following = _NEXT.search(data, at)
            heads.append(_head(data, at, following.start() if following is not None else len(data)))
            groups.append([])
            count += 1
        elif name:
            start, at = at, _end(data, *_ENDS[name], at)
            shape = _frame(data, start, at, drawing) if name == b"graphicFrame" else _shape(data, start, at)
            if shape is not None:
                groups[-1].append(shape)
                count += 1
        elif closing == b"/p:spTree":
            break
        elif heads:
            _close(groups, heads)
        if count > MOST:
            raise TooLarge(f"A slide holds more than {MOST:,} shapes. Split the document.")
        tag = _NEXT.search(data, at)
    while heads:
        _close(groups, heads)
    return groups[0]


def _head(data: bytes, start: int, stop: int) -> re.Match[bytes]:
    match = _HEAD.match(data, start, stop)
    assert match is not None  # all of the pattern is optional
    return match


def _end(data: bytes, tag: bytes, length: int, at: int) -> int:
    """Where the end tag stands that begins so, or the end of the part."""
    end = data.find(tag, at)
    while end >= 0 and data[end + length : end + length + 1].isalpha():  # `</p:spPr>` is no end of `p:sp`
        end = data.find(tag, end + length)
    return end if end >= 0 else len(data)


def _close(groups: list[list[Shape]], heads: list[re.Match[bytes]]) -> None:
    """Put the innermost group, if it has any words, into the one round it."""
    group = Shape(heads.pop(), "", groups.pop())
    if group.members or group.alternative:
        groups[-1].append(group)


def _shape(data: bytes, start: int, stop: int) -> Shape | None:
    """The shape whose content lies between `start` and `stop`; None when it has no words."""
    end = data.find(b"</a:t", start, stop)  # not yet the end of a run for sure, but no run ends before
    if end >= 0:
        head = max(start, data.rfind(b"<a:t", start, end))
        numbered = xml.holds(data, numbering.TAG, start, stop)
        text = "\n".join(numbering.paragraphs(data, start, stop) if numbered else drawings.paragraphs(data, head, stop))
    elif stop == len(data) or xml.holds(data, b"<m:oMath", start, stop):
        head, text = stop, "\n".join(drawings.paragraphs(data, start, stop))
    else:
        head, text = stop, ""
    return _with_words(data, start, head, text)


def _with_words(data: bytes, start: int, head: int, text: str) -> Shape | None:
    """A shape whose first tags lie between `start` and `head`; None when it has no words."""
    if not text:
        properties = data.find(b"<p:cNvPr", start, head)
        if properties < 0 or not _DESCRIBED.match(data, properties):
            return None
    shape = Shape(_head(data, start, head), text)
    return shape if text or shape.alternative else None


def _frame(data: bytes, start: int, stop: int, drawing: Drawing) -> Shape | None:
    """The frame of a table, a chart or a diagram; None when it has no words."""
    head = data.find(b"<a:graphicData", start, stop)
    head = head if head >= 0 else start
    table = data.find(b"<a:tbl", head, stop)
    if table >= 0:
        lines = drawings.table(data, table, stop)
    else:
        lines = drawings.paragraphs(data, head, stop)
        for attributes in _REFERENCE.findall(data, head, stop):
            lines += drawing(xml.attribute(attributes, b"r:id") or xml.attribute(attributes, b"r:dm"))
    shape = _with_words(data, start, head, "\n".join(lines))
    if shape is not None and table >= 0:
        shape.header_rows = _header_rows(data, table, stop)
    return shape


def _header_rows(data: bytes, start: int, stop: int) -> str:
    """How many rows of a table are headers; "" where its file has none, or they have no words."""
    properties = _TABLE.search(data, start, stop)
    if properties is None or xml.attribute(properties[1], b"firstRow") not in _TRUE:
        return ""
    return "1" if drawings.table(data, start, min(_end(data, b"</a:tr", 6, start) + 7, stop)) else ""
