"""A question as a query: its words and phrases, each with a weight, and what documents call what it asks for.

What documents call things is the general vocabulary. Its files lie in the folder `vocabulary`. Each table of
`finance.toml` and `contracts.toml` is one entry, named after what it is about (the name is for the reader, and unique):

    [capital_expenditure]
    asks = ["capital expenditure", "capex", "capital spending"]
    says = ["purchases of property, plant and equipment", "additions to property and equipment"]
    stands = "cash flow"

asks    phrases of questions. The entry is meant when all words of one of them stand close together in the question
        (within two words more than the phrase has, in any order; plural and verb endings and stop words do not count).
says    phrases of documents: a text speaks to the question when one of them stands in it, its words close together.
        `#` is any number: "# employees".
stands  optional: the statement on whose page a filing gives it: "balance sheet", "income statement", "cash flow",
        "equity statement".
weight  optional, 1.0 when left out: how much the entry counts beside the question's own words.

A phrase of `asks` that stands in the question counts as one of `says` too and is not repeated there.
Entries are general knowledge of a field: no company's name, no number, no year.

Function words ("may", "they", "from", "what") are counted for each text. They say nothing about a text's subject, so
the index of positions leaves them out. But everyday questions consist of them ("What may they keep for themselves?"),
and clauses differ in them: a duty says "shall", a permission "may". If a question has few other words, plain BM25
counts them, at less than their rarity (`index.FUNCTION_WORDS`).

Those that every text has ("the", "of", "is") do not separate texts and are left out. Only counts are kept, 5 bytes for
each word of each text.
"""

import itertools
import math
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tasks.language.words import (
    STOP_WORDS,
    tokens,
    word_forms,
)
from tasks.ranking.lexicon import IN_MEMORY, GrowingRow, Ints, Word, empty_row
from tasks.ranking.lexicon import words as words_of

_FILES: Final = Path(__file__).with_name("vocabulary")
NUMBER = "#"

FIELDS = ("finance", "contracts")
_KEYS = {"asks", "says", "stands", "weight"}
_SHOWN = 6  # phrases of questions that tell what an entry means

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class VocabularyEntry:
    """One thing with its names. Phrases are tuples of `tokens`; `field` is one of `FIELDS`.

    `meaning` and `terms` are its name with phrases of questions, and all phrases of documents, as they are written.
    """

    name: str
    field: str
    asks: tuple[Phrase, ...]
    says: tuple[Phrase, ...]
    stands: str | None = None
    weight: float = 1.0
    meaning: str = ""
    terms: str = ""


@dataclass(frozen=True, slots=True)
class FinancialStatement:
    """The titles of a statement, and its line items."""

    titles: tuple[Phrase, ...]
    lines: tuple[Phrase, ...]


@cache
def statements() -> dict[str, FinancialStatement]:
    """The statements of an annual report (`statements.toml`), by their names in the vocabulary."""
    tables = tomllib.loads((_FILES / "statements.toml").read_text("utf-8"))
    return {
        name: FinancialStatement(tuple(map(phrase, table["titles"])), tuple(map(phrase, table["lines"])))
        for name, table in tables.items()
    }


@cache
def entries() -> tuple[VocabularyEntry, ...]:
    """All entries of the vocabulary, in the order of the files.

    Raises:
        ValueError: for a file that does not keep to the format above.
    """
    files = {field: _FILES / f"{field}.toml" for field in FIELDS}
    return tuple(entry for field, file in files.items() for entry in parse(file.read_text("utf-8"), field))


def parse(text: str, field: str) -> list[VocabularyEntry]:
    """The entries of one file's text.

    Raises:
        ValueError: for text that does not keep to the format above.
    """
    return [_entry(name, field, table) for name, table in tomllib.loads(text).items()]


def _entry(name: str, field: str, table: object) -> VocabularyEntry:
    if not isinstance(table, dict) or not {"asks", "says"} <= table.keys() <= _KEYS:
        raise ValueError(f"vocabulary: [{name}] needs asks and says, and may have stands and weight")
    stands, weight = table.get("stands"), table.get("weight", 1.0)
    if stands is not None and stands not in statements():
        raise ValueError(f"vocabulary: [{name}] stands on none of {', '.join(sorted(statements()))}")
    if not isinstance(weight, (int, float)) or weight <= 0:
        raise ValueError(f"vocabulary: [{name}] has a weight that is not above 0")
    meaning = f"{name.replace('_', ' ')}: {', '.join(table['asks'][:_SHOWN])}"
    asks, says = _phrases(name, table["asks"]), _phrases(name, table["says"])
    return VocabularyEntry(name, field, asks, says, stands, float(weight), meaning, ". ".join(table["says"]))


