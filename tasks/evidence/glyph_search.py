"""The glyphs of a page that a span of its text was read from.

Letters and digits alone are compared, in one case and compatible forms: white space, hyphens and ligatures differ
between a page and its text. Where the text follows the page the span is one stretch of glyphs; the rows and cells of
tables, which stand in another order on many pages, are found one by one, and at last the words.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise, repeat
from statistics import median
from typing import Final

from tasks.evidence.glyphs import Glyphs

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
    """The letters and digits of a text, compared form by compared form, and where each comes from.

    `starts` holds where words begin, and the end.
    """

    __slots__ = ("sources", "starts", "text")

    def __init__(self, characters: Iterable[str], begins: Iterable[bool] = repeat(False)) -> None:
        """The letters of these characters; `begins` says of which it is known that a word begins with them."""
        forms: list[str] = []
        self.sources: list[int] = []
        self.starts: set[int] = set()
        is_new = True
        for source, (character, is_first) in enumerate(zip(characters, begins, strict=False)):
            form = compared(character)
            if not form:
                is_new = is_new or is_first or not _joins(character)
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
        """Where these letters stand as whole words; unless the first one `begins`, or the last one `ends` there."""
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
def compared(character: str) -> str:
    """The letters and digits of a character in one case and compatible forms."""
    if character.isascii():
        return character.lower() if character.isalnum() else ""
    return "".join(letter for letter in unicodedata.normalize("NFKC", character).casefold() if letter.isalnum())


def _joins(character: str) -> bool:
    """Whether a sign may stand within a word: a hyphen, an apostrophe, a combining mark, a sign of numbers."""
    return character in "-'’.,\xad\ufffe\x02‐‑" or unicodedata.category(character).startswith("M")


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
        """The glyphs of words that stand here one behind the other; none where two places are equally likely."""
        begins, ends = not _is_within_word(text, start), not _is_within_word(text, end)
        places = self.letters.places(letters, begins=begins, ends=ends)
        if not places:
            return []
        at = places[0] if len(places) == 1 else _nearest(self.letters, places, letters, text, start, end)
        return [] if at is None else self.glyphs_of(at, len(letters))

    def every(self, letters: str) -> list[list[int]]:
        """The glyphs of every place of these letters, as whole words."""
        return [self.glyphs_of(at, len(letters)) for at in self.letters.places(letters)]

    def glyphs_of(self, at: int, length: int) -> list[int]:
        """The glyphs of so many letters."""
        return [self._order[source] for source in dict.fromkeys(self.letters.sources[at : at + length])]


class GlyphSearch:
    """Looks for spans of a page's text among its glyphs."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs

    def candidates(self, text: str, start: int, end: int) -> Iterator[list[int]]:
        """What may be the glyphs of `text[start:end]`, in its order: the likeliest first, each taken to be certain."""
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
        """The places of these letters in the first order in which they stand anywhere, twice printed ones once."""
        return self._once.every(letters) or self._by_rows.every(letters)

    def _by_pieces(self, quotation: str, signs: str) -> list[int]:
        """The glyphs of rows or cells, each found by itself: the rarest first, the others as near to it as can be."""
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
        """How far apart two places are; down the page counts much more than across it."""
        a, b = self._glyphs.box(place[0]), self._glyphs.box(other[-1])
        return _LINES_TO_SIDE * abs((a.top + a.bottom) - (b.top + b.bottom)) + abs(a.left - b.right)

    def _by_words(self, text: str, start: int, end: int) -> list[int]:
        """The glyphs of words, along the shortest way over the page that takes all of them in their order.

        The words before and behind take part. None where a word could as well stand elsewhere.
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
        """For each place of each word, the length of the shortest way through it, in lines."""
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
        """How far it is from a word to the next one, in lines."""
        if following[0] == place[0]:
            return _NEVER
        is_next = following[0] == place[-1] + 1
        return (not is_next) + self._distance(following, place) / (_LINES_TO_SIDE * self._line_height)

    def _is_together(self, glyphs: Sequence[int]) -> bool:
        """Whether no glyph stands far below or above the one before it."""
        tops = [self._glyphs.boxes[index][1] for index in glyphs]
        return all(abs(a - b) <= _FARTHEST * self._line_height for a, b in pairwise(tops))


def _words(text: str) -> list[str]:
    return [letters for word in text.split() if (letters := Letters(word).text)]


def _is_within_word(text: str, at: int) -> bool:
    """Whether a span that begins or ends there cuts a word, as the opening of a document does."""
    return 0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()


def _nearest(page: Letters, places: Sequence[int], letters: str, text: str, start: int, end: int) -> int | None:
    """Of several places the one with the surroundings of the quotation; None if two have the same."""
    before = Letters(text[max(start - 4 * _CONTEXT, 0) : start]).text[-_CONTEXT:]
    behind = Letters(text[end : end + 4 * _CONTEXT]).text[:_CONTEXT]
    scores = [
        _shared(before[::-1], page.text[max(at - _CONTEXT, 0) : at][::-1])
        + _shared(behind, page.text[at + len(letters) : at + len(letters) + _CONTEXT])
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


def _shared(one: str, other: str) -> int:
    """How many letters two texts begin with alike."""
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared
