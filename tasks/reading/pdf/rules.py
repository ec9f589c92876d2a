"""The rules on a PDF's page: straight lines and thin boxes, and which of them form a grid.

All lengths are points; `y` grows from the top of the page to its bottom.
"""

import ctypes
import itertools
import math
from bisect import bisect, bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pypdfium2.raw as pdfium

from tasks.reading.pdf import document
from tasks.reading.pdf.document import Box

THIN: Final = 2.5
"""The thickest rule; rules as near as that to each other are one."""
_SHORT: Final = 3.0
"""Shorter rules are part of a drawing."""
_PIECE: Final = 2.0
"""Shorter boxes are no rules: programs draw the borders of a cell in pieces, the shortest where rules meet."""
_SMALL: Final = 10.0
"""Paths that are smaller in both directions are signs and boxes to check: a cell has room for a word."""
_ROW: Final = 7.0
"""The height of a row at least: lower boxes are pieces of borders."""
_MOST_BORDERS: Final = 1_000
"""Horizontal rules of a page on which sides of cells are looked for: a hundred rows of ten cells."""
_SPACING: Final = 2
"""Points between the borders of cells side by side, or by which they overlap."""
_MOST_OBJECTS: Final = 20_000
_MOST_SEGMENTS: Final = 400
"""Segments of a path: more are a drawing's."""
_MOST_RULES: Final = 2_000
_OPEN: Final = 12.0
"""Rules that reach so far beyond the last rule across them are rows of a table whose side is open."""
_SPANNED: Final = 0.6
"""The share of a cell's edge that a rule must cover to part it from its neighbour."""

_fill, _stroke, _matrix = ctypes.c_int(), ctypes.c_int(), pdfium.FS_MATRIX()
_FILL, _STROKE, _MATRIX = ctypes.byref(_fill), ctypes.byref(_stroke), ctypes.byref(_matrix)
"""Where PDFium writes how a path is drawn."""


class RuledLine(NamedTuple):
    """A line at `at`, from `begin` to `end`: at y where it is horizontal, at x where it is not."""

    at: float
    begin: float
    end: float


@dataclass(slots=True)
class Rules:
    """The rules of a page, or those of one grid."""

    horizontal: list[RuledLine]
    vertical: list[RuledLine]
    seams: Sequence[float] = ()
    """Where the borders or the grounds of cells below each other meet, in several columns: from the top of the page."""


def find_rules(page: Any, turn: int = 0) -> Rules:
    """The rules on an open page, turned by `turn` quarters like its words.

    Empty if drawings have so many that they cannot belong to a table.
    """
    rules = Rules([], [])
    paths = document.list_objects(page, (pdfium.FPDF_PAGEOBJ_PATH,), _MOST_OBJECTS)
    for path, (left, top, right, bottom) in paths:
        width, height = right - left, top - bottom
        if width > THIN and height > THIN:
            if width < _SMALL and height < _SMALL:
                continue
            for (x, y), (other_x, other_y) in _find_stroked_segments(path):
                _add(rules, x, y, other_x, other_y)
        elif width > height:
            if width > _PIECE:
                rules.horizontal.append(RuledLine(-(top + bottom) / 2, left, right))
        elif height > _PIECE:
            rules.vertical.append(RuledLine((left + right) / 2, -top, -bottom))
        if len(rules.horizontal) + len(rules.vertical) > _MOST_RULES:
            return Rules([], [])
    if len(rules.horizontal) <= _MOST_BORDERS:
        rules.vertical += _find_sides(rules)
    if not turn:
        rules.seams = _seams([box for _, box in paths])
    return _turn(rules, turn)


def _sides_up_to(
    level: float, ends: Mapping[int, tuple[float, bool]], above: Mapping[int, tuple[float, bool]]
) -> Iterator[RuledLine]:
    """The sides that run down to the ends of the borders of a level from those that ended above."""
    for x, (at, is_joint) in ends.items():
        other = next((above[near] for near in (x, x - 1, x + 1) if near in above), None)
        if other is not None and (is_joint or other[1]) and level - other[0] > _ROW:
            yield RuledLine(at, other[0], level)


