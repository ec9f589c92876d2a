"""Which figures are actual: those of periods that were over when their document was written."""

from datetime import date

from tasks.figures.conflicts import RoomFigure, find_conflicts, find_versions
from tasks.figures.derived import drop_undated_after
from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import find_named_basis, taxonomy
from tasks.reading.text_writer import DOUBTED, file_dates, today
from tests.cases import cases

TABLE = "EUR\t2022\t2023\t2024\t2025\nRevenue\t1,000,000\t2,000,000\t3,000,000\t4,000,000\n"


def bases(text: str, name: str = "P&L.xlsx", *, dates: str = "", sheet: str = "P&L") -> dict[str, str | None]:
    """The basis of each year of a workbook whose file has these days."""
    places = [(0, len(text), "file_dates", dates)] * bool(dates) + [(0, len(text), "sheet", sheet)]
    figures = find_figures(LedgerDocument(text, places, name), taxonomy()).figures
    return {figure.period[:4]: figure.basis for figure in figures}


def test_what_ends_after_the_file_was_changed_is_a_forecast() -> None:
    found = bases(TABLE, dates="/2024-08-05")
    assert found == {"2022": None, "2023": None, "2024": "forecast", "2025": "forecast"}


def test_whoever_saves_a_model_again_makes_nothing_actual() -> None:
    text = TABLE.replace("2025", str(today().year + 1))
    assert bases(text, dates=f"2023-02-16/{today()}") == {
        "2022": None, "2023": "forecast", "2024": "forecast", str(today().year + 1): "forecast",
    }  # fmt: skip
    told = text.replace("\t2023\t2024", "\tActual 2023\tActual 2024")
    assert bases(told, dates=f"2023-02-16/{today()}")["2024"] is None


@cases(
    ("heads", "found"),
    [
        (("\t\t\tProjected\n", "2022", "2023", "2024", "2025"), ("management", "management", "forecast", "forecast")),
        (("", "2022", "2023", "2024E", "2025E"), ("management", "management", "forecast", "forecast")),
        (("\tHistorical\t\tProjected\n", "2022", "2023", "2024", "2025"), ("management",) * 2 + ("forecast",) * 2),
        (("\tProjected\n", "2022", "2023", "2024", "2025"), ("forecast",) * 4),
        (("", "2022", "2023E", "2021", "2020"), ("management", "forecast", "forecast", None)),
        (("\t\tProjected\n", "2024", "2023", "2022", "2021"), ("forecast",) * 4),
    ],
)
def test_in_a_model_columns_before_those_marked_as_planned_are_actual(
    heads: tuple[str, ...], found: tuple[str | None, ...]
) -> None:
    over, *years = heads
    text = "\t".join([f"{over}EUR", *years]) + "\nRevenue\t1,000,000\t2,000,000\t3,000,000\t4,000,000\n"
    told = bases(text, dates="2021-10-02/2026-01-31", sheet="Model")
    assert [told[year[:4]] for year in years] == [*found]


@cases(
    ("sheet", "name", "over", "basis"),
    [
        ("Budget 2023-2025", "m.xlsx", "", "budget"),
        ("P&L", "Budget.xlsx", "", "budget"),
        ("P&L", "m.xlsx", "Budget 2023\n\n", "budget"),
        ("Pro forma", "m.xlsx", "", "pro_forma"),
        ("Run-rate", "m.xlsx", "", "pro_forma"),
        ("Model", "m.xlsx", "", "management"),
    ],
)
def test_marked_columns_make_no_budget_and_nothing_pro_forma_actual(
    sheet: str, name: str, over: str, basis: str
) -> None:
    text = over + TABLE.replace("\t2025", "\t2025 Forecast")
    told = bases(text, name, dates="2021-10-02/2026-01-31", sheet=sheet)
    assert [told[year] for year in ("2022", "2023", "2024", "2025")] == [*[basis] * 3, "forecast"]


def test_what_ends_after_the_last_change_is_no_past_whatever_stands_beside_it() -> None:
    text = TABLE.replace("\t2025", "\t2025E")
    assert bases(text, dates="/2024-08-05") == {
        "2022": "management", "2023": "management", "2024": "forecast", "2025": "forecast",
    }  # fmt: skip


def test_the_year_in_which_a_file_was_changed_is_no_plan_unless_something_says_so() -> None:
    years = TABLE.replace("\t2025", "").replace("\t4,000,000", "")
    assert bases(years, dates="/2024-11-18") == {"2022": None, "2023": None}
    assert bases(years.replace("2024", "2024E"), dates="/2024-11-18")["2024"] == "forecast"
    assert bases(years, dates="/2024-11-18", sheet="Forecast")["2024"] == "forecast"
    assert bases(years.replace("2024", "31 December 2024"), dates="/2024-11-18")["2024"] == "forecast"
    assert bases(f"Our financial year ends on 30 June.\n\n{years}", dates="/2024-05-18")["2023"] == "forecast"


