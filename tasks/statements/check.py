"""Whether the sentences of a source support or contradict a statement.

A statement is read (`reading`) and laid beside the sentences and table rows of the texts that share most with it
(`tables`, `match`). A sentence against which nothing speaks supports the statement. One that differs in exactly a
figure, a name, a denial or an opposite contradicts it, unless another sentence supports it or has the same figure. All
else is not found, and the nearest sentences are shown.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final

from tasks.language.words import stem
from tasks.statements.figures import same
from tasks.statements.match import contradiction, find_deed, find_predicates, match, objections
from tasks.statements.nearness import Difference, DifferenceKind, nearness
from tasks.statements.reading import ParsedSentence, read
from tasks.statements.tables import LONGEST_SENTENCE, SourceSentence, source_sentences

_CANDIDATES: Final = 8
_SHOWN: Final = 0.5
"""The share of words from which a sentence is worth showing in a statement's place."""

_NAME: Final = r"[A-Z][\w&.’'-]*(?: [A-Z][\w&.’'-]*){0,4}"
_ASIDE: Final = re.compile(r" \([^()]*\)|, (?:which|who|whose|an?) [^,;]{2,150},")
_PARTS: Final = re.compile(r"; |, and (?=(?:the|our|its) )")
_ADDED: Final = re.compile(r", an? [^,;]{2,150}\Z")
_APPOSED: Final = re.compile(
    rf"\A(?:The|Our|Its|A|An) [a-z][\w -]{{2,60}}, (?P<name>{_NAME}), (?P<rest>(?!and\b)[a-z].*)", re.DOTALL
)
_WHO: Final = re.compile(rf"(?P<who>(?:\A(?:The|Our|Its) [a-z]\w+|{_NAME})), (?:who|which) (?P<rest>[^,;]{{2,200}})")
"""An aside, a name put in behind what it is, and a name or a sentence's subject of which a clause says more."""
_TERM: Final = re.compile(r"\((?:the )?[“\"](?P<who>[^“”\"()]{2,40})[”\"]\), which (?P<rest>[^,;]{2,200})")
"""A term that a sentence defines, and the clause that says more of it."""
_OF_WHICH: Final = re.compile(r", of which (?P<amount>[^,;]{1,60}?) (?P<be>was|were|is|are) (?P<what>[^,;.]{2,80})")
_YEARS: Final = r"(?:for|in|at) (?P<span>[^,;]{0,60}?)(?P<first>(?:19|20)\d\d) and (?P<second>(?:19|20)\d\d)"
_EACH: Final = re.compile(
    rf"\A(?P<what>[^,;]{{2,120}}?) {_YEARS} (?P<be>was|were) (?P<one>[^,;]{{1,40}}?) and (?P<other>[^,;]{{1,40}}?), "
    r"respectively"
)
"""A figure of which another is a part, and those of two years that a sentence gives one behind the other."""
_TOLD: Final = (
    (_APPOSED, "{name} {rest}"), (_WHO, "{who} {rest}"), (_TERM, "{who} {rest}"), (_OF_WHICH, "{what} {be} {amount}"),
    (_EACH, "{what} {be} {one} in {first}, compared with {other}"), (_EACH, "{what} {be} {other} in {second}"),
)  # fmt: skip
"""What parts of a sentence say by themselves."""
_HEAD: Final = re.compile(
    r"\A(?P<head>(?:In|At|On|For|During|As of|As at|Under|By|Since|From) [^,;]{2,120}(?:, \d{4})?) ?, (?P<rest>"
    r"[^;]+?)\.?\Z"
)
_NUMBERED: Final = re.compile(r"\A\W*(?:\d{1,3}(?:\.\d{1,3}){1,4}\.?|\(?[a-z0-9]{1,2}[.)])\s+")
"""What numbers a clause or an item of a list in front of its words."""
_DEFINED: Final = re.compile(
    r"(?<![\w&.’'-])(?P<full>[A-Z][\w&.’'-]*(?: (?:[A-Z][\w&.’'-]*,?|of|and|for|plc)){1,6})"
    r" \((?:the |each |collectively |hereinafter )*[\"“]?(?P<short>(?!Company|Issuer)[A-Z][a-z]+)[\"”]?\)"
)
_FORM: Final = re.compile(r",? (?:plc|Limited|Ltd|Inc|Corp|LLC|GmbH|AG|AS|SA)\.?$")


