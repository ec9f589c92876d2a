"""The glyphs of a page as they are drawn, their boxes, and the orders in which they can be read."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import product
from typing import Final, NamedTuple, Self

_OVERLAP: Final = 0.5
"""Glyphs that share this much of their height stand on one line."""
_LAST_ROWS: Final = 3
"""Rows above that a glyph is held against."""
_SAME: Final = 0.3
"""Equal glyphs that stand nearer to each other than this share of their width are one, printed twice."""
_NEAR: Final = 0.1
"""Or nearer than so many points: thin ones."""
_FIELD: Final = 8.0
"""Points: equal glyphs are looked for in squares of this side."""

_FEW: Final = 8
"""Where at most one of so many glyphs is asked after, equal ones are looked for around these alone."""

Sides = tuple[float, float, float, float]
"""Left, top, right and bottom, as of a `Box`, which takes five times as long to make: a page has thousands."""


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


class Glyphs:
    """The glyphs of a page in the order in which they are drawn, white space left out.

    Of the glyph with an index, `texts` has the characters, `boxes` the box, `begins` whether it is the first of a word.
    """

    def __init__(self, texts: Sequence[str], boxes: Sequence[Sides], begins: Sequence[bool]) -> None:
        self.texts = texts
        self.boxes = boxes
        self.begins = begins

    @classmethod
    def of(cls, glyphs: Iterable[tuple[str, Sides, bool]]) -> Self:
        """Those glyphs: the characters, the box and whether it is the first of a word, of each."""
        glyphs = list(glyphs)
        return cls([text for text, _, _ in glyphs], [box for _, box, _ in glyphs], [begins for _, _, begins in glyphs])

    def __len__(self) -> int:
        return len(self.texts)

    def box(self, index: int) -> Box:
        """The box of a glyph."""
        return Box(*self.boxes[index])

    def held_by(self, box: Box) -> list[int]:
        """The indices of the glyphs whose middles lie in a box."""
        downs, acrosses, indices = self._middles
        left, top, right, bottom = box
        level = slice(bisect_left(downs, top), bisect_right(downs, bottom))
        within = zip(indices[level], acrosses[level], strict=True)
        return [index for index, across in within if left <= across <= right]

    @cached_property
    def _middles(self) -> tuple[list[float], list[float], list[int]]:
        """How far down and across the middles of the glyphs lie, and their indices, from the top."""
        downs = [(top + bottom) / 2 for _, top, _, bottom in self.boxes]
        indices = sorted(range(len(downs)), key=downs.__getitem__)
        boxes = self.boxes
        acrosses = [(boxes[index][0] + boxes[index][2]) / 2 for index in indices]
        return [downs[index] for index in indices], acrosses, indices

    @cached_property
    def once(self) -> list[int]:
        """The indices of the glyphs as drawn, those left out that are drawn upon an equal one, to look bold."""
        if not self.printed_again:
            return list(range(len(self)))
        return [index for index in range(len(self)) if index not in self.printed_again]

    @cached_property
    def printed_again(self) -> frozenset[int]:
        """The indices of the glyphs that are drawn upon equal ones."""
        again: set[int] = set()
        fields: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
        for index, (text, (left, top, right, _)) in enumerate(zip(self.texts, self.boxes, strict=True)):
            reach = _reach(left, right)
            around = product(_fields(top, reach), _fields(left, reach))
            if any(
                abs(left - other_left) < reach and abs(top - other_top) < reach
                for field in around
                for other_left, other_top in fields.get((text, *field), ())
            ):
                again.add(index)
            else:
                fields.setdefault((text, int(top // _FIELD), int(left // _FIELD)), []).append((left, top))
        return frozenset(again)

    def not_printed_again(self, indices: Sequence[int]) -> list[int]:
        """Those of these glyphs that are not drawn upon equal ones; of few, no other glyphs are looked at."""
        if "printed_again" not in vars(self) and len(indices) <= len(self) // _FEW:
            indices_before = [index for index in indices if self._has_equal_before(index)]
            if not indices_before:
                return list(indices)
        return [index for index in indices if index not in self.printed_again]

    def _has_equal_before(self, index: int) -> bool:
        """Whether an equal glyph that is drawn before stands where this one does."""
        left, top, right, _ = self.boxes[index]
        text, reach = self.texts[index], _reach(left, right)
        tops, indices = self._tops
        for other in indices[bisect_right(tops, top - reach) : bisect_left(tops, top + reach)]:
            if other < index and self.texts[other] == text and abs(self.boxes[other][0] - left) < reach:
                return True
        return False

    @cached_property
    def _tops(self) -> tuple[list[float], list[int]]:
        """How far down the glyphs begin, and their indices, from the top."""
        tops = [top for _, top, _, _ in self.boxes]
        indices = sorted(range(len(tops)), key=tops.__getitem__)
        return [tops[index] for index in indices], indices

    @cached_property
    def by_rows(self) -> list[int]:
        """The indices of those glyphs line by line across the whole page."""
        rows: list[tuple[Box, list[int]]] = []
        for index in sorted(self.once, key=lambda index: self.boxes[index][1] + self.boxes[index][3]):
            box = self.box(index)
            for position in range(len(rows) - 1, max(len(rows) - 1 - _LAST_ROWS, -1), -1):
                row, members = rows[position]
                if min(row.bottom, box.bottom) - max(row.top, box.top) >= _OVERLAP * box.height:
                    rows[position] = (row if box.height < row.height else box), members
                    members.append(index)
                    break
            else:
                rows.append((box, [index]))
        return [index for _, members in rows for index in sorted(members, key=lambda index: self.boxes[index][0])]


def _reach(left: float, right: float) -> float:
    """How near to a glyph with these sides an equal one must stand to be one with it, in points."""
    return max(_SAME * (right - left), _NEAR)


def _fields(at: float, reach: float) -> range:
    return range(int((at - reach) // _FIELD), int((at + reach) // _FIELD) + 1)
