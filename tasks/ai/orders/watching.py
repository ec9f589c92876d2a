"""Tries the patterns of groups beside their words, where all that a pattern needs is near; a weak one not alone."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tasks.ai.orders.needs import needs
from tasks.ai.orders.signals import Group, Signal
from tasks.ai.orders.vocabulary import LONGEST, STRETCH, VOCABULARY

Span = tuple[int, int]
_Needy = tuple[Signal, int]
"""A signal with the bits of all words that it needs."""
_BEFORE, _BEHIND = 91, 159
"""Characters beside a word in which its patterns are tried."""
_PAIRED: Final = 3
"""Stretches that weak signals near each other are apart at most."""
_EVERYWHERE: Final = {"the", "of", "to", "and", "in", "for", "is", "it", "as", "be", "or", "are", "not", "this"}
"""Words that stand in every other sentence: to need them tells nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """A group: its words and marks, and its signals."""

    words: re.Pattern[bytes]
    signals: list[_Needy]

    def places(self, bare: bytes, first: int, last: int) -> Iterator[int]:
        """Where one of the words stands."""
        for found in self.words.finditer(bare, first, last):
            at = found.start()
            if not (bare[at - 1 : at].isalnum() and found.group().isalnum()):
                yield at


@dataclass(slots=True)
class _Area:
    """Stretches in which signals of a group can match."""

    start: int
    end: int
    signals: dict[Signal, None]


class Watch:
    """Groups of signals that are looked for together."""

    def __init__(self, groups: Iterable[Group]) -> None:
        self._groups: defaultdict[int, list[_Watched]] = defaultdict(list)
        self._marks: list[tuple[bytes, int]] = []
        for group in groups:
            plain = frozenset(word for word in group.words if word.rstrip("-").isalnum())
            bit = VOCABULARY.bit(plain)
            marks = [word for word in group.words if word not in plain]
            begun = [word[:-1] for word in plain if word.endswith("-")]
            whole = [word + r"(?![a-z0-9])" for word in plain if not word.endswith("-")]
            words = re.compile("|".join([*begun, *whole, *map(re.escape, marks)]).encode())
            signals = [(each, _bits(each)) for each in group.signals]
            self._groups[bit].append(_Watched(words, signals))
            self._marks += [(mark.encode(), bit) for mark in marks]
        self._all = sum(self._groups)

    def matches(self, text: str, bare: bytes, heard: list[int]) -> Iterator[tuple[Signal, re.Match[str]]]:
        """What matches in a folded text, given also in ASCII letters with what each stretch of it says; some twice."""
        for watched, areas in self._areas(self._marked(bare, heard)).items():
            for area in areas:
                places = watched.places(bare, area.start, area.end)
                for start, end in merged((max(at - _BEFORE, 0), at + _BEHIND) for at in places):
                    for signal in area.signals:
                        for match in signal.pattern.finditer(text, start, end):
                            yield signal, match

    def _marked(self, bare: bytes, heard: list[int]) -> list[int]:
        """What each stretch says, with the bits of groups whose marks stand in it."""
        heard = heard.copy()
        for mark, bit in self._marks:
            at = bare.find(mark) if mark[:1] in bare else -1
            while at >= 0:
                heard[at // STRETCH] |= bit
                at = bare.find(mark, (at // STRETCH + 1) * STRETCH)
        return heard

    def _areas(self, heard: list[int]) -> dict[_Watched, list[_Area]]:
        """Where words of each group stand beside which its signals can match."""
        possible = self._possible(heard)
        areas: dict[_Watched, list[_Area]] = {}
        for at, found in possible.items():
            near = [each for by in range(-_PAIRED, _PAIRED + 1) for each in possible.get(at + by, ())]
            paired = len({signal.kind for _, signals in near for signal, _ in signals}) > 1
            start, end = at * STRETCH, (at + 1) * STRETCH + LONGEST
            for watched, signals in found:
                tried = dict.fromkeys(each for each, _ in signals if each.strong or paired)
                known = areas.setdefault(watched, [])
                if known and tried and known[-1].end >= start:
                    known[-1].end = end
                    known[-1].signals |= tried
                elif tried:
                    known.append(_Area(start, end, tried))
        return areas

    def _possible(self, heard: list[int]) -> dict[int, list[tuple[_Watched, list[_Needy]]]]:
        """By stretch, the signals beside whose words there are all others that they need."""
        possible: dict[int, list[tuple[_Watched, list[_Needy]]]] = {}
        before = 0
        for at, (own, behind) in enumerate(zip(heard, [*heard, 0][1:], strict=True)):
            near = before | own | behind
            before = own
            told = own & self._all
            while told:
                bit = told & -told
                told ^= bit
                for watched in self._groups[bit]:
                    signals = [each for each in watched.signals if near & each[1] == each[1]]
                    if signals:
                        possible.setdefault(at, []).append((watched, signals))
        return possible


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, with those that touch in one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def _bits(signal: Signal) -> int:
    bits = 0
    for words in needs(signal.pattern.pattern):
        if not words & _EVERYWHERE:
            bits |= VOCABULARY.bit(words)
    return bits
