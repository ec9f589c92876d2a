"""The key figures of a company for its pages, and the newest ones of all companies side by side.

Only actual figures of the company as a whole are shown, by the day on which their period ends; for flows only whole
years. The table shows restated values and, where figures contradict each other, the one that counts. The plan for the
next period is in a column of its own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, Final, NamedTuple

from tasks.companies.claims import Claim, find_founding_year
from tasks.figures.conflicts import RULE, RoomFigure, Step, room_row
from tasks.figures.derived import choose_counted_figures
from tasks.figures.figure import ACTUAL, agrees, name_in_words, taxonomy
from tasks.figures.from_sentences import FOUNDING_YEAR
from tasks.language.periods import count_months, last_day
from tasks.reports.models import (
    CompanyReport,
    ComparedFigure,
    ReportedDerivedFigure,
    ReportedFigure,
    ReportedFigureConflict,
    ReportedQuote,
)
from tasks.reports.wording import name_part, page_address

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
    """Each claim on a field for which the room has figures, with the figure of the same time, otherwise the nearest.

    Only the room's actual figures of the company as a whole count; `rule` decides between contradicting ones.
    """
    counted = choose_counted_figures([row for row in figures if row.figure.concept in {*_CONCEPTS.values()}], rule)
    founded = [row for row in figures if row.figure.concept == FOUNDING_YEAR]
    exact = {claim.source for claim in claims if claim.field == "extra.employee_count"}
    compared: dict[tuple[str, str, str], ComparedFigure] = {}
    for claim in (find_founding_year(claim) or claim for claim in claims):
        if claim.field == "company_size" and claim.source in exact:
            continue  # the range around the same number
        for figure in _compare_with_room(claim, counted, founded):
            compared.setdefault((claim.field, claim.source, str(figure.claim.value)), figure)
    return list(compared.values())


def _compare_with_room(
    claim: Claim, counted: Sequence[RoomFigure], founded: Sequence[RoomFigure]
) -> Sequence[ComparedFigure]:
    """A claim beside the figures for its concept: each year for revenue, otherwise one; empty if the room has none."""
    rows = [row for row in counted if row.figure.concept == _CONCEPTS.get(claim.field)]
    if claim.field == _REVENUE:
        return _revenue(claim, [row for row in counted if row.figure.concept == "revenue"])
    if claim.field == "founded_year" and founded:
        return [_compare_founding(claim, founded)]
    return [_compare_claim(claim, rows)] if rows else []


def _revenue(claim: Claim, rows: Sequence[RoomFigure]) -> list[ComparedFigure]:
    """The years of revenue that both a source and the room give; if there are none, the newest year."""
    years = [row for row in rows if 11 <= count_months(row.figure.period) <= 13]
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
    """The worth of the last non-zero digit of a source's number, as far as that may be due to rounding."""
    digits = f"{abs(amount):f}".partition(".")[0]
    rounded = Decimal(1).scaleb(len(digits) - len(digits.rstrip("0")))
    return min(rounded, 2 * _MOST_ROUNDED * abs(amount))


def _compare_founding(claim: Claim, rows: Sequence[RoomFigure]) -> ComparedFigure:
    """The founding year from a source, with the place in the room that agrees, otherwise the nearest."""
    nearest = min(rows, key=lambda row: abs(row.figure.value - claim.value))
    same = nearest.figure.value == claim.value
    return ComparedFigure(
        concept=FOUNDING_YEAR,
        verdict="agrees" if same else "differs",
        why=f"the room says: {nearest.figure.label}",
        claim=claim,
        figure=ReportedFigure.model_validate(room_row(nearest)),
    )


def _compare_claim(claim: Claim, rows: Sequence[RoomFigure]) -> ComparedFigure:
    when = _day(claim.as_of)
    nearest = min(rows, key=lambda row: (_days_apart(row, when), count_months(row.figure.period)))
    fields: dict[str, Any] = {"concept": nearest.figure.concept, "claim": claim}
    fields["figure"] = ReportedFigure.model_validate(room_row(nearest))
    if claim.as_of is None or when is None:
        return ComparedFigure(**fields, verdict="not_comparable", why="the source does not give a date")
    if not _same_time(nearest, claim.as_of):
        why = f"the source's is of {claim.as_of[:10]}, the room's nearest of {last_day(nearest.figure.period)}"
        return ComparedFigure(**fields, verdict="not_comparable", why=why)
    verdict, why = ("agrees", "the same time") if _agrees(claim, nearest) else ("differs", "beyond rounding")
    return ComparedFigure(**fields, verdict=verdict, why=why)


def _day(as_of: str | None) -> date | None:
    """The day of a source's date; for a year its last day."""
    try:
        return date.fromisoformat(f"{as_of}-12-31" if as_of and len(as_of) == 4 else (as_of or "")[:10])
    except ValueError:
        return None


