"""The prefilter: finds the few places where patterns of prompt injection can match, so that only those are tried.

Patterns are slow to search and words are fast. `required_words` reads from each pattern the words that it cannot match
without. `Vocabulary` gives each such word a bit and says, in one pass over a text, which bits stand in each stretch of
it. `Prefilter` then tries a pattern only near its words, where all that it requires is near, and a weak one only where
another kind of weak signal is possible.

All take normalised text; `letters` is that text in ASCII bytes, character by character, with `?` for other letters.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import or_
from typing import Final

from tasks import cancellation
from tasks.ai.prompt_injection.patterns import Group, Signal

Words = frozenset[str]
"""Alternatives of which one must stand there: complete (`ai`), or the start of a word (`ignor-`)."""
Span = tuple[int, int]

STRETCH: Final = 320
"""Characters whose words are collected together. A match is shorter, so that all its words stand in three stretches."""
LONGEST: Final = 16
"""Letters of the longest word; a stretch reaches that far into the next one, so that its words are complete."""
_MOST_CACHED: Final = 100_000
"""Words in the cache of a vocabulary."""
_LETTERS_ONLY: Final = bytes(code if chr(code).isalpha() else 32 for code in range(128)) + b" " * 128
_BEFORE, _BEHIND = 91, 159
"""Characters beside a word in which its patterns are tried."""
_PAIRED: Final = 3
"""Stretches between two weak signals, at most."""
_COMMON: Final = {"the", "of", "to", "and", "in", "for", "is", "it", "as", "be", "or", "are", "not", "this"}
"""Words that stand in every other sentence: to require them excludes nothing."""


class Vocabulary(dict[bytes, int]):
    """Words with a bit each. As a mapping it is a cache: for each word of a text, the number of its set of bits.

    Numbers are small, and so collected faster than the bits themselves. Words are registered by `bit` before texts
    are read.
    """

    def __init__(self) -> None:
        self._bits: dict[Words, int] = {}
        self._exact: defaultdict[bytes, int] = defaultdict(int)
        self._starts: defaultdict[bytes, list[tuple[bytes, int]]] = defaultdict(list)
        self._inner: dict[bytes, int] = {}
        self._inner_pattern = re.compile(rb"(?!)")
        self._numbers: dict[int, int] = {}
        self._by_number: dict[int, int] = {}
        self._count = count()

    def bit(self, words: Words) -> int:
        """The bit for any of these words: complete (`ai`), the start of a word (`ignor-`) or part of one (`-reti-`)."""
        if words not in self._bits:
            bit = self._bits[words] = 1 << len(self._bits)
            for word in words:
                letters = word.strip("-").encode()
                if word.startswith("-"):
                    self._inner[letters] = self._inner.get(letters, 0) | bit
                    self._inner_pattern = re.compile(b"|".join(self._inner))
                elif word.endswith("-"):
                    self._starts[letters[:3]].append((letters, bit))
                else:
                    self._exact[letters] |= bit
            self.clear()
        return self._bits[words]

    def bits_by_stretch(self, letters: bytes) -> list[int]:
        """The bits of the words in each stretch of a text; words are divided by all but letters."""
        words = letters.translate(_LETTERS_ONLY)
        return [self._bits_of(words[at : at + STRETCH + LONGEST]) for at in range(0, len(words), STRETCH)]

    def _bits_of(self, words: bytes) -> int:
        numbers = set(map(self.__getitem__, words.split()))
        return reduce(or_, map(self._by_number.__getitem__, numbers), 0)

    def __missing__(self, word: bytes) -> int:
        bits = self._exact.get(word, 0)
        for letters, bit in (*self._starts.get(word[:2], ()), *self._starts.get(word[:3], ())):
            if word.startswith(letters):
                bits |= bit
        for letters in self._inner_pattern.findall(word):
            bits |= self._inner[letters]
        number = self._numbers.setdefault(bits, next(self._count))  # several threads get the same one
        self._by_number[number] = bits
        if len(self) > _MOST_CACHED:
            self.clear()
        if len(word) <= LONGEST:
            self[word] = number
        return number


VOCABULARY: Final = Vocabulary()


class Prefilter:
    """Groups of signals that are searched together."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups: defaultdict[int, list[_SearchedGroup]] = defaultdict(list)
        self._marks: list[tuple[bytes, int]] = []
        for group in groups:
            plain = frozenset(word for word in group.words if word.rstrip("-").isalnum())
            bit = VOCABULARY.bit(plain)
            marks = [word for word in group.words if word not in plain]
            starts = [word[:-1] for word in plain if word.endswith("-")]
            complete = [word + r"(?![a-z0-9])" for word in plain if not word.endswith("-")]
            words = re.compile("|".join([*starts, *complete, *map(re.escape, marks)]).encode())
            signals = [(signal, _required_bits(signal)) for signal in group.signals]
            self._groups[bit].append(_SearchedGroup(words, signals))
            self._marks += [(mark.encode(), bit) for mark in marks]
        self._all = sum(self._groups)

    def matches(self, text: str, letters: bytes, stretches: list[int]) -> Iterator[tuple[Signal, re.Match[str]]]:
        """What matches in a text; some matches come twice.

        Args:
            text: normalised.
            letters: the same in ASCII.
            stretches: the bits of its words, from `VOCABULARY.bits_by_stretch`.
        """
        for group, areas in self._areas(self._with_marks(letters, stretches)).items():
            for area in areas:
                cancellation.check()
                places = group.places(letters, area.start, area.end)
                for start, end in merged((max(at - _BEFORE, 0), at + _BEHIND) for at in places):
                    for signal in area.signals:
                        for match in signal.pattern.finditer(text, start, end):
                            yield signal, match

    def _with_marks(self, letters: bytes, stretches: list[int]) -> list[int]:
        """The bits of each stretch, with those of groups whose marks (`<!--`) stand in it."""
        stretches = stretches.copy()
        for mark, bit in self._marks:
            at = letters.find(mark) if mark[:1] in letters else -1
            while at >= 0:
                stretches[at // STRETCH] |= bit
                at = letters.find(mark, (at // STRETCH + 1) * STRETCH)
        return stretches

    def _areas(self, stretches: list[int]) -> dict["_SearchedGroup", list["_Area"]]:
        """Where the words of each group stand near which its signals can match."""
        possible = self._possible(stretches)
        areas: dict[_SearchedGroup, list[_Area]] = {}
        for at, candidates in possible.items():
            near = [candidate for by in range(-_PAIRED, _PAIRED + 1) for candidate in possible.get(at + by, ())]
            paired = len({signal.kind for _, signals in near for signal, _ in signals}) > 1
            start, end = at * STRETCH, (at + 1) * STRETCH + LONGEST
            for group, signals in candidates:
                tried = dict.fromkeys(signal for signal, _ in signals if signal.strong or paired)
                known = areas.setdefault(group, [])
                if known and tried and known[-1].end >= start:
                    known[-1].end = end
                    known[-1].signals |= tried
                elif tried:
                    known.append(_Area(start, end, tried))
        return areas

    def _possible(self, stretches: list[int]) -> dict[int, list[tuple["_SearchedGroup", list["_SignalBits"]]]]:
        """By stretch, the groups with a word in it, each with the signals whose required words are all near."""
        possible: dict[int, list[tuple[_SearchedGroup, list[_SignalBits]]]] = {}
        before = 0
        for at, (own, behind) in enumerate(zip(stretches, [*stretches, 0][1:], strict=True)):
            near = before | own | behind
            before = own
            bits = own & self._all
            while bits:
                bit = bits & -bits
                bits ^= bit
                for group in self._groups[bit]:
                    signals = [signal for signal in group.signals if near & signal[1] == signal[1]]
                    if signals:
                        possible.setdefault(at, []).append((group, signals))
        return possible


_SignalBits = tuple[Signal, int]
"""A signal with the bits of all words that it requires."""


@dataclass(frozen=True, slots=True, eq=False)
class _SearchedGroup:
    """A group with the pattern of its words and marks."""

    words: re.Pattern[bytes]
    signals: list[_SignalBits]

    def places(self, letters: bytes, first: int, last: int) -> Iterator[int]:
        """Where one of the words stands."""
        for match in self.words.finditer(letters, first, last):
            at = match.start()
            if not (letters[at - 1 : at].isalnum() and match.group().isalnum()):
                yield at


@dataclass(slots=True)
class _Area:
    """Stretches in which signals of a group can match."""

    start: int
    end: int
    signals: dict[Signal, None]


def merged(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, with those that touch joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _required_bits(signal: Signal) -> int:
    bits = 0
    for words in required_words(signal.pattern.pattern):
        if not words & _COMMON:
            bits |= VOCABULARY.bit(words)
    return bits


_TOKEN: Final = re.compile(
    r"\(\?(?:[:=!]|<[=!])|\[\^?(?:\\.|[^\]\\])+\]|\\.|(?:[?*+]|\{\d+(?:,\d*)?\})\??|.", re.DOTALL
)
_EDGE: Final = " "
"""Where a word begins or ends: any sign that is no letter, or the end of the text."""
_ANY: Final = "."


@dataclass(frozen=True, slots=True)
class _Choice:
    """A group by its branches, or anything optional."""

    branches: list[list["_Item"]]
    optional: bool = False


_Item = str | _Choice


def required_words(pattern: str) -> list[Words]:
    """The words that a pattern requires: of each set, one word stands in whatever the pattern matches.

    Only the syntax that patterns here use is understood. What is not (a class of letters, a look-ahead) counts as
    anything, so that a required word may be missed, but none is named that a match can do without.
    """
    return _required(_choice(iter(_TOKEN.findall(pattern))).branches, before=False, behind=False)


def _choice(signs: Iterator[str]) -> _Choice:
    branches: list[list[_Item]] = [[]]
    for sign in signs:
        items = branches[-1]
        if sign == ")":
            break
        if sign == "|":
            branches.append([])
        elif sign == "(?:":
            items.append(_choice(signs))
        elif sign.startswith("(?"):
            _choice(signs)
            items.append(_ANY)
        elif sign[0] in "?*" or sign.startswith("{0"):
            last = items.pop()
            items.append(_Choice(last.branches if isinstance(last, _Choice) else [[last]], optional=True))
        elif sign[0] in "+{":
            items += [] if items[-1] == _EDGE else [_ANY]
        else:
            items.append(_item(sign))
    return _Choice(branches)


def _item(sign: str) -> str:
    if sign.startswith("["):
        letters = re.sub(r"\\[sd]|\d-\d", "", sign)
        return _ANY if letters.startswith("[^") or re.search(r"[a-z]|\\[wWSD]", letters) else _EDGE
    if sign in {".", r"\w", r"\S", r"\D", r"\B"}:
        return _ANY
    return sign if sign.isascii() and sign.isalpha() else _EDGE


def _required(branches: list[list[_Item]], *, before: bool, behind: bool) -> list[Words]:
    """What one branch requires; of several branches, one set with the longest words of each."""
    required = [_of_branch(items, before=before, behind=behind) for items in branches]
    if len(required) == 1:
        return required[0]
    return [frozenset[str]().union(*(max(words, key=_shortest) for words in required))] if all(required) else []


def _of_branch(items: list[_Item], *, before: bool, behind: bool) -> list[Words]:
    required: list[Words] = []
    end = 0
    while end < len(items):
        at, end = end, end + 1
        item = items[at]
        while _is_letter(item) and end < len(items) and _is_letter(items[end]):
            end += 1
        begins, ends = _is_edge(items[:at][::-1], before, step=-1), _is_edge(items[end:], behind, step=1)
        if isinstance(item, _Choice):
            required += [] if item.optional else _required(item.branches, before=begins, behind=ends)
        elif _is_letter(item) and begins and end - at > 1:
            required.append(frozenset({"".join(map(str, items[at:end])) + ("" if ends else "-")}))
    return required


def _is_letter(item: _Item) -> bool:
    return isinstance(item, str) and item.isalpha()


def _is_edge(items: Sequence[_Item], outside: bool, *, step: int) -> bool:
    """Whether a word ends before these items, which lead away from it; what lies `outside` is behind them."""
    for item in items:
        if not isinstance(item, _Choice):
            return item == _EDGE
        if not all(_is_edge(branch[::step], outside=False, step=step) for branch in item.branches):
            return False
        if not item.optional:
            return True
    return outside


def _shortest(words: Words) -> int:
    return min(map(len, words))
