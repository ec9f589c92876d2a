"""The boxes of a quotation on a page, by the boxes of the page's glyphs.

Letters and digits alone are compared, in one case and compatible forms: white space, hyphens and ligatures differ
between a page and its text. What is found is read back from under the boxes; where that does not give the quotation,
there are no boxes, and the reader is told so.
"""

import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Final

_CONTEXT: Final = 60
"""Letters before and behind by which one place of the same words is told from another."""
_OVERLAP: Final = 0.5
"""Glyphs that share this much of their height stand on one line."""
_SMALL: Final = 0.6
"""Glyphs lower than this share of their line are signs or exponents."""
_MORE: Final = 2
"""Words that a box may hold besides the quotation, on either side."""
_SIGNS: Final = 4
"""Signs side by side that belong to the words beside them: a full stop, a bracket, a percent sign."""
_MOST_PIECES: Final = 400
_MOST_CANDIDATES: Final = 2_000


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in points, from the upper left corner of a page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float

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


class Letters:
    """The letters and digits of a text, compared form by compared form, and where each comes from.

    `starts` holds where words begin, and the end.
    """

    __slots__ = ("sources", "starts", "text")

    def __init__(self, characters: Iterable[tuple[str, bool]]) -> None:
        pieces: list[str] = []
        self.sources: list[int] = []
        self.starts: set[int] = set()
        begins = True
        for source, (character, first) in enumerate(characters):
            begins = begins or first
            letters = compared(character)
            if not letters:
                begins = begins or not _joins(character)
                continue
            if begins:
                self.starts.add(len(self.sources))
                begins = False
            pieces.append(letters)
            self.sources += [source] * len(letters)
        self.starts.add(len(self.sources))
        self.text = "".join(pieces)

    @classmethod
    def of_text(cls, text: str) -> "Letters":
        """The letters of a plain text."""
        return cls((character, False) for character in text)

    def places(self, letters: str, *, begins: bool = True, ends: bool = True) -> list[int]:
        """Where these letters stand as whole words; unless the first one `begins`, or the last one `ends` there."""
        found: list[int] = []
        at = self.text.find(letters)
        while at >= 0 and len(found) < _MOST_CANDIDATES:
            if (not begins or at in self.starts) and (not ends or at + len(letters) in self.starts):
                found.append(at)
            at = self.text.find(letters, at + 1)
        return found


def compared(character: str) -> str:
    """The letters and digits of a character in one case and compatible forms."""
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(letter for letter in unicodedata.normalize("NFKC", character).casefold() if letter.isalnum())


def _joins(character: str) -> bool:
    """Whether a sign may stand within a word: a hyphen, an apostrophe, a combining mark, a sign of numbers."""
    return character in "-'’.,\xad\ufffe\x02‐‑" or unicodedata.category(character).startswith("M")


def boxes_of(glyphs: Sequence[Glyph], text: str, start: int, end: int) -> list[Box]:
    """The boxes of `text[start:end]` on the page that `text` is the text of, one a line, in reading order.

    Args:
        glyphs: the page's characters that are not white space, in any order that keeps words together.
        text: the page's text.
        start: where the quotation begins in it, in characters.
        end: where it ends.

    Returns:
        No box where the place is not certain.
    """
    wanted = Letters.of_text(text[start:end]).text
    if not wanted:
        return []
    drawn = _Stream(glyphs, range(len(glyphs)))
    printed = _Stream(glyphs, _by_rows(glyphs))
    for found in (
        *(stream.whole(wanted, text, start, end) for stream in (drawn, printed)),
        *(_by_pieces((drawn, printed), glyphs, text[start:end], sign) for sign in ("\n", "\t\n")),
    ):
        if found:
            whole = _with_signs(found, glyphs, text[start:end])
            boxes = _lines([glyphs[index].box for index in whole], glyphs, set(whole))
            if _reads_back(glyphs, whole, boxes):
                return boxes
    return []


