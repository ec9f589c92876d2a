"""What a question asks for: its words and phrases, each with how much it says, and what documents call them."""

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from tasks.ranking.vocabulary import FIELDS, Entry, Phrase, entries, shares
from tasks.text.tokens import tokens

_LONGEST = 1000  # words of a question that are read: more is no question
_RARE = 0.001  # the share of passages taken for a word that is not among the frequent ones
_TYPICAL = 0.6  # words that stand in several phrases of a thing, beside the question's own
_VOCABULARY = 2.0  # what documents call a thing, beside what the question calls it
_PAIR = 0.25  # two neighbours of a question that are neighbours in a text too
_FRAME = 0.02  # a word of the asking: enough to find a text that shares nothing else with the question
_NAME = 0.3  # a name: in a report on one company it tells no page from another
_YEAR = 0.3  # a year: it stands on every page of figures
_FISCAL = re.compile(r"\b(?:FY|CY|fiscal|Q[1-4])[\s'’]*(?:(20|19)(\d\d)|(\d\d))\b", re.IGNORECASE)
_SOME = 0.001  # of an entry's weight: less is no sign of a field
_OF_CONTRACTS = frozenset(tokens("contract agreement clause party"))
_CAPITAL = re.compile(r"[A-Z][\w&.\-]*")

# Words of the asking, not of what is asked.
_ASKING = frozenset(
    tokens(
        "answer question respond response reply give given please state explain describe say tell show shown list name "
        "identify determine calculate compute define defined assume suppose using use used based basis base rely "
        "relying detail details information primarily only clearly following according mention mentioned reported "
        "report outline round rounded decimal decimals place places nearest percent percentage amount value figure "
        "number unit usd million millions thousand thousands billion billions dollar dollars analyst investor "
        "investment banker banking public equities equity research company company's firm business annual year fiscal "
        "end ended last period date judgement judgment line item items standpoint perspective useful metric relevant "
        "reasonably currently data available return highlight parts related relating reviewed lawyer n/a whether "
        "clause section provision agreement contract party parties document subject unadjusted"
    )
)


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase that speaks to a question: its words as `tokens` gives them, and how much it counts."""

    phrase: Phrase
    weight: float


@dataclass(frozen=True, slots=True)
class Meaning:
    """What documents call one thing that is asked for: its terms add up to `weight` at most."""

    terms: tuple[Term, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, read.

    Attributes:
        terms: its own words, neighbouring ones also as pairs, and words that tell of a thing that it means.
        meanings: what the vocabulary has for things that it means.
        statements: the statements of an annual report on which the answer would stand.
        clause: whether it asks for a clause of a contract.
    """

    terms: tuple[Term, ...]
    meanings: tuple[Meaning, ...]
    statements: frozenset[str]
    clause: bool

    def weighed(self) -> Iterator[tuple[Term, float]]:
        """All terms, each with what it weighs beside all others."""
        yield from ((term, term.weight) for term in self.terms)
        for meaning in self.meanings:
            yield from ((term, meaning.weight * term.weight / len(meaning.terms)) for term in meaning.terms)


