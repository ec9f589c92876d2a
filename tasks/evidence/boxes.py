"""The boxes of a quotation on a page, by the boxes of the page's glyphs.

What the search gives is read back from under the boxes; where that does not give the quotation, there are no boxes,
and the reader is told so.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from statistics import median
from typing import Final

from tasks.evidence.glyph_search import GlyphSearch, compared
from tasks.evidence.glyphs import Box, Glyphs, Sides

_OVERLAP: Final = 0.5
"""Boxes that share this much of their height stand on one line."""
_SMALL: Final = 0.6
"""Glyphs lower than this share of their line are signs or exponents."""
_MORE: Final = 2
"""Words that a box may hold besides the quotation, on either side."""
MOST_SIGNS: Final = 4
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
        texts = self._glyphs.texts
        members = list(letters[:1])
        for last, index in pairwise(letters):
            if index != last + 1:
                between = range(last + 1, index)
                if len(between) <= MOST_SIGNS and not any(compared(texts[sign]) for sign in between):
                    members += between
            members.append(index)
        for _ in leading_signs(reversed(quotation.rstrip())):
            if members[-1] + 1 < len(texts) and texts[members[-1] + 1] in quotation[-MOST_SIGNS:]:
                members.append(members[-1] + 1)
        for _ in leading_signs(quotation.lstrip()):
            if members[0] and texts[members[0] - 1] in quotation[:MOST_SIGNS]:
                members.insert(0, members[0] - 1)
        return members

    def _lines(self, members: Sequence[int]) -> list[Box]:
        """One box for glyphs side by side on a line; of vertical lines, for glyphs above each other."""
        boxes = [self._glyphs.boxes[index] for index in members]
        others = [self._glyphs.boxes[index] for index in self._others_among(members)]
        if _is_upright(boxes):
            return list(joined_lines(boxes, others))
        return [line.turned() for line in joined_lines(map(_turned, boxes), list(map(_turned, others)))]

    def _others_among(self, members: Sequence[int]) -> list[int]:
        """The other glyphs between the first and the last line of these."""
        lefts, tops, rights, bottoms = zip(*(self._glyphs.boxes[index] for index in members), strict=True)
        held = self._glyphs.held_by(Box(min(lefts), min(tops), max(rights), max(bottoms)))
        own = set(members)
        return self._glyphs.not_printed_again([index for index in held if index not in own])

    def _reads_back(self, members: set[int], boxes: Sequence[Box]) -> bool:
        """Whether the boxes hold these glyphs, and next to nothing else."""
        held = {index for box in boxes for index in self._glyphs.held_by(box)}
        if not members <= held:
            return False
        more = self._glyphs.not_printed_again(sorted(held - members))
        more = [index for index in more if compared(self._glyphs.texts[index])]
        words = sum(index != last + 1 or self._glyphs.begins[index] for last, index in pairwise([-2, *more]))
        return words <= 2 * _MORE


def _is_upright(boxes: Sequence[Sides]) -> bool:
    """Whether glyphs that follow each other mostly stand side by side, and not above each other."""
    across = [abs(following[0] - box[0]) for box, following in pairwise(boxes)]
    down = [abs(following[1] - box[1]) for box, following in pairwise(boxes)]
    return not across or median(across) >= median(down)


def _turned(box: Sides) -> Sides:
    left, top, right, bottom = box
    return top, left, bottom, right


def joined_lines(boxes: Iterable[Sides], others: Sequence[Sides]) -> Iterator[Box]:
    """The boxes of glyphs joined line by line, so that none holds one of the other glyphs."""
    by_middle = sorted(((top + bottom) / 2, (left + right) / 2) for left, top, right, bottom in others)
    middles = [down for down, _ in by_middle]
    boxes = iter(boxes)
    line_left, line_top, line_right, line_bottom = next(boxes)
    for left, top, right, bottom in boxes:
        shared = min(line_bottom, bottom) - max(line_top, top)
        height, line_height = bottom - top, line_bottom - line_top
        if height < _SMALL * line_height:  # a comma hangs below, an apostrophe stands above
            is_on_line = shared > -_SMALL / 2 * line_height
        else:
            is_on_line = shared >= _OVERLAP * min(line_height, height) or (
                line_top <= (top + bottom) / 2 <= line_bottom
            )
        if is_on_line:
            joined_left, joined_top = min(line_left, left), min(line_top, top)
            joined_right, joined_bottom = max(line_right, right), max(line_bottom, bottom)
            level = by_middle[bisect_left(middles, joined_top) : bisect_right(middles, joined_bottom)]
            if not any(joined_left <= across <= joined_right for _, across in level):
                line_left, line_top, line_right, line_bottom = joined_left, joined_top, joined_right, joined_bottom
                continue
        yield Box(line_left, line_top, line_right, line_bottom)
        line_left, line_top, line_right, line_bottom = left, top, right, bottom
    yield Box(line_left, line_top, line_right, line_bottom)


def leading_signs(characters: Iterable[str]) -> Iterator[str]:
    """The characters up to the first letter or digit."""
    return takewhile(lambda character: not compared(character), characters)
