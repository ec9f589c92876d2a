"""The index that ranking reads, and how well texts answer a query by it.

It says where each word stands in each of many texts. The texts themselves are not kept. What of it is long lies on the
disk where texts are very many (`lexicon.GrowingRow`): the same numbers, read as they are asked for.

All texts are one row of words, and a text is a span of it. The index holds the positions of each spelling, sorted: 4
bytes for each word that counts. Spellings of one token stand side by side, and so do tokens of one family.

WordPositions    the positions of words in all texts
TextSubset       some of the texts, and the positions of phrases in them
likeliest        the texts that are worth a close look for a query

Texts answer a query by its terms in the text, its best window and its opening, and by the page's layout. Terms are
weighted as in BM25. A page counts more if it is the financial statement that would contain the answer, recognised by
its title, line items and figures. The less the vocabulary knows of the question, and the less it separates texts, the
more plain BM25 decides.

The constants were chosen on the development parts of `tests/benchmarks`: questions about annual reports, filings and
regulations, and about contracts (ContractNLI, LEDGAR).

Plain BM25 is how well texts answer a question by its own words, without any knowledge of a field. A word counts by its
rarity among the texts. This is what is left if the vocabulary says nothing about a question: framing words, names and
years count like all others, since some rooms differ in nothing else. Function words count half, because everyday
questions have hardly any others (ContractNLI, asked plainly, first five: .498 without them, .554 with them; measured on
the development part of `tests/benchmarks`).

Each word of the question counts as its family, and a little more if spelled as in the question; two neighbouring words
of the question count extra where they are neighbours in a text. Compounds with a word of the question count half as
much ("Meldepflicht" for "melden"; chosen on German regulations and XQuAD's first half). A text that has any of it gains
a little from the texts beside it: the passages of a document are in order.
"""

import itertools
import math
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from tasks.language.words import word_forms
from tasks.ranking.lexicon import (
    IN_MEMORY,
    GrowingRow,
    Ints,
    Lexicon,
    Span,
    Word,
    WordLanguages,
    empty_row,
    find_language_mask,
    split_into_words,
)
from tasks.ranking.query import NUMBER, FunctionWords, Phrase, Query, QueryTerm, find_number, statements

_TEXTS_AT_ONCE = 1000
_WORDS_AT_ONCE = 1_000_000
_BLOCK = 25  # words that count; a window is two blocks, about two sentences or six lines of a table
_GAP = 3  # words of a phrase stand at most so far apart: "purchases of new equipment" are "purchases of equipment"
_EVERYWHERE = 0.4  # words in more than this share of the texts do not tell which texts are likely
COMPOUNDS = 0.4  # the weight of words that are put together with a word of the question, and of its parts, all as one
_NONE = np.empty(0, np.int64)
_NO_POSITIONS = np.empty(0, np.int32)


class _Forms(dict[str, int]):
    """The word forms seen so far, numbered, with the spellings that each stands for: none, one, or several.

    A form is read once; after that, its number is looked up.
    """

    def __init__(self) -> None:
        super().__init__()
        self.words: dict[Word, int] = {}
        self.numbers, self.ends = array("i"), array("i", [0])
        self.function_words = array("h")  # the number of each form as a function word
        self.languages = array("i")  # of which each form is a common word

    def __missing__(self, form: str) -> int:
        for word in split_into_words(form):
            self.numbers.append(self.words.setdefault(word, len(self.words)))
        self.function_words.append(find_number(form))
        self.languages.append(find_language_mask(form))
        self.ends.append(len(self.numbers))
        self[form] = number = len(self)
        return number


def encode(
    texts: Iterable[str], function_words: FunctionWords, in_memory: int = IN_MEMORY
) -> tuple[NDArray[np.int32], NDArray[np.int64], list[Word], tuple[str, ...]]:
    """Texts as one row of word numbers; function words are added to `function_words` instead.

    Returns:
        The row; where each text begins in it, and behind the last one, where it ends; the words by their numbers;
        their languages.
    """
    forms, languages = _Forms(), WordLanguages()
    row, bounds = GrowingRow(in_memory), [np.zeros(1, np.int64)]
    left, first, before_batch = iter(texts), 0, 0
    while batch := [[forms[form] for form in word_forms(text)] for text in islice(left, _TEXTS_AT_ONCE)]:
        numbers = np.fromiter((number for text in batch for number in text), np.int32)
        ends = np.cumsum([len(text) for text in batch], dtype=np.int64)
        function_words.add(first, np.array(forms.function_words, np.int16)[numbers], ends)
        words, before = _words(numbers, forms)
        languages.add(np.array(forms.languages, np.int32)[numbers], ends, words, before)
        bounds.append(before[ends] + before_batch)
        row.append(words)
        first, before_batch = first + len(batch), before_batch + len(words)
    function_words.close()
    return row.row(np.int32), np.concatenate(bounds), list(forms.words), languages.of_words(len(forms.words))


