"""Figures of the ledger in judged criteria: those that a model is given, and those that its reason names.

figures_asked_for    the rows of the concepts that a question names
as_lines          these rows as the text of a source
marked               a reason, with a mark behind each number that stands nowhere
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Final

from tasks.figures.concepts import plain_label, taxonomy
from tasks.figures.conflicts import RoomFigure
from tasks.figures.derived import derive
from tasks.figures.figure import ACTUAL
from tasks.language.normalise import one_line
from tasks.language.periods import last_day, months_of
from tasks.scoring.figure_checks import row_in_words
from tasks.statements.figures import COUNT, TIMES, Figure, figures

RoomFigures = Callable[[], Sequence[RoomFigure]]
"""Gives the figures of a room, which are looked up when they are first needed."""

NOWHERE: Final = "[stands nowhere]"
"""The mark behind a number in a reason that is in no passage, no quotation and no figure of the room."""

_MOST: Final = 24  # rows for one question, some 3,000 characters
_LONGEST: Final = 6  # words of a concept's name in a question
_SMALL: Final = 10  # below it a number may count what the reason itself lists
_THOUSANDS: Final = tuple(Decimal(1000) ** power for power in (1, 2, 3))
_REFERENCE: Final = re.compile(r"\[[^\[\]]*\]")
_YEARS: Final = range(1900, 2101)
_EXACT: Final = 28  # digits: the other side is the rounded one
_UNITS: Final = {"count": COUNT, "months": COUNT, "ratio": TIMES}  # of the ledger, as sentences have them
_BOUNDS: Final[Mapping[str, Callable[[Decimal, Decimal], bool]]] = {
    "low": lambda bound, value: bound <= value < 2 * bound,
    "high": lambda bound, value: bound / 2 < value <= bound,
    "short": lambda bound, value: bound * Decimal("0.8") < value <= bound,
    "near": lambda bound, value: bound * Decimal("0.9") < value < bound * Decimal("1.1"),
}
"""Whether a value bears out a bound in a reason (at least, at most, nearly, about): on its side and not far off."""


def figures_asked_for(question: str, room: RoomFigures) -> list[RoomFigure]:
    """The figures of the concepts that a question names, of the company as a whole; the newest actual ones first."""
    named = _concepts(question)
    if not named:
        return []
    rows = [row for row in room() if row.figure.concept in named and row.figure.entity is None]
    rows.sort(key=lambda row: last_day(row.figure.period), reverse=True)
    rows.sort(key=lambda row: (row.basis not in ACTUAL, months_of(row.figure.period) not in {0, 12}))
    return sorted(rows[:_MOST], key=lambda row: named.index(row.figure.concept))


def as_lines(rows: Iterable[RoomFigure]) -> str:
    """The rows, a line each, with what they are of, their basis and their place; empty where there are none."""
    return "\n".join(dict.fromkeys(one_line(row_in_words(row)) for row in rows))


def _concepts(question: str) -> list[str]:
    """The ids of the concepts whose labels stand in a question, in its order; a longer label goes before its parts."""
    words = plain_label(question).split()
    known = taxonomy()
    found: dict[str, None] = {}
    at = 0
    while at < len(words):
        for length in range(min(_LONGEST, len(words) - at), 0, -1):
            meaning = known.meaning(" ".join(words[at : at + length]))
            if meaning is not None:
                found[meaning.concept.id] = None
                at += length
                break
        else:
            at += 1
    return list(found)


def marked(reason: str, texts: Iterable[str], room: RoomFigures) -> str:
    """The reason with a mark behind each number that neither the texts nor the room's figures have.

    Numbers agree as far as both are rounded. Dates, years, small counts and references are not looked at.
    """
    named = [figure for figure in figures(_REFERENCE.sub(_blank, reason)) if _is_checked(figure)]
    if not named:
        return reason
    said = [figure for text in texts for figure in figures(text) if not figure.is_date]
    lost = [figure for figure in named if not any(_same(figure, other) for other in said)]
    if lost:
        known = list(_known(room()))
        lost = [figure for figure in lost if not any(_same(figure, other) for other in known)]
    for figure in reversed(lost):
        reason = f"{reason[: figure.end]} {NOWHERE}{reason[figure.end :]}"
    return reason


def _known(rows: Sequence[RoomFigure]) -> Iterator[Figure]:
    """The figures of a room, and what follows from them, as a sentence's."""
    values = [(row.figure.value, row.figure.unit) for row in rows]
    values += [(derived.value, derived.unit) for derived in derive(rows)]
    for value, unit in dict.fromkeys(values):
        yield Figure(0, 0, _UNITS.get(unit, unit), value, _EXACT)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _is_checked(figure: Figure) -> bool:
    if figure.is_date:
        return False
    is_bare = figure.unit == COUNT and not figure.is_scaled
    return not is_bare or (figure.value >= _SMALL and figure.value not in _YEARS)


def _same(one: Figure, other: Figure) -> bool:
    """Whether a reason's figure says what another does; a bare number of a table may be in thousands or millions."""
    if one.kind != other.kind and COUNT not in {one.unit, other.unit}:
        return False
    if one.limit in _BOUNDS and _BOUNDS[one.limit](abs(one.value), abs(other.value)):
        return True
    digits = min(one.digits, other.digits)
    if _rounds(one.value, digits, other.value):
        return True
    return other.unit == COUNT and any(_rounds(one.value, digits, other.value * scale) for scale in _THOUSANDS)


def _rounds(value: Decimal, digits: int, other: Decimal) -> bool:
    """Whether two values are the same to so many digits, whatever their signs."""
    context = Context(prec=max(1, digits))
    return value == other or abs(context.plus(value)) == abs(context.plus(other))
