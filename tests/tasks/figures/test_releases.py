"""Figures of releases on quarters and of quarterly reports, whose tables and years are named in other ways."""

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.figures.fiscal_calendar import Calendar, learn_calendar
from tasks.language.periods import find_periods, header_period
from tests.cases import cases

_RETAILER = """Halden Stores Announces Second Quarter
Fiscal 2023 Results
Net Sales of $2.5 Billion Compared to $2.3 Billion in the Year-Ago Quarter
for the thirteen-week period ended July 29, 2023. The fiscal year ended January 28, 2023 is over.
The year ended January 28, 2023 was a good one.
"""


def found(text: str, name: str = "release.pdf") -> list[tuple[str, str, str, str | None]]:
    """(concept, value, period, entity) of a text."""
    figures = find_figures(LedgerDocument(text, [(0, len(text), "page", "1")], name), taxonomy()).figures
    return [(each.concept, f"{each.value:f}", each.period, each.entity) for each in figures]


def test_a_quarter_tells_after_which_year_its_fiscal_year_is_called() -> None:
    assert learn_calendar(_RETAILER).year_end(2023).isoformat() == "2024-01-28"


def test_a_year_called_after_the_one_in_which_it_ends_stays_so() -> None:
    text = _RETAILER.replace("Fiscal 2023", "Fiscal 2024")
    assert learn_calendar(text).year_end(2023).isoformat() == "2023-01-28"


def test_years_of_weeks_are_named_in_a_list() -> None:
    calendar = learn_calendar(
        "For the year ended January 28, 2023. Fiscal year 2022, 2021, and 2020 represented the 52 weeks ended January "
        "28, 2023, January 29, 2022, and January 30, 2021, respectively. The year ended January 28, 2023 was long."
    )
    assert [calendar.year_end(year).isoformat() for year in (2022, 2021, 2020)] == [
        "2023-01-28", "2022-01-29", "2021-01-30",
    ]  # fmt: skip


def test_the_year_ago_quarter_is_not_the_year() -> None:
    assert [figure for figure in found(_RETAILER) if figure[2].startswith("2022-01")] == []


@cases(
    ("words", "period"),
    [
        ("second quarter of fiscal 2023", "2023-04-01/2023-06-30"),
        ("Second Quarter\nFiscal 2023", "2023-04-01/2023-06-30"),
        ("fiscal 2023 third quarter", "2023-07-01/2023-09-30"),
        ("2022 Q4", "2022-10-01/2022-12-31"),
        ("24 Weeks Ended June 17, 2023", "2022-12-18/2023-06-17"),
        ("thirty-six weeks ended September 9, 2023", "2022-12-10/2023-09-09"),
        ("eight months ended August 31, 2023", "2023-01-01/2023-08-31"),
        ("five weeks ended May 31, 2023", "2023-05-01/2023-05-31"),
    ],
)
def test_parts_of_years(words: str, period: str) -> None:
    (when,) = find_periods(words)
    assert Calendar().resolve(when, instant=False) == period


def test_a_header_of_two_columns_in_one_cell_names_no_period() -> None:
    assert header_period("Quarters Ended March 26, March 27, 2023 2022") is None


def test_a_heading_over_the_middle_of_its_columns_is_of_all_of_them() -> None:
    text = (
        "Dollars in millions\n"
        "\t\tQuarters Ended June 30,\t\t\tSix Months Ended June 30,\n"
        "\t2023\t2022\tChange\t2023\t2022\n"
        "Revenues\t$6,497.5\t$5,718.4\t14 %\t$12,395.3\t$11,384.0\n"
        "Net income\t2,310.4\t1,188.0\t94 %\t4,112.7\t2,292.4\n"
    )
    revenues = {period: value for concept, value, period, _ in found(text) if concept == "revenue"}
    assert revenues == {
        "2023-04-01/2023-06-30": "6497500000", "2022-04-01/2022-06-30": "5718400000",
        "2023-01-01/2023-06-30": "12395300000", "2022-01-01/2022-06-30": "11384000000",
    }  # fmt: skip


