"""The shapes of a slide or its notes that have words or an alternative text, in reading order.

They are scanned as bytes, in the form that `canonical` returns: from each shape's tag straight to its end, and its
words only if there are any. 350 slides and notes (2 MB) take 16 ms, a fourth of the time for their trees; time is
linear in the bytes, whatever they are.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

from tasks.errors import TooLarge
from tasks.language.normalise import one_line
from tasks.reading.numerals import numeral
from tasks.reading.ooxml import drawings, xml
from tasks.reading.ooxml.drawings import alternative_text

Box = tuple[int, int, int, int]
"""Left, top, width and height, in EMU."""


class PlaceholderKey(NamedTuple):
    """What identifies a placeholder: `kind` is its type, `number` its index on the layout, "" if it has none."""

    kind: str
    number: str


_OFFSET: Final = re.compile(rb"<a:off(?=\s)[^<]*+(?:</a:off\s*+>\s*+)?+(?:<a:ext\s[^<]*+)?")
_NUMBER: Final = re.compile(rb"""\s(x|y|cx|cy)\s*+=\s*+["'](-?[0-9]{1,40})["']""")


@lru_cache(maxsize=512)
def key_in(attributes: bytes) -> PlaceholderKey:
    """The placeholder that the attributes of a `p:ph` name; without a type it holds any object.

    Cached, because all decks have the same few.
    """
    return PlaceholderKey(xml.attribute(attributes, b"type") or "obj", xml.attribute(attributes, b"idx"))


def box_in(data: bytes, start: int = 0, end: int | None = None) -> Box | None:
    """The position in the first `a:off` and the `a:ext` after it; None unless both are complete."""
    end = len(data) if end is None else end
    at = data.find(b"<a:off", start, end)
    offset = _OFFSET.match(data, at, end) if at >= 0 else None
    numbers = dict(_NUMBER.findall(offset[0])) if offset is not None else {}
    if b"x" not in numbers or b"y" not in numbers:
        return None
    return int(numbers[b"x"]), int(numbers[b"y"]), int(numbers.get(b"cx", 0)), int(numbers.get(b"cy", 0))


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


class _Item(NamedTuple):
    """A shape's number, and the edges of its box."""

    number: int
    left: int
    top: int
    right: int
    bottom: int


_Items = list[_Item]
_Weigh = Callable[[_Item], tuple[int, int]]
"""Gives the characters and lines of a shape."""


def in_reading_order(shapes: "list[Shape]", place: "Place") -> "list[Shape]":
    """These shapes in reading order. `place` returns the position of a placeholder that has none of its own.

    It is only called if the order depends on it.
    """
    if len(shapes) < 2:
        return shapes
    titles: list[Shape] = []
    rest: list[Shape] = []
    footers: list[Shape] = []
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
        rest = [rest[item.number] for item in _order(items, lambda item: _weight(rest[item.number]), 0)]
    return [*titles, *rest, *footers]


def _weight(shape: "Shape") -> tuple[int, int]:
    """The numbers of characters and lines in a shape; a group counts as a body."""
    return (2 * _LONGEST_HEADING, 3) if shape.members is not None else (len(shape.text), shape.text.count("\n") + 1)


def _order(items: _Items, weigh: _Weigh, depth: int) -> _Items:
    if len(items) < 2:
        return items
    if len(items) > _MOST or depth > _DEEPEST:
        return _by_rows(items)
    bands = _cut(sorted(items, key=lambda item: item.top), 2)  # where nothing lies across from left to right
    if len(bands) == len(items):  # one below the other
        return [item for (item,) in bands]
    if len(bands) == 1:
        columns = _columns(items)
        if len(columns) == 1:
            return _by_rows(items)
        return [item for column in columns for item in _order(column, weigh, depth + 1)]
    ordered: _Items = []
    at = 0
    while at < len(bands):
        columns, after = _read_by_column(bands, at, weigh)
        for column in columns:
            ordered += _order(column, weigh, depth + 1)
        at = after
    return ordered


def _by_rows(items: _Items) -> _Items:
    return sorted(items, key=lambda item: (item.top // _ROW, item.left))


def _columns(items: _Items) -> list[_Items]:
    """The items split into columns where nothing lies across from top to bottom, from the left."""
    return _cut(sorted(items, key=lambda item: item.left), 1)


def _cut(items: _Items, start: int) -> list[_Items]:
    """Items sorted by the edge `start`, split where one begins after the end of all before it."""
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
    """The columns, read one after the other, of the bands from `at` on, and the number of the next band.

    A single band is one column.
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
    """Whether the band itself is a row of headings."""
    headings = _columns(bands[at])
    if at + 1 == len(bands) or len(headings) < 2:
        return False
    columns = _under(headings, bands[at + 1])
    if columns is None:
        return False
    bodies = [column[len(heading) :] for column, heading in zip(columns, headings, strict=True)]
    return all(map(_is_headed, headings, bodies, [weigh] * len(headings)))


def _under(columns: list[_Items], band: _Items) -> list[_Items] | None:
    """The columns with what is under them in the next band; None unless all of it is, with something under each."""
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
    """Whether an only item is a heading of what is under it: one or two short lines above more text
    or a larger area.
    """
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
    """Whether single items are closer to those under them than to those beside them."""
    if any(len(column) != 1 for column in [*upper, *lower]):
        return False
    apart = min(upper[number + 1][0].left - upper[number][0].right for number in range(len(upper) - 1))
    gap = max(below[0].top - above[0].bottom for above, below in zip(upper, lower, strict=True))
    return gap * 2 < apart


TAG: Final = b"<a:buAutoNum"
_MOST_LEVELS: Final = 10_000
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
    """A numbering scheme for paragraphs, and its first number."""

    name: str
    first: int

    def written(self, number: int) -> str:
        parts = _SCHEME.fullmatch(self.name)
        if parts is None:  # of East Asian scripts, Hebrew, Thai: in digits
            return f"{number}."
        return _SHAPES.get(parts[2], "{}").format(numeral(number, _NUMERALS[parts[1]]))


def paragraphs(data: bytes, start: int, stop: int) -> list[str]:
    """The paragraphs with words between `start` and `stop` of a part, with the numbers that PowerPoint shows."""
    style_end = max(data.find(b"</a:lstStyle", start, stop), start)
    styles = _styles(data, start, style_end)
    found = list(islice(_PARAGRAPH.finditer(data, style_end, stop), _MOST_LEVELS + 1))
    if len(found) > _MOST_LEVELS:
        return drawings.paragraphs(data, start, stop)
    lines: list[str] = []
    counts: dict[int, tuple[_Scheme, int]] = {}
    for paragraph, following in zip(found, [*(match.start() for match in found[1:]), stop], strict=True):
        words = drawings.paragraphs(data, paragraph.start(), following)
        if not words:
            continue
        level, scheme = _read_number(data, paragraph.end(), following, styles)
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
    """The numbering schemes of a shape's own levels."""
    schemes: dict[int, _Scheme] = {}
    for level in _LEVEL.finditer(data, start, stop):
        end = data.find(b"</a:lvl", level.end(), stop)
        scheme = _scheme(data, level.end(), end if end >= 0 else stop)
        if isinstance(scheme, _Scheme):
            schemes[int(level[1]) - 1] = scheme
    return schemes


def _read_number(data: bytes, start: int, stop: int, styles: dict[int, _Scheme]) -> tuple[int, _Scheme | None]:
    """The level of the paragraph whose content begins at `start`, and its numbering scheme."""
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
    """The numbering scheme in some properties; True if they name another bullet or none, False if they say nothing."""
    bullet = _BULLET.search(data, start, stop)
    if bullet is None:
        return False
    if bullet[1] != b"AutoNum":
        return True
    first = xml.attribute(bullet[2], b"startAt")
    return _Scheme(xml.attribute(bullet[2], b"type"), int(first) if first.isdecimal() and len(first) < 6 else 1)


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

_REFERENCE: Final = re.compile(rb"<(?:c:chart|cx:chart|dgm:relIds)(?=\s)([^<]*+)")
_DESCRIBED: Final = re.compile(rb"<p:cNvPr[^<]*?\s(?:descr|title)\s*+=")
_TABLE: Final = re.compile(rb"<a:tblPr(?=\s)([^<]*+)")
_TRUE: Final = ("1", "true", "on")

Drawing = Callable[[str], list[str]]
"""Gives the lines of the chart or diagram that the relationship of this id leads to."""

Place = Callable[[PlaceholderKey], Box | None]
"""Gives the place of a placeholder that has none of its own."""


class Shape:
    """A shape with its words (those of a table as rows), and what its first tags say.

    Attributes:
        text: its lines; "" when it has none.
        alternative: its alternative text; "" where it only repeats the words.
        header_rows: how many rows of a table are headers ("1"), "" where nothing tells; None if it is no table.
        members: the shapes of a group; None if it is none.
        is_hidden: whether the show leaves it out, by itself or with its group.
    """

    __slots__ = ("_holder", "_offset", "_properties", "alternative", "header_rows", "is_hidden", "members", "text")

    def __init__(self, head: re.Match[bytes], text: str, members: "list[Shape] | None" = None) -> None:
        self._properties, below, self._holder, self._offset = head.groups(b"")
        self.text = text
        self.alternative = alternative_text(self._properties, below)
        if self.alternative and self.alternative == one_line(text):
            self.alternative = ""
        self.header_rows: str | None = None
        self.members = members
        self.is_hidden = b" hidden=" in self._properties and xml.attribute(self._properties, b"hidden") in _TRUE

    @property
    def name(self) -> str:
        """Its name in the file, "" if it has none."""
        return xml.attribute(self._properties, b"name")

    @property
    def placeholder(self) -> PlaceholderKey | None:
        """The placeholder that it fills."""
        return key_in(self._holder) if self._holder else None

    @property
    def box(self) -> Box | None:
        """Its own position."""
        return box_in(self._offset) if self._offset else None


def shapes(data: bytes, drawing: Drawing, place: Place) -> Iterator[Shape]:
    """The shapes of a part that have words or an alternative text, in reading order, with groups kept together.

    `place` is only called if the order depends on it.

    Raises:
        TooLarge: there are more than MOST, or one of them is too large.
    """
    waiting = in_reading_order(_tree(data, drawing), place)[::-1]
    while waiting:
        shape = waiting.pop()
        if shape.text or shape.alternative:
            yield shape
        if shape.members:
            for member in shape.members:
                member.is_hidden |= shape.is_hidden
            waiting += reversed(in_reading_order(shape.members, place))


def _tree(data: bytes, drawing: Drawing) -> list[Shape]:
    """The shapes as grouped, without those that have neither words nor an alternative text."""
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
    """The position of the end tag beginning with `tag`, or the end of the part."""
    end = data.find(tag, at)
    while end >= 0 and data[end + length : end + length + 1].isalpha():  # `</p:spPr>` is no end of `p:sp`
        end = data.find(tag, end + length)
    return end if end >= 0 else len(data)


def _close(groups: list[list[Shape]], heads: list[re.Match[bytes]]) -> None:
    """Add the innermost group, if it has any words, to the group around it."""
    group = Shape(heads.pop(), "", groups.pop())
    if group.members or group.alternative:
        groups[-1].append(group)


def _shape(data: bytes, start: int, stop: int) -> Shape | None:
    """The shape whose content lies between `start` and `stop`; None if it has no words."""
    end = data.find(b"</a:t", start, stop)  # not yet the end of a run for sure, but no run ends before
    if end >= 0:
        head = max(start, data.rfind(b"<a:t", start, end))
        numbered = xml.holds(data, TAG, start, stop)
        text = "\n".join(paragraphs(data, start, stop) if numbered else drawings.paragraphs(data, head, stop))
    elif stop == len(data) or xml.holds(data, b"<m:oMath", start, stop):
        head, text = stop, "\n".join(drawings.paragraphs(data, start, stop))
    else:
        head, text = stop, ""
    return _with_words(data, start, head, text)


def _with_words(data: bytes, start: int, head: int, text: str) -> Shape | None:
    """A shape whose first tags lie between `start` and `head`; None if it has no words."""
    if not text:
        properties = data.find(b"<p:cNvPr", start, head)
        if properties < 0 or not _DESCRIBED.match(data, properties):
            return None
    shape = Shape(_head(data, start, head), text)
    return shape if text or shape.alternative else None


def _frame(data: bytes, start: int, stop: int, drawing: Drawing) -> Shape | None:
    """The frame of a table, a chart or a diagram; None if it has no words."""
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
    """The number of header rows in a table; "" if its file names none, or they have no words."""
    properties = _TABLE.search(data, start, stop)
    if properties is None or xml.attribute(properties[1], b"firstRow") not in _TRUE:
        return ""
    return "1" if drawings.table(data, start, min(_end(data, b"</a:tr", 6, start) + 7, stop)) else ""