def _phrases(name: str, listed: Iterable[str]) -> tuple[Phrase, ...]:
    phrases = tuple(dict.fromkeys(map(phrase, listed)))
    if () in phrases:
        raise ValueError(f"vocabulary: [{name}] has a phrase without a word that counts")
    return phrases


def phrase(text: str) -> Phrase:
    """The significant words of a phrase; `#` stays, for any number."""
    return tuple(word for part in text.split() for word in ([NUMBER] if part == NUMBER else tokens(part)))


@cache
def shares() -> dict[str, float]:
    """The share of passages of 100 words that contain a frequent word (in the form of `tokens`), 0 to 1.

    The mean over annual reports and contracts, for words in at least 0.2 % of passages (`frequent.txt`: word and per
    mille). Words that are not in it are rare.
    """
    listed = (_FILES / "frequent.txt").read_text("utf-8").split()
    return {NUMBER: 0.8} | {word: int(share) / 1000 for word, share in zip(listed[::2], listed[1::2], strict=True)}


NONE: Final = -1
_EVERYWHERE: Final = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this "  # noqa: SIM905 - as in tasks.language.words
    "to was will with".split()
)
FUNCTION_WORDS: Final = STOP_WORDS - _EVERYWHERE
_NUMBERS: Final = {word: number for number, word in enumerate(sorted(FUNCTION_WORDS))}
_MOST: Final = 255  # of a word in one text that are counted


def find_number(form: str) -> int:
    """The number of a function word, or NONE."""
    return _NUMBERS.get(form, NONE)


