"""The shapes of a slide, or of its notes, that have words, in the order in which a person reads them.

Scanned as bytes, in the form that `canonical` gives: from each shape's tag straight to its end, and its words
only where there are any. That runs at 240 MB/s (349 slides and notes, 2 MB), three times as fast as building
their trees and taking the paragraphs from them; the time is linear in the bytes, whatever these are.

Most placeholders take their place from the slide's layout, and that from its master. These are read only when the
order depends on them, once: most slides are in order without.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from tasks.documents.extract.ooxml import drawings, xml
from tasks.documents.extract.ooxml.package import Package
from tasks.errors import TooLarge

Offset = tuple[int, int]
"""Left and top, in EMU."""


class PlaceholderKey(NamedTuple):
    """What a placeholder is known by: `kind` is its type, `number` that on the layout, b"" when it has none."""

    kind: bytes
    number: bytes


class _PlaceholderPlace(NamedTuple):
    kind: bytes
    offset: Offset | None


_Places = dict[tuple[str, bytes], _PlaceholderPlace]
"""The placeholders of a layout or a master by number (`"idx", b"1"`) and by type (`"type", b"title"`)."""


_HOLDER: Final = re.compile(
    rb"""<p:ph(?=[\s/>])(?=[^<]*?\stype\s*+=\s*+["']([^"'<]*+))?(?=[^<]*?\sidx\s*+=\s*+["']([^"'<]*+))?"""
)
_OFFSET: Final = re.compile(rb"""<a:off(?=[^<]*?\sx\s*+=\s*+["']([^"'<]*+))(?=[^<]*?\sy\s*+=\s*+["']([^"'<]*+))""")

_OF_MASTERS: Final = {
    b"ctrTitle": b"title",
    **dict.fromkeys((b"subTitle", b"obj", b"chart", b"tbl", b"clipArt", b"dgm", b"media", b"pic"), b"body"),
}
"""The type of a master's placeholder from which one of another type takes its place."""

_ROW: Final = 228_600
"""Shapes whose tops lie within a quarter of an inch (in EMU) stand in one row and are read from the left."""

MOST: Final = 100_000
"""The most shapes and groups with words that one slide may hold: they are held in memory until all are found."""

_LEAVES: Final = (b"p:sp", b"p:pic", b"p:cxnSp", b"p:graphicFrame")
_NEXT: Final = re.compile(
    rb"<(%b|/?p:grpSp|/p:spTree)(?:\s[^<>]*+)?(?<!/)>" % b"|".join(_LEAVES)
)  # a tag whose attribute holds a ">" seems to end there, which does no harm
_ENDS: Final = {name: re.compile(rb"</%b\s*+>" % name) for name in _LEAVES}
_NAME: Final = re.compile(rb"""<p:cNvPr(?=\s)[^<]*?\sname\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)')""")

_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(?=\s)([^<]*+)")
Drawing = Callable[[str], list[str]]
"""Gives the lines of the chart or diagram that the relationship of this id leads to."""

Place = Callable[[PlaceholderKey], Offset | None]
"""Gives the place of a placeholder that has none of its own."""


class Shape(NamedTuple):
    """A shape: its tags before its words, which say its name and place, and its lines; a group has `members`."""

    head: bytes
    lines: list[str]
    members: "list[Shape] | None" = None

    @property
    def name(self) -> str:
        """The name that it has in the file, "" when it has none."""
        match = _NAME.search(self.head)
        return "" if match is None else xml.unescaped((match[1] or match[2] or b"").decode("utf-8", "replace"))

    @property
    def placeholder(self) -> PlaceholderKey | None:
        """The placeholder that it fills."""
        return placeholder_of(self.head)


def shapes(data: bytes, drawing: Drawing, place: Place) -> Iterator[Shape]:
    """The shapes of a part that have words: those of a row from the left, rows from the top, groups as a whole.

    `place` is called only where the order depends on it.

    Raises:
        TooLarge: there are more than MOST, or one of them is too large.
    """
    waiting = _in_order(_tree(data, drawing), place)[::-1]
    while waiting:
        shape = waiting.pop()
        if shape.members is None:
            yield shape
        else:
            waiting += reversed(_in_order(shape.members, place))


def _in_order(members: list[Shape], place: Place) -> list[Shape]:
    if len(members) < 2:
        return members

    def position(shape: Shape) -> tuple[int, int]:
        at = offset_of(shape.head)
        if at is None and (placeholder := shape.placeholder) is not None:
            at = place(placeholder)
        left, top = at or (0, 0)
        return top // _ROW, left

    return sorted(members, key=position)


def _tree(data: bytes, drawing: Drawing) -> list[Shape]:
    """The shapes as they are grouped, without those that have no words."""
    shapes: list[Shape] = []
    groups = [shapes]
    count = 0
    at = data.find(b"<p:spTree")
    tag = _NEXT.search(data, at) if at >= 0 else None
    while tag is not None:
        name, at = tag[1], tag.end()
        if name in _ENDS:
            end = _ENDS[name].search(data, at)
            stop = end.start() if end is not None else len(data)
            shape = _frame(data, at, stop, drawing) if name == b"p:graphicFrame" else _shape(data, at, stop)
            if shape is not None:
                groups[-1].append(shape)
                count += 1
            at = stop
        elif name == b"p:grpSp":
            members: list[Shape] = []
            groups[-1].append(Shape(_head(data, at), [], members))
            groups.append(members)
            count += 1
        elif name == b"/p:spTree":
            break
        elif len(groups) > 1 and not groups.pop():
            groups[-1].pop()
        if count > MOST:
            raise TooLarge(f"A slide holds more than {MOST:,} shapes. Split the document.")
        tag = _NEXT.search(data, at)
    return shapes


def _head(data: bytes, start: int) -> bytes:
    """The tags of a group before its first shape."""
    following = _NEXT.search(data, start)
    return data[start : following.start() if following is not None else len(data)]


def _shape(data: bytes, start: int, stop: int) -> Shape | None:
    """The shape whose content lies between `start` and `stop`; None when it has no words."""
    end = data.find(b"</a:t", start, stop)  # not yet the end of a run for sure, but no run ends before
    if end >= 0:
        head = max(start, data.rfind(b"<a:t", start, end))
    elif stop == len(data) or data.find(b"<m:oMath", start, stop) >= 0:
        head = start
    else:
        return None
    lines = drawings.paragraphs(data, head, stop)
    return Shape(data[start : head if head > start else stop], lines) if lines else None


def _frame(data: bytes, start: int, stop: int, drawing: Drawing) -> Shape | None:
    """The frame of a table, a chart or a diagram; None when it has no words."""
    head = data.find(b"<a:graphicData", start, stop)
    head = head if head >= 0 else start
    if data.find(b"<a:tbl", head, stop) >= 0:
        lines = drawings.table(data, head, stop)
    else:
        lines = drawings.paragraphs(data, head, stop)
        for attributes in _REFERENCE.findall(data, head, stop):
            lines += drawing(xml.attribute(attributes, b"r:id") or xml.attribute(attributes, b"r:dm"))
    return Shape(data[start:head], lines) if lines else None


class Placeholders:
    """The places of the placeholders on the layouts of one presentation."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._parents: dict[str, str] = {}
        self._parts: dict[str, _Places] = {}

    def offset(self, slide: str, placeholder: PlaceholderKey) -> Offset | None:
        """Where a placeholder of the part `slide` stands that has no place of its own; None when nothing says so.

        The number is the surer sign of what it takes the place of, then the type.
        """
        layout = self._above(slide, "slideLayout")
        on_layout = self._places(layout)
        match = next((on_layout[key] for key in _keys(placeholder) if key in on_layout), None)
        if match is not None and match.offset is not None:
            return match.offset
        kind = (match or placeholder).kind
        master = self._places(self._above(layout, "slideMaster"))
        match = master.get(("type", _OF_MASTERS.get(kind, kind)))
        return None if match is None else match.offset

    def _above(self, part: str, kind: str) -> str:
        if part not in self._parents:
            around = self._package.relationships(part) if part else []
            self._parents[part] = next((item.target for item in around if item.kind == kind), "")
        return self._parents[part]

    def _places(self, part: str) -> _Places:
        if part not in self._parts:
            self._parts[part] = _scanned(self._package.scan(part))
        return self._parts[part]


def _scanned(data: bytes) -> _Places:
    """The placeholders of a layout or a master, each with the place that it gives it itself."""
    places: _Places = {}
    at = 0
    while (tag := _HOLDER.search(data, at)) is not None:
        end = data.find(b"</p:sp>", tag.end())
        at = end if end >= 0 else len(data)
        key, place = _key_of(tag), _OFFSET.search(data, tag.end(), at)
        for known_by in _keys(key):
            if place is None:
                places.setdefault(known_by, _PlaceholderPlace(key.kind, None))
            else:
                places[known_by] = _PlaceholderPlace(key.kind, _offset_in(place))
    return places


def _keys(placeholder: PlaceholderKey) -> list[tuple[str, bytes]]:
    by_type = ("type", b"title" if placeholder.kind == b"ctrTitle" else placeholder.kind)
    return [("idx", placeholder.number), by_type] if placeholder.number else [by_type]


def placeholder_of(head: bytes) -> PlaceholderKey | None:
    """The placeholder that a shape fills, out of its first tags."""
    tag = _HOLDER.search(head)
    return None if tag is None else _key_of(tag)


def offset_of(head: bytes) -> Offset | None:
    """The place that a shape gives itself, out of its first tags."""
    tag = _OFFSET.search(head)
    return None if tag is None else _offset_in(tag)


def _key_of(tag: re.Match[bytes]) -> PlaceholderKey:
    return PlaceholderKey(tag[1] or b"obj", tag[2] or b"")


def _offset_in(tag: re.Match[bytes]) -> Offset:
    return _integer(tag[1]), _integer(tag[2])


def _integer(number: bytes) -> int:
    try:
        return int(number)
    except ValueError:
        return 0