def _find_sides(rules: Rules) -> list[RuledLine]:
    """The sides of cells that have drawn borders above and below, one border per cell, but no drawn sides.

    Where two borders on one level meet, and one ends or begins right above or below, a side runs from one level to the
    other; a cell that spans several columns has one border, and no side within it. If some sides are drawn, a place
    without any separates columns only if borders meet there where the drawn ones begin, above the headers too.
    """
    sides: list[RuledLine] = []
    above: dict[int, tuple[float, bool]] = {}  # of each place, the level of the border that ended there last
    levels = [(level, borders, _border_ends(borders)) for level, borders in _levels(rules.horizontal)]
    joints = {(level, x) for level, _, ends in levels for x, (_, is_joint) in ends.items() if is_joint}
    for level, borders, ends in levels if joints else ():
        sides += _sides_up_to(level, ends, above)
        covered = sorted((border.begin, border.end) for border in borders)
        begins = [begin for begin, _ in covered]
        furthest = [*itertools.accumulate((end for _, end in covered), max, initial=-math.inf)]
        above = {x: held for x, held in above.items() if furthest[bisect_left(begins, x)] <= x}
        above |= {x: (level, is_joint) for x, (_, is_joint) in ends.items()}
    drawn = [rule for rule in rules.vertical if _is_among(rule, sides)]
    return _beside_drawn(sides, drawn, joints) if drawn else sides


def _beside_drawn(
    sides: Sequence[RuledLine], drawn: Sequence[RuledLine], joints: Iterable[tuple[float, int]]
) -> list[RuledLine]:
    """The sides at places with no drawn one, if borders meet there on the level where the drawn ones begin."""
    top = min(rule.begin for rule in drawn)
    met = {x for level, x in joints if abs(level - top) < THIN}
    return [side for side in sides if round(side.at) in met and all(abs(rule.at - side.at) > THIN for rule in drawn)]


def _levels(horizontal: Iterable[RuledLine]) -> list[tuple[float, list[RuledLine]]]:
    """Horizontal rules grouped by level, from the top of the page."""
    levels: list[tuple[float, list[RuledLine]]] = []
    for rule in sorted(horizontal):
        if not levels or rule.at - levels[-1][0] > THIN / 2:
            levels.append((rule.at, []))
        levels[-1][1].append(rule)
    return levels


def _is_among(rule: RuledLine, sides: Sequence[RuledLine]) -> bool:
    """Whether a vertical rule is drawn beside or between sides that were only inferred from borders."""
    places = [side.at for side in sides if side.begin < rule.end and rule.begin < side.end]
    return bool(places) and min(places) - THIN < rule.at < max(places) + THIN


def _border_ends(borders: Sequence[RuledLine]) -> dict[int, tuple[float, bool]]:
    """Where the borders on a level begin and end, keyed by rounded position, and whether two meet there."""
    borders = [border for border in borders if border.end - border.begin > _SMALL]
    begins, ends = {round(border.begin): border.begin for border in borders}, {round(border.end) for border in borders}
    met = {x for x in begins if not ends.isdisjoint(range(x - _SPACING, x + _SPACING + 1))}
    places = {round(border.end): border.end for border in borders} | begins
    return {x: (at, x in met) for x, at in places.items()}


def _seams(boxes: Iterable[Box]) -> list[float]:
    """Where boxes end and others of the same width begin, in two or more columns: rows that may
    have no rule between.
    """
    columns = sorted((round(left), round(right), -top, -bottom) for left, top, right, bottom in boxes)
    places = sorted(
        (below[2], below[0])
        for above, below in itertools.pairwise(columns)
        if above[:2] == below[:2]
        and min(above[3] - above[2], below[3] - below[2]) > _ROW
        and abs(above[3] - below[2]) < THIN
    )
    seams: list[list[tuple[float, int]]] = []
    for place in places:
        if seams and place[0] - seams[-1][0][0] < THIN:
            seams[-1].append(place)
        else:
            seams.append([place])
    return [near[0][0] for near in seams if len({left for _, left in near}) > 1]


def _turn(rules: Rules, turn: int) -> Rules:
    """The rules of a page whose words are turned by `turn` quarters, rotated so that the words are upright."""
    if not turn:
        return rules
    boxes = [(begin, -at, end, -at) for at, begin, end in rules.horizontal]
    boxes += ((at, -begin, at, -end) for at, begin, end in rules.vertical)
    turned = Rules([], [])
    for left, top, right, bottom in (document.turn_upright(box, turn) for box in boxes):
        if top == bottom:
            turned.horizontal.append(RuledLine(-top, left, right))
        else:
            turned.vertical.append(RuledLine(left, -top, -bottom))
    return turned


def _add(rules: Rules, x: float, y: float, other_x: float, other_y: float) -> None:
    """Add the line between two points of the page (y grows upwards), if it is straight and long enough."""
    if abs(y - other_y) < 1 and abs(x - other_x) > _SHORT:
        rules.horizontal.append(RuledLine(-(y + other_y) / 2, min(x, other_x), max(x, other_x)))
    elif abs(x - other_x) < 1 and abs(y - other_y) > _SHORT:
        rules.vertical.append(RuledLine((x + other_x) / 2, -max(y, other_y), -min(y, other_y)))