class FunctionWords:
    """The function words of texts, which are added in order, in batches."""

    def __init__(self, in_memory: int = IN_MEMORY) -> None:
        """Anything above `in_memory` bytes is kept on disk."""
        self._in_memory = in_memory
        self._added = GrowingRow(in_memory), GrowingRow(in_memory)
        self._of_words: list[Ints] = []  # how many of the added texts have each word
        self._texts: NDArray[np.int32] = np.empty(0, np.int32)
        self._counts: NDArray[np.uint8] = np.empty(0, np.uint8)
        self._starts = np.zeros(len(_NUMBERS) + 1, np.int64)

    def add(self, first: int, numbers: NDArray[np.int16], ends: NDArray[np.int64]) -> None:
        """Add the texts from number `first` on: the `find_number` of each word, and where each text
        ends among these.
        """
        lengths = np.concatenate([ends[:1], ends[1:] - ends[:-1]])
        texts = np.repeat(np.arange(len(lengths), dtype=np.int64), lengths)
        is_one = numbers != NONE
        keys, counts = np.unique(numbers[is_one].astype(np.int64) * len(lengths) + texts[is_one], return_counts=True)
        words, where = keys // len(lengths), keys % len(lengths) + first
        self._added[0].append(where.astype(np.int32))
        self._added[1].append(np.minimum(counts, _MOST).astype(np.uint8))
        self._of_words.append(np.bincount(words, minlength=len(_NUMBERS)))

    def close(self) -> None:
        """Call this when all texts are added: it groups the texts by word."""
        if not self._of_words:
            return
        np.cumsum(np.sum(self._of_words, axis=0), out=self._starts[1:])
        texts, counts = self._added[0].row(np.int32), self._added[1].row(np.uint8)
        self._texts = empty_row(len(texts), np.int32, self._in_memory)
        self._counts = empty_row(len(texts), np.uint8, self._in_memory)
        free, begin = self._starts[:-1].copy(), 0
        for of_words in self._of_words:
            end = begin + int(of_words.sum())
            before = np.cumsum(of_words) - of_words
            to = np.repeat(free - before, of_words) + np.arange(end - begin)
            self._texts[to], self._counts[to] = texts[begin:end], counts[begin:end]
            free += of_words
            begin = end
        self._of_words.clear()
        del self._added

    def counts(self, word: str) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The texts that have a function word, in order, and how often each has it."""
        number = find_number(word)
        if number == NONE:
            return self._texts[:0], self._counts[:0]
        span = slice(self._starts[number], self._starts[number + 1])
        return self._texts[span], self._counts[span]


_MAX_WORDS = 1000  # of a question that are read
_RARE = 0.001  # the share of passages that is assumed for a word that is not among the frequent ones
_TYPICAL = 0.6  # the weight of words that stand in several phrases of a thing, beside the question's own
_VOCABULARY = 2.0  # the weight of what documents call a thing, beside what the question calls it
_PAIR = 0.25  # the weight of two neighbouring words that are neighbours in a text too
_FRAMING = 0.02  # the weight of a framing word: enough to find a text that shares nothing else with the question
_NAME = 0.3  # the weight of a name: in a report on one company it distinguishes no pages
_YEAR = 0.3  # the weight of a year: it stands on every page of figures
_FISCAL = re.compile(r"\b(?:FY|CY|fiscal|Q[1-4])[\s'’]*(?:(20|19)(\d\d)|(\d\d))\b", re.IGNORECASE)
_AS_IS = re.compile(r"""\bas-is\b|["“'‘]as is["”'’]""", re.IGNORECASE)
_LEAST_WEIGHT = 0.001  # of an entry; less is not a sign of a field
_NEAR = 0.6  # the weight of an entry that only shares words with the question, where no other is meant
_NEAREST = 3  # such entries at most
_LEAST_SHARED = 0.3  # the share of the question's words that it has; less is chance
_NEAR_KNOWN = 0.4  # how much of the question such an entry makes known, beside one that it means
_IN_SAYS = 0.7  # a word that only documents use, beside one that questions use
_MAX_RARITY = 5.0  # of a word among the entries
_TELLING: Final = 4.5
"""The rarity of what documents call a thing from which on it says that they speak of it: "own" and "expire" do not."""
_OF_CONTRACTS = frozenset(tokens("contract agreement clause party"))
_CAPITAL = re.compile(r"[A-Z][\w&.\-]*")
_SENTENCE = re.compile(r"(?<=[.?!])\s+")
_INSTRUCTION = 2 / 3  # the share of framing words in a sentence that only says how to answer

# Words that frame a question and do not say what it is about.
_FRAMING_WORDS = frozenset(
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
class QueryTerm:
    """A word or phrase of a query: its words as `tokens` returns them, and its weight."""

    phrase: Phrase
    weight: float


@dataclass(frozen=True, slots=True)
class QueryMeaning:
    """What documents call one thing that is asked for; all its terms together count at most `weight`."""

    terms: tuple[QueryTerm, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Query:
    """What a question asks for.

    Attributes:
        terms: its own words, neighbouring ones also as pairs, and words that are typical of a thing that it means.
        meanings: what the vocabulary has for the things that it means.
        statements: the statements of an annual report on which the answer would stand.
        clause: whether it asks for a clause of a contract.
        words: its own words in order, framing words among them, without sentences that only say how to answer.
        function_words: its words that do not count ("may", "they"), once each.
        known: how much of it the vocabulary knows, from 0 to 1.
    """

    terms: tuple[QueryTerm, ...]
    meanings: tuple[QueryMeaning, ...]
    statements: frozenset[str]
    clause: bool
    words: tuple[Word, ...] = ()
    function_words: tuple[str, ...] = ()
    known: float = 0.0

    def weigh_terms(self) -> Iterator[tuple[QueryTerm, float]]:
        """All terms, including those of meanings, each with its relative weight."""
        yield from ((term, term.weight) for term in self.terms)
        for meaning in self.meanings:
            yield from ((term, meaning.weight * term.weight / len(meaning.terms)) for term in meaning.terms)


@lru_cache(maxsize=128)  # a criterion asks the same of each company
def read_query(question: str) -> Query:
    """Analyse a question; one without significant words has no terms.

    Framing words ("give a response in USD millions") hardly count, unless there are no others.
    """
    question = _FISCAL.sub(lambda match: f" {match[1] or '20'}{match[2] or match[3]} ", question)
    question = _AS_IS.sub(" disclaimer of warranties ", question)  # no word of it says what it is about
    words = tokens(question)[:_MAX_WORDS]
    names = _names(question)
    content_words = dict.fromkeys([word for word in words if word not in _FRAMING_WORDS] or words)
    terms = _weigh_words(words, content_words, names)
    total = sum(rarity((word,)) for word in content_words if _share(word, names) == 1.0) or 1.0
    meanings, statements = [], set()
    fields = dict.fromkeys(FIELDS, 0.0)
    known, meant = 0.0, set()
    for entry, matches in _meant(words):
        meant.add(entry.name)
        covered = sum(rarity((word,)) for word in {word for phrase in matches for word in phrase})
        # An entry counts by the share of the question that means it; half of the question is enough for full weight.
        weight = entry.weight * min(1.0, 2 * covered / total)
        meanings.append(_to_meaning(dict.fromkeys((*matches, *entry.says)), weight))
        known = max(known, weight)
        for word, share in _typical(entry).items():
            terms[word,] = terms.get((word,), 0.0) + _TYPICAL * weight * share
        fields[entry.field] = max(fields[entry.field], weight)
        if entry.stands:
            statements.add(entry.stands)
    nearest = [(entry, shared) for entry, shared in _nearest(list(content_words)) if entry.name not in meant]
    if known < 1:
        meanings += [_to_meaning(entry.says, _NEAR * shared * (1 - known)) for entry, shared in nearest]
    known = max([known, *(_NEAR_KNOWN * shared for _, shared in nearest)])
    clause = fields["contracts"] >= max(fields["finance"], _LEAST_WEIGHT) or not _OF_CONTRACTS.isdisjoint(words)
    return Query(
        tuple(itertools.starmap(QueryTerm, terms.items())),
        tuple(meanings),
        frozenset(statements),
        clause,
        tuple(_choose_asked_words(question)[:_MAX_WORDS]),
        tuple(dict.fromkeys(form for form in word_forms(question)[:_MAX_WORDS] if form in FUNCTION_WORDS)),
        known,
    )


def _weigh_words(words: Sequence[str], content_words: Iterable[str], names: set[str]) -> dict[Phrase, float]:
    """A question's own words and its pairs of adjacent words, each with its weight."""
    terms: dict[Phrase, float] = {(word,): rarity((word,)) * _share(word, names) for word in content_words}
    terms |= {(word,): rarity((word,)) * _FRAMING for word in words if (word,) not in terms}
    for pair in itertools.pairwise(words):
        if not any(word in names or word in _FRAMING_WORDS or word.isdigit() for word in pair):
            terms[pair] = _PAIR * rarity(pair)
    return terms


def _to_meaning(phrases: Iterable[Phrase], weight: float) -> QueryMeaning:
    return QueryMeaning(tuple(QueryTerm(phrase, rarity(phrase)) for phrase in phrases), _VOCABULARY * weight)


def _choose_asked_words(question: str) -> list[Word]:
    """The words of a question, without sentences that only say how to answer ("Else reply with a number.")."""
    sentences = [words_of(sentence) for sentence in _SENTENCE.split(question)]
    asked = [
        words
        for words in sentences
        if sum(word.token in _FRAMING_WORDS for word in words) < _INSTRUCTION * len(words) or len(words) < 2
    ]
    return [word for words in asked or sentences for word in words]


@cache
def _typical(entry: VocabularyEntry) -> dict[str, float]:
    """Words that stand for an entry by themselves because several of its phrases contain them, each with its weight."""
    counts = Counter(word for phrase in entry.says for word in set(phrase))
    typical = {word: count for word, count in counts.items() if count > 1 or (word,) in entry.says}
    most = max(typical.values(), default=1) * len(typical)
    return {word: rarity((word,)) * math.sqrt(count / most) for word, count in typical.items()}


def _share(word: str, names: set[str]) -> float:
    """The share of its rarity with which a word counts."""
    if word in names:
        return _NAME
    return _YEAR if word.isdigit() and len(word) == 4 else 1.0


def rarity(phrase: Phrase) -> float:
    """How informative a phrase is, by the rarity of its rarest words: about 1 for a common word, 7 for a rare one."""
    known = shares()
    rarities = sorted((math.log(1 + 1 / known.get(word, _RARE)) for word in phrase), reverse=True)
    return min(rarities[0] + 0.3 * sum(rarities[1:3]), 9.0)


def _names(question: str) -> set[str]:
    """Words that name someone: capitalised within a sentence, and rare in documents in general."""
    capitalised = _CAPITAL.findall(question)
    if 2 * len(capitalised) > len(question.split()):
        return set()
    starts = {match.group(1) for match in re.finditer(r"(?:^|[.?!:]\s+)([A-Z]\w*)", question)}
    known = shares()
    return {
        token
        for word in capitalised
        if word not in starts and not word.isupper()
        for token in tokens(word)
        if token not in known and token not in _vocabulary_words()
    }


def _meant(words: Sequence[str]) -> Iterator[tuple[VocabularyEntry, tuple[Phrase, ...]]]:
    """The vocabulary entries that a question means, each with the phrases in the question that show it."""
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(words):
        positions.setdefault(word, []).append(position)
    matches: dict[int, list[Phrase]] = {}
    for word in positions:
        for number, phrase in _phrases_by_first_word().get(word, ()):
            if _stands(phrase, positions):
                matches.setdefault(number, []).append(phrase)
    for number in sorted(matches):
        yield entries()[number], tuple(matches[number])


def find_meant_phrases(question: str) -> list[tuple[frozenset[str], list[str]]]:
    """For each entry of the vocabulary that a question means, its words in the question and what documents call it."""
    return [
        (
            frozenset(itertools.chain.from_iterable(asks)),
            [" ".join(phrase) for phrase in entry.says if rarity(phrase) >= _TELLING],
        )
        for entry, asks in _meant(tokens(question))
    ]


def _nearest(words: Sequence[str]) -> list[tuple[VocabularyEntry, float]]:
    """The entries that share most words with a question, each with the share of the question that it covers.

    A question in everyday words seldom contains a whole phrase of the vocabulary, but often words of it. A single word
    says too little: dozens of entries contain it.
    """
    if len(words) < 2:
        return []
    by_word = _entries_by_word()
    count = len(entries())
    rarities = {word: min(math.log(1 + count / (len(by_word.get(word, ())) + 0.5)), _MAX_RARITY) for word in words}
    total = sum(rarities.values()) or 1.0
    shared: dict[int, float] = {}
    for word, word_rarity in rarities.items():
        for number, weight in by_word.get(word, ()):
            shared[number] = shared.get(number, 0.0) + weight * word_rarity / total
    best = sorted(shared.items(), key=lambda item: (-item[1], item[0]))[:_NEAREST]
    return [(entries()[number], share) for number, share in best if share >= _LEAST_SHARED]


@cache
def _entries_by_word() -> dict[str, list[tuple[int, float]]]:
    """For each word, the numbers of the entries that contain it, each with the word's weight."""
    numbers: dict[str, list[tuple[int, float]]] = {}
    for number, entry in enumerate(entries()):
        weights = {word: _IN_SAYS for phrase in entry.says for word in phrase}
        weights |= {word: 1.0 for phrase in entry.asks for word in phrase}
        for word, weight in weights.items():
            numbers.setdefault(word, []).append((number, weight))
    return numbers


@cache
def _phrases_by_first_word() -> dict[str, list[tuple[int, Phrase]]]:
    """The phrases that questions use, by first word, each with the number of its entry."""
    phrases: dict[str, list[tuple[int, Phrase]]] = {}
    for number, entry in enumerate(entries()):
        for phrase in entry.asks:
            phrases.setdefault(phrase[0], []).append((number, phrase))
    return phrases


@cache
def _vocabulary_words() -> frozenset[str]:
    """All words in the vocabulary: "Non-Disparagement" is nobody's name."""
    return frozenset(word for entry in entries() for phrase in (*entry.asks, *entry.says) for word in phrase)


def _stands(phrase: Phrase, positions: dict[str, list[int]]) -> bool:
    """Whether all words of a phrase occur close together."""
    if any(word not in positions for word in phrase):
        return False
    reach = len(phrase) + 1
    return any(
        all(any(abs(position - first) <= reach for position in positions[word]) for word in phrase[1:])
        for first in positions[phrase[0]]
    )
