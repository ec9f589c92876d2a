"""Whether one sentence of a source says what a statement says.

`compare` holds a statement against one sentence, `check` against all sentences and table rows of texts. There are
three verdicts:

supported     the sentence has the statement's subject, what is said of it, its figures, and limits both alike
contradicted  it speaks of the same, with another figure, or in the other sense
not found     neither

Nothing is guessed: a word that the sentence has not, and that says the same as none of its words, is not found. A word
too many is what a changed statement has as well as a free paraphrase, and the source's own sentence can be shown.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from tasks.language.words import say_the_same, stem
from tasks.statements.alignment import Comparison
from tasks.statements.derived import restated
from tasks.statements.differences import IN_OTHER_WORDS, Difference, DifferenceKind, is_of
from tasks.statements.figure_places import places_of_figures
from tasks.statements.figures import same
from tasks.statements.free_wording import Context, weigh
from tasks.statements.limiting import limits_differ, negations
from tasks.statements.nearness import near
from tasks.statements.periods import with_ends_of_quarters
from tasks.statements.reading import Sentence, read
from tasks.statements.readings import begins_with_pronoun, readings
from tasks.statements.roles import attributed_names, exchanged, exchanged_names, misplaced_names, swapped_roles
from tasks.statements.tables import LONGEST_SENTENCE, SourceSentence, source_sentences
from tasks.statements.wording import (
    beyond_semicolon,
    exchanged_for,
    lost_words,
    missing_words,
    opposites,
    other_frequencies,
    other_names,
    other_periods,
    other_subjects,
    other_tenses,
    restricted_subjects,
)

_CANDIDATES: Final = 8


_SAME_MATTER: Final = 0.7
"""The share of a statement's words that a sentence has which speaks of the same matter."""


_NEAR: Final = 0.5
_FEW_MISSING: Final = 3
_READ_OTHERWISE: Final = 4
"""The share of a statement's words that a sentence has which may prove it in another form, how many it may lack, and
how many sentences are read so."""


_WORD: Final = re.compile(r"[^\W\d_][\w’'&]*")
_FEWEST_FREE: Final = 2
_READ_FREELY: Final = 8
_AROUND: Final = 3
_NAMED_BEFORE: Final = 12
"""Words and figures of a statement that may be read in free wording, how many sentences are, how many around one, or at
the beginning of the text, may name what it speaks of, and how many before it may have a name of two words for it."""


_HEADING: Final = 12
"""The most words of a heading."""


_SHOWN: Final = 0.5
"""The share of words from which a sentence is worth showing in a statement's place."""


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
        """What speaks against it, in a few words."""
        return self.difference.why if self.difference else ""

    @property
    def is_worth_showing(self) -> bool:
        """Whether the sentence speaks of the statement's matter, so that it may stand in its place."""
        return bool(self.sentence) and self.share >= _SHOWN


def check(statement: str, texts: Sequence[str], names: str = "") -> Check:
    """What the texts say of a statement, or of it with its quarter as they name it: `the quarter ended June 30, 2023`.

    Args:
        statement: one sentence, without marks of its sources.
        texts: the sources, in full.
        names: words that name whom the texts are about; a statement may name it where a text says "we".

    Returns:
        The verdict of the best sentence: supported before contradicted before not found.
    """
    if len(statement) > LONGEST_SENTENCE:
        return Check(Finding.NOT_FOUND, difference=Difference(DifferenceKind.TOO_LONG))
    best = _check(statement, texts, names)
    if best.verdict is not Finding.SUPPORTED:
        for number, text in enumerate(texts):
            otherwise = with_ends_of_quarters(statement, text)
            if otherwise != statement and (said := _check(otherwise, [text], names)).verdict is Finding.SUPPORTED:
                return replace(said, text=number)
    return best


def _check(statement: str, texts: Sequence[str], names: str) -> Check:
    stated = read(statement)
    known = _known(names)
    best = Check(Finding.NOT_FOUND)
    wanted, numbers = _wanted(stated, known)
    said = _SaidBy(wanted)
    for number, text in enumerate(texts):
        candidates = _candidates(text, numbers, said)
        for place in candidates:
            candidate = source_sentences(text)[place]
            result = compare(stated, candidate, known)
            if result.verdict is Finding.SUPPORTED:
                return Check(result.verdict, candidate.original, result.difference, result.share, number)
            rank = (result.verdict is Finding.CONTRADICTED, result.share)
            if rank > (best.verdict is Finding.CONTRADICTED, best.share):
                best = Check(result.verdict, candidate.original, result.difference, result.share, number)
        otherwise = _read_otherwise(stated, text, candidates, known, said)
        if otherwise is not None:
            return replace(otherwise, text=number)
    is_against = best.verdict is Finding.CONTRADICTED
    if is_against and best.difference is not None and best.difference.is_denial:
        return best
    seems_against = is_against and is_of(best.difference, IN_OTHER_WORDS)
    for number, text in enumerate(texts):
        freely = _in_free_wording(stated, text, known, is_clear=is_against and not seems_against)
        if freely is not None and (not seems_against or freely.sentence == best.sentence):
            return replace(freely, text=number)
    return best


