"""The boxes of a quotation on a page of a PDF, from the boxes of the glyphs that its words were read from.

The glyphs of a page are taken in the order in which they are drawn, and in the orders in which they can be read.
"""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise, product, repeat, takewhile
from statistics import median
from typing import Final, NamedTuple, Self

_OVERLAP: Final = 0.5
"""Glyphs that share this much of their height stand on one line."""
_LAST_ROWS: Final = 3
"""Rows above that a glyph is checked against."""
_SAME: Final = 0.3
"""Equal glyphs that stand nearer to each other than this share of their width are one, printed twice."""
_NEAR: Final = 0.1
"""Or nearer than so many points: thin ones."""
_FIELD: Final = 8.0
"""Points: equal glyphs are looked for in squares of this side."""

Sides = tuple[float, float, float, float]
"""Left, top, right and bottom, as of a `Box`, which takes five times as long to make: a page has thousands."""


class Box(NamedTuple):
    """A rectangle in points, measured from the upper left corner of a page as it is shown."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """From its top to its bottom."""
        return self.bottom - self.top

    def joined(self, other: "Box") -> "Box":
        """The smallest box that contains both."""
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
        """Whether the centre of the other box is inside this one."""
        return (
            self.left <= (other.left + other.right) / 2 <= self.right
            and self.top <= (other.top + other.bottom) / 2 <= self.bottom
        )


class Glyphs:
    """The glyphs of a page in the order in which they are drawn, without white space.

    For each glyph, `texts` has its characters, `boxes` its box, and `begins` whether it is the first of a word.
    """

    def __init__(self, texts: Sequence[str], boxes: Sequence[Sides], begins: Sequence[bool]) -> None:
        self.texts = texts
        self.boxes = boxes
        self.begins = begins

    @classmethod
    def of(cls, glyphs: Iterable[tuple[str, Sides, bool]]) -> Self:
        """The glyphs made from the characters, the box and the word-start flag of each."""
        glyphs = list(glyphs)
        return cls([text for text, _, _ in glyphs], [box for _, box, _ in glyphs], [begins for _, _, begins in glyphs])

    def __len__(self) -> int:
        return len(self.texts)

    def box(self, index: int) -> Box:
        """The box of a glyph."""
        return Box(*self.boxes[index])

    def find_within(self, box: Box) -> list[int]:
        """The indices of the glyphs whose centres are inside a box."""
        downs, acrosses, indices = self._middles
        left, top, right, bottom = box
        level = slice(bisect_left(downs, top), bisect_right(downs, bottom))
        within = zip(indices[level], acrosses[level], strict=True)
        return [index for index, across in within if left <= across <= right]

    @cached_property
    def _middles(self) -> tuple[list[float], list[float], list[int]]:
        """The distances of the glyphs' middles from the top and from the left, and their indices,
        sorted from the top.
        """
        downs = [(top + bottom) / 2 for _, top, _, bottom in self.boxes]
        indices = sorted(range(len(downs)), key=downs.__getitem__)
        boxes = self.boxes
        acrosses = [(boxes[index][0] + boxes[index][2]) / 2 for index in indices]
        return [downs[index] for index in indices], acrosses, indices

    @cached_property
    def once(self) -> list[int]:
        """The indices of the glyphs in drawing order, without those drawn over an equal one to look bold."""
        return [index for index in range(len(self)) if index not in self.printed_again]

    @cached_property
    def printed_again(self) -> frozenset[int]:
        """The indices of the glyphs that are drawn over equal ones."""
        again: set[int] = set()
        fields: dict[tuple[str, int, int], list[tuple[float, float]]] = {}
        for index, (text, (left, top, right, _)) in enumerate(zip(self.texts, self.boxes, strict=True)):
            reach = max(_SAME * (right - left), _NEAR)
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

    @cached_property
    def by_rows(self) -> list[int]:
        """The indices of the glyphs without overprints, line by line across the whole page."""
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


def _fields(at: float, reach: float) -> range:
    return range(int((at - reach) // _FIELD), int((at + reach) // _FIELD) + 1)


_CONTEXT: Final = 60
"""Letters before and behind by which one place of the same words is told from another."""
_CONTEXT_WORDS: Final = 6
"""Words before and behind, where words are found one by one."""
_MOST_PIECES: Final = 300
"""Rows, cells or words of a quotation that are found one by one."""
_MOST_PLACES: Final = 500
"""Where the same letters stand more often on a page, none of the places is certain."""
_MOST_STEPS: Final = 50_000
"""Pairs of places of words that are weighed; each takes 3 µs."""
_NEVER: Final = 10_000.0
"""Lines that no way is worth: the same place for two words."""
_FARTHEST: Final = 4.0
"""Lines up or down at most between a word and the next one."""
_LINES_TO_SIDE: Final = 20
"""A way down the page weighs so many times as much as one across it, for a row is a line."""
_CERTAIN: Final = 0.25
"""By how many lines the next best place of a word must be worse."""


class Letters:
    """The letters and digits of a text, one folded form after the other, and where each comes from.

    `starts` has the positions where words begin, and the end.
    """

    __slots__ = ("sources", "starts", "text")

    def __init__(self, characters: Iterable[str], begins: Iterable[bool] = repeat(False)) -> None:
        """The letters of these characters; `begins` says which of them are known to begin a word."""
        forms: list[str] = []
        self.sources: list[int] = []
        self.starts: set[int] = set()
        is_new = True
        for source, (character, is_first) in enumerate(zip(characters, begins, strict=False)):
            form = fold_character(character)
            if not form:
                is_new = is_new or is_first or not (character in _JOINS or unicodedata.category(character)[0] == "M")
                continue
            if is_new or is_first:
                self.starts.add(len(self.sources))
                is_new = False
            forms.append(form)
            if len(form) == 1:
                self.sources.append(source)
            else:
                self.sources += [source] * len(form)
        self.starts.add(len(self.sources))
        self.text = "".join(forms)

    def places(self, letters: str, *, begins: bool = True, ends: bool = True) -> list[int]:
        """Where these letters occur as whole words; `begins` and `ends` say whether the first and last must be word
        borders.
        """
        places: list[int] = []
        at = self.text.find(letters)
        while at >= 0:
            if (not begins or at in self.starts) and (not ends or at + len(letters) in self.starts):
                places.append(at)
                if len(places) > _MOST_PLACES:
                    return []
            at = self.text.find(letters, at + 1)
        return places


@lru_cache(maxsize=1 << 16)
@lru_cache(maxsize=1 << 14)
def fold_character(character: str) -> str:
    """The letters and digits of a character, case-folded and in compatibility form."""
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(letter for letter in unicodedata.normalize("NFKC", character).casefold() if letter.isalnum())


_JOINS: Final = "-'’.,\xad\ufffe\x02‐‑"
"""What stands within words beside combining marks: hyphens, apostrophes, signs in numbers."""


class _Stream:
    """The letters of a page's glyphs in one order."""

    def __init__(self, glyphs: Glyphs, order: Sequence[int]) -> None:
        self._order = order
        if isinstance(order, range):  # as drawn
            self.letters = Letters(glyphs.texts, glyphs.begins)
            return
        texts = [glyphs.texts[index] for index in order]
        begins = [glyphs.begins[index] or index != last + 1 for last, index in pairwise([-1, *order])]
        self.letters = Letters(texts, begins)

    def whole(self, letters: str, text: str, start: int, end: int) -> list[int]:
        """The glyphs of consecutive words in this order; none if two places are equally likely."""
        begins, ends = not _is_within_word(text, start), not _is_within_word(text, end)
        places = self.letters.places(letters, begins=begins, ends=ends)
        if not places:
            return []
        at = places[0] if len(places) == 1 else _nearest(self.letters, places, letters, text, start, end)
        return [] if at is None else self.list_glyphs(at, len(letters))

    def every(self, letters: str) -> list[list[int]]:
        """The glyphs of every occurrence of these letters as whole words."""
        return [self.list_glyphs(at, len(letters)) for at in self.letters.places(letters)]

    def list_glyphs(self, at: int, length: int) -> list[int]:
        """The glyphs of `length` letters, from the letter at `at`."""
        return [self._order[source] for source in dict.fromkeys(self.letters.sources[at : at + length])]


