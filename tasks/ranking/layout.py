"""Which texts are pages of an annual report's statements, told by their titles, line items and figures."""

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tasks.ranking.part import Part
from tasks.ranking.vocabulary import Phrase, phrase

_TITLE = 60  # words at the head of a page among which its title stands, behind the company's name and "in thousands"
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
        titled[part.holding(part.places(title), _TITLE)] = 1.0
    lines = np.zeros(len(part.texts))
    for line in kind.lines:
        lines[part.holding(part.places(line))] += 1
    share = np.minimum(lines / (_LINES * len(kind.lines)), 1)
    found: NDArray[np.float64] = share * np.minimum(part.figures / _FIGURES, 1) * titled
    return found


def _statement(titles: str, lines: str) -> Statement:
    return Statement(*(tuple(phrase(each) for each in listed.split(", ")) for listed in (titles, lines)))