def _words(numbers: NDArray[np.int32], forms: _Forms) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """The words of the given forms, and how many come before each form and after the last."""
    ends = np.array(forms.ends)
    counts = np.diff(ends)[numbers]
    before = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(counts, out=before[1:])
    positions = np.repeat(ends[numbers] - before[:-1], counts) + np.arange(before[-1])
    return np.array(forms.numbers, np.int32)[positions], before


class WordPositions:
    """The positions of words in texts.

    Attributes:
        bounds: where each text begins in the row of words, and behind the last one, where it ends.
        numbers: for each text, how many of its words are numbers.
        function_words: how often each text has words that do not count.
    """

    def __init__(self, texts: Iterable[str], words_at_once: int = _WORDS_AT_ONCE, in_memory: int = IN_MEMORY) -> None:
        """Read the texts one after the other; `words_at_once` words are sorted together.

        Anything above `in_memory` bytes is kept on disk.

        Raises:
            Unavailable: the disk has no room for it.
        """
        self.function_words = FunctionWords(in_memory)
        row, self.bounds, listed, languages = encode(texts, self.function_words, in_memory)
        parts = [slice(begin, begin + words_at_once) for begin in range(0, len(row), words_at_once)]
        counts = np.zeros(len(listed), np.int64)
        for part in parts:  # never all at once: 12 million words are 50 MB each time
            counts += np.bincount(row[part], minlength=len(listed))
        self._lexicon = Lexicon(listed, counts, languages)
        numbers = GrowingRow(in_memory)
        for part in parts:
            row[part] = self._lexicon.ranks[row[part]]
            numbers.append((np.flatnonzero(self._lexicon.figures[row[part]]) + part.start).astype(np.int32))
        self._numbers = numbers.row(np.int32)
        self.numbers: Ints = np.diff(np.searchsorted(self._numbers, self.bounds))
        self._positions = _sort_positions(row, parts, self._lexicon.starts, in_memory)

    def __len__(self) -> int:
        """How many texts there are."""
        return len(self.bounds) - 1

    def of(self, token: str) -> NDArray[np.int32]:
        """All positions of a token, sorted; for `#`, those of all numbers."""
        return self._numbers if token == NUMBER else self.at(self._lexicon.token(token))

    def spelling(self, word: Word) -> Span:
        """The span of the index with the positions of all words spelled like this one."""
        return self._lexicon.spelling(word)

    def family(self, word: Word) -> Span:
        """The span of the index with the positions of all words in this one's family."""
        return self._lexicon.family(word)

    def compounds(self, word: Word) -> NDArray[np.int32]:
        """All positions of compounds with a word of this one's family, and of the parts of this one, sorted."""
        spans = self._lexicon.find_related(word)
        positions = [self._positions[first:last] for first, last in spans]
        return np.sort(np.concatenate(positions)) if positions else _NO_POSITIONS

    def at(self, span: Span) -> NDArray[np.int32]:
        """The positions in a span of the index, sorted."""
        positions = self._positions[span[0] : span[1]]
        is_sorted = len(positions) < 2 or bool((positions[1:] > positions[:-1]).all())
        return positions if is_sorted else np.sort(positions, kind="stable")  # merges what is sorted in parts

    def counts(self, positions: NDArray[np.int32]) -> tuple[Ints, Ints]:
        """The texts that contain a word with these positions, and how often each contains it."""
        if len(positions) < len(self):
            return np.unique(np.searchsorted(self.bounds, positions, side="right") - 1, return_counts=True)
        counts = np.diff(np.searchsorted(positions, self.bounds))
        texts = np.flatnonzero(counts)
        return texts, counts[texts]

    def within(self, positions: NDArray[np.int32], texts: Ints) -> Ints:
        """Those positions of a word that are in some of the texts (given in order), sorted."""
        if len(texts) == len(self):
            return positions.astype(np.int64)
        first = np.searchsorted(positions, self.bounds[texts])
        counts = np.searchsorted(positions, self.bounds[texts + 1]) - first
        skipped = first - np.cumsum(counts) + counts
        return positions[np.repeat(skipped, counts) + np.arange(int(counts.sum()))].astype(np.int64)