class GlyphSearch:
    """Looks for spans of a page's text among its glyphs."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs

    def candidates(self, text: str, start: int, end: int) -> Iterator[list[int]]:
        """Possible glyphs of `text[start:end]`, in its order: the likeliest first, each assumed to be certain."""
        letters = Letters(text[start:end]).text
        if letters:
            yield self._drawn.whole(letters, text, start, end)
            yield self._once.whole(letters, text, start, end)
            yield self._by_rows.whole(letters, text, start, end)
            yield from (self._by_pieces(text[start:end], signs) for signs in ("\n", "\t\n"))
            yield self._by_words(text, start, end)

    @cached_property
    def _drawn(self) -> _Stream:
        return _Stream(self._glyphs, range(len(self._glyphs)))

    @cached_property
    def _once(self) -> _Stream:
        if len(self._glyphs.once) == len(self._glyphs):
            return self._drawn
        return _Stream(self._glyphs, self._glyphs.once)

    @cached_property
    def _by_rows(self) -> _Stream:
        return _Stream(self._glyphs, self._glyphs.by_rows)

    @cached_property
    def _line_height(self) -> float:
        return median(bottom - top for _, top, _, bottom in self._glyphs.boxes) * 2 or 1.0

    def _every(self, letters: str) -> list[list[int]]:
        """The places of these letters in the first order that has any, with words printed twice counted once."""
        return self._once.every(letters) or self._by_rows.every(letters)

    def _by_pieces(self, quotation: str, signs: str) -> list[int]:
        """The glyphs of rows or cells, each found separately: the rarest first, the others as close
        to it as possible.
        """
        for sign in signs:
            quotation = quotation.replace(sign, "\n")
        pieces = [letters for piece in quotation.split("\n") if (letters := Letters(piece).text)]
        if not 1 < len(pieces) <= _MOST_PIECES:
            return []
        candidates = [self._every(piece) for piece in pieces]
        if not all(candidates):
            return []
        taken: dict[int, list[int]] = {}
        used: set[int] = set()
        for index in sorted(range(len(pieces)), key=lambda index: len(candidates[index])):
            places = [place for place in candidates[index] if used.isdisjoint(place)]
            if not places or (not taken and len(places) > 1):
                return []
            if taken:
                near = taken[min(taken, key=lambda other: abs(other - index))]
                places.sort(key=lambda place: self._distance(place, near))
            taken[index] = places[0]
            used.update(places[0])
        return [glyph for index in range(len(pieces)) for glyph in taken[index]]

    def _distance(self, place: Sequence[int], other: Sequence[int]) -> float:
        """The distance between two places; vertical distance counts much more than horizontal distance."""
        a, b = self._glyphs.box(place[0]), self._glyphs.box(other[-1])
        return _LINES_TO_SIDE * abs((a.top + a.bottom) - (b.top + b.bottom)) + abs(a.left - b.right)

    def _by_words(self, text: str, start: int, end: int) -> list[int]:
        """The glyphs of words, along the shortest path over the page that visits all of them in order.

        The words before and after them are part of the path. None if a word could equally well be somewhere else.
        """
        words = _words(text[start:end])
        if not 1 < len(words) <= _MOST_PIECES:
            return []
        candidates = [self._every(word) for word in words]
        if not all(candidates):
            return []
        before = _words(text[max(start - 4 * _CONTEXT, 0) : start])[-_CONTEXT_WORDS:]
        behind = _words(text[end : end + 4 * _CONTEXT])[:_CONTEXT_WORDS]
        context_before = [places for word in before if (places := self._every(word))]
        context_behind = [places for word in behind if (places := self._every(word))]
        steps = [*context_before, *candidates, *context_behind]
        if sum(len(a) * len(b) for a, b in pairwise(steps)) > _MOST_STEPS:
            return []
        ways = list(zip(self._ways(steps), steps, strict=True))[len(context_before) :][: len(words)]
        chosen = [places[weights.index(min(weights))] for weights, places in ways]
        glyphs = [index for place in chosen for index in place]
        if len(set(glyphs)) < len(glyphs) or not self._is_together(glyphs):
            return []
        for weights, places in ways:
            others = [weight for weight, place in zip(weights, places, strict=True) if place not in chosen]
            if others and min(others) - min(weights) < _CERTAIN:
                return []
        return glyphs

    def _ways(self, steps: Sequence[Sequence[list[int]]]) -> list[list[float]]:
        """For each place of each word, the length of the shortest path through it, in lines."""
        weights = [[[self._step(a, b) for b in nexts] for a in places] for places, nexts in pairwise(steps)]
        forward = [[0.0] * len(steps[0])]
        for matrix in weights:
            forward.append(
                [min(map(sum, zip(forward[-1], column, strict=True))) for column in zip(*matrix, strict=True)]
            )
        backward = [[0.0] * len(steps[-1])]
        for matrix in reversed(weights):
            backward.append([min(map(sum, zip(backward[-1], row, strict=True))) for row in matrix])
        return [[a + b for a, b in zip(*both, strict=True)] for both in zip(forward, reversed(backward), strict=True)]

    def _step(self, place: Sequence[int], following: Sequence[int]) -> float:
        """The distance from a word to the next one, in lines."""
        if following[0] == place[0]:
            return _NEVER
        is_next = following[0] == place[-1] + 1
        return (not is_next) + self._distance(following, place) / (_LINES_TO_SIDE * self._line_height)

    def _is_together(self, glyphs: Sequence[int]) -> bool:
        """Whether no glyph is far below or above the one before it."""
        tops = [self._glyphs.boxes[index][1] for index in glyphs]
        return all(abs(a - b) <= _FARTHEST * self._line_height for a, b in pairwise(tops))


def _words(text: str) -> list[str]:
    return [letters for word in text.split() if (letters := Letters(word).text)]


def _is_within_word(text: str, at: int) -> bool:
    """Whether a span that begins or ends at this offset cuts a word, as the opening of a document may."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _nearest(page: Letters, places: Sequence[int], letters: str, text: str, start: int, end: int) -> int | None:
    """The one of several places whose surroundings match the quotation's best; None if two match equally well."""
    before = Letters(text[max(start - 4 * _CONTEXT, 0) : start]).text[-_CONTEXT:]
    behind = Letters(text[end : end + 4 * _CONTEXT]).text[:_CONTEXT]
    scores = [
        _count_shared(before[::-1], page.text[max(at - _CONTEXT, 0) : at][::-1])
        + _count_shared(behind, page.text[at + len(letters) : at + len(letters) + _CONTEXT])
        for at in places
    ]
    best = max(scores)
    if scores.count(best) == 1:
        return places[scores.index(best)]
    in_text = Letters(text).places(letters)
    start_in_text = len(Letters(text[:start]).text)
    if len(in_text) == len(places) and start_in_text in in_text:
        return places[in_text.index(start_in_text)]
    return None


