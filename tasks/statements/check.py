"""Whether the sentences of a source support or contradict a statement.

The data's way: a statement is read (`reading`) and laid beside the sentences and table rows of the texts that share
most with it (`tables`, `alignment`); the rules of `differences` say what speaks against each. A sentence against which
nothing speaks supports the statement. One that is nearly the same, and differs in exactly a figure, a name, a denial or
an opposite, contradicts it, unless another sentence supports it or has the same figure. All else is not found, and the
nearest sentences are shown.

A statement that joins several is supported where each of its parts is.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from typing import Final

from tasks.language.words import stem
from tasks.statements.alignment import Alignment, align
from tasks.statements.contrary import contrary
from tasks.statements.difference import Difference, DifferenceKind
from tasks.statements.differences import differences, says_in_order
from tasks.statements.figures import figures, same
from tasks.statements.nearness import nearness
from tasks.statements.reading import Limit, Sentence, read
from tasks.statements.tables import LONGEST_SENTENCE, SourceSentence, source_sentences

_CANDIDATES: Final = 8
_SHOWN: Final = 0.5
"""The share of words from which a sentence is worth showing in a statement's place."""
_HEADING: Final = 12
"""The most words of a heading."""
_SELF: Final = frozenset("we our us it its they their he she his her this these company group firm".split())  # noqa: SIM905 - a list of words reads best as words
_PRONOUNS: Final = frozenset("it they he she this these its their his her".split())  # noqa: SIM905 - as above
_OWN: Final = frozenset({"its", "their", "his", "her"})
_JOINED: Final = re.compile(
    r";\s+|,\s+(?:and|but|while|whereas|which)\s+|,\s+(?=(?:up|down)\s+from\b)|\s+(?:while|whereas)\s+"
    r"|,\s+(?=(?:it|they)\b)|(?<!\s)\s++and\s++(?=(?:it|they|the company)\b)"
)
_IS: Final = re.compile(r"\b(?:is|are|was|were|ist|sind|war|est)\b")
_BE: Final = frozenset("is are was were ist sind war est".split())  # noqa: SIM905 - as above
_ONCE: Final = re.compile(
    r"\b(?:former\w*|until|since|previous\w*|then|formerly|acting|interim|or|bis|seit)\b", re.IGNORECASE
)
_YEAR: Final = re.compile(r"\b(?:19|20)\d\d\b")
_LAST_YEAR: Final = re.compile(
    r"\b(?:in )?(?:the )?(?:last|prior|previous|preceding) (?:fiscal )?year\b|\ba year (?:ago|earlier|before)\b",
    re.IGNORECASE,
)
_LOSS: Final = re.compile(r"\b(?:loss|deficit|Verlust|perte)\b", re.IGNORECASE)
_DEFINED: Final = re.compile(
    r"(?<![\w&.’'-])(?P<full>(?:[A-Z][\w&.’'-]*,?|of|and|for)(?: (?:[A-Z][\w&.’'-]*,?|of|and|for|plc)){1,6})"
    r" \((?:the |each |collectively |hereinafter )*[\"“]?(?P<short>[A-Z][A-Za-z]+(?: [A-Z][a-z]+)?)[\"”]?\)"
)
_FORM: Final = re.compile(r",? (?:plc|Limited|Ltd|Inc|Corp|LLC|GmbH|AG|AS|SA)\.?$")
_FEWEST_OF_A_PART: Final = 2


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
    whole = _check(statement, texts, names)
    if whole.verdict is Finding.SUPPORTED:
        return whole
    for other in _with_defined_names(statement, texts):
        result = _check(other, texts, names)
        if result.verdict is Finding.SUPPORTED:
            return result
    parts = _parts(statement)
    checked = [_check(part, texts, names) for part in parts] if len(parts) > 1 else []
    if checked and all(part.verdict is Finding.SUPPORTED for part in checked):
        return checked[0]
    return next((part for part in checked if part.verdict is Finding.CONTRADICTED), whole)


def _with_defined_names(statement: str, texts: Sequence[str]) -> Iterator[str]:
    """The statement with a name as the texts define it: "Harbour Estates plc (the “Landlord”)"."""
    for text in texts:
        for match in _DEFINED.finditer(text):
            full, short = match["full"].strip(), match["short"]
            plain = _FORM.sub("", full).strip(" ,")
            for one, other in ((full, short), (plain, short), (short, full)):
                if re.search(rf"\b{re.escape(one)}(?!\w)", statement):
                    yield re.sub(
                        rf"\b{re.escape(one)}(?!\w)",
                        f"the {other}" if other is short and short[1:].islower() else other,
                        statement,
                    )
                    break