@cases(
    ("years", "repeated"),
    [("2022A\t2023A", "management"), ("Actual 2022\tActual 2023", "management"), ("2022\t2023", "forecast")],
)
def test_what_a_model_repeats_is_no_plan_where_another_sheet_says_that_it_is_actual(years: str, repeated: str) -> None:
    past = f"Dashboard\n\nEUR\t{years}\nRevenue\t1,234,567\t2,345,678\n\n"
    plan = "DCF\n\nValuation\n\nEUR\t2022\t2023\t2024\nRevenue\t1,234,567\t2,345,678\t3,456,789\n"
    plan += "\nEUR\tForecast 2023\nRevenue\t2,345,678\n"
    text = past + plan
    places = [
        (0, len(text), "file_dates", "2021-01-01/2026-01-31"),
        (0, len(past), "sheet", "Dashboard"),
        (len(past), len(text), "sheet", "DCF"),
    ]
    figures = find_figures(LedgerDocument(text, places, "a.xlsx"), taxonomy()).figures
    assert [figure.basis for figure in figures] == [None, None, repeated, repeated, "forecast", "forecast"]


def test_a_file_that_is_years_older_than_its_text_says_dates_nothing() -> None:
    text = "Results as of 31 January 2026\n" + TABLE
    assert set(bases(text, dates="2012-01-01/2012-01-01").values()) == {None}


@cases(
    ("sheet", "basis"),
    [
        ("DCF", "forecast"), ("Base case", "forecast"), ("Projections_v2", "forecast"), ("Finanzplanung", "forecast"),
        ("FinancialModel", "forecast"), ("Budget 2024", "budget"), ("Presupuesto", "budget"), ("Run-rate", "pro_forma"),
        ("Actual vs budget", None), ("Our business model", None), ("Accounts", None),
    ],
)  # fmt: skip
def test_names_say_what_a_table_is(sheet: str, basis: str | None) -> None:
    assert bases(TABLE, sheet=sheet, dates="2022-02-01/2026-01-31")["2023"] == basis


@cases(
    ("title", "basis"),
    [
        ("DCF valuation, EUR thousand", "forecast"), ("Alpha GmbH - Businessplan", "forecast"), ("Model", "forecast"),
        ("Model Works Ltd", None), ("Scenario Software GmbH: Gewinn- und Verlustrechnung", None),
        ("Budget vs actual", None), ("Revenue", None),
        ("Our business model:", None), ("Annual report: model of success", None),
        ("Run-rate (December x 12)", "pro_forma"),
        ("Plan (Stand 12.3.)", "budget"), ("Forecast 6+6", "forecast"), ("Planning area 3", None),
        ("Financial model of Alpha: historical figures", None), ("Income statement (no forecast)", None),
    ],
)  # fmt: skip
def test_so_does_the_first_line_of_a_sheet_or_of_a_text_without_headings(title: str, basis: str | None) -> None:
    assert bases(f"P&L\n{title}\n\n{TABLE}")["2023"] == basis
    text = f"{title}\n\n{TABLE}"
    found = find_figures(LedgerDocument(text, [], "a.csv"), taxonomy()).figures
    assert found[1].basis == basis


def test_a_name_of_others_too_is_asked_no_further() -> None:
    assert find_named_basis("Budget review") == "except"
    assert find_named_basis("Cash") is None


def test_a_date_in_a_table_dates_no_document() -> None:
    text = "Rounds\nSeed\tMay 2024\t9\nSeries D\tMarch 2025\t310\n"
    assert LedgerDocument(text, [], "model.txt").calendar.dated is None


@cases(
    ("heads", "basis"),
    [
        ("2013-12-31\t2012-12-31", None),
        ("2013-01-01 -2013-12-31\t2012-01-01 -2012-12-31", None),
        ("31.12.2013\t31.12.2012", None),
        ("2013-12-31\t2014-12-31", "forecast"),
        ("2013-12-31\t2011-12-31", "forecast"),
    ],
)
def test_audited_accounts_of_days_beside_the_year_before_are_written_after_those_days(
    heads: str, basis: str | None
) -> None:
    text = "Styrelse till 2013-05-16.\n" + f"SEK\t{heads}\nNet revenue\t1,000,000\t900,000\n\n" * 3
    audited = text + "Vi har utfört en revision av årsredovisningen.\n"
    assert bases(audited, "2013.pdf")["2013"] == basis
    for other in (text, audited.replace("SEK\t", "Plan\nSEK\t"), audited.replace("2013-05", "2011-05")):
        assert LedgerDocument(other, [], "2013.pdf").calendar.dated in {date(2013, 5, 16), date(2011, 5, 16)}


