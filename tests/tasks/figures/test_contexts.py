"""What a sentence leaves to those around it: of when it is, what it compares with, and in which currency."""

import pytest

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import Figure, taxonomy
from tasks.reading.text_writer import Place
from tests.cases import cases

Said = tuple[str, str, str]


def figures(text: str, name: str = "a.txt", *places: Place) -> list[Figure]:
    return find_figures(LedgerDocument(text, places, name), taxonomy()).figures


def said(text: str, name: str = "a.txt", *places: Place) -> list[Said]:
    """(concept, value, period) of a text's figures."""
    return [(figure.concept, f"{figure.value:f}", figure.period) for figure in figures(text, name, *places)]


FIRST = "Borrowings were £9.6 million at 30 June 2024."
DEBT = ("debt", "9600000", "2024-06-30")


@cases(
    ("second", "found"),
    [
        ("Cash was £2.3 million.", [("cash", "2300000", "2024-06-30")]),
        ("Cash is £2.3 million today.", []),
        ("We expect cash of £2.3 million.", []),
        ("Revenue was £8.1 million.", []),  # a day names no time that revenue could be of
        ("Northern Tiles had cash of £2.3 million.", []),
    ],
)
def test_a_sentence_that_names_no_time_is_of_that_of_the_one_before_it(second: str, found: list[Said]) -> None:
    assert said(f"{FIRST} {second}\n") == [DEBT, *found]


def test_a_new_paragraph_is_of_no_time_that_was_named_before() -> None:
    assert said(f"{FIRST}\n\nCash was £2.3 million.\n") == [DEBT]


@cases(
    ("title", "line", "found"),
    [
        ("FY24 in figures", "Net sales of $88.2M", [("revenue", "88200000", "2024-01-01/2024-12-31")]),
        ("Balance sheet at 30 June 2024", "Net debt and cash of $4.2M", []),
        ("Balance sheet at 30 June 2024", "Cash of $4.2M", [("cash", "4200000", "2024-06-30")]),
        ("Board meeting, 18 February 2025", "Cash of $4.2M", []),
        ("Outlook 2025", "Net sales of $88.2M", []),
    ],
)
def test_a_line_of_a_slide_is_of_its_titles_time(title: str, line: str, found: list[Said]) -> None:
    text = f"{title}\n{line}\n"
    assert said(text, "deck.pptx", Place(0, len(text), "slide", "1")) == found


def test_a_list_is_of_the_time_that_the_line_over_it_names() -> None:
    text = "At 31 December 2024:\n\n- Cash: €4.2 million\n- Borrowings: €9.0 million\n"
    assert said(text) == [("cash", "4200000", "2024-12-31"), ("debt", "9000000", "2024-12-31")]


@cases(
    ("rest", "found"),
    [
        (" and €58.1 million in 2023.", ["66200000", "58100000"]),
        (", up 14 % from €58.1 million in 2023.", ["66200000", "58100000"]),
        (", against €58.1 million the year before.", ["66200000", "58100000"]),
        (" (FY23: €58.1 million).", ["66200000", "58100000"]),
        (", while EBITDA fell from €58.1 million in 2023.", ["66200000"]),
        (" and €58.1 million of bookings in 2023.", ["66200000"]),
    ],
)
def test_the_figure_that_a_sentence_compares_with_is_of_its_own_year(rest: str, found: list[str]) -> None:
    values = figures(f"Net sales were €66.2 million in 2024{rest}\n")
    assert [f"{figure.value:f}" for figure in values] == found
    assert {figure.period[:4] for figure in values[1:]} <= {"2023"}


@cases(
    ("sentence", "found"),
    [
        ("Equity stood at $139.1 million at 31 December 2024.", ["equity"]),
        ("Equity raised: $139.1 million in 2024.", []),
        ("Private equity of $139.1 million in 2024.", []),
        ("Debt service of $2.1 million was paid in 2024.", []),
        ("Sales for the year to 31 December 2024 came in at £63.8m.", ["revenue"]),
        ("Sales of the Hollow series reached £63.8m in 2024.", []),
        ("À périmètre comparable, le chiffre d'affaires 2024 aurait été de 44,9 M€.", []),
        ("Net revenue in 2024 was SEK 201 million; in constant currency it would have been less.", ["revenue"]),
    ],
)
def test_a_plain_name_counts_where_a_verb_states_it(sentence: str, found: list[str]) -> None:
    assert [figure.concept for figure in figures(sentence + "\n")] == found


def test_an_amount_without_a_sign_is_of_the_documents_currency() -> None:
    text = "Results in INR lakhs\n\nBorrowings stood at 6,420 lakhs at 31 March 2024.\n"
    assert [(figure.unit, f"{figure.value:f}") for figure in figures(text)] == [("INR", "642000000")]


@pytest.mark.parametrize(
    "sentence",
    [
        "Wir hatten zum 31.12.2024 191 Mitarbeiter.",
        "Zum 31. Dezember 2024 beschäftigte Kern 191 Mitarbeiter.",
    ],
)
def test_people_are_counted_behind_a_date_or_a_name(sentence: str) -> None:
    assert said(sentence + "\n") == [("headcount", "191", "2024-12-31")]


