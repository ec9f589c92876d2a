"""The glyphs of a page as they are drawn, their boxes, and the orders in which they can be read."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import inf
from typing import Final, NamedTuple

_OVERLAP: Final = 0.5
"""Glyphs that share this much of their height stand on one line."""
_LAST_ROWS: Final = 3
"""Rows above that a glyph is held against."""
_SAME: Final = 0.3
"""Equal glyphs that stand nearer to each other than this share of their width are one, printed twice."""
_NEAR: Final = 0.1
"""Or nearer than so many points: thin ones."""


class Box(NamedTuple):
    """A rectangle in points, from the upper left corner of a page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """From its top to its bottom."""
        return self.bottom - self.top

    def joined(self, other: "Box") -> "Box":
        """The smallest box that holds both."""
        return Box(
            min(self.left, other.left),
            min(self.top, other.top),
            max(self.right, other.right),
            max(self.bottom, other.bottom),
        )

    def turned(self) -> "Box":
        """The same box with its axes exchanged."""
        return Box(self.top, self.left, self.bottom, self.right)

    def holds(self, other: "Box") -> bool:
        """Whether the middle of the other box lies in this one."""
        return (
            self.left <= (other.left + other.right) / 2 <= self.right
            and self.top <= (other.top + other.bottom) / 2 <= self.bottom
        )


class Glyph(NamedTuple):
    """A character of a page as it is drawn. `begins`: the first of a word."""

    text: str
    box: Box
    begins: bool


class Glyphs:
    """The glyphs of a page in the order in which they are drawn, white space left out."""

    def __init__(self, glyphs: Sequence[Glyph]) -> None:
        self.drawn = glyphs

    def __getitem__(self, index: int) -> Glyph:
        return self.drawn[index]

    def __len__(self) -> int:
        return len(self.drawn)

    def held_by(self, box: Box) -> Iterator[int]:
        """The indices of the glyphs whose middles lie in a box."""
        middles, indices = self._by_middle
        for position in range(bisect_left(middles, box.top), bisect_right(middles, box.bottom)):
            if box.holds(self.drawn[indices[position]].box):
                yield indices[position]

    @cached_property
    def _by_middle(self) -> tuple[list[float], list[int]]:
        middles = [(glyph.box.top + glyph.box.bottom) / 2 for glyph in self.drawn]
        indices = sorted(range(len(middles)), key=middles.__getitem__)
        return [middles[index] for index in indices], indices

    @cached_property
    def once(self) -> list[int]:
        """The indices of the glyphs as drawn, those left out that are drawn upon an equal one, to look bold."""
        if not self.printed_again:
            return list(range(len(self.drawn)))
        return [index for index in range(len(self.drawn)) if index not in self.printed_again]

    @cached_property
    def printed_again(self) -> frozenset[int]:
        """The indices of the glyphs that are drawn upon equal ones."""
        by_text: dict[str, list[int]] = {}
        for index, glyph in enumerate(self.drawn):
            by_text.setdefault(glyph.text, []).append(index)
        again: set[int] = set()
        for later, earlier in sorted(pair for equal in by_text.values() for pair in self._near_each_other(equal)):
            if earlier not in again:
                again.add(later)
        return frozenset(again)

    def _near_each_other(self, equal: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Pairs of equal glyphs at one place, the later one first."""
        boxes = self.drawn
        farthest = max(_NEAR, _SAME * max(boxes[index].box.right - boxes[index].box.left for index in equal))
        lines: list[list[tuple[float, int]]] = []  # each with the left sides of its glyphs
        last = -inf
        for top, left, index in sorted((boxes[index].box.top, boxes[index].box.left, index) for index in equal):
            if top - last >= farthest:
                lines.append([])
            lines[-1].append((left, index))
            last = top
        for line in lines:
            line.sort()
            for position, (left, index) in enumerate(line):
                following = position + 1
                while following < len(line) and line[following][0] - left < farthest:
                    pair = index, line[following][1]
                    if self._is_reached(max(pair), min(pair)):
                        yield max(pair), min(pair)
                    following += 1

    def _is_reached(self, later: int, earlier: int) -> bool:
        box, other = self.drawn[later].box, self.drawn[earlier].box
        reach = max(_SAME * (box.right - box.left), _NEAR)
        return abs(box.left - other.left) < reach and abs(box.top - other.top) < reach

    @cached_property
    def by_rows(self) -> list[int]:
        """The indices of those glyphs line by line across the whole page."""
        rows: list[tuple[Box, list[int]]] = []
        for index in sorted(self.once, key=lambda index: self.drawn[index].box.top + self.drawn[index].box.bottom):
            box = self.drawn[index].box
            for position in range(len(rows) - 1, max(len(rows) - 1 - _LAST_ROWS, -1), -1):
                row, members = rows[position]
                if min(row.bottom, box.bottom) - max(row.top, box.top) >= _OVERLAP * box.height:
                    rows[position] = (row if box.height < row.height else box), members
                    members.append(index)
                    break
            else:
                rows.append((box, [index]))
        return [index for _, members in rows for index in sorted(members, key=lambda index: self.drawn[index].box.left)]
