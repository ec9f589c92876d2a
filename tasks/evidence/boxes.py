"""The boxes of a quotation on a page, by the boxes of the page's glyphs.

What the search gives is read back from under the boxes; where that does not give the quotation, there are no boxes,
and the reader is told so.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from tasks.evidence.glyph_search import GlyphSearch, compared
from tasks.evidence.glyphs import Box, Glyphs

_OVERLAP: Final = 0.5
"""Boxes that share this much of their height stand on one line."""
_SMALL: Final = 0.6
"""Glyphs lower than this share of their line are signs or exponents."""
_MORE: Final = 2
"""Words that a box may hold besides the quotation, on either side."""
_SIGNS: Final = 4
"""Signs side by side that belong to the words beside them: a full stop, a bracket, a percent sign."""


@dataclass(frozen=True, slots=True)
class BoxedPage:
    """A page of a PDF: its size in points as shown, and the boxes of each span, none where its place is not certain.

    `number` counts from 1. `is_drawn`: whether its picture was written.
    """

    number: int
    width: float
    height: float
    boxes: list[list[Box]]
    is_drawn: bool


class PageBoxes:
    """Finds the boxes of spans of one page's text."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._search = GlyphSearch(glyphs)

    def of(self, text: str, start: int, end: int) -> list[Box]:
        """The boxes of `text[start:end]`, one a line, in reading order.

        Args:
            text: the page's text.
            start: where the quotation begins in it, in characters.
            end: where it ends.

        Returns:
            No box where the place is not certain.
        """
        for letters in self._search.candidates(text, start, end):
            if letters:
                members = self._with_signs(letters, text[start:end])
                boxes = self._lines(members)
                if self._reads_back(set(members), boxes):
                    return boxes
        return []

    def _with_signs(self, letters: Sequence[int], quotation: str) -> list[int]:
        """The glyphs of the letters with the signs between them, and those that the quotation begins and ends with."""
        members = list(letters[:1])
        for last, index in pairwise(letters):
            between = range(last + 1, index)
            if len(between) <= _SIGNS and not any(compared(self._glyphs[sign].text) for sign in between):
                members += between
            members.append(index)
        for _ in _signs(reversed(quotation.rstrip())):
            if members[-1] + 1 < len(self._glyphs) and self._glyphs[members[-1] + 1].text in quotation[-_SIGNS:]:
                members.append(members[-1] + 1)
        for _ in _signs(quotation.lstrip()):
            if members[0] and self._glyphs[members[0] - 1].text in quotation[:_SIGNS]:
                members.insert(0, members[0] - 1)
        return members

    def _lines(self, members: Sequence[int]) -> list[Box]:
        """One box for glyphs side by side on a line; of vertical lines, for glyphs above each other."""
        boxes = [self._glyphs[index].box for index in members]
        steps = [(abs(b.left - a.left), abs(b.top - a.top)) for a, b in pairwise(boxes)]
        is_upright = not steps or median(across for across, _ in steps) >= median(down for _, down in steps)
        others = self._others_among(members, is_upright=is_upright)
        middles = [(other.top + other.bottom) / 2 for other in others]
        lines: list[Box] = []
        for box in boxes if is_upright else [box.turned() for box in boxes]:
            if lines and _is_on_line(lines[-1], box):
                joined = lines[-1].joined(box)
                level = slice(bisect_left(middles, joined.top), bisect_right(middles, joined.bottom))
                if level.start == level.stop or not any(joined.holds(other) for other in others[level]):
                    lines[-1] = joined
                    continue
            lines.append(box)
        return lines if is_upright else [line.turned() for line in lines]

    def _others_among(self, members: Sequence[int], *, is_upright: bool) -> list[Box]:
        """The boxes of the other glyphs between the first and the last line of these, from the top."""
        whole = reduce(Box.joined, (self._glyphs[index].box for index in members))
        own = self._glyphs.printed_again.union(members)
        others = [self._glyphs[index].box for index in self._glyphs.held_by(whole) if index not in own]
        return sorted(
            others if is_upright else [other.turned() for other in others], key=lambda box: box.top + box.bottom
        )

    def _reads_back(self, members: set[int], boxes: Sequence[Box]) -> bool:
        """Whether the boxes hold these glyphs, and next to nothing else."""
        held = {index for box in boxes for index in self._glyphs.held_by(box)}
        if not members <= held:
            return False
        more = sorted(held - members - self._glyphs.printed_again)
        more = [index for index in more if compared(self._glyphs[index].text)]
        words = sum(index != last + 1 or self._glyphs[index].begins for last, index in pairwise([-2, *more]))
        return words <= 2 * _MORE


def _signs(characters: Iterable[str]) -> Iterator[str]:
    """The characters up to the first letter or digit."""
    return takewhile(lambda character: not compared(character), characters)


def _is_on_line(line: Box, box: Box) -> bool:
    shared = min(line.bottom, box.bottom) - max(line.top, box.top)
    if box.height < _SMALL * line.height:  # a comma hangs below, an apostrophe stands above
        return shared > -_SMALL / 2 * line.height
    return shared >= _OVERLAP * min(line.height, box.height) or line.top <= (box.top + box.bottom) / 2 <= line.bottom