@cases("moment", ["1980-01-01T00:00:00Z", "1970-01-01", "D:20990101120000Z", "2099-01-01T00:00:00Z"])
def test_a_day_that_cannot_be_is_said_and_not_taken(moment: str) -> None:
    dates = file_dates("", moment)
    assert (dates.label, dates.doubt[:18]) == (DOUBTED, "The file is dated ")
    assert bases(TABLE, dates=dates.label) == {}
    assert bases(TABLE.replace("\t2023", "\tActual 2023"), dates=dates.label) == {"2023": None}
    assert set(bases("Results as of 31 January 2026\n" + TABLE, dates=dates.label).values()) == {None}


def test_days_come_as_office_and_pdf_files_write_them() -> None:
    assert file_dates("2024-02-16T00:00:00Z", "D:20240805120000+02'00'").label == "2024-02-16/2024-08-05"
    assert file_dates("D:20240805", "").label == "2024-08-05/2024-08-05"
    assert file_dates("2025-01-01", "2024-01-01").label == "/2024-01-01"
    assert file_dates("2013-12-23T23:15:00Z", "2013-12-23T23:15:00Z") == ("", "")


def row(value: int, document: str, basis: str = "forecast", year: int = 2024, dated: str | None = None) -> RoomFigure:
    period = f"{year}-01-01/{year}-12-31"
    (figure,) = find_figures(LedgerDocument(f"EUR\t{year}\nRevenue\t{value}\n", [], "a.csv"), taxonomy()).figures
    assert figure.period == period
    return RoomFigure(figure, basis, document, document, "", deck=False, dated=dated)


def test_plans_that_differ_are_versions_and_no_conflict() -> None:
    rows = [row(12_000_000, "v1.xlsx"), row(9_000_000, "v2.xlsx")]
    assert find_conflicts(rows) == []
    (versions,) = find_versions(rows)
    assert [version.document_name for version in versions.others] == ["v2.xlsx"]
    assert find_versions([row(12_000_000, "a"), row(9_000_000, "a")]) == []


def test_one_number_in_thousands_and_in_units_is_no_conflict() -> None:
    assert find_conflicts([row(12_345_000, "a", "management"), row(12_345, "b", "management")]) == []
    assert len(find_conflicts([row(12_345_000, "a", "management"), row(12_999, "b", "management")])) == 1


def test_an_undated_document_is_never_the_latest_beside_a_dated_one() -> None:
    undated, dated = (
        row(5_000_000, "a", "management", 2025),
        row(4_000_000, "b", "management", 2024, dated="2025-03-01"),
    )
    assert drop_undated_after([undated, dated]) == [dated]
    assert drop_undated_after([undated]) == [undated]


@cases(
    ("other", "kept"),
    [
        ("12,345\t23,456", []),
        ("12,345,000\t23,456,000", ["12345000", "23456000"]),
        ("12,999\t23,456", ["12999"]),
        ("1,234,500\t23,456", ["1234500"]),
    ],
)
def test_digits_that_another_sheet_gives_in_a_scale_are_no_amounts_without_it(other: str, kept: list[str]) -> None:
    scaled = "A\n\nEUR thousand\t2022\t2023\t2024\nRevenue\t12,345\t23,456\t7,100\n\n"
    text = f"{scaled}B\n\nEUR\t2022\t2023\t2024\nRevenue\t{other}\t7,100\n"
    places = [(0, len(scaled), "sheet", "A"), (len(scaled), len(text), "sheet", "B")]
    figures = find_figures(LedgerDocument(text, places, "a.xlsx"), taxonomy()).figures
    assert [f"{figure.value:f}" for figure in figures if figure.start > len(scaled)] == [*kept, "7100"]


@cases(
    ("head", "amount", "kept"),
    [
        ("", "$11,345", []),
        ("", "$1,345,000", ["1345000"]),
        ("USD", "$11,345", ["11345"]),
        ("USD million", "$11,345", ["11345000000"]),
    ],
)
def test_a_sheet_that_says_no_unit_is_in_none_where_another_says_its_scale(
    head: str, amount: str, kept: list[str]
) -> None:
    scaled = "A\n\nUSD million\t2022\t2023\nRevenue\t12,345\t23,456\n\n"
    text = f"{scaled}B\n\n{head}\t2020\t2021\nRevenue\t{amount}\t\n"
    places = [(0, len(scaled), "sheet", "A"), (len(scaled), len(text), "sheet", "B")]
    figures = find_figures(LedgerDocument(text, places, "a.xlsx"), taxonomy()).figures
    assert [f"{figure.value:f}" for figure in figures if figure.start > len(scaled)] == kept