def _with_signs(found: Sequence[int], glyphs: Sequence[Glyph], quotation: str) -> list[int]:
    """The glyphs that were found, with the signs between them and those that the quotation begins and ends with."""
    filled = list(found[:1])
    for last, index in pairwise(found):
        between = range(last + 1, index)
        if len(between) <= _SIGNS and not any(compared(glyphs[sign].text) for sign in between):
            filled += between
        filled.append(index)
    for sign in quotation.rstrip()[::-1]:
        if compared(sign):
            break
        if filled[-1] + 1 < len(glyphs) and glyphs[filled[-1] + 1].text in quotation[-_SIGNS:]:
            filled.append(filled[-1] + 1)
    for sign in quotation.lstrip():
        if compared(sign):
            break
        if filled[0] and glyphs[filled[0] - 1].text in quotation[:_SIGNS]:
            filled.insert(0, filled[0] - 1)
    return filled


class _Stream:
    """The letters of a page's glyphs in one order."""

    def __init__(self, glyphs: Sequence[Glyph], order: Sequence[int]) -> None:
        self._order = order
        pairs: list[tuple[str, bool]] = []
        last = -1
        for index in order:
            pairs.append((glyphs[index].text, glyphs[index].begins or index != last + 1))
            last = index
        self.letters = Letters(pairs)

    def whole(self, wanted: str, text: str, start: int, end: int) -> list[int]:
        """The glyphs of words that stand here one behind the other; none where two places are equally likely."""
        begins, ends = not _within_word(text, start), not _within_word(text, end)
        places = self.letters.places(wanted, begins=begins, ends=ends)
        if not places:
            return []
        at = places[0] if len(places) == 1 else _nearest(self.letters, places, wanted, text, start, end)
        return [] if at is None else self.span(at, len(wanted))

    def spans(self, wanted: str) -> list[list[int]]:
        """The glyphs of every place of these letters."""
        return [self.span(at, len(wanted)) for at in self.letters.places(wanted)]

    def span(self, at: int, length: int) -> list[int]:
        """The glyphs of so many letters."""
        return [self._order[source] for source in dict.fromkeys(self.letters.sources[at : at + length])]


