"""Where placeholders stand: most take their place from the slide's layout, and that from its master.

Layouts and masters are read when they are asked for, once: most slides are in order without.
"""

import re
from typing import Final, NamedTuple

from tasks.documents.extract.office.package import Package

Offset = tuple[int, int]
"""Left and top, in EMU."""

_HOLDER: Final = re.compile(
    rb"""<p:ph(?=[\s/>])(?=[^<]*?\stype\s*+=\s*+["']([^"'<]*+))?(?=[^<]*?\sidx\s*+=\s*+["']([^"'<]*+))?"""
)
_OFFSET: Final = re.compile(rb"""<a:off(?=[^<]*?\sx\s*+=\s*+["']([^"'<]*+))(?=[^<]*?\sy\s*+=\s*+["']([^"'<]*+))""")
_OF_MASTERS: Final = {
    b"ctrTitle": b"title",
    **dict.fromkeys((b"subTitle", b"obj", b"chart", b"tbl", b"clipArt", b"dgm", b"media", b"pic"), b"body"),
}
"""The type of a master's placeholder from which one of another type takes its place."""


class Holder(NamedTuple):
    """What a placeholder is known by: `kind` is its type, `number` that on the layout, b"" when it has none."""

    kind: bytes
    number: bytes


class _Held(NamedTuple):
    kind: bytes
    offset: Offset | None


_Places = dict[tuple[str, bytes], _Held]
"""The placeholders of a layout or a master by number (`"idx", b"1"`) and by type (`"type", b"title"`)."""


class Placeholders:
    """The places of the placeholders on the layouts of one presentation."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._parents: dict[str, str] = {}
        self._parts: dict[str, _Places] = {}

    def offset(self, slide: str, holder: Holder) -> Offset | None:
        """Where a placeholder of the part `slide` stands that has no place of its own; None when nothing says so.

        The number is the surer sign of what it takes the place of, then the type.
        """
        layout = self._above(slide, "slideLayout")
        places = self._places(layout)
        held = next((places[key] for key in _keys(holder) if key in places), None)
        if held is not None and held.offset is not None:
            return held.offset
        kind = (held or holder).kind
        master = self._places(self._above(layout, "slideMaster"))
        held = master.get(("type", _OF_MASTERS.get(kind, kind)))
        return None if held is None else held.offset

    def _above(self, part: str, kind: str) -> str:
        if part not in self._parents:
            around = self._package.relationships(part) if part else []
            self._parents[part] = next((item.target for item in around if item.kind == kind), "")
        return self._parents[part]

    def _places(self, part: str) -> _Places:
        if part not in self._parts:
            self._parts[part] = _scanned(self._package.scan(part))
        return self._parts[part]


def holder(head: bytes) -> Holder | None:
    """The placeholder that a shape fills, out of its first tags."""
    found = _HOLDER.search(head)
    return None if found is None else _holder(found)


def offset(head: bytes) -> Offset | None:
    """The place that a shape gives itself, out of its first tags."""
    found = _OFFSET.search(head)
    return None if found is None else _offset(found)


def _scanned(data: bytes) -> _Places:
    """The placeholders of a layout or a master, each with the place that it gives it itself."""
    places: _Places = {}
    at = 0
    while (found := _HOLDER.search(data, at)) is not None:
        end = data.find(b"</p:sp>", found.end())
        at = end if end >= 0 else len(data)
        held, place = _holder(found), _OFFSET.search(data, found.end(), at)
        for key in _keys(held):
            if place is None:
                places.setdefault(key, _Held(held.kind, None))
            else:
                places[key] = _Held(held.kind, _offset(place))
    return places


def _holder(found: re.Match[bytes]) -> Holder:
    return Holder(found[1] or b"obj", found[2] or b"")


def _offset(found: re.Match[bytes]) -> Offset:
    return _whole(found[1]), _whole(found[2])


def _keys(holder: Holder) -> list[tuple[str, bytes]]:
    by_type = ("type", b"title" if holder.kind == b"ctrTitle" else holder.kind)
    return [("idx", holder.number), by_type] if holder.number else [by_type]


def _whole(number: bytes) -> int:
    try:
        return int(number)
    except ValueError:
        return 0