def _in_free_wording(stated: Sentence, text: str, names: frozenset[str], *, is_clear: bool) -> Check | None:
    """The proof by a sentence that says the same with other words; None where there is none.

    With `is_clear` it must have so much of the statement that it is held for proof though a sentence seems against it.
    """
    wanted, numbers = _wanted(stated, names)
    if len(wanted) + len(numbers) < _FEWEST_FREE:
        return None
    said = _SaidBy(wanted, near)
    sentences = source_sentences(text)
    for place in _candidates(text, numbers, said)[:_READ_FREELY]:
        candidate = sentences[place]
        context = _context(sentences, place)
        for words in dict.fromkeys((_with_heading(stated, candidate).text, *readings(stated, sentences, place, text))):
            weighed = weigh(stated, read(words), names, context)
            if weighed.is_clear if is_clear else weighed.is_supported:
                return Check(Finding.SUPPORTED, candidate.original, None, 1.0)
    return None


def _wanted(stated: Sentence, names: frozenset[str]) -> tuple[set[str], "_Numbers"]:
    """The stems and the numbers that a sentence is sought for."""
    figures = (stated.tokens[at].figure for at in stated.figures)
    numbers = {(abs(figure.value), figure.digits) for figure in figures if figure and not figure.is_date}
    return {stated.tokens[at].stem for at in stated.content} - names, _Numbers(numbers)


class _Numbers:
    """The numbers of a statement, which a sentence may have with more digits: `8.0 billion` of `8,031 million`."""

    def __init__(self, numbers: Collection[tuple[Decimal, int]]) -> None:
        self._numbers = [(str(value.normalize()), value, digits) for value, digits in numbers]

    def __len__(self) -> int:
        return len(self._numbers)

    def held_by(self, candidate: SourceSentence) -> int:
        """How many of them a sentence has."""
        return sum(
            written in candidate.numbers
            or (digits > 1 and any(_rounds(other, value, digits) for other in candidate.numbers))
            for written, value, digits in self._numbers
        )


@lru_cache(maxsize=65536)
def _rounds(number: str, value: Decimal, digits: int) -> bool:
    """Whether a source's number has that value when it is rounded to so many digits."""
    own = Decimal(number)
    return own.adjusted() == value.adjusted() and abs(own - value) * 2 <= Decimal(10) ** (value.adjusted() - digits + 1)


def _read_otherwise(
    stated: Sentence, text: str, places: Sequence[int], names: frozenset[str], said: "_SaidBy"
) -> Check | None:
    """The proof by what a sentence says in another form; None where there is none.

    Looked at are sentences that have all of the statement's figures and half of its words, or begin with a pronoun.
    """
    wanted, numbers = _wanted(stated, names)
    candidates = source_sentences(text)
    fewest = max(len(wanted) * _NEAR, len(wanted) - _FEW_MISSING)
    for place in places[:_READ_OTHERWISE]:
        candidate = candidates[place]
        held = said.how_many(candidate.stems)
        if numbers.held_by(candidate) < len(numbers) or (
            held < fewest and not (held and begins_with_pronoun(candidate.text))
        ):
            continue
        for words in readings(stated, candidates, place, text):
            if said.how_many(read(words).all_stems) == len(wanted):
                other = SourceSentence(candidate.original, words, "", candidate.stems, candidate.numbers)
                result = compare(stated, other, names)
                if result.verdict is Finding.SUPPORTED:
                    return result
    return None


def _context(sentences: Sequence[SourceSentence], place: int) -> Context:
    around = (*sentences[:_AROUND], *sentences[max(place - _AROUND, 0) : place + 2])
    before = (*around, *sentences[max(place - _NAMED_BEFORE, 0) : place])
    stems = [[stem(word) for word in _WORD.findall(each.text)] for each in before]
    pairs = frozenset(pair for each in stems for pair in pairwise(each))
    return Context(frozenset[str]().union(*(each.stems for each in around)), pairs)


def nearest(statement: str, texts: Sequence[str], names: str = "", most: int = 3) -> list[str]:
    """The sentences of the texts that share most with a statement, as they stand there, best first."""
    stated = read(statement)
    wanted, numbers = _wanted(stated, _known(names))
    sought = _SaidBy(wanted)
    found = [source_sentences(text)[place] for text in texts for place in _candidates(text, numbers, sought)]
    said = _SaidBy({stated.tokens[at].stem for at in stated.content})
    found.sort(key=lambda candidate: -said.how_many(candidate.stems))
    return list(dict.fromkeys(candidate.original for candidate in found))[:most]