class Finding(StrEnum):
    """What a source says of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Check:
    """A verdict, the sentence of the source that it rests on (or comes nearest), and what speaks against it first.

    `share` is the part of the statement's words that the sentence has, from 0 to 1; `text` counts the texts from 0.
    """

    verdict: Finding
    sentence: str = ""
    difference: Difference | None = None
    share: float = 0.0
    text: int = 0

    @property
    def why(self) -> str:
        """What speaks against it, as a sentence."""
        return self.difference.why if self.difference else ""

    @property
    def is_worth_showing(self) -> bool:
        """Whether the sentence speaks of the statement's matter, so that it may stand in its place."""
        return bool(self.sentence) and self.share >= _SHOWN


def check(statement: str, texts: Sequence[str], names: str = "") -> Check:
    """What the texts say of a statement.

    Args:
        statement: one sentence, without marks of its sources.
        texts: the sources, in full.
        names: words that name whom the texts are about; a statement may name it where a text says "we".

    Returns:
        The verdict of the best sentence: supported before contradicted before not found.
    """
    if len(statement) > LONGEST_SENTENCE:
        return Check(Finding.NOT_FOUND, difference=Difference(DifferenceKind.TOO_LONG))
    stated, known = read(_move_head(_with_defined_names(statement, texts))), _find_known_stems(names)
    bare = read(_ADDED.sub("", statement.rstrip(". ")))
    best = Check(Finding.NOT_FOUND)
    if not stated.content and not stated.figures:
        return best
    for number, text in enumerate(texts):
        for place in _nearest_places(stated, text, known):
            candidate = source_sentences(text)[place]
            result = replace(_compare(stated, candidate, known), text=number)
            if result.verdict is Finding.SUPPORTED:
                return result
            if result.verdict is Finding.NOT_FOUND and bare.original != statement.rstrip(". "):
                against = replace(_compare(bare, candidate, known), text=number)
                result = against if against.verdict is Finding.CONTRADICTED else result
            best = max(best, result, key=lambda one: (one.verdict is Finding.CONTRADICTED, one.share))
    if best.verdict is Finding.CONTRADICTED and _stands_elsewhere(stated, best, texts, known):
        return replace(best, verdict=Finding.NOT_FOUND)
    return best


def _with_defined_names(statement: str, texts: Sequence[str]) -> str:
    """The statement with a party named as the texts define it: "the Landlord" for "Harbour Estates plc (the
    “Landlord”)".
    """
    for party in (party for text in texts for party in _DEFINED.finditer(text)):
        name = _FORM.sub("", party["full"]).strip(" ,")
        statement = re.sub(rf"\b{re.escape(name)}(?!\w)", f"the {party['short']}", statement)
    return statement


def _compare(stated: ParsedSentence, candidate: SourceSentence, known: frozenset[str]) -> Check:
    """The verdict of one sentence on a statement."""
    worst = Check(Finding.NOT_FOUND, candidate.original)
    texts = dict.fromkeys(_find_readings(candidate.text))
    for said in (said for text in texts for said in find_predicates(read(text))):
        found = match(stated, said, known)
        against = next(objections(found), None)
        if against is None:
            return Check(Finding.SUPPORTED, candidate.original, None, found.share)
        denied = contradiction(found)
        if denied is not None:
            worst = Check(Finding.CONTRADICTED, candidate.original, denied, found.share)
        elif worst.difference is None:
            worst = replace(worst, difference=against, share=found.share)
        deed = find_deed(stated, said)
        if deed and not (done := match(*deed, known)).has_second_object and not any(objections(done)):
            return Check(Finding.SUPPORTED, candidate.original, None, done.share)
    return worst


def _find_readings(text: str) -> Iterator[str]:
    """A sentence, its paraphrases with the same meaning, and the statements in its parts."""
    for part in (text, *_PARTS.split(text)):
        bare = _NUMBERED.sub("", part)
        short = _ADDED.sub("", bare)
        yield from (part, _move_head(part), bare, _move_head(bare), _ASIDE.sub(" ", bare), _move_head(short))
        yield from (form.format(**told.groupdict()) for pattern, form in _TOLD for told in pattern.finditer(bare))


