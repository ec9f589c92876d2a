"""The boxes of words that a page has in one stretch, by PDFium's own runs of text.

Most quotations are such: then PDFium gives a box a run, and reads back what stands under it, in a tenth of the time
that it takes to look at each glyph. What is not certain so has no boxes here, and is looked for glyph by glyph.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from tasks.evidence.boxes import MOST_SIGNS, joined_lines, leading_signs
from tasks.evidence.glyph_search import compared
from tasks.evidence.glyphs import Sides
from tasks.reading.pdf import document

_MOST_CHARACTERS: Final = 20_000
"""Of a page whose runs are looked at: each line is read back by a look at all characters of the page."""
_LETTERS_A_BOX: Final = 3
"""Fewer letters a box are no lines, but columns from top to bottom, or letters by themselves."""
_HIGHER: Final = 1.4
"""A line so many times as high as the lowest run may hold others beside an initial: it is read back at more heights."""
_PARTS: Final = (0.06, 0.2, 0.35, 0.65, 0.8, 0.94)
"""Those, as parts of its own."""
_BAND: Final = 0.05
"""Of a line's height on either side of its middle: letters that cross this band stand on the line."""
_INSET: Final = 0.05
"""Points on either side of a line that are not read back, for what stands beside it may touch it."""


class PageRuns:
    """Finds the boxes of spans among the runs of an open text page. It may be asked while that is open."""

    def __init__(self, textpage: Any) -> None:
        self._textpage = textpage

    def of(self, text: str, start: int, end: int) -> list[Sides]:
        """The boxes of `text[start:end]`, one a line; `text` is the page's, as it was read.

        Gives them as left, top, right and bottom in points of the page, upside down: `top` is less than `bottom`, and
        both are below 0. None where the place is not certain here.
        """
        letters = "".join(map(compared, text[start:end]))
        stretch = self._stretch(letters, text, start, end)
        if stretch is None:
            return []
        first, last = stretch
        count = document.count_runs(self._textpage, first, last + 1 - first)
        runs = [(left, -top, right, -bottom) for left, top, right, bottom in document.run_boxes(self._textpage, count)]
        if not runs:
            return []
        lines = list(joined_lines(runs, ()))
        if len(letters) < _LETTERS_A_BOX * len(lines) or not self._reads_back(lines, letters, runs):
            return []
        return [(*line,) for line in lines]

    def _stretch(self, letters: str, text: str, start: int, end: int) -> tuple[int, int] | None:
        """The first and the last of the page's characters of these letters, with the signs around them.

        None unless they stand on the page once, as whole words.
        """
        page, ours, sources = self._page
        at = ours.find(letters) if letters else -1
        if at < 0 or ours.find(letters, at + 1) >= 0:
            return None
        behind = at + len(letters)
        first, last = sources[at], sources[behind - 1]
        if (at and page[first - 1 : first].isalnum()) or page[last + 1 : last + 2].isalnum():
            return None
        if _cuts_word(text, start) or _cuts_word(text, end):
            return None
        before, after = text[start : start + MOST_SIGNS], text[max(start, end - MOST_SIGNS) : end]
        for _ in leading_signs(before.lstrip()):
            head = page[:first].rstrip()
            if head and head[-1] in before:
                first = len(head) - 1
        for _ in leading_signs(reversed(after.rstrip())):
            tail = page[last + 1 :].lstrip()
            if tail and tail[0] in after:
                last = len(page) - len(tail)
        return first, last

    @cached_property
    def _page(self) -> tuple[str, str, list[int]]:
        """The page's characters, their letters as they are compared, and the character of each letter.

        None of them where PDFium's text does not go by its characters, one by one.
        """
        text, units, characters = document.page_text(self._textpage)
        if characters > _MOST_CHARACTERS or not units == characters == len(text):
            return "", "", []
        forms = list(map(compared, text))
        if max(map(len, forms), default=0) > 1:
            sources = [source for source, form in enumerate(forms) for _ in form]
        else:
            sources = [source for source, form in enumerate(forms) if form]
        return text, "".join(forms), sources

    def _reads_back(self, lines: Sequence[Sides], letters: str, runs: Sequence[Sides]) -> bool:
        """Whether these letters stand on these lines, joined of those runs, and no others, by PDFium."""
        lowest = min(bottom - top for _, top, _, bottom in runs)
        read: list[str] = []
        for line in lines:
            _, top, _, bottom = line
            on_line = self._letters_at(line, 1 / 2)
            parts = _PARTS if bottom - top > _HIGHER * lowest else ()
            if not all(_is_among(self._letters_at(line, part), on_line) for part in parts):
                return False
            read.append(on_line)
        return "".join(read) == letters

    def _letters_at(self, line: Sides, part: float) -> str:
        """The letters that cross a line at that part of its height."""
        left, top, right, bottom = line
        middle, reach = -top + part * (top - bottom), _BAND * (bottom - top)
        band = left + _INSET, middle + reach, right - _INSET, middle - reach
        return "".join(map(compared, document.text_within(self._textpage, band)))


def _is_among(some: str, letters: str) -> bool:
    """Whether some letters are among others, in the same order."""
    rest = iter(letters)
    return all(letter in rest for letter in some)


def _cuts_word(text: str, at: int) -> bool:
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