def _sort_positions(
    words: NDArray[np.int32], parts: Iterable[slice], starts: Ints, in_memory: int
) -> NDArray[np.int32]:
    """The positions of words, grouped by word. Sorting 12 million words in one go would take 200 MB more."""
    positions = empty_row(len(words), np.int32, in_memory)
    free = starts[:-1].copy()
    for part in parts:
        order = np.argsort(words[part], kind="stable")
        ordered = words[part][order]
        first = np.flatnonzero(np.diff(ordered, prepend=-1))
        counts = np.diff(first, append=len(ordered))
        distinct = ordered[first]
        positions[np.repeat(free[distinct] - first, counts) + np.arange(len(ordered))] = order + part.start
        free[distinct] += counts
    return positions


class TextSubset:
    """Some of the texts (all, or the most likely), in which the terms of one query are looked up.

    Attributes:
        positions: the positions of words in all texts.
        texts: the numbers of these texts, in order.
        lengths: how many words that count each of them has.
        blocks: how many blocks they have together.
    """

    def __init__(self, positions: WordPositions, texts: Ints) -> None:
        self.positions, self.texts = positions, texts
        self._starts = positions.bounds[texts]
        self.lengths: Ints = positions.bounds[texts + 1] - self._starts
        self._ends = np.cumsum(np.maximum(-(-self.lengths // _BLOCK), 1))
        self._first = np.concatenate([[0], self._ends[:-1]])
        self.blocks = int(self._ends[-1])
        self._found: dict[str | Span, Ints] = {}

    def occurrences(self, phrase: Phrase) -> Ints:
        """Where a phrase occurs: the positions of its last word, sorted."""
        positions = self._of(phrase[0])
        for word in phrase[1:]:
            following = self._of(word)
            if not len(positions) or not len(following):
                return positions[:0]
            index = np.searchsorted(following, positions, side="right")
            next_positions = following[np.minimum(index, len(following) - 1)]
            is_near = (index < len(following)) & (next_positions - positions <= _GAP)
            in_same_text = self._texts_at(next_positions) == self._texts_at(positions)
            positions = np.unique(next_positions[is_near & in_same_text])
        return positions

    def counts(self, positions: Ints) -> tuple[Ints, Ints]:
        """How often a term with these positions occurs in each text, and in each block together with the next one."""
        texts = self._texts_at(positions)
        block = self._first[texts] + (positions - self._starts[texts]) // _BLOCK
        window = np.bincount(block, minlength=self.blocks)
        behind = np.append(window[1:], 0)
        behind[self._ends - 1] = 0
        return np.bincount(texts, minlength=len(self.texts)), window + behind

    def at(self, span: Span) -> Ints:
        """The positions in the subset of words that are in this span of the index."""
        if span not in self._found:
            self._found[span] = self.positions.within(self.positions.at(span), self.texts)
        return self._found[span]

    def compounds(self, word: Word) -> Ints:
        """The positions of compounds with a word of this one's family, and of its parts."""
        return self.positions.within(self.positions.compounds(word), self.texts)

    def neighbours(self, one: Span, other: Span) -> Ints:
        """The positions where a word of one kind directly follows one of another."""
        positions, following = self.at(one) + 1, self.at(other)
        if not len(positions) or not len(following):
            return _NONE
        index = np.minimum(np.searchsorted(following, positions), len(following) - 1)
        both = positions[following[index] == positions]
        in_one_text: Ints = both[self._texts_at(both) == self._texts_at(both - 1)]
        return in_one_text

    def text_counts(self, positions: Ints) -> Ints:
        """How often a term with these positions occurs in each text."""
        counts: Ints = np.bincount(self._texts_at(positions), minlength=len(self.texts))
        return counts

    def function_word_counts(self, word: str) -> Ints:
        """How often each of these texts has a function word."""
        texts, counts = self.positions.function_words.counts(word)
        having = np.zeros(len(self.texts), np.int64)
        if len(texts):
            index = np.minimum(np.searchsorted(texts, self.texts), len(texts) - 1)
            has = texts[index] == self.texts
            having[has] = counts[index[has]]
        return having

    def texts_with(self, positions: Ints, within: int | None = None) -> Ints:
        """Which of these texts (by index in the subset) contain a term, anywhere or in their first `within` words."""
        texts = self._texts_at(positions)
        return np.unique(texts if within is None else texts[positions - self._starts[texts] < within])

    def best(self, windows: NDArray[np.float64]) -> NDArray[np.float64]:
        """The highest value among the windows of each text."""
        return np.maximum.reduceat(windows, self._first)

    @cached_property
    def figures(self) -> NDArray[np.float64]:
        """The share of each text's words that are numbers."""
        return self.positions.numbers[self.texts] / np.maximum(self.lengths, 1)

    def texts_in_all(self, occurrences: int, in_subset: int) -> int:
        """An estimate of how many of all texts contain a word, from its occurrences and the count `in_subset`."""
        if len(self.texts) == len(self.positions):
            return in_subset
        return min(occurrences, len(self.positions))

    def _of(self, token: str) -> Ints:
        if token not in self._found:
            self._found[token] = self.positions.within(self.positions.of(token), self.texts)
        return self._found[token]

    def _texts_at(self, positions: Ints) -> Ints:
        return np.searchsorted(self._starts, positions, side="right") - 1


def likeliest(positions: WordPositions, query: Query, limit: int) -> TextSubset:
    """The `limit` texts that have most of the query, by the words of its terms; all if there are no more.

    Half of the score comes from its terms with their weights, half from its own words by their rarity here.
    """
    count = len(positions)
    if count <= limit:
        return TextSubset(positions, np.arange(count))
    terms: dict[str, float] = {}
    for term, weight in query.weigh_terms():
        for token in term.phrase:
            terms[token] = terms.get(token, 0.0) + weight / len(term.phrase)
    families = dict.fromkeys(positions.family(word) for word in query.words)
    scores = np.zeros(count, np.float32)
    for weighted in (
        [(positions.of(token), weight) for token, weight in terms.items()],
        [(positions.at(family), rarity(family[1] - family[0], count)) for family in families]
        + [(akin, COMPOUNDS * rarity(len(akin), count)) for akin in map(positions.compounds, query.words) if len(akin)],
    ):
        part = np.zeros(count, np.float32)
        for of_word, weight in [each for each in weighted if len(each[0]) <= _EVERYWHERE * count] or weighted:
            texts, counts = positions.counts(of_word)
            part[texts] += weight * (counts / (counts + 1.0))
        best = float(part.max())
        scores += part / best if best else part
    lowest = np.partition(scores, count - limit)[count - limit]
    above = np.flatnonzero(scores > lowest)
    equal = np.flatnonzero(scores == lowest)[: limit - len(above)]  # in order: the first of equals come first
    return TextSubset(positions, np.sort(np.concatenate([above, equal])))


def rarity(having: int, count: int) -> float:
    """The inverse document frequency of a word in `having` of `count` texts; above 0."""
    having = min(having, count)
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


SATURATION = 1.2  # BM25's k1 and b
LENGTH = 0.75
FUNCTION_WORDS = 0.5
_FAMILY, _SPELLING = 0.8, 0.2  # the weights of a word as its family and as it is spelled
_NEIGHBOURS = 0.25
_CONTEXT = (
    0.1  # the weight of the better of the two texts before and behind: a passage under its heading, a table's part
)
_ANY = 0.1  # what a text gets for having a word at all, long or short: of two texts the one with more of the question


def plain_score(subset: TextSubset, words: Sequence[Word], function_words: Iterable[str] = ()) -> NDArray[np.float64]:
    """The score of each text of `subset`; 0 for texts without any of the words. `words` are in the question's order."""
    positions = subset.positions
    mean_length = max(float(positions.bounds[-1]) / len(positions), 1.0)
    saturation = SATURATION * (1 - LENGTH + LENGTH * subset.lengths / mean_length)
    scores = np.zeros(len(subset.texts))
    for weight, counts, having in _terms(subset, words):
        scores += weight * rarity(having, len(positions)) * (counts / (counts + saturation) + _ANY * (counts > 0))
    for word in function_words:
        counts = subset.function_word_counts(word)
        if counts.any():
            having = len(positions.function_words.counts(word)[0])
            scores += FUNCTION_WORDS * rarity(having, len(positions)) * (counts / (counts + saturation))
    return scores + _CONTEXT * _beside(subset, scores) * (scores > 0)


def _beside(subset: TextSubset, scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each text in `subset`, the better score of the texts directly before and after it."""
    adjoining = np.diff(subset.texts) == 1
    before, behind = np.zeros(len(scores)), np.zeros(len(scores))
    before[1:], behind[:-1] = adjoining * scores[:-1], adjoining * scores[1:]
    return np.maximum(before, behind)


def _terms(subset: TextSubset, words: Sequence[Word]) -> Iterator[tuple[float, Ints, int]]:
    """What is counted for a question: each term's weight, how often each text has it, and how many of all texts have
    it.
    """
    families = [subset.positions.family(word) for word in words]
    spellings = dict.fromkeys(subset.positions.spelling(word) for word in words)
    for weight, spans in ((_FAMILY, dict.fromkeys(families)), (_SPELLING, spellings)):
        for span in spans:
            occurrences = subset.at(span)
            if len(occurrences):
                counts = subset.text_counts(occurrences)
                yield weight, counts, subset.texts_in_all(span[1] - span[0], int(np.count_nonzero(counts)))
    for word in dict.fromkeys(words):
        occurrences = subset.compounds(word)
        if len(occurrences):
            counts = subset.text_counts(occurrences)
            yield COMPOUNDS, counts, subset.texts_in_all(len(occurrences), int(np.count_nonzero(counts)))
    for pair in dict.fromkeys(itertools.pairwise(families)):
        occurrences = subset.neighbours(*pair)
        if len(occurrences):
            counts = subset.text_counts(occurrences)
            yield _NEIGHBOURS, counts, int(np.count_nonzero(counts))


Floats = NDArray[np.float64]

_ALL_TEXT = 0.5  # the weight of all of a text beside its best window
_HEAD_WEIGHT = 0.4  # the weight of the head of a clause beside its best window: its heading names it
_HEAD = 16  # words at the beginning of a text
_STATEMENT = 0.2  # the weight of being the right statement, beside a text that has all terms of the query
_MAX_MEANING = 12.0  # the terms of one meaning add up to that at most; two rare words reach half of it
_LOCAL = 0.5  # how much less the words of most texts count than those of few: 0 (not at all) to 1
_PLAIN_AT_MOST = 0.9  # the weight of plain BM25, of 1, where the vocabulary knows nothing of the question
_PLAIN_AT_LEAST = 0.25  # where it knows the question
_ALIKE = 0.8  # of the best score by the vocabulary: texts above are as good as the best
_DISTINCT = 3  # so many texts may be; of more the vocabulary does not say which is meant
_GUESS = 0.001  # the weight of function words where a text shares no other word: below any other score
_AKIN = 0.1  # the score of the best text where none has a word of the question but of its families
_WINDOW_SATURATION = 0.5  # a term that stands twice in a window says hardly more than one that stands once

# words at the head of a page among which its title stands, behind the company's name and "in thousands"
_TITLE_WORDS = 60
_LINES = 0.6  # the share of the line items that a statement has on its page: companies differ
_FIGURES = 0.35  # the share of its words that are numbers
_UNTITLED = 0.4  # the share that a page without the title gets: a second page, or a summary of the figures


def score(subset: TextSubset, query: Query, *, guess: bool = False) -> Floats:
    """The score of each text of `subset`; 0 for texts without any word of the query.

    It combines the score by the vocabulary with that of plain BM25, each as a share of its best. Plain BM25 weighs more
    if the vocabulary knows little of the question, and if it finds many texts as good as the best: in a room of many
    companies it knows many balance sheets. Clauses of one kind are all that is asked for, however many there are. The
    best text has its score by the vocabulary. If no text has a term of the query, words of the same families and
    compounds with them decide, at a low score; if there are none, function words alone with `guess`, at scores far
    below all others.
    """
    by_vocabulary = _score_by_vocabulary(subset, query)
    best = float(by_vocabulary.max(initial=0.0))
    by_words = plain_score(subset, query.words, query.function_words)
    best_by_words = float(by_words.max(initial=0.0))
    if not best:
        akin = plain_score(subset, query.words)
        most_akin = float(akin.max(initial=0.0))
        if most_akin:
            return _AKIN / most_akin * akin
        return _GUESS * by_words if guess else by_vocabulary
    if not best_by_words:
        return by_vocabulary
    alike = 0 if query.clause else int(np.count_nonzero(by_vocabulary >= _ALIKE * best))
    decided = query.known * min(1.0, _DISTINCT / max(alike, 1))
    weight = _PLAIN_AT_MOST - (_PLAIN_AT_MOST - _PLAIN_AT_LEAST) * decided
    fused = (1 - weight) * by_vocabulary / best + weight * by_words / best_by_words
    return best * fused


def _score_by_vocabulary(subset: TextSubset, query: Query) -> Floats:
    """The score of each text by the terms, meanings and statements in a query.

    It is roughly the share of the query that a text covers: the weight of the terms it contains divided by the weight
    of all. For a question that asks for a clause, it depends on the text alone and hardly on the others, so that the
    best scores of two contracts show which of them has the clause. Among the pages of a report, words that most pages
    contain count less.
    """
    head_weight = _HEAD_WEIGHT if query.clause else 0.0
    weights = _TermWeights(subset, local=0.0 if query.clause else _LOCAL, with_heads=query.clause)
    total = weights.add_up(query.terms)
    possible = sum(term.weight for term in query.terms)
    for meaning in query.meanings:
        weight = weights.add_up(meaning.terms)
        total += meaning.weight * weight * _MAX_MEANING / (weight + _MAX_MEANING)
        possible += meaning.weight * _MAX_MEANING
    in_texts, in_windows, in_heads = np.split(total, weights.borders)
    scores: Floats = (_ALL_TEXT * in_texts + subset.best(in_windows) + head_weight * in_heads) / (
        possible * (1 + _ALL_TEXT)
    )
    for name in sorted(query.statements):
        scores += _STATEMENT / math.sqrt(len(query.statements)) * resemblance(subset, name) * (scores > 0)
    return scores


class _TermWeights:
    """Adds up the weights of terms in each text, each window and each head, in one array in this order."""

    def __init__(self, subset: TextSubset, local: float, *, with_heads: bool) -> None:
        self._subset, self._local, self._with_heads = subset, local, with_heads
        mean_length = max(float(subset.lengths.mean()), 1.0)
        self._saturation = SATURATION * (1 - LENGTH + LENGTH * subset.lengths / mean_length)
        self.borders = [len(subset.texts), len(subset.texts) + subset.blocks]

    def add_up(self, terms: tuple[QueryTerm, ...]) -> Floats:
        subset = self._subset
        total = np.zeros(self.borders[-1] + len(subset.texts))
        in_texts, in_windows, in_heads = np.split(total, self.borders)  # views
        for term in terms:
            positions = subset.occurrences(term.phrase)
            if not len(positions):
                continue
            text_counts, window_counts = subset.counts(positions)
            having = int(np.count_nonzero(text_counts))
            if len(term.phrase) == 1:
                having = subset.texts_in_all(len(subset.positions.of(term.phrase[0])), having)
            weight = term.weight * _distinction(having, len(subset.positions)) ** self._local
            in_texts += weight * (text_counts / (text_counts + self._saturation))
            in_windows += weight * (window_counts / (window_counts + _WINDOW_SATURATION))
            if self._with_heads:
                in_heads[subset.texts_with(positions, _HEAD)] += weight
        return total


def _distinction(having: int, count: int) -> float:
    """How well a term that `having` of `count` texts contain distinguishes them: 1 if none has it, near 0 if all do."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5)) / math.log(2 + 2 * count)


def resemblance(subset: TextSubset, name: str) -> Floats:
    """How closely each text resembles the page of a statement, 0 to 1."""
    statement = statements()[name]
    by_title = np.full(len(subset.texts), _UNTITLED)
    for title in statement.titles:
        by_title[subset.texts_with(subset.occurrences(title), _TITLE_WORDS)] = 1.0
    lines = np.zeros(len(subset.texts))
    for line in statement.lines:
        lines[subset.texts_with(subset.occurrences(line))] += 1
    by_lines = np.minimum(lines / (_LINES * len(statement.lines)), 1)
    scores: Floats = by_lines * np.minimum(subset.figures / _FIGURES, 1) * by_title
    return scores