def _move_head(text: str) -> str:
    """A sentence with its opening phrase moved to the end: "A day lasts 24 hours on Earth"."""
    return _HEAD.sub(lambda found: f"{found['rest']} {found['head'][0].lower()}{found['head'][1:]}", text)


def _stands_elsewhere(stated: ParsedSentence, result: Check, texts: Sequence[str], known: frozenset[str]) -> bool:
    """Whether another sentence that shares half of a statement's words has its figure, which the first states
    differently.
    """
    if result.difference is None or result.difference.kind is not DifferenceKind.FIGURE:
        return False
    wanted = [token.figure for at in stated.figures if (token := stated.tokens[at]).text == result.difference.ours]
    for text in texts:
        sentences = source_sentences(text)
        for place in _nearest_places(stated, text, known):
            other = read(sentences[place].text)
            if sentences[place].original == result.sentence or match(stated, other, known).share < _SHOWN:
                continue
            given = [token.figure for at in other.figures if (token := other.tokens[at])]
            if any(own and figure and same(own, figure) for own in wanted for figure in given):
                return True
    return False


def nearest(statement: str, texts: Sequence[str], names: str = "", most: int = 3) -> list[str]:
    """The sentences of the texts that share most with a statement, as they stand there, best first."""
    stated, known = read(statement), _find_known_stems(names)
    said = _SaidBy({stated.tokens[at].stem for at in stated.content})
    found = [source_sentences(text)[place] for text in texts for place in _nearest_places(stated, text, known)]
    found.sort(key=lambda candidate: -said.how_many(candidate.stems))
    return list(dict.fromkeys(candidate.original for candidate in found))[:most]


def _find_known_stems(names: str) -> frozenset[str]:
    """The stems that name the subject of the texts, and the initials of its name: `J&J`."""
    words = names.replace(".", " ").split()
    initials = [word[0].lower() for word in words if word[0].isupper()]
    short = {"".join(initials), "&".join(initials)} if len(initials) > 1 else set[str]()
    return frozenset(stem(word) for word in words if len(word) > 1) | short


def _nearest_places(stated: ParsedSentence, text: str, known: frozenset[str]) -> list[int]:
    """The indexes of the sentences in a text that share most words and numbers with a statement, best first."""
    said = _SaidBy({stated.tokens[at].stem for at in stated.content} - known)
    wanted = [
        (figure.value, figure.digits)
        for at in stated.figures
        if (figure := stated.tokens[at].figure) and not figure.is_date
    ]
    scored = []
    for place, candidate in enumerate(source_sentences(text)):
        shared = said.how_many(candidate.stems) + (
            0.7 * _count_held(wanted, candidate.numbers) if candidate.numbers else 0
        )
        if shared or not said.words:
            scored.append((shared - len(candidate.stems) * 0.005, -place))
    scored.sort(reverse=True)
    return [-place for _, place in scored[:_CANDIDATES]]


def _count_held(wanted: Sequence[tuple[Decimal, int]], numbers: Collection[str]) -> int:
    """How many of a statement's numbers a sentence contains, possibly with more digits: `8.0 billion` for `8,031
    million`.
    """
    return sum(any(_rounds(number, abs(value), digits) for number in numbers) for value, digits in wanted)


@lru_cache(maxsize=65536)
def _rounds(number: str, value: Decimal, digits: int) -> bool:
    own = Decimal(number)
    return own == value or (
        own.adjusted() == value.adjusted()
        and abs(own - value) * 2 <= Decimal(10) ** (value.adjusted() - max(digits, 1) + 1)
    )


class _SaidBy(dict[str, frozenset[str]]):
    """For each stem in a text, the words of a statement that it matches; looked up once per stem."""

    def __init__(self, words: Collection[str], alike: Callable[[str, str], float] = nearness) -> None:
        self.words, self._alike = words, alike

    def __missing__(self, stem: str) -> frozenset[str]:
        self[stem] = said = frozenset(word for word in self.words if self._alike(word, stem))
        return said

    def how_many(self, stems: frozenset[str]) -> int:
        """How many of the words a sentence with these stems contains."""
        return len(frozenset[str]().union(*map(self.__getitem__, stems)))


__all__ = ["Check", "Finding", "check", "nearest"]
