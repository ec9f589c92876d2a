"""Facts from public sources held against the room's figures: agreement, difference, or no comparison."""

from datetime import UTC, datetime
from decimal import Decimal
from io import BytesIO
from typing import Any

import openpyxl

from tasks.companies.claims import Claim
from tasks.figures.conflicts import RoomFigure
from tasks.figures.figure import Figure
from tasks.reports import html, xlsx
from tasks.reports.key_figures import compare
from tests.cases import cases
from tests.tasks.reports.test_key_figures import with_figures


def employees(value: int, period: str, step: int = 1, entity: str | None = None) -> RoomFigure:
    figure = Figure(
        "headcount", "Employees", Decimal(value), "count", "", Decimal(step), period, entity, None, "", "slide 2", 0, 2
    )
    return RoomFigure(figure, "management", "d1", "Deck.pptx", "", True, "2025-02-01")


def claim(field: str, value: Any, as_of: str | None) -> Claim:
    return Claim(
        field=field, value=value, source="wikidata", retrieved_at=datetime(2025, 3, 1, tzinfo=UTC), as_of=as_of
    )


ROOM = [employees(40, "2023-12-31"), employees(46, "2025-01-31"), employees(9, "2025-02-28", entity="Sales")]


@cases(
    ("field", "value", "as_of", "verdict", "held_against"),
    [
        ("company_size_on_social", 46, "2025-01-15", "agrees", "46"),
        ("company_size_on_social", 58, "2025-01-15T08:00:00Z", "differs", "46"),
        ("company_size_on_social", 58, "2025-02-22", "not_comparable", "46"),
        ("company_size_on_social", 42, "2023", "differs", "40"),
        ("company_size_on_social", 46, None, "not_comparable", "46"),
        ("company_size", [11, 50], "2025-01-31", "agrees", "46"),
        ("company_size", [51, 200], "2025-01-31", "differs", "46"),
    ],
)
def test_a_head_count_is_held_against_the_rooms_of_its_time(
    field: str, value: Any, as_of: str | None, verdict: str, held_against: str
) -> None:
    (compared,) = compare([claim(field, value, as_of)], ROOM)
    assert (compared.verdict, compared.figure.value) == (verdict, held_against)


def test_a_rounded_figure_agrees_as_far_as_it_is_rounded() -> None:
    rounded = [employees(50, "2025-01-31", step=10)]
    found = [compare([claim("company_size_on_social", value, "2025-01-31")], rounded)[0] for value in (46, 44)]
    assert [compared.verdict for compared in found] == ["agrees", "differs"]


def test_what_the_room_does_not_say_is_held_against_nothing() -> None:
    assert compare([claim("company_size_on_social", 46, "2025-01-31"), claim("founded_year", 2014, None)], []) == []


def revenue(value: int, year: int, step: int = 1, unit: str = "EUR", entity: str | None = None) -> RoomFigure:
    period = f"{year}-01-01/{year}-12-31"
    figure = Figure(
        "revenue", "Revenue", Decimal(value), unit, "", Decimal(step), period, entity, None, "", "page 2", 0, 2
    )
    return RoomFigure(figure, "audited", "d1", "Accounts.pdf", "", False, "2025-02-01")


def year(amount: float, end: str, currency: str = "EUR") -> dict[str, Any]:
    return {"amount": amount, "currency": currency, "start": None, "end": end}