def _days_apart(row: RoomFigure, when: date | None) -> int:
    """Days between the figure's last day and the source's; without a date the newest figure is the nearest."""
    last = date.fromisoformat(last_day(row.figure.period))
    return abs((last - when).days) if when else (date.max - last).days


def _same_time(row: RoomFigure, as_of: str) -> bool:
    last = last_day(row.figure.period)
    if len(as_of) == 4:
        return last.startswith(as_of)
    return count_months(row.figure.period) <= 1 and last[:7] == as_of[:7]


def _agrees(claim: Claim, row: RoomFigure) -> bool:
    if isinstance(claim.value, list):
        low, high = (*claim.value, None, None)[:2]
        return (low is None or row.figure.value >= low) and (high is None or row.figure.value <= high)
    return agrees(Decimal(claim.value), Decimal(1), row.figure.value, row.figure.step)


_YEAR: Final = 12
_PLANS: Final = frozenset({"budget", "forecast"})
_MOST_PERIODS: Final = 6
_MOST_COLUMNS: Final = 12
_WIDTH, _HEIGHT = 60, 16  # of a line's drawing, in its own units
_SCALES: Final = ((Decimal(10**9), " bn"), (Decimal(10**6), " m"), (Decimal(10_000), " k"))


class KeyFigure(NamedTuple):
    """A value in the table: as shown, in full with its place, the link to it, and whether it is doubtful."""

    shown: str
    full: str
    link: str | None
    contradicted: bool


class KeyRow(NamedTuple):
    """A row: its name, its unit, a value or None for each period, and the points of its sparkline ("" for none).

    `planned` is the plan for the next period.
    """

    name: str
    unit: str
    values: list[KeyFigure | None]
    line: str
    computed: bool
    planned: KeyFigure | None = None


class KeyFigures(NamedTuple):
    """The table: the last days of its periods, oldest first; its rows; and the last day of the next planned period."""

    periods: list[str]
    rows: list[KeyRow]
    plan: str | None = None


class NewestFigure(NamedTuple):
    """A cell in the comparison of companies: the value with its unit, number and unit to sort by, and its period's last
    day.
    """

    value: KeyFigure
    number: str
    unit: str
    day: str


class NewestRow(NamedTuple):
    """A company, its number in the report (from 1), and its newest figure for each column."""

    company: str
    number: int
    cells: list[NewestFigure | None]


class NewestFigures(NamedTuple):
    """The comparison of companies: the column names, and a row for each company with figures."""

    names: list[str]
    rows: list[NewestRow]


def figures_across(companies: Sequence[tuple[str, Mapping[str, NewestFigure]]]) -> NewestFigures:
    """The newest figures of all companies by name, in the columns that most companies have."""
    counts = Counter(concept for _, figures in companies for concept in figures)
    names = sorted(counts, key=lambda name: (-counts[name], _order(name), name))[:_MOST_COLUMNS]
    names.sort(key=lambda name: (_order(name), name))
    rows = [
        NewestRow(company, number, [figures.get(name) for name in names])
        for number, (company, figures) in enumerate(companies, 1)
        if figures
    ]
    return NewestFigures([_words(name) for name in names], rows)


def newest_in_words(company: CompanyReport, most: int) -> tuple[list[str], list[str]]:
    """The first few of a company's newest figures, each with its name and day, and its contradictions."""
    table = figures_across([(company.name, newest_figures(company))])
    cells = zip(table.names, table.rows[0].cells if table.rows else (), strict=False)
    newest = [f"{name} {cell.value.shown} ({cell.day})" for name, cell in cells if cell]
    contradicted = [f"Contradicted: {describe_contradiction(conflict)}" for conflict in company.figure_conflicts]
    return newest[:most], contradicted


def newest_figures(company: CompanyReport) -> dict[str, NewestFigure]:
    """The newest figure of each concept, including computed ones, by its name."""
    sources = _Sources.of(company)
    newest: dict[str, NewestFigure] = {}
    for (concept, unit), by_end in _choose_counted(company).items():
        day = max(by_end)
        if concept not in newest or day > newest[concept].day:
            value = sources.shown(by_end[day], with_unit=True)
            newest[concept] = NewestFigure(value, by_end[day].value, unit, day)
    for derived in company.derived_figures:
        day = last_day(derived.period)
        if count_months(derived.period) in {0, 12} and (derived.name not in newest or day > newest[derived.name].day):
            value = KeyFigure(_with_unit(derived.value, derived.unit), derived.formula, None, contradicted=False)
            newest[derived.name] = NewestFigure(value, derived.value, derived.unit, day)
    return newest


