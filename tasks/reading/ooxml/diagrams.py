"""The order of a diagram (SmartArt): its part lists the points as they were made, and how they hang together apart.

ECMA-376 part 1, 21.4: a connection (`dgm:cxn`) without a type puts the point `destId` below `srcId`, as the one of the
number `srcOrd`; `parTransId` is the point that stands on the line to it, `sibTransId` the one on the arrow behind it.
"""

import re
from collections import defaultdict
from typing import Final

from tasks.reading.ooxml import xml

_POINT: Final = re.compile(rb"<dgm:pt(?=[\s>])([^<]*+)")
_CONNECTION: Final = re.compile(rb"<dgm:cxn(?=\s)([^<]*+)")
_BELOW: Final = ("", "parOf")
"""The types of connections that make the tree; the others lead to what a program draws."""


def points_in_order(data: bytes) -> list[tuple[int, int]]:
    """Where each point begins and ends in a part, a point before those below it, all of one in their order.

    What hangs on nothing, or only on itself, comes last.
    """
    connections = data.find(b"<dgm:cxnLst")
    last = connections if connections >= 0 else len(data)
    tags = list(_POINT.finditer(data, 0, last))
    bounds = [0, *(tag.start() for tag in tags[1:]), last]
    names = [xml.attribute(tag[1], b"modelId") for tag in tags]
    below = _below(data, last)
    owned = {name for children in below.values() for _, around in children for name in around}
    spans: dict[str, list[tuple[int, int]]] = defaultdict(list)  # a hostile file gives one id to many
    for name, start, end in zip(names, bounds, bounds[1:], strict=False):
        spans[name].append((start, end))
    ordered: list[tuple[int, int]] = []
    for root in [*(name for name in names if name not in owned), *names]:
        waiting = [root]
        while waiting:
            name = waiting.pop()
            ordered += spans.pop(name, [])
            children = below.pop(name, [])
            children.sort(key=lambda child: child[0])
            waiting += [one for _, around in reversed(children) for one in reversed(around)]
    return [*ordered, (last if tags else 0, len(data))]


def _below(data: bytes, start: int) -> dict[str, list[tuple[int, tuple[str, ...]]]]:
    """For each point those below it: their numbers, and each between what stands on its line and on its arrow."""
    below: dict[str, list[tuple[int, tuple[str, ...]]]] = defaultdict(list)
    for attributes in _CONNECTION.findall(data, start):
        if xml.attribute(attributes, b"type") in _BELOW:
            number = xml.attribute(attributes, b"srcOrd")
            names = (xml.attribute(attributes, name) for name in (b"parTransId", b"destId", b"sibTransId"))
            around = tuple(name for name in names if name)
            order = int(number) if number.isdecimal() and len(number) < 10 else 0
            below[xml.attribute(attributes, b"srcId")].append((order, around))
    return below