def _count_shared(one: str, other: str) -> int:
    """The length of the common prefix of two texts, in letters."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


_SMALL: Final = 0.6
"""Glyphs lower than this share of their line are signs or exponents."""
_MORE: Final = 2
"""Words that a box may hold besides the quotation, on either side."""
MOST_SIGNS: Final = 4
"""Signs side by side that belong to the words beside them: a full stop, a bracket, a percent sign."""


@dataclass(frozen=True, slots=True)
class BoxedPage:
    """A page of a PDF: its size in points as shown, and the boxes of each span, empty if its place is not certain.

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
        """The boxes of `text[start:end]`, one per line, in reading order.

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
        """The glyphs of the letters, with the signs between them and those at the quotation's beginning and end."""
        texts = self._glyphs.texts
        members = list(letters[:1])
        for last, index in pairwise(letters):
            if index != last + 1:
                between = range(last + 1, index)
                if len(between) <= MOST_SIGNS and not any(fold_character(texts[sign]) for sign in between):
                    members += between
            members.append(index)
        for _ in take_leading_signs(reversed(quotation.rstrip())):
            if members[-1] + 1 < len(texts) and texts[members[-1] + 1] in quotation[-MOST_SIGNS:]:
                members.append(members[-1] + 1)
        for _ in take_leading_signs(quotation.lstrip()):
            if members[0] and texts[members[0] - 1] in quotation[:MOST_SIGNS]:
                members.insert(0, members[0] - 1)
        return members

    def _lines(self, members: Sequence[int]) -> list[Box]:
        """One box per line of adjacent glyphs; if the lines are vertical, the glyphs are those above each other."""
        boxes = [self._glyphs.boxes[index] for index in members]
        others = [self._glyphs.boxes[index] for index in self._others_among(members)]
        if _is_upright(boxes):
            return list(join_lines(boxes, others))
        return [line.turned() for line in join_lines(map(_turn, boxes), list(map(_turn, others)))]

    def _others_among(self, members: Sequence[int]) -> list[int]:
        """The other glyphs between the first and the last line of these glyphs."""
        lefts, tops, rights, bottoms = zip(*(self._glyphs.boxes[index] for index in members), strict=True)
        held = self._glyphs.find_within(Box(min(lefts), min(tops), max(rights), max(bottoms)))
        own = set(members)
        return [index for index in held if index not in own and index not in self._glyphs.printed_again]

    def _reads_back(self, members: set[int], boxes: Sequence[Box]) -> bool:
        """Whether the boxes contain these glyphs and almost nothing else."""
        held = {index for box in boxes for index in self._glyphs.find_within(box)}
        if not members <= held:
            return False
        more = [index for index in sorted(held - members) if fold_character(self._glyphs.texts[index])]
        more = [index for index in more if index not in self._glyphs.printed_again]
        words = sum(index != last + 1 or self._glyphs.begins[index] for last, index in pairwise([-2, *more]))
        return words <= 2 * _MORE


def _is_upright(boxes: Sequence[Sides]) -> bool:
    """Whether consecutive glyphs are mostly side by side rather than above each other."""
    across = [abs(following[0] - box[0]) for box, following in pairwise(boxes)]
    down = [abs(following[1] - box[1]) for box, following in pairwise(boxes)]
    return not across or median(across) >= median(down)


def _turn(box: Sides) -> Sides:
    left, top, right, bottom = box
    return top, left, bottom, right


def join_lines(boxes: Iterable[Sides], others: Sequence[Sides]) -> Iterator[Box]:
    """The boxes of glyphs joined line by line, so that none contains one of the other glyphs."""
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


def take_leading_signs(characters: Iterable[str]) -> Iterator[str]:
    """The characters before the first letter or digit."""
    return takewhile(lambda character: not fold_character(character), characters)