def read(question: str) -> Asked:
    """Reads a question; one without a word that counts has no terms.

    Words of the asking ("give a response in USD millions") hardly count, unless there are no others.
    """
    words = tokens(_FISCAL.sub(lambda found: f" {found[1] or '20'}{found[2] or found[3]} ", question))[:_LONGEST]
    names = _names(question)
    telling = dict.fromkeys([word for word in words if word not in _ASKING] or words)
    terms: dict[Phrase, float] = {(word,): rarity((word,)) * _part(word, names) for word in telling}
    terms |= {(word,): rarity((word,)) * _FRAME for word in words if word not in telling}
    for pair in itertools.pairwise(words):
        if not any(word in names or word in _ASKING or word.isdigit() for word in pair):
            terms[pair] = _PAIR * rarity(pair)
    whole = sum(rarity((word,)) for word in telling if _part(word, names) == 1.0) or 1.0
    meanings, statements = [], set()
    fields = dict.fromkeys(FIELDS, 0.0)
    for entry, met in _meant(words):
        covered = sum(rarity((word,)) for word in {word for phrase in met for word in phrase})
        # An entry counts by the share of the question that means it: half of the words are enough for all of it.
        weight = entry.weight * min(1.0, 2 * covered / whole)
        said = dict.fromkeys((*met, *entry.says))
        meanings.append(Meaning(tuple(Term(phrase, rarity(phrase)) for phrase in said), _VOCABULARY * weight))
        for word, share in _typical(entry).items():
            terms[word,] = terms.get((word,), 0.0) + _TYPICAL * weight * share
        fields[entry.field] = max(fields[entry.field], weight)
        if entry.stands:
            statements.add(entry.stands)
    clause = fields["contracts"] >= max(fields["finance"], _SOME) or not _OF_CONTRACTS.isdisjoint(words)
    return Asked(tuple(itertools.starmap(Term, terms.items())), tuple(meanings), frozenset(statements), clause)


@cache
def _typical(entry: Entry) -> dict[str, float]:
    """Words that tell of an entry by themselves, for they stand in several of its phrases, each with its weight."""
    often = Counter(word for phrase in entry.says for word in set(phrase))
    typical = {word: count for word, count in often.items() if count > 1 or (word,) in entry.says}
    most = max(typical.values(), default=1) * len(typical)
    return {word: rarity((word,)) * math.sqrt(count / most) for word, count in typical.items()}


def _part(word: str, names: set[str]) -> float:
    """How much of its rarity a word counts."""
    if word in names:
        return _NAME
    return _YEAR if word.isdigit() and len(word) == 4 else 1.0


def rarity(phrase: Phrase) -> float:
    """How much a phrase says, by how rare its rarest words are: about 1 for a common word, 7 for a rare one."""
    known = shares()
    each = sorted((math.log(1 + 1 / known.get(word, _RARE)) for word in phrase), reverse=True)
    return min(each[0] + 0.3 * sum(each[1:3]), 9.0)


def _names(question: str) -> set[str]:
    """Words that name someone: capitals inside a sentence, of words that documents at large hardly use."""
    spelled = _CAPITAL.findall(question)
    if 2 * len(spelled) > len(question.split()):
        return set()
    starts = {found.group(1) for found in re.finditer(r"(?:^|[.?!:]\s+)([A-Z]\w*)", question)}
    known = shares()
    return {
        token
        for word in spelled
        if word not in starts and not word.isupper()
        for token in tokens(word)
        if token not in known and token not in _worded()
    }


def _meant(words: Sequence[str]) -> Iterator[tuple[Entry, tuple[Phrase, ...]]]:
    """The entries of the vocabulary that a question means, each with the phrases by which it does."""
    at: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        at.setdefault(word, []).append(place)
    met: dict[int, list[Phrase]] = {}
    for word in at:
        for number, phrase in _asking().get(word, ()):
            if _stands(phrase, at):
                met.setdefault(number, []).append(phrase)
    for number in sorted(met):
        yield entries()[number], tuple(met[number])


@cache
def _asking() -> dict[str, list[tuple[int, Phrase]]]:
    """The phrases that questions use, by their first word, each with the number of its entry."""
    found: dict[str, list[tuple[int, Phrase]]] = {}
    for number, entry in enumerate(entries()):
        for phrase in entry.asks:
            found.setdefault(phrase[0], []).append((number, phrase))
    return found


@cache
def _worded() -> frozenset[str]:
    """All words of the vocabulary: "Non-Disparagement" names nobody."""
    return frozenset(word for entry in entries() for phrase in (*entry.asks, *entry.says) for word in phrase)


def _stands(phrase: Phrase, at: dict[str, list[int]]) -> bool:
    """Whether all words of a phrase stand close together."""
    if any(word not in at for word in phrase):
        return False
    reach = len(phrase) + 1
    return any(
        all(any(abs(place - first) <= reach for place in at[word]) for word in phrase[1:]) for first in at[phrase[0]]
    )