@cases(
    ("years", "verdicts"),
    [
        ([year(9_412_345, "2024-12-31"), year(7_700_000, "2023-12-31")], ["agrees", "agrees"]),
        ([year(9_900_000, "2024-12-31"), year(9_400_000, "2022-12-31")], ["differs"]),
        ([year(9_000_000, "2024")], ["agrees"]),  # a round number
        ([year(8_712_345, "2024")], ["differs"]),
        ([year(9_412_345, "2024-06-30")], ["not_comparable"]),
        ([year(9_412_345, "2024-12-31", "USD")], ["not_comparable"]),
        ([year(1, "2019"), year(2, "2018")], ["not_comparable"]),
        ([{**year(1, "2024"), "amount": None}, {**year(2, "2024"), "end": None}], []),
    ],
)
def test_revenue_is_held_against_the_rooms_of_the_same_year(years: list[dict[str, Any]], verdicts: list[str]) -> None:
    rows = [revenue(9_400_000, 2024, 100_000), revenue(7_700_000, 2023, 100_000), revenue(5, 2024, entity="Nordics")]
    compared = compare([claim("extra.annual_revenue", years, "2024-12-31")], rows)
    assert [each.verdict for each in compared] == verdicts
    assert all(len(each.claim.value) == 1 and each.claim.as_of == each.claim.value[0]["end"] for each in compared)


def test_an_exact_count_takes_the_place_of_the_range_around_it() -> None:
    both = [claim("company_size", [11, 50], "2025-01-31"), claim("extra.employee_count", 48, "2025-01-31")]
    (compared,) = compare(both, ROOM)
    assert (compared.claim.field, compared.verdict) == ("extra.employee_count", "differs")


def founded(year: int, words: str) -> RoomFigure:
    figure = Figure(
        "founding_year", words, Decimal(year), "year", "", Decimal(1), str(year), None, None, "", "page 2", 0, 4
    )
    return RoomFigure(figure, "management", "d2", "Profile.pdf", "", False, None)


def test_a_founding_year_agrees_where_any_document_says_the_same() -> None:
    rows = [founded(2009, "founded in 2009"), founded(2011, "incorporated on 3 May 2011")]
    same, other = (compare([claim("founded_year", year, None)], rows)[0] for year in (2011, 2014))
    assert (same.verdict, same.why) == ("agrees", "the room says: incorporated on 3 May 2011")
    assert (other.verdict, other.concept, other.figure.value) == ("differs", "founding_year", "2011")


def test_a_founding_date_is_held_against_the_year() -> None:
    date = claim("extra.founding_date", {"day": 1, "month": 3, "year": 2009}, None)
    (compared,) = compare([date], [founded(2009, "gegründet 2009")])
    assert (compared.claim.field, compared.claim.value, compared.verdict) == ("founded_year", 2009, "agrees")


def test_the_page_and_the_workbook_show_both_places() -> None:
    report, company = with_figures()
    company.figure_comparisons = compare([claim("company_size_on_social", 58, "2025-01-31")], ROOM)
    page = html.render(report)
    assert (
        "A public source differs:</span> company size on social 58 "
        "(<bdi>wikidata</bdi>, as of 2025-01-31); the room: 46" in page
    )
    assert "(<bdi>Deck.pptx</bdi>, slide 2)" in page
    sheet = openpyxl.load_workbook(BytesIO(xlsx.render(report)))["Figures"]
    last = [cell.value for cell in [*sheet.iter_rows()][-1]][1:11]
    assert last[:3] + last[4:5] + last[6:9] == [
        "headcount", 58, "count", "2025-01-31", "public source", "differs",
        "company size on social 58; the room: 46, 2025-01-31 (Deck.pptx, slide 2)",
    ]  # fmt: skip


def test_the_page_and_the_workbook_show_a_years_revenue() -> None:
    report, company = with_figures()
    said = claim("extra.annual_revenue", [year(9_900_000, "2024-12-31")], "2024-12-31")
    company.figure_comparisons = compare([said], [revenue(9_400_000, 2024, 100_000)])
    words = " ".join(html.render(report).split())
    assert "A public source differs:</span> annual revenue EUR 9 900 000 in the year to 2024-12-31" in words
    sheet = openpyxl.load_workbook(BytesIO(xlsx.render(report)))["Figures"]
    last = [cell.value for cell in [*sheet.iter_rows()][-1]][1:9]
    assert (last[0], last[1], last[2], last[4], last[6], last[7]) == (
        "revenue", 9_900_000, "EUR", "2024-12-31", "public source", "differs",
    )  # fmt: skip
