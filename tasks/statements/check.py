"""Whether one sentence of a source says what a statement says.

`compare` holds a statement against one sentence, `check` against all sentences and table rows of texts. There are
three verdicts:

supported     the sentence has the statement's subject, what is said of it, its figures, and limits both alike
contradicted  it speaks of the same, with another figure, or in the other sense
not found     neither

Nothing is guessed: a word that the sentence has not, and that says the same as none of its words, is not found. A word
too many is what a changed statement has as well as a free paraphrase, and the source's own sentence can be shown.
"""

from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from tasks.statements.alignment import Comparison, Difference
from tasks.statements.derived import restated
from tasks.statements.figure_places import places_of_figures
from tasks.statements.figures import same
from tasks.statements.limiting import limits_differ, negations
from tasks.statements.reading import Sentence, read
from tasks.statements.readings import begins_with_pronoun, readings
from tasks.statements.roles import exchanged, exchanged_names, misplaced_names, swapped_roles
from tasks.statements.tables import SourceSentence, source_sentences
from tasks.statements.wording import (
    beyond_semicolon,
    lost_words,
    missing_words,
    opposites,
    other_frequencies,
    other_names,
    other_subjects,
    other_tenses,
    restricted_subjects,
)
from tasks.statements.words import say_the_same, stem

_CANDIDATES: Final = 8


_SAME_MATTER: Final = 0.7
"""The share of a statement's words that a sentence has which speaks of the same matter."""


_NEAR: Final = 0.5
_FEW_MISSING: Final = 3
_READ_OTHERWISE: Final = 4
"""The share of a statement's words that a sentence has which may prove it in another form, how many it may lack, and
how many sentences are read so."""


_HEADING: Final = 12
"""The most words of a heading."""


_SHOWN: Final = 0.5
"""The share of words from which a sentence is worth showing in a statement's place."""


class Verdict(StrEnum):
    """What a source says of a statement."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    NOT_FOUND = "not found"


@dataclass(frozen=True, slots=True)
class Check:
    """A verdict, the sentence of the source that it rests on (or comes nearest), and why, in a few words.

    `share` is the part of the statement's words that the sentence has, from 0 to 1; `text` counts the texts from 0.
    """

    verdict: Verdict
    sentence: str = ""
    why: str = ""
    share: float = 0.0
    text: int = 0

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
    stated = read(statement)
    known = _known(names)
    best = Check(Verdict.NOT_FOUND)
    wanted, numbers = _wanted(stated, known)
    said = _SaidBy(wanted)
    for number, text in enumerate(texts):
        candidates = _candidates(text, numbers, said)
        for place in candidates:
            candidate = source_sentences(text)[place]
            result = compare(stated, candidate, known)
            if result.verdict is Verdict.SUPPORTED:
                return Check(result.verdict, candidate.original, result.why, result.share, number)
            rank = (result.verdict is Verdict.CONTRADICTED, result.share)
            if rank > (best.verdict is Verdict.CONTRADICTED, best.share):
                best = Check(result.verdict, candidate.original, result.why, result.share, number)
        otherwise = _read_otherwise(stated, text, candidates, known, said)
        if otherwise is not None:
            return replace(otherwise, text=number)
    return best


def _wanted(stated: Sentence, names: frozenset[str]) -> tuple[set[str], set[str]]:
    """The stems and the numbers that a sentence is sought for."""
    figures = (stated.tokens[at].figure for at in stated.figures)
    numbers = {str(abs(figure.value).normalize()) for figure in figures if figure and not figure.is_date}
    return {stated.tokens[at].stem for at in stated.content} - names, numbers


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
        if not numbers <= candidate.numbers or (held < fewest and not (held and begins_with_pronoun(candidate.text))):
            continue
        for words in readings(stated, candidates, place, text):
            if said.how_many(read(words).all_stems) == len(wanted):
                other = SourceSentence(candidate.original, words, "", candidate.stems, candidate.numbers)
                result = compare(stated, other, names)
                if result.verdict is Verdict.SUPPORTED:
                    return result
    return None


def nearest(statement: str, texts: Sequence[str], names: str = "", most: int = 3) -> list[str]:
    """The sentences of the texts that share most with a statement, as they stand there, best first."""
    stated = read(statement)
    wanted, numbers = _wanted(stated, _known(names))
    sought = _SaidBy(wanted)
    found = [source_sentences(text)[place] for text in texts for place in _candidates(text, numbers, sought)]
    said = _SaidBy({stated.tokens[at].stem for at in stated.content})
    found.sort(key=lambda candidate: -said.how_many(candidate.stems))
    return list(dict.fromkeys(candidate.original for candidate in found))[:most]


def _known(names: str) -> frozenset[str]:
    """The stems that name whom the texts are about, and its initials: `J&J`."""
    words = names.replace(".", " ").split()
    initials = [word[0].lower() for word in words if word[0].isupper()]
    short = {"".join(initials), "&".join(initials)} if len(initials) > 1 else set[str]()
    return frozenset(stem(word) for word in words if len(word) > 1) | short


def _candidates(text: str, numbers: AbstractSet[str], said: "_SaidBy") -> list[int]:
    """Where the sentences of a text stand that share most with a statement, best first."""
    scored = []
    for place, candidate in enumerate(source_sentences(text)):
        shared = float(said.how_many(candidate.stems))
        shared += 0.5 * len(numbers & candidate.numbers)
        if shared or not said.words:
            scored.append((shared - len(candidate.stems) * 0.005, -place))
    scored.sort(reverse=True)
    return [-place for _, place in scored[:_CANDIDATES]]


class _SaidBy(dict[str, frozenset[str]]):
    """For each stem of a text, the words of a statement that it says; looked up once for each stem."""

    def __init__(self, words: Collection[str]) -> None:
        self.words = words

    def __missing__(self, stem: str) -> frozenset[str]:
        self[stem] = said = frozenset(word for word in self.words if say_the_same(word, stem))
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
        return Check(Verdict.SUPPORTED, candidate.original, "", 1.0)
    comparison = Comparison(stated, source, names)
    differences = list(_differences(comparison))
    share = comparison.share
    if not differences:
        return Check(Verdict.SUPPORTED, candidate.original, "", share)
    against = [difference for difference in differences if difference.is_against]
    others = len(differences) - len(against)
    if against and others <= 1 and comparison.share_but(len(against)) >= _SAME_MATTER:
        return Check(Verdict.CONTRADICTED, candidate.original, against[0].why, share)
    return Check(Verdict.NOT_FOUND, candidate.original, differences[0].why, share)


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
    yield from misplaced_names(comparison)
    yield from beyond_semicolon(comparison)
    yield from other_frequencies(comparison)
    yield from restricted_subjects(comparison)
    yield from other_names(comparison)
    yield from other_tenses(comparison)
