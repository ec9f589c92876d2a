"""The order in which a person reads the shapes of a slide: bands from the top, within a band columns from the left.

The title comes first and the footers last, wherever they stand. What is left is cut where nothing stands across: into
bands, these into columns, these into bands again. A row of headings over a row of bodies is read column by column
(heading, body, heading, body), and so are labels close under what they label; other rows are read from the left, as
those of a table that was drawn by hand.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, Protocol, TypeVar

from tasks.reading.pptx.placeholders import Box, PlaceholderKey

_ROW: Final = 228_600
"""Shapes whose tops lie within a quarter of an inch (in EMU) stand in one row; no shape is lower than that."""

_SLACK: Final = 137_160
"""So far (in EMU) boxes may overlap that stand apart: their words have a margin of a twentieth of an inch each."""

_MOST: Final = 400
"""Shapes of one group that are cut into bands and columns; more are read by their rows."""

_DEEPEST: Final = 12
_MOST_COLUMNS: Final = 12
_LONGEST_HEADING: Final = 100
_TITLES: Final = ("title", "ctrTitle")
_FOOTERS: Final = ("dt", "ftr", "sldNum", "hdr")


class Placed(Protocol):
    """What is put in order: a shape with its words, and the place that it gives itself."""

    text: str

    @property
    def placeholder(self) -> PlaceholderKey | None: ...
    @property
    def members(self) -> Sequence[object] | None: ...
    @property
    def box(self) -> Box | None: ...


_Shape = TypeVar("_Shape", bound=Placed)


class _Item(NamedTuple):
    """A shape by its number, and the edges of its box."""

    number: int
    left: int
    top: int
    right: int
    bottom: int


_Items = list[_Item]
_Weigh = Callable[[_Item], tuple[int, int]]
"""Gives the characters and lines of a shape."""


def in_reading_order(shapes: list[_Shape], place: Callable[[PlaceholderKey], Box | None]) -> list[_Shape]:
    """These shapes in the order of reading. `place` gives the place of a placeholder that has none of its own.

    It is called only where the order depends on it.
    """
    if len(shapes) < 2:
        return shapes
    titles: list[_Shape] = []
    rest: list[_Shape] = []
    footers: list[_Shape] = []
    keys: list[PlaceholderKey | None] = []
    for shape in shapes:
        key = shape.placeholder
        if key is None or (key.kind not in _TITLES and key.kind not in _FOOTERS):
            rest.append(shape)
            keys.append(key)
        else:
            (titles if key.kind in _TITLES else footers).append(shape)
    if len(rest) > 1:
        items = []
        for number, (shape, key) in enumerate(zip(rest, keys, strict=True)):
            box = shape.box
            if box is None and key is not None:
                box = place(key)
            left, top, width, height = box or (0, 0, 0, 0)
            items.append(_Item(number, left, top, left + max(width, 0), top + max(height, _ROW)))
        rest = [rest[item.number] for item in _ordered(items, lambda item: _weight(rest[item.number]), 0)]
    return [*titles, *rest, *footers]


def _weight(shape: Placed) -> tuple[int, int]:
    """The characters and lines of a shape; a group counts as a body."""
    return (2 * _LONGEST_HEADING, 3) if shape.members is not None else (len(shape.text), shape.text.count("\n") + 1)


def _ordered(items: _Items, weigh: _Weigh, depth: int) -> _Items:
    if len(items) < 2:
        return items
    if len(items) > _MOST or depth > _DEEPEST:
        return _by_rows(items)
    bands = _bands(items)
    if len(bands) == len(items):  # one below the other
        return [item for (item,) in bands]
    if len(bands) == 1:
        columns = _columns(items)
        if len(columns) == 1:
            return _by_rows(items)
        return [item for column in columns for item in _ordered(column, weigh, depth + 1)]
    ordered: _Items = []
    at = 0
    while at < len(bands):
        columns, after = _read_by_column(bands, at, weigh)
        for column in columns:
            ordered += _ordered(column, weigh, depth + 1)
        at = after
    return ordered


def _by_rows(items: _Items) -> _Items:
    return sorted(items, key=lambda item: (item.top // _ROW, item.left))


def _bands(items: _Items) -> list[_Items]:
    """The items cut where nothing stands across from left to right; from the top."""
    return _cut(sorted(items, key=lambda item: item.top), 2)


def _columns(items: _Items) -> list[_Items]:
    """The items cut where nothing stands across from top to bottom; from the left."""
    return _cut(sorted(items, key=lambda item: item.left), 1)


def _cut(items: _Items, start: int) -> list[_Items]:
    """Items in order of the edge `start`, cut where one begins behind the ends of all before it."""
    pieces: list[_Items] = []
    end = 0
    for item in items:
        first, last = item[start], item[start + 2]
        last -= min(_SLACK, (last - first) // 4)
        if pieces and first < end:
            pieces[-1].append(item)
            end = max(end, last)
        else:
            pieces.append([item])
            end = last
    return pieces


def _read_by_column(bands: list[_Items], at: int, weigh: _Weigh) -> tuple[list[_Items], int]:
    """The columns of the bands from `at` on that are read one after the other, and the number of the next band.

    One band alone is one column.
    """
    alone = [bands[at]], at + 1
    if at + 1 == len(bands) or len(bands[at]) < 2:
        return alone
    headings = _columns(bands[at])
    if not 2 <= len(headings) <= _MOST_COLUMNS:
        return alone
    columns = _under(headings, bands[at + 1])
    if columns is None:
        return alone
    bodies = [column[len(heading) :] for column, heading in zip(columns, headings, strict=True)]
    after = at + 2
    if not all(map(_is_headed, headings, bodies, [weigh] * len(headings))):
        around = [bands[number] for number in (at - 1, after) if 0 <= number < len(bands)]
        in_a_grid = any(_under(columns, band) is not None for band in around)
        return alone if in_a_grid or not _stand_close(headings, bodies) else (columns, after)
    while after < len(bands):
        further = _under(columns, bands[after])
        if further is None or _begins_headings(bands, after, weigh):
            break
        columns = further
        after += 1
    return columns, after


def _begins_headings(bands: list[_Items], at: int, weigh: _Weigh) -> bool:
    """Whether the band is a row of headings itself."""
    headings = _columns(bands[at])
    if at + 1 == len(bands) or len(headings) < 2:
        return False
    columns = _under(headings, bands[at + 1])
    if columns is None:
        return False
    bodies = [column[len(heading) :] for column, heading in zip(columns, headings, strict=True)]
    return all(map(_is_headed, headings, bodies, [weigh] * len(headings)))


def _under(columns: list[_Items], band: _Items) -> list[_Items] | None:
    """The columns with what stands under them in the next band; None unless all does, and something under each."""
    edges = [[min(item.left for item in column), max(item.right for item in column)] for column in columns]
    longer = [list(column) for column in columns]
    for item in band:
        slack = min(_SLACK, (item.right - item.left) // 4)
        over = [
            number
            for number, (left, right) in enumerate(edges)
            if item.left + slack < right and left < item.right - slack
        ]
        if len(over) != 1:
            return None
        longer[over[0]].append(item)
        edges[over[0]] = [min(edges[over[0]][0], item.left), max(edges[over[0]][1], item.right)]
    whole = all(len(new) > len(old) for new, old in zip(longer, columns, strict=True))
    apart = all(edges[number][1] - _SLACK <= edges[number + 1][0] for number in range(len(edges) - 1))
    return longer if whole and apart else None


def _is_headed(heading: Sequence[_Item], body: Sequence[_Item], weigh: _Weigh) -> bool:
    """Whether the one item is a heading of what stands under it: one short line or two, over more or over larger."""
    if len(heading) != 1:
        return False
    characters, lines = weigh(heading[0])
    if not 0 < characters <= _LONGEST_HEADING or lines > 2:
        return False
    below, lines_below = (sum(counts) for counts in zip(*map(weigh, body), strict=True))
    height = heading[0].bottom - heading[0].top
    height_below = max(item.bottom for item in body) - min(item.top for item in body)
    return below >= 2 * characters or lines_below > lines + 1 or height_below * 2 >= height * 3


def _stand_close(upper: list[_Items], lower: list[_Items]) -> bool:
    """Whether single items stand closer to those under them than to those beside them."""
    if any(len(column) != 1 for column in [*upper, *lower]):
        return False
    apart = min(upper[number + 1][0].left - upper[number][0].right for number in range(len(upper) - 1))
    gap = max(below[0].top - above[0].bottom for above, below in zip(upper, lower, strict=True))
    return gap * 2 < apart
