"""Criteria on the figures of a data room, which need no model.

check_figure    compares a figure of the room with a rule, or the rules of its bands
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal
from typing import Final

from storage.scores import Absence, ScoreStatus
from tasks.figures.conflicts import RULE, FigureConflict, RoomFigure, Step, find_conflicts
from tasks.figures.derived import (
    LATEST,
    Expression,
    FigureValue,
    derive,
    drop_undated_after,
    figure_values,
    newest_day,
    value_at,
)
from tasks.figures.figure import ACTUAL, name_in_words, plain_label, taxonomy
from tasks.figures.ledger import build, run_texts, scored_ledger
from tasks.language.normalise import one_line
from tasks.language.numbers import MONTHS, PERCENT, RATIO
from tasks.language.periods import count_months, last_day
from tasks.scoring.criteria import FigureRule
from tasks.scoring.evidence import Evidence, Excerpt
from tasks.scoring.results import CriterionResult, NearDocument, ProvenContradiction, Quotation
from tasks.scoring.rules import (
    FigureCondition,
    parse_condition,
    points_around,
    points_in_words,
    score_bands,
    verdict_in_words,
)
from tasks.statements.figures import COUNT, TIMES, StatedFigure, figures

_MAX_NEAREST: Final = 3  # figures that are named when one is missing
_CURRENCY: Final = 3  # letters


def load_figures(evidence: Evidence, company: str, rule: tuple[Step, ...]) -> Sequence[RoomFigure]:
    """The figures of a company's room; texts that the ledger has not looked through yet are looked through now."""
    texts = run_texts(evidence.documents)
    build(texts)
    return scored_ledger(texts, rule, company).figures


def check_figure(
    criterion: FigureRule,
    scale: tuple[float, float],
    figures: Sequence[RoomFigure],
    evidence: Evidence,
    order: Sequence[Step] = RULE,
    conflicts_of_room: Callable[[], Sequence[FigureConflict]] | None = None,
) -> CriterionResult:
    """Compare a figure with the rule, or the rules of its bands; the quotes are the rows or sentences that contain it.

    `order` decides which of several contradicting figures counts; `conflicts_of_room` gives the conflicts of `figures`
    by that order where they are known, as finding them takes a fifth of a second in a room of 20,000.
    """
    written = {scale[1]: criterion.rule} if criterion.rule else criterion.bands or {}
    bands = {score: parse_condition(criterion.figure, rule) for score, rule in written.items()}
    condition = next(iter(bands.values()))
    expression = condition.expression
    of_period = drop_undated_after(figures) if criterion.period == LATEST else figures
    values = figure_values(expression, of_period, order)
    fitting = [value for value in values if all(band.fits(value.unit) for band in bands.values())]
    value = value_at(fitting, criterion.period, expression, newest_day(figures))
    if value is None:
        return _explain_missing(criterion, expression, condition, values, figures, evidence)
    comparable = condition.comparable(value.value, value.unit)
    unit = PERCENT if comparable != value.value else value.unit
    if criterion.rule:
        met = scale[1] if condition.holds(comparable) else None
        score = scale[0] if met is None else met
    else:
        score, met = score_bands(bands, comparable, scale[0])
    verdict = verdict_in_words(written, met, scale, _between(bands, comparable, unit, score, scale))
    quotes = [excerpt for row in value.inputs if (excerpt := _excerpt(row, evidence))]
    concepts = {row.figure.concept for row in value.inputs}
    known = conflicts_of_room() if conflicts_of_room else find_conflicts(figures, order)
    conflicts = [conflict for conflict in known if conflict.counted in value.inputs]
    shown = amount_in_words(comparable, unit)
    name = expression.in_words
    reason = f"{name[:1].upper()}{name[1:]} is {shown} {period_in_words(value.period)}{_inputs(value)}. {verdict}"
    return CriterionResult(
        ScoreStatus.SCORED,
        reason + "".join(f" {_conflict_in_words(conflict)}" for conflict in conflicts),
        score=score,
        quotes=[Quotation.of(excerpt) for excerpt in quotes],
        contradictions=list(_contradictions(conflicts, evidence)),
        given=documents_behind(figures, {*expression.names, *_MEANT.get(expression.names[0], ()), *concepts}),
    )


