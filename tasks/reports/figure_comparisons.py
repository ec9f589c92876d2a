"""What public sources say of a company, held against the figures of its room.

Of the profile's fields those are compared that the room speaks of: the head-count, the revenue of each year and the
founding year. A source's date says when its head-count was true, and a figure of the room is held against it where it
is of the same month, or of the same year where the source gives only a year; a year's revenue where both years end in
the same month. What is of another time, or in another currency, is not comparable. A founding year agrees where any
document of the room says the same.
"""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final

from tasks.companies.claims import Claim
from tasks.figures.conflicts import RULE, RoomFigure, Step
from tasks.figures.derived import counted_figures
from tasks.figures.document_figures import agrees
from tasks.figures.founding import FOUNDING_YEAR
from tasks.figures.rows import room_row
from tasks.language.periods import last_day, months_of
from tasks.reports.models import ComparedFigure, ReportedFigure

_CONCEPTS: Final = {
    "company_size": "headcount", "company_size_on_social": "headcount", "extra.employee_count": "headcount",
    "extra.annual_revenue": "revenue",
}  # fmt: skip
"""Fields of a profile and the concepts of the ledger that say the same."""

_REVENUE: Final = "extra.annual_revenue"
_MOST_ROUNDED: Final = Decimal("0.05")
"""How far a round number of a source may be off: 28,000,000,000 is rounded to billions."""


def compare(
    claims: Sequence[Claim], figures: Sequence[RoomFigure], rule: Sequence[Step] = RULE
) -> list[ComparedFigure]:
    """Each claim on a field that the room has figures on, with the figure of its time, else the nearest one.

    Of the room's figures the actual ones of the company as a whole count; `rule` decides where they contradict.
    """
    concepts = {*_CONCEPTS.values()}
    counted = counted_figures([row for row in figures if row.figure.concept in concepts], rule)
    founded = [row for row in figures if row.figure.concept == FOUNDING_YEAR]
    compared: dict[tuple[str, str, str], ComparedFigure] = {}
    exact = {claim.source for claim in claims if claim.field == "extra.employee_count"}
    for claim in map(_of_a_year, claims):
        if claim.field == "company_size" and claim.source in exact:
            continue  # the range around the same number
        if claim.field == _REVENUE:
            for year in _revenue(claim, [row for row in counted if row.figure.concept == "revenue"]):
                compared.setdefault((claim.field, claim.source, str(year.claim.value)), year)
            continue
        if claim.field == "founded_year" and founded:
            compared.setdefault((claim.field, claim.source, str(claim.value)), _founding(claim, founded))
            continue
        rows = [row for row in counted if row.figure.concept == _CONCEPTS.get(claim.field)]
        if rows:
            compared.setdefault((claim.field, claim.source, str(claim.value)), _compared(claim, rows))
    return list(compared.values())


def _revenue(claim: Claim, rows: Sequence[RoomFigure]) -> list[ComparedFigure]:
    """The years of revenue that a source gives and the room has too; where it has none of them, the newest year."""
    years = [row for row in rows if 11 <= months_of(row.figure.period) <= 13]
    if not years:
        return []
    compared = [each for value in claim.value if (each := _a_years_revenue(claim, value, years)) is not None]
    of_both = [each for each in compared if each.verdict != "not_comparable"]
    return of_both or compared[:1]