def _within_word(text: str, at: int) -> bool:
    """Whether a span that begins or ends there cuts a word, as the opening of a document does."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _by_rows(glyphs: Sequence[Glyph]) -> list[int]:
    """The glyphs line by line across the whole page."""
    rows: list[tuple[Box, list[int]]] = []
    for index in sorted(range(len(glyphs)), key=lambda index: glyphs[index].box.top + glyphs[index].box.bottom):
        box = glyphs[index].box
        for position in range(len(rows) - 1, max(len(rows) - 4, -1), -1):
            row, members = rows[position]
            if min(row.bottom, box.bottom) - max(row.top, box.top) >= _OVERLAP * (box.bottom - box.top):
                rows[position] = row if box.bottom - box.top < row.bottom - row.top else box, members
                members.append(index)
                break
        else:
            rows.append((box, [index]))
    return [index for _, members in rows for index in sorted(members, key=lambda index: glyphs[index].box.left)]


def _nearest(page: Letters, places: Sequence[int], wanted: str, text: str, start: int, end: int) -> int | None:
    """Of several places the one with the surroundings of the quotation; None if two have the same."""
    before = Letters.of_text(text[max(start - 4 * _CONTEXT, 0) : start]).text[-_CONTEXT:]
    behind = Letters.of_text(text[end : end + 4 * _CONTEXT]).text[:_CONTEXT]
    scores = [
        _shared(before[::-1], page.text[max(at - _CONTEXT, 0) : at][::-1])
        + _shared(behind, page.text[at + len(wanted) : at + len(wanted) + _CONTEXT])
        for at in places
    ]
    best = max(scores)
    if scores.count(best) == 1:
        return places[scores.index(best)]
    elsewhere = Letters.of_text(text).places(wanted)
    first = len(Letters.of_text(text[:start]).text)
    if len(elsewhere) == len(places) and first in elsewhere:
        return places[elsewhere.index(first)]
    return None


def _shared(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared


def _by_pieces(streams: Sequence[_Stream], glyphs: Sequence[Glyph], text: str, signs: str) -> list[int]:
    """The glyphs of rows or cells, each found by itself: the rarest first, the others as near to it as can be."""
    for sign in signs:
        text = text.replace(sign, "\n")
    pieces = [letters for piece in text.split("\n") if (letters := Letters.of_text(piece).text)]
    if not 1 < len(pieces) <= _MOST_PIECES:
        return []
    candidates = [next(filter(None, (stream.spans(piece) for stream in streams)), []) for piece in pieces]
    if not all(candidates):
        return []
    taken: dict[int, list[int]] = {}
    used: set[int] = set()
    for index in sorted(range(len(pieces)), key=lambda index: len(candidates[index])):
        spans = [span for span in candidates[index] if used.isdisjoint(span)]
        if not spans or (not taken and len(spans) > 1):
            return []
        if taken:
            near = taken[min(taken, key=lambda other: abs(other - index))]
            spans.sort(key=lambda span: _distance(glyphs, span, near))
        taken[index] = spans[0]
        used.update(spans[0])
    return [glyph for index in range(len(pieces)) for glyph in taken[index]]


def _distance(glyphs: Sequence[Glyph], one: Sequence[int], other: Sequence[int]) -> float:
    """How far apart two spans are; down the page counts much more than across it, for a row is a line."""
    a, b = glyphs[one[0]].box, glyphs[other[-1]].box
    return 20 * abs((a.top + a.bottom) - (b.top + b.bottom)) + abs(a.left - b.right)


def _lines(boxes: Sequence[Box], glyphs: Sequence[Glyph], members: set[int]) -> list[Box]:
    """One box for glyphs side by side on a line; of vertical lines, for glyphs above each other."""
    steps = [(abs(b.left - a.left), abs(b.top - a.top)) for a, b in pairwise(boxes)]
    upright = not steps or median(across for across, _ in steps) >= median(down for _, down in steps)
    others = sorted(
        (glyph.box if upright else glyph.box.turned() for index, glyph in enumerate(glyphs) if index not in members),
        key=lambda box: box.top,
    )
    tops = [box.top for box in others]
    highest = max((box.bottom - box.top for box in others), default=0.0)
    lines: list[Box] = []
    for box in boxes if upright else [box.turned() for box in boxes]:
        if lines and _on_one_line(lines[-1], box):
            joined = lines[-1].joined(box)
            between = others[bisect_right(tops, joined.top - highest) : bisect_right(tops, joined.bottom)]
            if not any(joined.holds(other) for other in between):
                lines[-1] = joined
                continue
        lines.append(box)
    return lines if upright else [line.turned() for line in lines]


def _on_one_line(line: Box, box: Box) -> bool:
    shared = min(line.bottom, box.bottom) - max(line.top, box.top)
    lower = min(line.bottom - line.top, box.bottom - box.top)
    if box.bottom - box.top < _SMALL * (line.bottom - line.top):  # a comma hangs below, an apostrophe stands above
        return shared > -_SMALL / 2 * (line.bottom - line.top)
    return shared >= _OVERLAP * lower or line.top <= (box.top + box.bottom) / 2 <= line.bottom


def _reads_back(glyphs: Sequence[Glyph], found: Sequence[int], boxes: Sequence[Box]) -> bool:
    """Whether the boxes hold the glyphs that were found, and next to nothing else."""
    held = [index for index, glyph in enumerate(glyphs) if any(box.holds(glyph.box) for box in boxes)]
    if not set(found) <= set(held):
        return False
    more = [index for index in held if index not in set(found) and compared(glyphs[index].text)]
    words = sum(1 for last, index in pairwise([-2, *more]) if index != last + 1 or glyphs[index].begins)
    return words <= 2 * _MORE