def documents_behind(figures: Iterable[RoomFigure], concepts: Container[str]) -> set[str]:
    """The ids of the documents that play a part in figures of these concepts.

    They include the documents that determine the room's fiscal year, if it is not the calendar year, because it decides
    the periods of other documents' figures.
    """
    return {
        row.document_id
        for row in figures
        if row.figure.concept in concepts
        or (11 <= count_months(row.figure.period) <= 13 and last_day(row.figure.period)[5:] != "12-31")
    }


def amount_in_words(value: Decimal, unit: str) -> str:
    """`EUR 9,412,345`, `22.1 %`, `14.2 months`, `120`; at most one decimal unless the unit is a ratio."""
    places = Decimal("0.01") if unit == RATIO else Decimal("0.1")
    rounded = value.quantize(places) if abs(value) < 1_000_000 else value.quantize(Decimal(1))
    text = f"{rounded:,f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if unit in {PERCENT, MONTHS}:
        return f"{text} {'%' if unit == PERCENT else 'months'}"
    return f"{unit} {text}" if len(unit) == _CURRENCY and unit.isupper() else text


def period_in_words(period: str) -> str:
    months = count_months(period)
    if not months:
        return f"at {last_day(period)}"
    return f"in the {'year' if months == 12 else 'month' if months == 1 else f'{months} months'} to {last_day(period)}"


def _inputs(value: FigureValue) -> str:
    """What the value is computed from, with the numbers of the quotes; a stated figure is its own input."""
    if len(value.inputs) == 1 and value.inputs[0].figure.value == value.value:
        return f" ({value.inputs[0].basis}) [1]"
    parts = (
        f"{name_in_words(row.figure.concept)} {amount_in_words(row.figure.value, row.figure.unit)} "
        f"{period_in_words(row.figure.period)}, {row.basis} [{number}]"
        for number, row in enumerate(value.inputs, 1)
    )
    return f" ({'; '.join(parts)})"


def _between(
    bands: Mapping[float, FigureCondition], value: Decimal, unit: str, score: float, scale: tuple[float, float]
) -> str:
    """`That is between your 20 % (0 points) and 60 % (3 points): 0.72 of 5.`; empty beyond the numbers of all bands."""
    if len(bands) == 1 or (around := points_around(bands, value)) is None:
        return ""
    ends = " and ".join(f"{amount_in_words(point, unit)} ({points_in_words(points)})" for point, points in around)
    return f"That is between your {ends}: {round(score, 2):g} of {scale[1]:g}."


def _explain_missing(
    criterion: FigureRule,
    expression: Expression,
    condition: FigureCondition,
    values: Sequence[FigureValue],
    figures: Sequence[RoomFigure],
    evidence: Evidence,
) -> CriterionResult:
    """The result if the room does not say: the nearest figures of the same concepts, newest first."""
    name = expression.in_words
    of_period = "" if criterion.period == "latest" else f" of {criterion.period}"
    reason = f"No document gives an actual figure of the company for {name}{of_period}."
    absence: Absence | None = None
    status = ScoreStatus.MISSING
    if values and not any(condition.fits(value.unit) for value in values):
        units = ", ".join(sorted({value.unit for value in values}))
        reason = f"The figures for {name} are in {units}, so the rule cannot be applied to them."
        status = ScoreStatus.UNSCORED
    elif criterion.period == LATEST and values and not any(value.value.is_nan() for value in values):
        reason = f"The latest {name} is long before the newest figures of the room."
    elif expression.operation == "growth" and any(row.figure.concept == expression.names[0] for row in figures):
        of_what = name_in_words(expression.names[0])
        reason = f"The documents do not give actual figures for {of_what}{of_period} and for the year before."
    elif any(value.value.is_nan() for value in values):
        absence = Absence.NOT_APPLICABLE
        reason = f"{name[:1].upper()}{name[1:]}{of_period} is meaningless: {expression.names[-1]} is zero or less."
    elif len(expression.names) > 1:
        reason += _what_is_not_given(expression, figures)
    near = _nearest(figures, {*expression.names, *_MEANT.get(expression.names[0], ())})
    if near:
        reason += f" Nearest: {'; '.join(map(row_in_words, near))}."
    documents = {document.document_id: document for document in evidence.documents}
    nearest = [
        NearDocument(documents[row.document_id], f"it gives {row_in_words(row)}")
        for row in near
        if row.document_id in documents
    ]
    missing = f"{name}{of_period}" if status is ScoreStatus.MISSING else None
    return CriterionResult(status, reason, missing=missing, absence=absence, nearest=nearest)