class _Sources(NamedTuple):
    """Where a company's figures can be looked at, and which of them another document contradicts."""

    doubtful: set[tuple[str, str, str, str | None, str]]
    urls: Mapping[str, str | None]
    proofs: Sequence[ReportedQuote]

    @classmethod
    def of(cls, company: CompanyReport) -> "_Sources":
        return cls(
            {_key(conflict.counted) for conflict in company.figure_conflicts},
            {document.document_id: document.document_url for document in company.documents},
            [
                quote
                for criterion in company.criteria
                for quote in criterion.quotes
                if quote.verified and quote.evidence_url and quote.document_id
            ],
        )

    def shown(self, figure: ReportedFigure, *, with_unit: bool = False) -> KeyFigure:
        """A figure as a cell has it."""
        return KeyFigure(
            _with_unit(figure.value, figure.unit) if with_unit else compact(figure.value),
            f"{in_full(figure)}, {figure.basis}, {figure.document_name}, {figure.place}",
            _address(figure, self.proofs, self.urls),
            _key(figure) in self.doubtful,
        )


def _with_unit(value: str, unit: str) -> str:
    """`EUR 9.41 m`, `22.1 %`, `94`."""
    return f"{unit} {compact(value)}" if len(unit) == 3 else f"{compact(value)} {_unit(unit)}".strip()


def key_figures(company: CompanyReport) -> KeyFigures:
    """The table for a company; without rows if no document gives a figure."""
    counted = _choose_counted(company)
    ends = Counter(end for values in counted.values() for end in values)
    periods = sorted(sorted(ends, key=lambda end: (ends[end], end), reverse=True)[:_MOST_PERIODS])
    sources = _Sources.of(company)
    plan, planned = _next_plan(company, max(ends, default=""))
    rows = []
    for concept, unit in sorted({**counted, **planned}, key=lambda row: (_order(row[0]), row[1])):
        by_end = counted.get((concept, unit), {})
        of_plan = sources.shown(planned[concept, unit]) if (concept, unit) in planned else None
        values = [sources.shown(figure) if (figure := by_end.get(end)) else None for end in periods]
        numbers = [Decimal(by_end[end].value) if end in by_end else None for end in periods]
        if any(values) or of_plan:
            rows.append(KeyRow(_words(concept), _unit(unit), values, _line(numbers), computed=False, planned=of_plan))
    return KeyFigures(periods, [*rows, *_make_computed_rows(company.derived_figures, periods)], plan)


def _next_plan(company: CompanyReport, newest: str) -> tuple[str | None, dict[tuple[str, str], ReportedFigure]]:
    """The last day of the first planned period after the newest actual one, and what was planned for it."""
    preferred = {_key(versions.counted) for versions in company.figure_versions}
    ahead = [
        figure
        for figure in company.figures
        if figure.basis in _PLANS and figure.entity is None and last_day(figure.period) > newest
    ]
    years = [figure for figure in ahead if count_months(figure.period) == _YEAR]
    day = min((last_day(figure.period) for figure in years or ahead), default=None)
    of_day = [f for f in ahead if last_day(f.period) == day and count_months(f.period) in {0, _YEAR}]
    of_day.sort(key=lambda figure: _key(figure) in preferred)  # the last one stays
    return day if of_day else None, {(figure.concept, figure.unit): figure for figure in of_day}


def compact(value: str) -> str:
    """A value with about three digits: "9.41 m", "620 k", "1,250", "22.1"."""
    number = Decimal(value)
    for scale, name in _SCALES:
        if abs(number) >= scale:
            divisor = scale if name != " k" else Decimal(1000)
            return f"{_short(number / divisor)}{name}"
    return _short(number)


def describe_contradiction(conflict: ReportedFigureConflict) -> str:
    """`Recurring revenue, 2024-12-31: EUR 7.1 m counts, 9.4 m not`; with all digits where three are the same."""
    others = dict.fromkeys(compact(other.value) for other in conflict.others)
    day, value = last_day(conflict.period), compact(conflict.counted.value)
    if value in others:
        others = dict.fromkeys(f"{Decimal(other.value):,}" for other in conflict.others)
        value = f"{Decimal(conflict.counted.value):,}"
    counted = f"{_unit(conflict.counted.unit)} {value}".strip()
    whose = f" of {conflict.counted.entity}" if conflict.counted.entity else ""
    return f"{_words(conflict.concept)}{whose}, {day}: {counted} counts, {' and '.join(others)} not"


def in_full(figure: ReportedFigure) -> str:
    """A figure with all its digits, its unit and its period: "EUR 9,412,345, 2024-04-01 to 2025-03-31"."""
    if figure.unit == "year":
        return figure.value
    number = f"{Decimal(figure.value):,f}"
    unit = _unit(figure.unit)
    shown = f"{unit} {number}" if len(unit) == 3 else f"{number} {unit}".strip()
    return f"{shown}, {figure.period.replace('/', ' to ')}"


