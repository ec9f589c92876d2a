"""How well texts answer a query: by its terms in the text, its best window and its opening, and by the page's layout.

Terms are weighted as in BM25. A page counts more if it is the financial statement that would contain the answer,
recognised by its title, line items and figures. The less the vocabulary knows of the question, and the less it
separates texts, the more plain BM25 decides.

The constants were chosen on the development parts of `tests/benchmarks`: questions about annual reports, filings and
regulations, and about contracts (ContractNLI, LEDGAR).
"""

import math

import numpy as np
from numpy.typing import NDArray

from tasks.ranking import plain
from tasks.ranking.index import TextSubset
from tasks.ranking.plain import LENGTH, SATURATION
from tasks.ranking.query import Query, QueryTerm
from tasks.ranking.vocabulary import statements

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
    by_words = plain.score(subset, query.words, query.function_words)
    best_by_words = float(by_words.max(initial=0.0))
    if not best:
        akin = plain.score(subset, query.words)
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
