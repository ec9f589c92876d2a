"""Which texts are pages of an annual report's statements, told by their titles, line items and figures.

How well texts answer a question: by its terms in the whole text, its best window and its head, and by layout.

The figures below were chosen on questions over annual reports and on contracts (ContractNLI, LEDGAR). None stands on an
edge: half or twice of any moves the share of 211 such questions answered within the first five pages by .05 at most.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.index import Part
from tasks.ranking.query import Asked, Term
from tasks.ranking.vocabulary import Phrase, phrase

_TITLE_WORDS = (
    60  # words at the head of a page among which its title stands, behind the company's name and "in thousands"
)
_LINES = 0.6  # the share of the line items that the page of a statement has: companies differ
_FIGURES = 0.35  # the share of its words that are numbers
_UNTITLED = 0.4  # what a page without the title keeps: a second page, or a summary of the figures


@dataclass(frozen=True, slots=True)
class Statement:
    """How a statement is titled, and lines that it has."""

    titles: tuple[Phrase, ...]
    lines: tuple[Phrase, ...]


@cache
def statements() -> dict[str, Statement]:
    """The statements, by the names that the vocabulary has for them."""
    return {
        "balance sheet": _statement(
            "balance sheet, statement of financial position, statement of financial condition",
            "total assets, total liabilities, total current assets, total current liabilities, total liabilities and "
            "equity, retained earnings, accumulated deficit, total equity, total stockholders equity, "
            "total shareholders equity, additional paid-in capital",
        ),
        "income statement": _statement(
            "statement of operations, statement of income, statement of earnings, income statement, profit and loss "
            "account, statement of comprehensive income, statement of comprehensive loss, statement of profit or loss",
            "income taxes, net income, net loss, net earnings, income before income taxes, loss before income taxes, "
            "operating income, loss from operations, total revenue, net sales, total operating expenses, "
            "interest expense, per share basic, basic, diluted, weighted average, profit before tax",
        ),
        "cash flow": _statement(
            "statement of cash flows, cash flow statement",
            "operating activities, investing activities, financing activities, net cash provided operating activities, "
            "beginning period, beginning year, end period, end year, depreciation amortization, adjustments to "
            "reconcile, purchases of property, net increase in cash, net decrease in cash",
        ),
        "equity statement": _statement(
            "statement of stockholders equity, statement of shareholders equity, statement of changes in equity, "
            "statement of equity, statement of changes in shareholders equity",
            "balance december, balances december, balance june, treasury stock, retained earnings, additional paid-in "
            "capital, accumulated other comprehensive, stock-based compensation, common stock shares",
        ),
    }


def resemblance(part: Part, name: str) -> NDArray[np.float64]:
    """How much each text looks like the page of a statement, 0 to 1."""
    kind = statements()[name]
    titled = np.full(len(part.texts), _UNTITLED)
    for title in kind.titles:
        titled[part.holding(part.places(title), _TITLE_WORDS)] = 1.0
    lines = np.zeros(len(part.texts))
    for line in kind.lines:
        lines[part.holding(part.places(line))] += 1
    share = np.minimum(lines / (_LINES * len(kind.lines)), 1)
    found: NDArray[np.float64] = share * np.minimum(part.figures / _FIGURES, 1) * titled
    return found


def _statement(titles: str, lines: str) -> Statement:
    return Statement(*(tuple(phrase(each) for each in listed.split(", ")) for listed in (titles, lines)))


Floats = NDArray[np.float64]

_WHOLE = 0.5  # the whole text beside its best window
_TITLE_WEIGHT = 0.4  # the head of a clause beside its best window: its heading names it
_HEAD = 16  # words
_STATEMENT = 0.2  # a page that is the statement asked for, beside a text that says all that is asked
_ENOUGH = 12.0  # what documents call one thing adds up to that at most; two rare words reach half of it
_LOCAL = 0.5  # how far words that stand in most of the texts count less than those that stand in few: 0 to 1
_SATURATION = 1.2  # BM25's k1 and b
_LENGTH = 0.75
_WINDOW_SATURATION = 0.5  # in a window a term that is met twice says hardly more than one met once


def score(part: Part, asked: Asked) -> Floats:
    """The score of each text of `part`, 0 for one that holds nothing of what is asked.

    It is about the share of the question that a text covers: what the terms it holds weigh over what all weigh. For
    a question that asks for a clause it depends on the text alone, hardly on the others, so that the best scores of
    two contracts tell which of them has the clause. Among a report's pages, words of most of them count less.
    """
    reading = _Reading(part, local=0.0 if asked.clause else _LOCAL, title=_TITLE_WEIGHT if asked.clause else 0.0)
    total = reading.add(asked.terms)
    possible = sum(term.weight for term in asked.terms)
    for meaning in asked.meanings:
        found = reading.add(meaning.terms)
        total += meaning.weight * found * _ENOUGH / (found + _ENOUGH)
        possible += meaning.weight * _ENOUGH
    whole, windows, heads = np.split(total, reading.borders)
    scores: Floats = (_WHOLE * whole + part.best(windows) + reading.title * heads) / (possible * (1 + _WHOLE))
    for name in sorted(asked.statements):
        scores += _STATEMENT / math.sqrt(len(asked.statements)) * resemblance(part, name) * (scores > 0)
    return scores


class _Reading:
    """Adds up what terms weigh in each text, each window and each head, in one row in this order."""

    def __init__(self, part: Part, local: float, title: float) -> None:
        self._part, self._local, self.title = part, local, title
        self._shortening = _SATURATION * (1 - _LENGTH + _LENGTH * part.lengths / max(float(part.lengths.mean()), 1.0))
        self.borders = [len(part.texts), len(part.texts) + part.blocks]

    def add(self, terms: tuple[Term, ...]) -> Floats:
        part = self._part
        total = np.zeros(self.borders[-1] + len(part.texts))
        whole, windows, heads = np.split(total, self.borders)  # views
        for term in terms:
            places = part.places(term.phrase)
            if not len(places):
                continue
            in_text, in_window = part.counts(places)
            held = part.held(term.phrase, int(np.count_nonzero(in_text)))
            weight = term.weight * _telling(held, len(part.positions)) ** self._local
            whole += weight * (in_text / (in_text + self._shortening))
            windows += weight * (in_window / (in_window + _WINDOW_SATURATION))
            if self.title:
                heads[part.holding(places, _HEAD)] += weight
        return total


def _telling(held: int, count: int) -> float:
    """How much a term tells `count` texts apart when `held` of them have it: 1 for none, near 0 for all."""
    return math.log(1 + (count - held + 0.5) / (held + 0.5)) / math.log(2 + 2 * count)
