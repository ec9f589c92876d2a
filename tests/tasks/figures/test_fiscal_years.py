"""The year of a room's company, where only some of its documents say when it ends."""

from collections.abc import Mapping
from datetime import date

from tasks.figures.conflicts import RoomFigure, find_conflicts
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.figures.ledger import by_the_rooms_year
from tasks.language.periods import When
from tests.cases import cases

ACCOUNTS = (
    "Accounts for the year ended 31 March 2024\n\nGBP thousand\t2024\t2023\nEBITDA\t6,320\t5,480\nDebt\t4,100\t4,000\n"
)
FISCAL_2024 = "2023-04-01/2024-03-31"


def room(documents: Mapping[str, str]) -> list[RoomFigure]:
    texts = [*documents.values()]
    rows = [
        RoomFigure(figure, figure.basis or "reported", name, name, "", deck=False, dated=None, text_id=at)
        for at, (name, text) in enumerate(documents.items())
        for figure in find_figures(LedgerDocument(text, [], name), taxonomy()).figures
    ]
    return [*by_the_rooms_year(rows, texts.__getitem__)]


def periods(rows: list[RoomFigure], name: str) -> list[str]:
    return [row.figure.period for row in rows if row.document_name == name]


def test_a_bare_year_ends_when_the_accounts_say() -> None:
    rows = room({"accounts.txt": ACCOUNTS, "deck.txt": "EBITDA FY24: GBP 7.9 million\n"})
    assert periods(rows, "deck.txt") == [FISCAL_2024]
    (conflict,) = find_conflicts(rows)
    assert (conflict.concept, conflict.period) == ("ebitda", FISCAL_2024)


def test_a_column_of_a_bare_year_too_with_its_stocks() -> None:
    rows = room({"accounts.txt": ACCOUNTS, "model.txt": "GBP m\tFY23A\tFY24A\nEBITDA\t5.5\t6.3\nDebt\t4.0\t4.1\n"})
    assert periods(rows, "model.txt") == ["2022-04-01/2023-03-31", FISCAL_2024, "2023-03-31", "2024-03-31"]


def test_what_names_its_month_stays() -> None:
    rows = room(
        {
            "accounts.txt": ACCOUNTS,
            "kpi.txt": "GBP m\tLTM Dec-24\nEBITDA\t6.9\n\nTotal debt at 31 December 2024: GBP 4.4m\n",
        }
    )
    assert periods(rows, "kpi.txt") == ["2024-01-01/2024-12-31", "2024-12-31"]


def test_a_document_that_says_its_own_year_and_a_room_of_two_years_stay() -> None:
    other = "Accounts for the year ended 31 December 2024\n\nGBP thousand\t2024\nEBITDA\t900\n"
    rows = room({"accounts.txt": ACCOUNTS, "subsidiary.txt": other, "deck.txt": "EBITDA FY24: GBP 7.9 million\n"})
    assert periods(rows, "subsidiary.txt") == ["2024-01-01/2024-12-31"]
    assert periods(rows, "deck.txt") == ["2024-01-01/2024-12-31"]


def test_a_room_of_calendar_years_asks_for_no_text() -> None:
    rows = [
        RoomFigure(figure, "reported", "deck.txt", "deck.txt", "", deck=False, dated=None)
        for figure in find_figures(LedgerDocument("EBITDA FY24: GBP 7.9 million\n", [], "deck.txt"), taxonomy()).figures
    ]
    assert by_the_rooms_year(rows, lambda _: (_ for _ in ()).throw(AssertionError)) is rows


def test_a_decks_fiscal_year_that_was_over_is_no_forecast_and_a_planned_one_stays() -> None:
    deck = "Update of 30 September 2024\n\nEBITDA of GBP 7.9 million in FY24\n\nPlanned EBITDA of GBP 9.0m in FY25\n"
    texts = [ACCOUNTS.replace("31 March", "30 June"), deck]
    rows = [
        RoomFigure(figure, figure.basis or "management", str(at), str(at), "", deck=at == 1, dated=dated, text_id=at)
        for at, (text, dated) in enumerate(zip(texts, (None, "2024-09-30"), strict=True))
        for figure in find_figures(LedgerDocument(text, [], "a.txt"), taxonomy()).figures
    ]
    found = [(row.figure.period[-10:], row.basis) for row in by_the_rooms_year(rows, texts.__getitem__) if row.deck]
    assert found[0] == ("2024-06-30", "management")
    assert [basis for end, basis in found if end == "2025-06-30"] == ["budget"]


def test_a_bare_year_of_a_company_of_52_weeks_ends_with_its_last_week() -> None:
    accounts = "\t52 weeks ended 30 December 2023\t52 weeks ended 31 December 2022\nRevenue (£ million)\t318.4\t296.7\n"
    rows = room({"accounts.txt": accounts, "record.txt": "£m\t2023\nRevenue\t301.2\n"})
    assert [period.rpartition("/")[2] for period in periods(rows, "record.txt")] == ["2023-12-30"]
    assert [conflict.concept for conflict in find_conflicts(rows)] == ["revenue"]


def test_a_day_to_come_in_a_table_does_not_date_a_document() -> None:
    text = "Key people\nAs of 31 January 2025.\nName\tBonus if still here on 31 December 2026\nJ. Brix\t6 months' pay\n"
    assert str(learn_calendar(text).dated) == "2025-01-31"


def test_a_day_of_shares_ends_no_year_and_that_of_accounts_does() -> None:
    covers = "As of October 16, 2025, there were 3 shares.\nAs of October 16, 2025, there were 4 options.\n"
    assert not learn_calendar(covers).ends
    accounts = "Balance sheet\nAs at 16 July 2024\n\nIncome statement\nAs at 16 July 2024\n"
    assert str(learn_calendar(covers + accounts).year_end(2024)) == "2024-07-16"


@cases(
    ("before", "begins"),
    [(date(2021, 12, 25), "2021-12-26"), (date(2022, 1, 1), "2022-01-02"), (date(2021, 12, 26), "2022-01-01")],
)
def test_a_year_begins_behind_the_last_one_where_it_is_of_whole_weeks(before: date, begins: str) -> None:
    calendar = Calendar(ends={2021: before})
    assert calendar.resolve(When(year=2022), instant=False) == f"{begins}/2022-12-31"


def test_the_first_year_of_weeks_begins_behind_the_last_one_of_the_calendar() -> None:
    calendar = Calendar(ends={2023: date(2023, 12, 31), 2024: date(2024, 12, 28)})
    assert calendar.resolve(When(year=2024), instant=False) == "2024-01-01/2024-12-28"


def test_a_day_within_a_month_on_which_something_was_written_ends_no_year() -> None:
    assert learn_calendar("Results as of Dec 23\n\nRevenue 2023").year_end(2023) == date(2023, 12, 31)