def test_years_over_pairs_of_columns_are_of_both() -> None:
    text = (
        "Beginning in September 2022, the company opened shops in Norway again.\n"
        "Operating results\n"
        "\t\t2022\t\t2021\t2020\n"
        "Dollars in millions\tAmount\tIncrease\tAmount\tIncrease\tAmount\n"
        "Total revenues\t23,183\t1\t23,223\t21\t19,208\n"
        "Net income\t6,177\t(18)\t7,545\t59\t4,731\n"
    )
    assert [(value, period[:4]) for concept, value, period, _ in found(text, "report.pdf") if concept == "revenue"] == [
        ("23183000000", "2022"), ("23223000000", "2021"), ("19208000000", "2020"),
    ]  # fmt: skip


_QUARTERS = (
    "Nordal reports results for the second quarter 2023\n\n{title}\n($ in millions)\t2023\t2022\nSales\t25\t24\n"
)


def test_bare_years_in_a_release_on_a_quarter_may_be_its_quarters() -> None:
    assert found(_QUARTERS.format(title="Overview")) == []


def test_the_quarter_over_a_table_is_that_of_its_years() -> None:
    assert found(_QUARTERS.format(title="Q2")) == [
        ("revenue", "25000000", "2023-04-01/2023-06-30", None),
        ("revenue", "24000000", "2022-04-01/2022-06-30", None),
    ]


def test_dates_side_by_side_head_a_line_of_numbers() -> None:
    text = (
        "Cash and cash equivalents were as follows ($ in millions):\n"
        "July 29, 2023 January 28, 2023 July 30, 2022\n"
        "Cash and cash equivalents $ 1,093 $ 1,874 $ 840\n"
    )
    assert [(value, period) for _, value, period, _ in found(text, "10-Q.pdf")] == [
        ("1093000000", "2023-07-29"), ("1874000000", "2023-01-28"), ("840000000", "2022-07-30"),
    ]  # fmt: skip


def test_a_note_at_a_year_leaves_it_a_year() -> None:
    text = "($ in millions)\t2021\t2020\t2019 (1)\nSales\t$8,958\t7,548\t8,005\nNet income\t893\t323\t491\n"
    assert [(value, period[:4]) for concept, value, period, _ in found(text, "10-K.pdf") if concept == "revenue"] == [
        ("8958000000", "2021"), ("7548000000", "2020"), ("8005000000", "2019"),
    ]  # fmt: skip


def test_a_table_is_of_the_segment_that_the_words_under_it_tell_of() -> None:
    text = (
        "(in millions)\tJune 25, 2023\tJune 26, 2022\nSix Months Ended\n"
        "Net sales\t$6,875\t$5,862\nOperating profit\t718\t613\n"
        "Aeronautics' net sales in the first half of 2023 increased $1.0 billion.\n"
    )
    assert {entity for *_, entity in found(text, "10-Q.pdf")} == {"Aeronautics"}
    assert {entity for *_, entity in found(f"Aeronautics\n{text}", "10-Q.pdf")} == {None}


@cases(
    "sentence",
    [
        "Annual cash rent payments for the lease year that began on December 1, 2022 increased to $260 million.",
        "In 2022, we had net borrowings of debt of $78 million.",
        "At December 31, 2022 we had made borrowings of $884 million on the revolving credit facility.",
        "Total net profit booking rate adjustments were $55 million in 2022.",
        "Cash and cash equivalents and non-equity investments totaled $5.3 billion as of June 30, 2023.",
        "For 2019, total assets are an average, excluding right-of-use assets of $2,899 million.",
        "We have planned capital expenditures in 2023 of approximately $795 million to $835 million.",
        "Capital expenditures over the remainder of 2023 are expected to be $450 million.",
        "It asks for a share of net revenues in 2023 at the hotels, and an estimate of approximately $110 million.",
        "Our Flexibles Segment had 37,000 employees as of June 30, 2022.",
    ],
)
def test_words_around_a_concept_that_make_it_another(sentence: str) -> None:
    assert found(sentence) == []


