"""The glyphs of a page as they are drawn, their boxes, and the orders in which they can be read."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

_OVERLAP: Final = 0.5
"""Glyphs that share this much of their height stand on one line."""
_LAST_ROWS: Final = 3
"""Rows above that a glyph is held against."""
_SAME: Final = 0.3
"""Equal glyphs that stand nearer to each other than this share of their width are one, printed twice."""


@dataclass(frozen=True, slots=True)
class Box:
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


@dataclass(frozen=True, slots=True)
class Glyph:
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
        places: dict[tuple[str, int, int], list[Box]] = {}
        indices: list[int] = []
        for index, glyph in enumerate(self.drawn):
            box, reach = glyph.box, max(_SAME * (glyph.box.right - glyph.box.left), 0.1)
            column, row = int(box.left), int(box.top)
            near = (
                other
                for x in range(column - 1, column + 2)
                for y in range(row - 1, row + 2)
                for other in places.get((glyph.text, x, y), ())
            )
            if any(abs(other.left - box.left) < reach and abs(other.top - box.top) < reach for other in near):
                continue
            places.setdefault((glyph.text, column, row), []).append(box)
            indices.append(index)
        return indices

    @cached_property
    def printed_again(self) -> frozenset[int]:
        """The indices of the glyphs that are drawn upon equal ones."""
        return frozenset(range(len(self.drawn))).difference(self.once)

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