def _parts(statement: str) -> list[str]:
    """The statements that a sentence joins; one where they depend on each other."""
    sentence = read(statement)
    if any(token.limit is Limit.CONDITION for token in sentence.tokens):
        return [statement]
    parts = [part.strip(" ,;") for part in _JOINED.split(statement)]
    reads = [read(part) for part in parts]
    if any(
        len(part.content) + len(part.figures) < _FEWEST_OF_A_PART or not any(token.is_verb for token in part.tokens)
        for part in reads
    ):
        return [statement]
    return parts


def _check(statement: str, texts: Sequence[str], names: str) -> Check:
    stated, known = read(statement), _known(names)
    best = Check(Finding.NOT_FOUND)
    if not stated.content and not stated.figures:
        return best
    for number, text in enumerate(texts):
        candidates = source_sentences(text)
        for place in _nearest_places(stated, text, known):
            result = replace(_compare(stated, candidates, place, known), text=number)
            if result.verdict is Finding.SUPPORTED:
                return result
            if (result.verdict is Finding.CONTRADICTED, result.share) > (
                best.verdict is Finding.CONTRADICTED,
                best.share,
            ):
                best = result
    if best.verdict is Finding.CONTRADICTED and _stands_elsewhere(stated, best, texts, known):
        return replace(best, verdict=Finding.NOT_FOUND)
    return best


def _compare(stated: Sentence, candidates: Sequence[SourceSentence], place: int, known: frozenset[str]) -> Check:
    """What one sentence says of a statement, by itself and with what is known from the words before it."""
    candidate = candidates[place]
    source = read(_with_year_before(candidate.text))
    if says_in_order(stated, source):
        return Check(Finding.SUPPORTED, candidate.original, None, 1.0)
    alignment = align(stated, source, known | _aliases(source, known))
    found = list(differences(alignment))
    if not found:
        return Check(Finding.SUPPORTED, candidate.original, None, alignment.share)
    against = contrary(alignment) or _is_named_otherwise(stated, source, alignment.known)
    if against is not None:
        return Check(Finding.CONTRADICTED, candidate.original, against, alignment.share)
    signed = _with_sign(stated.text)
    if signed and any((figure := source.tokens[at].figure) and figure.value < 0 for at in source.figures):
        signed_alignment = align(read(signed), source, alignment.known)
        if not list(differences(signed_alignment)):
            return Check(Finding.SUPPORTED, candidate.original, None, signed_alignment.share)
    fuller = _with_context(alignment, candidates[place])
    if fuller and not list(differences(align(stated, read(fuller), alignment.known))):
        return Check(Finding.SUPPORTED, candidate.original, None, alignment.share)
    return Check(Finding.NOT_FOUND, candidate.original, found[0], alignment.share)


def _is_named_otherwise(stated: Sentence, source: Sentence, known: frozenset[str]) -> Difference | None:
    """Another name in a part of a sentence that says who or what something is: "The ultimate parent is Alpha Ltd"."""
    first = re.split(r",\s+(?=an?\s|the\s)", stated.text)[0].rstrip(".")
    is_dated = any(token.figure is not None and token.figure.is_date for token in (*stated.tokens, *source.tokens))
    if (
        is_dated
        or not _IS.search(first)
        or _ONCE.search(source.text)
        or any(token.limit for token in read(first).tokens)
    ):
        return None
    for segment in {token.segment for token in source.tokens if token.text in _BE}:
        own = [token for token in source.tokens if token.segment == segment]
        part = source.text[own[0].start : own[-1].end]
        found = contrary(align(read(first), read(part), known))
        if found is not None and found.kind is DifferenceKind.NAME:
            return found
    return None


def _with_year_before(text: str) -> str:
    """A sentence with the year for "last year", where it names one year: that before it."""
    years = {int(year) for year in _YEAR.findall(text)}
    if len(years) != 1 or not _LAST_YEAR.search(text):
        return text
    return _LAST_YEAR.sub(f"in fiscal {years.pop() - 1}", text)


def _with_sign(statement: str) -> str:
    """A statement of a loss as one of a negative profit, as tables have it: "a loss of 17" is -17; else ""."""
    if len(_LOSS.findall(statement)) != 1 or len(figures(statement)) == 0:
        return ""
    amounts = [figure for figure in figures(statement) if figure.kind == "money" and figure.value > 0]
    if len(amounts) != 1:
        return ""
    digits = re.compile(r"\d").search(statement, amounts[0].start)
    assert digits is not None
    return _LOSS.sub("profit", f"{statement[: digits.start()]}-{statement[digits.start() :]}")


def _aliases(source: Sentence, known: frozenset[str]) -> frozenset[str]:
    """The stems of the statement that a sentence's "we" or "the company" stands for."""
    speaks = any(token.text in _SELF for token in source.tokens)
    return frozenset({"company", "group", "firm"}) if speaks or not known else frozenset()


