"""Where the placeholders of a slide stand: most take their place from the slide's layout, and that from its master.

These are read only when the order depends on them, once: most slides are in order without.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from tasks.reading.ooxml import xml
from tasks.reading.ooxml.package import Package

Box = tuple[int, int, int, int]
"""Left, top, width and height, in EMU."""


class PlaceholderKey(NamedTuple):
    """What a placeholder is known by: `kind` is its type, `number` that on the layout, "" when it has none."""

    kind: str
    number: str


class _PlaceholderPlace(NamedTuple):
    kind: str
    box: Box | None


_Places = dict[tuple[str, str], _PlaceholderPlace]
"""The placeholders of a layout or a master by number (`"idx", "1"`) and by type (`"type", "title"`)."""

_HOLDER: Final = re.compile(rb"<p:ph(?=[\s/>])([^<]*+)")
_OFFSET: Final = re.compile(rb"<a:off(?=\s)[^<]*+(?:</a:off\s*+>\s*+)?+(?:<a:ext\s[^<]*+)?")
_USUAL: Final = re.compile(
    rb'<a:off x="(-?[0-9]{1,12})" y="(-?[0-9]{1,12})"/><a:ext cx="([0-9]{1,12})" cy="([0-9]{1,12})"'
)
_NUMBER: Final = re.compile(rb"""\s(x|y|cx|cy)\s*+=\s*+["'](-?[0-9]{1,40})["']""")
_OF_MASTERS: Final = {
    "ctrTitle": "title",
    **dict.fromkeys(("subTitle", "obj", "chart", "tbl", "clipArt", "dgm", "media", "pic"), "body"),
}
"""The type of a master's placeholder from which one of another type takes its place."""


@lru_cache(maxsize=512)
def key_in(attributes: bytes) -> PlaceholderKey:
    """The placeholder that the attributes of a `p:ph` name; without a type it holds any object.

    Cached, since all decks have the same few.
    """
    return PlaceholderKey(xml.attribute(attributes, b"type") or "obj", xml.attribute(attributes, b"idx"))


def box_in(data: bytes, start: int = 0, end: int | None = None) -> Box | None:
    """The place that the first `a:off` and the `a:ext` behind it give; None without both coordinates."""
    end = len(data) if end is None else end
    at = data.find(b"<a:off", start, end)
    if at < 0:
        return None
    usual = _USUAL.match(data, at, end)
    if usual is not None:
        return int(usual[1]), int(usual[2]), int(usual[3]), int(usual[4])
    offset = _OFFSET.match(data, at, end)
    numbers = dict(_NUMBER.findall(offset[0])) if offset is not None else {}
    if b"x" not in numbers or b"y" not in numbers:
        return None
    return int(numbers[b"x"]), int(numbers[b"y"]), int(numbers.get(b"cx", 0)), int(numbers.get(b"cy", 0))


class Placeholders:
    """The places of the placeholders on the layouts of one presentation."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._parents: dict[str, str] = {}
        self._parts: dict[str, _Places] = {}

    def box(self, slide: str, placeholder: PlaceholderKey) -> Box | None:
        """Where a placeholder of the part `slide` stands that has no place of its own; None when nothing says so.

        The number is the surer sign of what it takes the place of, then the type.
        """
        layout = self._above(slide, "slideLayout")
        on_layout = self._places(layout)
        match = next((on_layout[key] for key in _keys(placeholder) if key in on_layout), None)
        if match is not None and match.box is not None:
            return match.box
        kind = (match or placeholder).kind
        master = self._places(self._above(layout, "slideMaster"))
        match = master.get(("type", _OF_MASTERS.get(kind, kind)))
        return None if match is None else match.box

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
        key, box = key_in(tag[1]), box_in(data, tag.end(), at)
        for known_by in _keys(key):
            if box is None:
                places.setdefault(known_by, _PlaceholderPlace(key.kind, None))
            else:
                places[known_by] = _PlaceholderPlace(key.kind, box)
    return places


def _keys(placeholder: PlaceholderKey) -> list[tuple[str, str]]:
    by_type = ("type", "title" if placeholder.kind == "ctrTitle" else placeholder.kind)
    return [("idx", placeholder.number), by_type] if placeholder.number else [by_type]