def test_a_foreign_dollars_own_sign_leaves_the_bare_one_alone() -> None:
    facility = "The facility is of HK$9.75 billion and may grow to HK$15 billion. The Hong Kong dollar is pegged.\n" * 6
    text = facility + "Cost of $5 for each of $9. " * 90 + "\n(in millions)\t2022\t2021\nNet revenues\t$3,942\t$3,265\n"
    units = {each.unit for each in find_figures(LedgerDocument(text, [], "10-K.pdf"), taxonomy()).figures}
    assert units == {"USD"}


def test_what_a_quarterly_report_is_as_of_ends_no_year() -> None:
    text = (
        "Nordal Bank, form 10-Q\n\n"
        + "As of March 31, 2022, loans were stable. " * 9
        + "\n(in millions)\n\t1Q22\t4Q21\n"
        "Net income\t$8,282\t$10,399\nTotal net revenue\t30,717\t29,257\n"
    )
    assert [(value, period) for concept, value, period, _ in found(text, "Q1.pdf") if concept == "net_income"] == [
        ("8282000000", "2022-01-01/2022-03-31"), ("10399000000", "2021-10-01/2021-12-31"),
    ]  # fmt: skip


def test_thirteen_weeks_are_no_year() -> None:
    weeks = "13 weeks ended July 29, 2023; 26 weeks ended July 29, 2023. As of July 29, 2023.\n"
    text = "Results of the second quarter.\n" + 3 * weeks
    assert not learn_calendar(text).said


def test_cash_held_for_sale_is_not_the_change_of_cash() -> None:
    flows = "Net cash {} activities\t{}\n"
    table = "".join(flows.format(kind, value) for kind, value in (
        ("provided by operating", 30), ("used in investing", "(10)"), ("used in financing", "(5)"),
    ))  # fmt: skip
    text = (
        f"$ in millions\t2022\n{table}Change in cash and cash equivalents classified as assets held for sale\t2\n"
        "Net increase in cash and cash equivalents\t{}\nNet income\t20\n"
    )
    ties = [find_figures(LedgerDocument(text.format(stated), [], "10-K.pdf"), taxonomy()).ties for stated in (15, 40)]
    assert [[tie.stated for tie in each] for each in ties] == [[], [40]]


@cases("heading", ["quarter to June 30", "Quartal zum 30. Juni", "trimestre clos le 30 juin"])
def test_a_quarter_named_by_its_last_day_is_no_year(heading: str) -> None:
    text = f"$ million, {heading}\t2023\t2022\nRevenue\t8,603\t7,720\nNet income\t1,267\t68\n"
    assert {period for _, _, period, _ in found(text)} == {"2023-04-01/2023-06-30", "2022-04-01/2022-06-30"}


_WEEKS = """Quarterly report for the 12 weeks ended September 9, 2023. Balance sheet of 12/31/2022.
(in millions of dollars)
\t12 Weeks Ended\t
\t9/9/2023\t9/3/2022
Net revenue\t$ 23,453\t$ 21,971
"""


def test_a_date_of_three_numbers_is_read_as_the_document_writes_others() -> None:
    assert [period[-10:] for _, _, period, _ in found(_WEEKS)] == ["2023-09-09", "2022-09-03"]


def test_and_left_out_where_none_tells_which_is_the_month() -> None:
    assert not [each for each in found(_WEEKS.replace("12/31/2022", "2022")) if "2022" in each[2]]


_SUNDAYS = """Annual report for the fiscal year ended December 31, 2023, 5.5% notes due May 2035
Changes for the fiscal years ended December 31, 2023, January 1, 2023 and January 2, 2022 and hedges for the
fiscal years ended December 31, 2023 and January 1, 2023.
"""