def _a_years_revenue(claim: Claim, value: dict[str, Any], rows: Sequence[RoomFigure]) -> ComparedFigure | None:
    end, amount, currency = value.get("end"), value.get("amount"), value.get("currency")
    when = _day(end)
    if amount is None or when is None or end is None:
        return None
    nearest = min(rows, key=lambda row: (_days_apart(row, when), row.figure.unit != currency))
    of_the_year = claim.model_copy(update={"value": [value], "as_of": end})
    verdict, why = (
        "not_comparable",
        f"the source's year ends {end}, the room's nearest {last_day(nearest.figure.period)}",
    )
    if last_day(nearest.figure.period)[: min(len(end), 7)] == end[:7]:
        if nearest.figure.unit != currency:
            why = f"the source's is in {currency}, the room's in {nearest.figure.unit}"
        else:
            same = agrees(Decimal(str(amount)), _step(Decimal(str(amount))), nearest.figure.value, nearest.figure.step)
            verdict, why = ("agrees", "the same year") if same else ("differs", "beyond rounding")
    figure = ReportedFigure.model_validate(room_row(nearest))
    return ComparedFigure.model_validate(
        {"concept": "revenue", "verdict": verdict, "why": why, "claim": of_the_year, "figure": figure}
    )


def _step(amount: Decimal) -> Decimal:
    """What the last digit of a source's number is worth that is not a zero, as far as that may be rounding."""
    digits = f"{abs(amount):f}".partition(".")[0]
    rounded = Decimal(1).scaleb(len(digits) - len(digits.rstrip("0")))
    return min(rounded, 2 * _MOST_ROUNDED * abs(amount))


def _of_a_year(claim: Claim) -> Claim:
    """A claim on the founding date as one on its year; others as they are."""
    if claim.field == "extra.founding_date" and isinstance(year := claim.value.get("year"), int):
        return claim.model_copy(update={"field": "founded_year", "value": year})
    return claim


def _founding(claim: Claim, rows: Sequence[RoomFigure]) -> ComparedFigure:
    """The founding year that a source gives, with the place of the room that says the same, else the nearest."""
    nearest = min(rows, key=lambda row: abs(row.figure.value - claim.value))
    same = nearest.figure.value == claim.value
    return ComparedFigure(
        concept=FOUNDING_YEAR,
        verdict="agrees" if same else "differs",
        why=f"the room says: {nearest.figure.label}",
        claim=claim,
        figure=ReportedFigure.model_validate(room_row(nearest)),
    )


def _compared(claim: Claim, rows: Sequence[RoomFigure]) -> ComparedFigure:
    when = _day(claim.as_of)
    nearest = min(rows, key=lambda row: (_days_apart(row, when), months_of(row.figure.period)))
    fields: dict[str, Any] = {"concept": nearest.figure.concept, "claim": claim}
    fields["figure"] = ReportedFigure.model_validate(room_row(nearest))
    if claim.as_of is None or when is None:
        return ComparedFigure(**fields, verdict="not_comparable", why="the source does not say of when it is")
    if not _same_time(nearest, claim.as_of):
        why = f"the source's is of {claim.as_of[:10]}, the room's nearest of {last_day(nearest.figure.period)}"
        return ComparedFigure(**fields, verdict="not_comparable", why=why)
    verdict, why = ("agrees", "the same time") if _agrees(claim, nearest) else ("differs", "beyond rounding")
    return ComparedFigure(**fields, verdict=verdict, why=why)


def _day(as_of: str | None) -> date | None:
    """The day of a source's date; of a year its last."""
    try:
        return date.fromisoformat(f"{as_of}-12-31" if as_of and len(as_of) == 4 else (as_of or "")[:10])
    except ValueError:
        return None


def _days_apart(row: RoomFigure, when: date | None) -> int:
    """Days between the figure's last day and the source's; without one the newest figure is the nearest."""
    last = date.fromisoformat(last_day(row.figure.period))
    return abs((last - when).days) if when else (date.max - last).days


def _same_time(row: RoomFigure, as_of: str) -> bool:
    last = last_day(row.figure.period)
    if len(as_of) == 4:
        return last.startswith(as_of)
    return months_of(row.figure.period) <= 1 and last[:7] == as_of[:7]


def _agrees(claim: Claim, row: RoomFigure) -> bool:
    if isinstance(claim.value, list):
        low, high = (*claim.value, None, None)[:2]
        return (low is None or row.figure.value >= low) and (high is None or row.figure.value <= high)
    return agrees(Decimal(claim.value), Decimal(1), row.figure.value, row.figure.step)