def _what_is_not_given(expression: Expression, figures: Sequence[RoomFigure]) -> str:
    """Which of the figures to be compared the room lacks, or that it has all of them but not for one time."""
    given = {row.figure.concept for row in figures if row.figure.entity is None and row.basis in ACTUAL}
    lacking = [name_in_words(name) for name in expression.names if name not in given]
    if lacking:
        return f" No actual figure is given for {' or '.join(lacking)}."
    return " Its parts are given, but not of the same time."


def _nearest(figures: Sequence[RoomFigure], concepts: Container[str]) -> list[RoomFigure]:
    """The nearest figures of these concepts, each value and time once; the company's and newest first."""
    ordered = sorted(
        (row for row in figures if row.figure.concept in concepts),
        key=lambda row: (row.figure.entity is None, row.basis in ACTUAL, last_day(row.figure.period)),
        reverse=True,
    )
    once: dict[tuple[str, str, Decimal, str | None], RoomFigure] = {}
    for row in ordered:
        once.setdefault((row.figure.concept, row.figure.period, row.figure.value, row.figure.entity), row)
    return list(once.values())[:_MAX_NEAREST]


_MEANT: Final = {
    "runway": ("cash", "monthly_burn"), "net_debt": ("debt", "current_debt", "long_term_debt", "cash"),
    "free_cash_flow": ("operating_cash_flow", "capital_expenditure"), "debt": ("current_debt", "long_term_debt"),
    "ebitda": ("operating_income", "depreciation_and_amortization"), "largest_customer_share": ("revenue",),
    "concentration": ("revenue", "recurring_revenue"), "rule_of_40": ("revenue", "ebitda"),
    "gross_margin": ("gross_profit", "revenue"), "ebitda_margin": ("ebitda", "revenue"),
    "operating_margin": ("operating_income", "revenue"), "net_margin": ("net_income", "revenue"),
}  # fmt: skip
"""Concepts whose figures come nearest to one that is computed, or that is missing."""


def row_in_words(row: RoomFigure) -> str:
    """`revenue EUR 12,000,000 in the year to 2024-12-31, audited (Accounts.pdf, page 4)`."""
    figure = row.figure
    whose = f" of {figure.entity}" if figure.entity else ""
    return (
        f"{name_in_words(figure.concept)}{whose} {amount_in_words(figure.value, figure.unit)} "
        f"{period_in_words(figure.period)}, {row.basis} ({row.document_name}, {figure.place})"
    )


def _conflict_in_words(conflict: FigureConflict) -> str:
    other = conflict.others[0]
    return (
        f"{other.document_name} says {amount_in_words(other.figure.value, other.figure.unit)}, which does not count "
        f"({conflict.rule})."
    )