def _with_context(alignment: Alignment, candidate: SourceSentence) -> str:
    """The sentence with the date of the heading over it, or the name before it for its pronoun; "" without either."""
    before, missing = candidate.before, [alignment.stated.tokens[at] for at in alignment.missing]
    if not before or not missing:
        return ""
    if all(token.figure is not None and token.figure.is_date for token in missing):
        is_heading = len(before.split()) <= _HEADING and before[-1:] not in ".!?"
        return f"{before}: {candidate.text}" if is_heading else ""
    first, _, rest = candidate.text.partition(" ")
    stems = {stem(word) for word in re.findall(r"[^\W\d_][\w'’]*", before)}
    if first.lower() not in _PRONOUNS or any(token.is_verb or token.stem not in stems for token in missing):
        return ""
    name = " ".join(alignment.stated.text[token.start : token.end].removesuffix("'s") for token in missing)
    return f"{name}{'’s' if first.lower() in _OWN else ''} {rest}"


def _stands_elsewhere(stated: Sentence, result: Check, texts: Sequence[str], known: frozenset[str]) -> bool:
    """Whether another sentence that shares half of a statement's words has the figure that a sentence has otherwise."""
    if result.difference is None or result.difference.kind is not DifferenceKind.FIGURE:
        return False
    wanted = [token.figure for at in stated.figures if (token := stated.tokens[at]).text == result.difference.ours]
    for text in texts:
        sentences = source_sentences(text)
        for place in _nearest_places(stated, text, known):
            other = read(sentences[place].text)
            if sentences[place].original == result.sentence or align(stated, other, known).share < _SHOWN:
                continue
            given = [token.figure for at in other.figures if (token := other.tokens[at])]
            if any(own and figure and same(own, figure) for own in wanted for figure in given):
                return True
    return False


def nearest(statement: str, texts: Sequence[str], names: str = "", most: int = 3) -> list[str]:
    """The sentences of the texts that share most with a statement, as they stand there, best first."""
    stated, known = read(statement), _known(names)
    said = _SaidBy({stated.tokens[at].stem for at in stated.content})
    found = [source_sentences(text)[place] for text in texts for place in _nearest_places(stated, text, known)]
    found.sort(key=lambda candidate: -said.how_many(candidate.stems))
    return list(dict.fromkeys(candidate.original for candidate in found))[:most]


def _known(names: str) -> frozenset[str]:
    """The stems that name whom the texts are about, and its initials: `J&J`."""
    words = names.replace(".", " ").split()
    initials = [word[0].lower() for word in words if word[0].isupper()]
    short = {"".join(initials), "&".join(initials)} if len(initials) > 1 else set[str]()
    return frozenset(stem(word) for word in words if len(word) > 1) | short


def _nearest_places(stated: Sentence, text: str, known: frozenset[str]) -> list[int]:
    """Where the sentences of a text stand that share most words and numbers with a statement, best first."""
    said = _SaidBy({stated.tokens[at].stem for at in stated.content} - known)
    wanted = [
        (figure.value, figure.digits)
        for at in stated.figures
        if (figure := stated.tokens[at].figure) and not figure.is_date
    ]
    scored = []
    for place, candidate in enumerate(source_sentences(text)):
        shared = said.how_many(candidate.stems) + (0.7 * _held(wanted, candidate.numbers) if candidate.numbers else 0)
        if shared or not said.words:
            scored.append((shared - len(candidate.stems) * 0.005, -place))
    scored.sort(reverse=True)
    return [-place for _, place in scored[:_CANDIDATES]]


def _held(wanted: Sequence[tuple[Decimal, int]], numbers: Collection[str]) -> int:
    """How many numbers of a statement a sentence has, some with more digits: `8.0 billion` of `8,031 million`."""
    return sum(any(_rounds(number, abs(value), digits) for number in numbers) for value, digits in wanted)


@lru_cache(maxsize=65536)
def _rounds(number: str, value: Decimal, digits: int) -> bool:
    own = Decimal(number)
    return own == value or (
        own.adjusted() == value.adjusted()
        and abs(own - value) * 2 <= Decimal(10) ** (value.adjusted() - max(digits, 1) + 1)
    )


class _SaidBy(dict[str, frozenset[str]]):
    """For each stem of a text, the words of a statement that it says; looked up once for each stem."""

    def __init__(self, words: Collection[str], alike: Callable[[str, str], float] = nearness) -> None:
        self.words, self._alike = words, alike

    def __missing__(self, stem: str) -> frozenset[str]:
        self[stem] = said = frozenset(word for word in self.words if self._alike(word, stem))
        return said

    def how_many(self, stems: frozenset[str]) -> int:
        """How many of the words a sentence with these stems says."""
        return len(frozenset[str]().union(*map(self.__getitem__, stems)))


__all__ = ["Check", "Finding", "check", "nearest"]