def test_a_mail_is_of_the_day_in_its_head() -> None:
    head = "From: a@example.com\nDate: 2024-09-17T16:20:00+01:00\nSubject: EBITDA\n\n"
    found = figures(f"{head}EBITDA is £3.9 million for the year to 30 June 2025.\n", "a.eml")
    assert [figure.basis for figure in found] == ["forecast"]


def test_a_half_years_report_is_of_its_last_day() -> None:
    text = "Half-year report\n\nSEK million\tJan–Jun 2024\tJan–Dec 2023\nNet revenue\t184.2\t371.0\n"
    assert [figure.basis for figure in figures(text)] == [None, None]


def test_this_year_is_no_part_of_the_company() -> None:
    text = "Year to 30 June 2024, £\n\tThis year\tLast year\nEBITDA\t2,810,440\t2,502,118\n"
    assert [(figure.entity, figure.period[:4]) for figure in figures(text)] == [(None, "2023"), (None, "2022")]


@cases(
    ("sentence", "found"),
    [
        ("The company delivered EBITDA of €4.4m in 2024.", [("ebitda", "4400000")]),
        ("Trading profit of €4.4m was recorded in 2024.", [("operating_income", "4400000")]),
        ("2024 revenue came in just shy of $20m at $19.8m.", [("revenue", "19800000")]),
        ("Net cash was £1.2m at 31 December 2024.", []),
        ("Revenue in 2024 was KRW 93.8T.", []),
        ("Alpha had revenue of $5m in 2024. Beta had revenue of $9m in 2024.", []),  # several companies
        (  # it contradicts itself
            "Revenue was $5m in 2024. In a draft, revenue was $4.8m in 2024. Sales in 2024: $6m",
            [("revenue", "5000000"), ("revenue", "4800000"), ("revenue", "6000000")],
        ),
        ("Total assets were over $15m in 2024, with equity up to $13m.", []),
        ("Revenue rose in 2024 and so did profit per share of $0.01.", []),
        ("Assets 2024: Cash $ 8,980 $ 2,667Accounts receivable 1,805 8,633Inventories 25,442.", []),
        ("Sales in 2024: $19.8m (2023: $17.1m)", [("revenue", "19800000"), ("revenue", "17100000")]),
        ("Cash generated by operations amounted to €3.3m in 2024.", [("operating_cash_flow", "3300000")]),
        ("2024 lag der Umsatz bei 31,2 Mio. €.", [("revenue", "31200000")]),
        ("El EBITDA alcanzó los 4,4 millones de euros en 2024.", [("ebitda", "4400000")]),
        ("The business turned over £12.4m last year (FY24).", [("revenue", "12400000")]),
        ("As of 31 December 2024, 214 people worked for the company.", [("headcount", "214")]),
        ("Au 31 décembre 2024, le groupe employait 214 personnes.", [("headcount", "214")]),
        ("Au 31 décembre 2024, l'effectif total était de 214 personnes.", [("headcount", "214")]),
        ("Au 31 décembre 2024, le conseil était composé de 8 personnes.", []),
        ("Al 31 dicembre 2024 il consiglio era composto di 8 persone.", []),
        ("Bottom line 2024: €1.1m net profit", [("net_income", "1100000")]),
    ],
)
def test_ordinary_ways_to_say_a_figure(sentence: str, found: list[tuple[str, str]]) -> None:
    assert [(figure.concept, f"{figure.value:f}") for figure in figures(sentence + "\n")] == found


@cases("words", ["FY24 (year to March 2024)", "The financial year ends in March.", "Year end: March"])
def test_a_year_may_be_named_by_its_last_month(words: str) -> None:
    assert said(f"{words}\n\nRevenue was ₹51 crore in FY24.\n") == [
        ("revenue", "510000000", "2023-04-01/2024-03-31"),
    ]


@cases(
    ("text", "found"),
    [
        ("CHF 1,000\t2024\nNet sales\t312,904\n", [("revenue", "312904000", "")]),
        ("EUR thousand\t2024\nBank loans at 31 December\t21,450\n", [("debt", "21450000", "")]),
        ("\t2024\nCustomer churn, % per year\t12.4%\n", [("churn", "12.4", "")]),
        (
            "Revenue by segment, in millions of dollars\n\t2024\nHospitals\t90.1\nPharmacy\t13.9\n",
            [("revenue", "90100000", "Hospitals"), ("revenue", "13900000", "Pharmacy")],
        ),
    ],
)
def test_units_days_and_parts_in_labels(text: str, found: list[Said]) -> None:
    assert [(each.concept, f"{each.value:f}", each.entity or "") for each in figures(text)] == found


def test_a_line_with_its_year_in_brackets_goes_on_with_its_sentence() -> None:
    first = "Net sales rose by 3.9 % to CHF 312.9 million in 2024, and so did the profit. The net profit reached"
    text = f"{first}\nCHF 13.1 million (2023: CHF 10.2 million).\n"
    assert ("net_income", "13100000", "2024-01-01/2024-12-31") in said(text)


def test_a_month_that_a_slide_speaks_of_is_not_when_it_was_written() -> None:
    text = "Key figures 2024\n\t€m\nEBITDA\t20.1\n\n\nPeak season\nRevenue of €11.3m in August 2024\n"
    assert [figure.basis for figure in figures(text, "deck.pptx")] == [None, None]