def _contradictions(conflicts: Iterable[FigureConflict], evidence: Evidence) -> Iterable[ProvenContradiction]:
    for conflict in conflicts:
        one = _excerpt(conflict.counted, evidence)
        for other in conflict.others:
            excerpt = _excerpt(other, evidence)
            if one is not None and excerpt is not None:
                entity = conflict.counted.figure.entity
                whose = f" of {entity}" if entity else ""
                about = f"{name_in_words(conflict.concept)}{whose} {period_in_words(conflict.period)}"
                yield ProvenContradiction(about, one, excerpt)


def _excerpt(row: RoomFigure, evidence: Evidence) -> Excerpt | None:
    return evidence.line_of(row.document_id, row.text_id, row.figure.start, row.figure.end)


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
    """The figures of the company as a whole for concepts that a question names; newest actual ones first."""
    named = _concepts(question)
    if not named:
        return []
    rows = [row for row in room() if row.figure.concept in named and row.figure.entity is None]
    rows.sort(key=lambda row: last_day(row.figure.period), reverse=True)
    rows.sort(key=lambda row: (row.basis not in ACTUAL, count_months(row.figure.period) not in {0, 12}))
    return sorted(rows[:_MOST], key=lambda row: named.index(row.figure.concept))


def as_lines(rows: Iterable[RoomFigure]) -> str:
    """The rows, one per line, with period, basis and place; empty if there are none."""
    return "\n".join(dict.fromkeys(one_line(row_in_words(row)) for row in rows))


def _concepts(question: str) -> list[str]:
    """The ids of the concepts whose labels occur in a question, in order; longer labels take precedence over their
    parts.
    """
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


def mark_numbers(reason: str, texts: Iterable[str], room: RoomFigures) -> str:
    """The reason with a mark after each number that is neither in the texts nor among the room's figures.

    Numbers are compared as they are rounded. Dates, years, small counts and references are ignored.
    """
    without = _REFERENCE.sub(lambda match: " " * len(match[0]), reason)
    named = [figure for figure in figures(without) if _is_checked(figure)]
    if not named:
        return reason
    said = [figure for text in texts for figure in figures(text) if not figure.is_date]
    lost = [figure for figure in named if not any(_same(figure, other) for other in said)]
    if lost:
        known = list(_state_known(room()))
        lost = [figure for figure in lost if not any(_same(figure, other) for other in known)]
    for figure in reversed(lost):
        reason = f"{reason[: figure.end]} {NOWHERE}{reason[figure.end :]}"
    return reason


def _state_known(rows: Sequence[RoomFigure]) -> Iterator[StatedFigure]:
    """The figures of a room, and those derived from them, in the form of figures in a sentence."""
    values = [(row.figure.value, row.figure.unit) for row in rows]
    values += [(derived.value, derived.unit) for derived in derive(rows)]
    for value, unit in dict.fromkeys(values):
        yield StatedFigure(0, 0, _UNITS.get(unit, unit), value, _EXACT)


def _is_checked(figure: StatedFigure) -> bool:
    if figure.is_date:
        return False
    is_bare = figure.unit == COUNT and not figure.is_scaled
    return not is_bare or (figure.value >= _SMALL and figure.value not in _YEARS)


def _same(one: StatedFigure, other: StatedFigure) -> bool:
    """Whether a reason's figure agrees with another; a bare number from a table may be in thousands or millions."""
    if one.kind != other.kind and COUNT not in {one.unit, other.unit}:
        return False
    if one.limit in _BOUNDS and _BOUNDS[one.limit](abs(one.value), abs(other.value)):
        return True
    digits = min(one.digits, other.digits)
    if _rounds(one.value, digits, other.value):
        return True
    return other.unit == COUNT and any(_rounds(one.value, digits, other.value * scale) for scale in _THOUSANDS)


def _rounds(value: Decimal, digits: int, other: Decimal) -> bool:
    """Whether two values are the same to that many digits, whatever their signs."""
    context = Context(prec=max(1, digits))
    return value == other or abs(context.plus(value)) == abs(context.plus(other))
