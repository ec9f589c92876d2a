"""The words that a pattern of an order cannot do without, read from the pattern itself.

They are far cheaper to look for than the pattern. Only what patterns here are made of is understood; what is not
(a class of letters, a look ahead) counts as anything, so that a word may be missed but none is needed in vain.

What patterns of orders to a model are made of, in folded text: plain small letters.

A strong signal is an order by itself. A weak one is ordinary language that is an order beside a weak one of another
kind: whom it addresses, what it wants done, where it claims to stand. In a pattern, a space is any white space, and
a word in capitals stands for what `_PARTS` says. No pattern repeats what repeats, and every gap has an end: time
grows with the text alone.

The words that are watched for, as bits: what each stretch of a text says in them, from one cheap pass over it.

Tries the patterns of groups beside their words, where all that a pattern needs is near; a weak one not alone.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count
from operator import or_
from typing import Final, Literal

Words = frozenset[str]
"""Words of which one must stand there: whole (`ai`) or as they begin (`ignor-`)."""

_TOKEN: Final = re.compile(
    r"\(\?(?:[:=!]|<[=!])|\[\^?(?:\\.|[^\]\\])+\]|\\.|(?:[?*+]|\{\d+(?:,\d*)?\})\??|.", re.DOTALL
)
_EDGE: Final = " "
"""Where a word begins or ends: any sign that is no letter, or no sign at all."""
_ANY: Final = "."


@dataclass(frozen=True, slots=True)
class _Choice:
    """A group by its branches, or anything optional."""

    branches: list[list["_Item"]]
    optional: bool = False


_Item = str | _Choice


def needs(pattern: str) -> list[Words]:
    """Of each of these, one word stands in whatever the pattern matches, where all but letters parts words."""
    return _needed(_choice(iter(_TOKEN.findall(pattern))).branches, before=False, behind=False)


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


def _needed(branches: list[list[_Item]], *, before: bool, behind: bool) -> list[Words]:
    """What each branch needs; of several branches, the longest words of each, in one."""
    each = [_of_branch(items, before=before, behind=behind) for items in branches]
    if len(each) == 1:
        return each[0]
    return [frozenset[str]().union(*(max(words, key=_shortest) for words in each))] if all(each) else []


def _of_branch(items: list[_Item], *, before: bool, behind: bool) -> list[Words]:
    found: list[Words] = []
    end = 0
    while end < len(items):
        at, end = end, end + 1
        item = items[at]
        while _is_letter(item) and end < len(items) and _is_letter(items[end]):
            end += 1
        begins, ends = _is_edge(items[:at][::-1], before, step=-1), _is_edge(items[end:], behind, step=1)
        if isinstance(item, _Choice):
            found += [] if item.optional else _needed(item.branches, before=begins, behind=ends)
        elif _is_letter(item) and begins and end - at > 1:
            found.append(frozenset({"".join(map(str, items[at:end])) + ("" if ends else "-")}))
    return found


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


# ruff: noqa: E501 - a pattern reads best in one line


Kind = Literal["override", "address", "score", "reveal", "say", "role", "silence", "output", "answer", "edge"]


@dataclass(frozen=True, slots=True, eq=False)
class Signal:
    """A pattern that tells of an order; `imperative` where it begins with a verb that must order."""

    kind: Kind
    strong: bool
    pattern: re.Pattern[str]
    imperative: bool


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Signals, and the words of which one must be near before they are tried: whole (`ai`) or as they begin (`ignor-`).

    A word with signs in it (`<!--`) may stand anywhere.
    """

    words: tuple[str, ...]
    signals: tuple[Signal, ...]


LEADS: Final = re.compile(
    r"""(?:^|[.!?:;,"'(\[>*#/|-]|(?<!\bmay)(?<!\bnot)(?<!\bto)(?<!shall)(?<!will)(?<!\bor)(?<!can)(?<!could)(?<!would)"""
    r"""(?<!must)(?<!should)\n)\s{0,4}(?:(?:please|kindly|now|and|then|just|simply|so|also|instead,?)\s{1,4}){0,2}(?:always\s{1,4})?$"""
    r"""|\b(?:please|kindly|now|just|then|and|simply|instead|immediately|always|(?:you|models?|assistants?|reviewers?|ais?|llms?)"""
    r"""\s{1,4}(?:must|should|shall|will|have\sto|has\sto|need\sto|are\sto|is\sto|may|can))"""
    r"""(?:\s{1,4}(?:now|always|also|then|only|just|not))?\s{1,4}$"""
)
"""What stands before an imperative: where a sentence, a line or a quotation begins, or words that lead to it."""
LEAD_LENGTH: Final = 48