def test_a_year_that_ended_in_the_first_days_of_the_next_is_the_year_before() -> None:
    calendar = learn_calendar(_SUNDAYS)
    assert calendar.year_end(2022).isoformat() == "2023-01-01"
    assert calendar.year_end(2023).isoformat() == "2023-12-31"


def test_the_day_on_which_a_note_falls_due_is_not_the_document_s() -> None:
    assert str(learn_calendar(_SUNDAYS).dated) == "2023-12-31"


def test_a_sentence_that_leads_to_a_table_names_no_year_s_end() -> None:
    text = "The change from fiscal 2022 is as follows:\n(Dollars in millions)\tYEAR ENDED MAY 31, 2023\nSales\t12\n"
    assert learn_calendar(text).year_end(2023).isoformat() == "2023-05-31"


def test_a_list_of_terms_does() -> None:
    text = "fiscal 2024\tFiscal Year Ended February 2, 2025\nfiscal 2023\tFiscal Year Ended January 28, 2024\n"
    assert learn_calendar(text).year_end(2024).isoformat() == "2025-02-02"


def test_the_same_period_of_another_year_is_as_long_and_a_brands_revenue_is_not_the_companys() -> None:
    profit = (
        "For the quarter ended September 30, 2024, net income was $0.2 million, compared to a net loss of $0.3 million"
    )
    assert [each[1:3] for each in found(f"{profit} during the same period in 2023.\n")] == [
        ("200000", "2024-07-01/2024-09-30"), ("-300000", "2023-07-01/2023-09-30"),
    ]  # fmt: skip
    assert found("Revenue was $5 million in the same period in 2023.\n") == []
    head = f"Golden Group announces results\n\n{'About us, at length. ' * 30}\n\n"
    brand = "Betty reported a 14% growth of full-year revenue to $106 million in 2024. We own Betty since 2019.\n"
    assert found(head + brand) == []
    assert [each[1] for each in found(brand.replace("Betty", "The Company"))] == ["106000000"]


@cases(
    ("sentence", "expected"),
    [
        (
            "Revenue for the six months ended 30 June 2024 was $2m, against $3m for the six months ended 30 June 2023.",
            [("2000000", "2024-01-01/2024-06-30"), ("3000000", "2023-01-01/2023-06-30")],
        ),
        (
            "Cash totaled $12m at 30 June 2024, a decrease of $1m compared to $13m at 31 December 2023.",
            [("12000000", "2024-06-30"), ("13000000", "2023-12-31")],
        ),
        (
            "In the quarter ended 30 June 2025, revenue was $2m compared with $1m for the same period in 2024.",
            [("2000000", "2025-04-01/2025-06-30"), ("1000000", "2024-04-01/2024-06-30")],
        ),
        (
            "Revenue in the quarter ended 30 June 2024 was $5m compared with $4m for the same period in 2021.",
            [("5000000", "2024-04-01/2024-06-30")],
        ),
        (
            "The profit for the year was £13 million (2022 - profit of £11 million).",
            [("13000000", "2023-01-01/2023-12-31"), ("11000000", "2022-01-01/2022-12-31")],
        ),
        # a month that the document dates goes before the year of what it is compared with
        ("Date: 10 April 2025\n\nRevenue for March was £5m (2024: £3m).", [("5000000", "2025-03-01/2025-03-31")]),
        ("Date: 10 April 2025\n\nCash at the end of March was £5m (2024: £3m).", [("5000000", "2025-03-31")]),
        ("Interim report, Q2 2025\n\nRevenue was £5m (2024: £3m).", []),
        ("Revenue in the second quarter was £5m (2024: £3m).", []),
    ],
)
def test_what_is_compared_has_its_own_time(sentence: str, expected: list[tuple[str, str]]) -> None:
    assert [figure[1:3] for figure in found(f"{sentence}\n")] == expected