def compared(statement: str, texts: Sequence[str], amount: str, names: str = "") -> Iterator[Check]:
    """What each of the sentences with an amount of a statement, of those that share most with it, says of it."""
    stated, known = read(statement), _known(names)
    wanted, numbers = _wanted(stated, known)
    sought, held = _SaidBy(wanted), _wanted(read(amount), known)[1]
    for number, text in enumerate(texts):
        for place in _candidates(text, numbers, sought):
            candidate = source_sentences(text)[place]
            if held.held_by(candidate) == len(held):
                yield replace(compare(stated, candidate, known), text=number)


def _known(names: str) -> frozenset[str]:
    """The stems that name whom the texts are about, and its initials: `J&J`."""
    words = names.replace(".", " ").split()
    initials = [word[0].lower() for word in words if word[0].isupper()]
    short = {"".join(initials), "&".join(initials)} if len(initials) > 1 else set[str]()
    return frozenset(stem(word) for word in words if len(word) > 1) | short


def _candidates(text: str, numbers: _Numbers, said: "_SaidBy") -> list[int]:
    """Where the sentences of a text stand that share most with a statement, best first."""
    scored = []
    for place, candidate in enumerate(source_sentences(text)):
        shared = float(said.how_many(candidate.stems))
        if candidate.numbers:
            shared += 0.5 * numbers.held_by(candidate)
        if shared or not said.words:
            scored.append((shared - len(candidate.stems) * 0.005, -place))
    scored.sort(reverse=True)
    return [-place for _, place in scored[:_CANDIDATES]]


class _SaidBy(dict[str, frozenset[str]]):
    """For each stem of a text, the words of a statement that it says; looked up once for each stem."""

    def __init__(self, words: Collection[str], alike: Callable[[str, str], bool] = say_the_same) -> None:
        self.words, self._alike = words, alike

    def __missing__(self, stem: str) -> frozenset[str]:
        self[stem] = said = frozenset(word for word in self.words if self._alike(word, stem))
        return said

    def how_many(self, stems: frozenset[str]) -> int:
        """How many of the words a sentence with these stems says."""
        return len(frozenset[str]().union(*map(self.__getitem__, stems)))


def compare(stated: Sentence, candidate: SourceSentence, names: frozenset[str] = frozenset()) -> Check:
    """What one sentence of a source says of a statement."""
    source = _with_heading(stated, candidate)
    words = restated(stated.text, source.text)
    if words != stated.text:
        stated = read(words)
    if [token.text for token in stated.tokens] == [token.text for token in source.tokens]:
        return Check(Finding.SUPPORTED, candidate.original, None, 1.0)
    comparison = Comparison(stated, source, names)
    differences = list(_differences(comparison))
    share = comparison.share
    if not differences:
        return Check(Finding.SUPPORTED, candidate.original, None, share)
    against = [difference for difference in differences if difference.is_against]
    others = len(differences) - len(against)
    if against and others <= 1 and comparison.share_but(len(against)) >= _SAME_MATTER:
        return Check(Finding.CONTRADICTED, candidate.original, against[0], share)
    return Check(Finding.NOT_FOUND, candidate.original, differences[0], share)


def _with_heading(stated: Sentence, candidate: SourceSentence) -> Sentence:
    """The sentence, behind the heading over it where that has a date that the statement has and it has not."""
    source = read(candidate.text)
    if candidate.before[-1:] in {"", ".", "!", "?"} or candidate.before.count(" ") > _HEADING:
        return source
    heading = read(candidate.before)
    if any(token.is_verb for token in heading.tokens):
        return source
    figures = [[token.figure for token in each.tokens if token.figure] for each in (stated, heading, source)]
    wanted = [figure for figure in figures[0] if figure.is_date and not any(same(figure, own) for own in figures[2])]
    if any(same(figure, own) for figure in wanted for own in figures[1]):
        return read(f"{candidate.before}: {candidate.text}")
    return source


def _differences(comparison: Comparison) -> Iterator[Difference]:
    if not any(token.is_content or token.figure for token in comparison.stated.tokens):
        return
    yield from missing_words(comparison)
    yield from opposites(comparison)
    yield from other_subjects(comparison)
    yield from negations(comparison)
    yield from limits_differ(comparison)
    yield from lost_words(comparison)
    yield from places_of_figures(comparison)
    yield from swapped_roles(comparison)
    yield from exchanged(comparison)
    yield from exchanged_names(comparison)
    yield from attributed_names(comparison)
    yield from misplaced_names(comparison)
    yield from beyond_semicolon(comparison)
    yield from other_frequencies(comparison)
    yield from other_periods(comparison)
    yield from exchanged_for(comparison)
    yield from restricted_subjects(comparison)
    yield from other_names(comparison)
    yield from other_tenses(comparison)
