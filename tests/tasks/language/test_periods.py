"""Words of periods become dates, by the fiscal year of the document."""

from datetime import date

from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.language.periods import When, header_period, year_earlier
from tests.cases import cases

MARCH = Calendar(3, 31)


@cases(
    ("words", "calendar", "period"),
    [
        ("Year ended December 31, 2022", Calendar(), "2022-01-01/2022-12-31"),
        ("year to 31 March 2025", MARCH, "2024-04-01/2025-03-31"),
        ("FY24", MARCH, "2023-04-01/2024-03-31"),
        ("FY 2024/25", MARCH, "2024-04-01/2025-03-31"),
        ("Q1 FY25", MARCH, "2024-04-01/2024-06-30"),
        ("1Q24", Calendar(), "2024-01-01/2024-03-31"),
        ("H2 2024", Calendar(), "2024-07-01/2024-12-31"),
        ("9M 2024", Calendar(), "2024-01-01/2024-09-30"),
        ("Three months ended June 30, 2024", Calendar(), "2024-04-01/2024-06-30"),
        ("Jan-24", Calendar(), "2024-01-01/2024-01-31"),
        ("Rok zakończony 31 grudnia 2022", Calendar(), "2022-01-01/2022-12-31"),
        ("za období končící 30. června 2023", Calendar(), "2022-07-01/2023-06-30"),
        ("31. joulukuuta 2023", Calendar(), "2023-01-01/2023-12-31"),
        ("31.12.2024", Calendar(), "2024-01-01/2024-12-31"),
        ("31-12-2024", Calendar(), "2024-01-01/2024-12-31"),
        ("Mar-25A", MARCH, "2024-04-01/2025-03-31"),
        ("the year to March 2025", MARCH, "2024-04-01/2025-03-31"),
        ("CY23", Calendar(), "2023-01-01/2023-12-31"),
        ("1S 2024", Calendar(), "2024-01-01/2024-06-30"),
        ("Primer semestre de 2024", Calendar(), "2024-01-01/2024-06-30"),
        ("T3 2024", Calendar(), "2024-07-01/2024-09-30"),
        ("erstes Halbjahr 2024", Calendar(), "2024-01-01/2024-06-30"),
        ("31 Mar 24", MARCH, "2023-04-01/2024-03-31"),
        ("2024年3月期", Calendar(), "2023-04-01/2024-03-31"),
        ("当事業年度 (自 2023年４月１日 至 2024年３月31日)", Calendar(), "2023-04-01/2024-03-31"),
        ("2024年", Calendar(), "2024-01-01/2024-12-31"),
        ("23H1", Calendar(), "2023-01-01/2023-06-30"),
        ("23Q4", MARCH, "2023-01-01/2023-03-31"),
        ("2023G", Calendar(), "2023-01-01/2023-12-31"),
        ("Último Exercício 31/12/2025", Calendar(), "2025-01-01/2025-12-31"),
        ("Último Exercício 2025-12-31", Calendar(), "2025-01-01/2025-12-31"),
        ("Penúltimo Exercício 01/01/2024 à 31/12/2024", Calendar(), "2024-01-01/2024-12-31"),
        ("June 30, 2023 Second Quarter", Calendar(), "2023-04-01/2023-06-30"),
        ("Month ended 30 June 2023 Q2", Calendar(), "2023-04-01/2023-06-30"),
        ("Six months ended June 30, 2023 Second Quarter", Calendar(), "2023-01-01/2023-06-30"),
        ("For the year ended 31-03-25", MARCH, "2024-04-01/2025-03-31"),
        ("30/6 2024 kr.", Calendar(6, 30), "2023-07-01/2024-06-30"),
        ("1/7-2023 - 30/6-2024", Calendar(), "2023-07-01/2024-06-30"),
        ("230901–240831", Calendar(), "2023-09-01/2024-08-31"),
    ],
)
def test_period_of_a_header(words: str, calendar: Calendar, period: str) -> None:
    when = header_period(words)
    assert when is not None
    assert calendar.resolve(when, instant=False) == period


def test_a_stock_stands_at_the_last_day() -> None:
    when = header_period("FY24")
    assert when is not None
    assert MARCH.resolve(when, instant=True) == "2024-03-31"


@cases(
    "words",
    [
        "2022 2021",
        "98Q1",
        "Model 24H1",
        "2013-01-012013-12-31",
        "2020-12-312019-12-31",
        "2013-01-4567",
        "20-06-24",
        "123456-654321",
        "131225-131231",
        "240115-240714",
        "30-10-12",
    ],
)
def test_a_header_of_two_periods_or_of_a_code_names_none(words: str) -> None:
    assert header_period(words) is None


def test_a_document_tells_when_its_years_end() -> None:
    text = "For the year ended 30 June 2022. Balance as at 30 June 2021.\n"
    calendar = learn_calendar(text)
    assert (calendar.month, calendar.day) == (6, 30)


def test_years_of_52_weeks_end_on_their_own_day() -> None:
    text = "Years ended September 28, 2024 and September 30, 2023 and for the year ended September 28, 2024."
    when = header_period("Year ended September 28, 2024")
    assert when is not None
    assert learn_calendar(text).resolve(when, instant=False) == "2023-10-01/2024-09-28"


def test_fiscal_years_may_end_in_the_year_after_their_name() -> None:
    text = (
        "Fiscal year 2024 ended on February 2, 2025. Fiscal 2023 ended January 28, 2024. Year ended February 2, 2025."
    )
    when = header_period("2023")
    assert when is not None
    assert learn_calendar(text).resolve(when, instant=True) == "2024-01-28"


def test_a_month_marked_as_planned_is_a_forecast_of_a_year() -> None:
    when = header_period("Mar-26E")
    assert when is not None
    assert (when.forecast, MARCH.resolve(when, instant=False)) == ("e", "2025-04-01/2026-03-31")


def test_years_in_two_end_when_the_balance_sheets_do() -> None:
    text = "en k€\tRéalisé 2022/2023\tRéalisé 2023/2024\nen k€\t30/06/2023\t30/06/2024\n"
    assert (learn_calendar(text).month, learn_calendar(text).day, learn_calendar(text).said) == (6, 30, True)
    assert not learn_calendar("Budget 2023/2024\t30/06/2024\n").said  # one balance sheet may be a half year's


def test_a_day_that_one_thing_is_as_of_ends_no_year() -> None:
    assert not learn_calendar("Our customer count is 1,204 as of 31 March 2025. Cash in 2024 was low.").said


def test_a_year_of_weeks_bears_the_name_that_the_document_gives_it() -> None:
    text = "For the fiscal year ended January 29, 2022. 2017 represented the 53 weeks ended February 3, 2018."
    assert learn_calendar(text).year_end(2021).isoformat() == "2022-01-29"


def test_a_year_earlier_begins_and_ends_a_year_earlier() -> None:
    when = When(end=date(2024, 12, 31), begun=date(2024, 1, 15))
    assert year_earlier(when) == When(end=date(2023, 12, 31), begun=date(2023, 1, 15))
    assert year_earlier(When(end=date(2024, 2, 29))) == When(end=date(2023, 2, 28))
    assert year_earlier(When(year=2024)) == When(year=2023)