def rule_in_words(conflict: ReportedFigureConflict) -> str:
    """Why one figure counts rather than the other, for readers who do not know the rule's steps."""
    if conflict.step == "basis":
        sources = [kind if kind == "deck" else f"{kind} source" for kind in conflict.kinds]
        of_what = [f"{'an' if source[:1] in 'aeiou' else 'a'} {source}" for source in sources]
        return f"It counts because {of_what[0]} takes precedence over {of_what[1]}."
    if conflict.step == "authority":
        higher, lower = conflict.kinds
        return f"It counts because a document that is {higher} takes precedence over one that is {lower}."
    if conflict.step == "newer":
        return "It counts because its document has the later date."
    return "Nothing decides between them, so the more precise figure counts."


def _short(number: Decimal) -> str:
    places = 0 if abs(number) >= 100 else 1 if abs(number) >= 10 else 2
    text = f"{round(number, places):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _key(figure: ReportedFigure) -> tuple[str, str, str, str | None, str]:
    return figure.concept, figure.unit, figure.period, figure.document_id, figure.place


def _choose_counted(company: CompanyReport) -> dict[tuple[str, str], dict[str, ReportedFigure]]:
    """The figure that counts for each concept and unit, by the last day of its period."""
    preferred = {_key(conflict.counted) for conflict in company.figure_conflicts}
    refuted = {_key(other) for conflict in company.figure_conflicts for other in conflict.others}
    actual = [
        figure
        for figure in company.figures
        if figure.entity is None and figure.basis in ACTUAL and count_months(figure.period) in {0, 12}
    ]
    actual.sort(
        key=lambda figure: (
            _key(figure) in refuted,
            "as previously reported" in figure.label,
            "restated" not in figure.label,
            _key(figure) not in preferred,
            ACTUAL.index(figure.basis),
        )
    )
    counted: dict[tuple[str, str], dict[str, ReportedFigure]] = {}
    for figure in actual:
        counted.setdefault((figure.concept, figure.unit), {}).setdefault(last_day(figure.period), figure)
    return {row: _without_opening_balances(by_end) for row, by_end in counted.items()}


def _without_opening_balances(by_end: Mapping[str, ReportedFigure]) -> dict[str, ReportedFigure]:
    """Leaves out equity at 1 January if that of 31 December is the same; changed values stay."""
    return {
        end: figure
        for end, figure in by_end.items()
        if "/" in figure.period
        or (closing := by_end.get((date.fromisoformat(end) - timedelta(days=1)).isoformat())) is None
        or Decimal(closing.value) != Decimal(figure.value)
    }


def _make_computed_rows(derived: Iterable[ReportedDerivedFigure], periods: Sequence[str]) -> list[KeyRow]:
    by_name: dict[tuple[str, str], dict[str, ReportedDerivedFigure]] = {}
    for figure in derived:
        if last_day(figure.period) in periods and count_months(figure.period) in {0, 12}:
            by_name.setdefault((figure.name, figure.unit), {}).setdefault(last_day(figure.period), figure)
    rows = []
    for (name, unit), by_end in sorted(by_name.items()):
        values = [
            KeyFigure(compact(by_end[end].value), by_end[end].formula, None, contradicted=False)
            if end in by_end
            else None
            for end in periods
        ]
        numbers = [Decimal(by_end[end].value) if end in by_end else None for end in periods]
        rows.append(KeyRow(_words(name), _unit(unit), values, _line(numbers), computed=True))
    return rows


def _address(figure: ReportedFigure, proofs: Sequence[ReportedQuote], urls: Mapping[str, str | None]) -> str | None:
    """The evidence page of a quote from the same row or sentence, else the document's own address with its page."""
    for quote in proofs:
        same = quote.document_id == figure.document_id and name_part(quote.place or "") == name_part(figure.place)
        if same and figure.label.split(", ")[0] in quote.text:
            return quote.evidence_url
    return page_address(urls.get(figure.document_id or ""), figure.place, figure.document_name)


def _line(numbers: Sequence[Decimal | None]) -> str:
    """The points of a line through the values, scaled from lowest to highest; empty for fewer than three."""
    known = [number for number in numbers if number is not None]
    if len(known) < 3:
        return ""
    low, span = min(known), (max(known) - min(known)) or Decimal(1)
    step = Decimal(_WIDTH) / (len(numbers) - 1)
    return " ".join(
        f"{round(position * step)},{round((_HEIGHT - 2) - (number - low) / span * (_HEIGHT - 4))}"
        for position, number in enumerate(numbers)
        if number is not None
    )


@cache
def _order(concept: str) -> int:
    known = list(taxonomy().concepts)
    return known.index(concept) if concept in known else len(known)


def _words(name: str) -> str:
    words = name_in_words(name)
    return words[:1].upper() + words[1:]


def _unit(unit: str) -> str:
    return {"percent": "%", "count": "", "ratio": "×"}.get(unit, unit)