_PARTS: Final = {
    "AI": r"(?:(?:large |generative )?language[ -]models?|llms?|a\.?i\.?|ais|gpt(?:-\w{1,3})?|chatgpt|claude|gemini|copilot"
    r"|chat ?bots?|artificial intelligences?|(?:virtual|digital) assistants?|machine readers?"
    r"|automated (?:reviewers?|graders?|evaluators?|readers?|screeners?|(?:grading|screening|review|scoring|evaluation) (?:systems?|tools?|agents?)))"
    r"(?:[ -](?:based|powered|driven))?(?: (?:systems?|models?|assistants?|agents?|reviewers?|tools?|bots?|readers?|graders?|evaluators?|judges?"
    r"|screeners?|crawlers?|(?:screening|grading|review|scoring|evaluation) (?:systems?|tools?|agents?)))?",
    "READING": r"(?:reading|processing|parsing|summari[sz]ing|evaluating|analy[sz]ing|reviewing|assessing|scoring|grading|scanning"
    r"|(?:that|which|who) (?:reads?|process(?:es)?|parses?|summari[sz]es?|evaluates?|analy[sz]es?|reviews?|assess(?:es)?|scores?|grades?))"
    r" (?:this|these|the (?:present|following))",
    "IGNORE": r"(?:ignore|disregard|forget|override|overlook|bypass|discard|neglect|skip|drop|pay no attention to)",
    "EARLIER": r"(?:previous(?:ly)?|prior|above|earlier|preceding|former|foregoing|existing|original|initial|system|your|hidden|given|other)",
    "FILL": r"(?:(?:all|any|every|each|of|the|my|your|these|those|this|such|and|or|other|safety|content|received|current|past|entire|own|previous|prior"
    r"|above|earlier|preceding|system|existing|original) ){0,6}",
    "ORDERS": r"(?:instructions?|prompts?|directives?|directions|guidelines?|rules?|commands?|orders?|programming|training|constraints?|guardrails?|restrictions)",
    "TOP": r"(?:(?:the |a |an? )?(?:absolute )?(?:highest|maximum|max|full|top|best|perfect|excellent|outstanding|highest possible|maximum possible|best possible)"
    r"(?: possible)? (?:scores?|ratings?|marks?|grades?|points|rank(?:ing)?|evaluation|assessment)|(?:5|five|10|ten|100)(?:\.0)? ?"
    r"(?:/|out of|of) ?(?:5|five|10|ten|100)(?!\d)|\b(?:five|5) stars)",
    "SAY": r"(?:say|state|answer|reply|respond|report|write|claim|conclude|tell|assert|declare|confirm|call|mention|inform|use|describe)",
    "YOURS": r"\b(?:your|the) (?:final |overall |own )?(?:answers?|response|reply|summary|report|output|assessment|evaluation|review|conclusion|verdict|analysis|rating)",
    "GAP": r"[^.!?]{0,60}?",
}


def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern as written here: with its parts, and with any white space for a space."""
    pattern = re.sub("|".join(_PARTS), lambda name: _PARTS[name.group()], pattern)
    return re.compile(pattern.replace("[ -]", r"[\s-]").replace(" ?", r"\s?").replace(" ", r"\s{1,6}"))


def group(kind: Kind, words: str, *patterns: str, strong: bool = False) -> Group:
    """The patterns that are tried beside one of the words."""
    signals = (
        Signal(kind, strong, compiled(pattern.replace("LEAD", r"\b", 1)), pattern.startswith("LEAD"))
        for pattern in patterns
    )
    return Group(tuple(words.split()), tuple(signals))


STRETCH: Final = 320
"""Characters that are heard together. Matches are shorter, so that all their words stand in three of them."""
LONGEST: Final = 16
"""Letters of the longest word; a stretch reaches that far into the next, so that it has its words whole."""
_MOST_KNOWN: Final = 100_000
_APART: Final = bytes(code if chr(code).isalpha() else 32 for code in range(128)) + b" " * 128


class Vocabulary(dict[bytes, int]):
    """By each word met so far, the number of its bits among all bits that words have.

    Numbers are small, and so gathered faster than the bits. All that is listened for is told by `bit` at first.
    """

    def __init__(self) -> None:
        self._bits: dict[Words, int] = {}
        self._whole: defaultdict[bytes, int] = defaultdict(int)
        self._begun: defaultdict[bytes, list[tuple[bytes, int]]] = defaultdict(list)
        self._within: dict[bytes, int] = {}
        self._inside = re.compile(rb"(?!)")
        self._numbers: dict[int, int] = {}
        self._by_number: dict[int, int] = {}
        self._count = count()

    def bit(self, words: Words) -> int:
        """The bit for any of these words: whole (`ai`), as they begin (`ignor-`) or wherever they are (`-reti-`)."""
        if words not in self._bits:
            bit = self._bits[words] = 1 << len(self._bits)
            for word in words:
                letters = word.strip("-").encode()
                if word.startswith("-"):
                    self._within[letters] = self._within.get(letters, 0) | bit
                    self._inside = re.compile(b"|".join(self._within))
                elif word.endswith("-"):
                    self._begun[letters[:3]].append((letters, bit))
                else:
                    self._whole[letters] |= bit
            self.clear()
        return self._bits[words]

    def heard(self, bare: bytes) -> list[int]:
        """What each stretch of a text says, given in small ASCII letters; all but letters parts words."""
        apart = bare.translate(_APART)
        return [self._bits_of(apart[at : at + STRETCH + LONGEST]) for at in range(0, len(apart), STRETCH)]

    def _bits_of(self, words: bytes) -> int:
        numbers = set(map(self.__getitem__, words.split()))
        return reduce(or_, map(self._by_number.__getitem__, numbers), 0)

    def __missing__(self, word: bytes) -> int:
        bits = self._whole.get(word, 0)
        for letters, bit in (*self._begun.get(word[:2], ()), *self._begun.get(word[:3], ())):
            if word.startswith(letters):
                bits |= bit
        for letters in self._inside.findall(word):
            bits |= self._within[letters]
        number = self._numbers.setdefault(bits, next(self._count))  # alike in each of several threads
        self._by_number[number] = bits
        if len(self) > _MOST_KNOWN:
            self.clear()
        if len(word) <= LONGEST:
            self[word] = number
        return number


VOCABULARY: Final = Vocabulary()


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
            signals = [(signal, _bits(signal)) for signal in group.signals]
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
                    signals = [signal for signal in watched.signals if near & signal[1] == signal[1]]
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