def _find_stroked_segments(path: Any) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """The straight segments of a stroked path up to its first curve, by their two ends."""
    document.draw_mode(path, _FILL, _STROKE)
    count = document.count_segments(path)
    if not _stroke.value or count > _MOST_SEGMENTS:
        return
    document.object_matrix(path, _MATRIX)
    a, b, c, d, e, f = _matrix.a, _matrix.b, _matrix.c, _matrix.d, _matrix.e, _matrix.f
    start = last = (0.0, 0.0)
    for kind, x, y, closes in document.straight_segments(path, count):
        point = (a * x + c * y + e, b * x + d * y + f)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            start = point
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            yield last, point
        if closes:
            yield point, start
        last = point


def join_rules(rules: Iterable[RuledLine]) -> list[RuledLine]:
    """The rules with adjoining ones joined."""
    joined: list[RuledLine] = []
    for rule in sorted(rules):
        last = joined[-1] if joined else None
        if (
            last is not None
            and rule.at - last.at < THIN / 2
            and rule.begin - last.end < THIN
            and rule.begin >= last.begin
        ):
            joined[-1] = RuledLine(last.at, last.begin, max(last.end, rule.end))
        else:
            joined.append(rule)
    return joined


def group_rules(rules: Rules) -> list[Rules]:
    """Rules that cross or touch each other, in groups."""
    horizontal, vertical = join_rules(rules.horizontal), join_rules(rules.vertical)
    heights = [rule.at for rule in horizontal]
    group = list(range(len(horizontal)))  # the number of a rule's group, by way of other numbers

    def root(number: int) -> int:
        while group[number] != number:
            group[number] = number = group[group[number]]
        return number

    crossed: list[int] = []  # for each vertical rule a horizontal one that it touches
    for rule in vertical:
        span = range(bisect_left(heights, rule.begin - THIN), bisect(heights, rule.end + THIN))
        touched = [index for index in span if horizontal[index].begin - THIN <= rule.at <= horizontal[index].end + THIN]
        for index in touched[1:]:
            group[root(index)] = root(touched[0])
        crossed.append(touched[0] if touched else -1)
    grids: dict[int, Rules] = {}
    for index, rule in enumerate(horizontal):
        grids.setdefault(root(index), Rules([], [], rules.seams)).horizontal.append(rule)
    for index, rule in zip(crossed, vertical, strict=True):
        if index >= 0:
            grids[root(index)].vertical.append(rule)
    return list(grids.values())


def close_grid(rules: Rules) -> list[RuledLine]:
    """The vertical rules of a grid, including its sides if they are not drawn."""
    if not rules.horizontal or not rules.vertical:
        return rules.vertical
    top, bottom = min(rule.at for rule in rules.horizontal), max(rule.at for rule in rules.horizontal)
    left, right = min(rule.begin for rule in rules.horizontal), max(rule.end for rule in rules.horizontal)
    closed = list(rules.vertical)
    if min(rule.at for rule in rules.vertical) - left > _OPEN:
        closed.append(RuledLine(left, top, bottom))
    if right - max(rule.at for rule in rules.vertical) > _OPEN:
        closed.append(RuledLine(right, top, bottom))
    return closed


def place_rules(rules: Iterable[RuledLine]) -> tuple[list[float], list[list[RuledLine]]]:
    """The positions of rules, with adjacent ones merged, and the rules at each position."""
    places: list[list[RuledLine]] = []
    for rule in sorted(rules):
        if places and rule.at - places[-1][-1].at <= THIN:
            places[-1].append(rule)
        else:
            places.append([rule])
    joined = [join_rules(rule._replace(at=near[0].at) for rule in near) for near in places]
    return [sum(rule.at for rule in near) / len(near) for near in places], joined


def find_covered(rules: Sequence[RuledLine], places: Sequence[float]) -> list[bool]:
    """Whether the rules at one position cover most of the way from each of the other positions to the next."""
    covered = [False] * (len(places) - 1)
    partly: list[int] = []
    for _, first, last in rules:
        begin, end = bisect_left(places, first), bisect(places, last) - 1
        if begin < end:
            covered[begin:end] = [True] * (end - begin)
        partly += begin - 1, end
    for at in partly:
        if 0 <= at < len(covered) and not covered[at]:
            low, high = places[at], places[at + 1]
            shared = sum(max(0.0, min(last, high) - max(first, low)) for _, first, last in rules)
            covered[at] = shared >= _SPANNED * (high - low)
    return covered
