"""Figures of sentences: value, unit, scale, sign, limit and date."""

from decimal import Decimal

from tasks.statements.figures import figures, same
from tests.cases import cases


@cases(
    ("text", "unit", "value"),
    [
        ("$391,035 million", "USD", "391035000000"),
        ("US$5m", "USD", "5000000"),
        ("€5bn", "EUR", "5000000000"),
        ("5 million euros", "EUR", "5000000"),
        ("₹5 crore", "INR", "50000000"),
        ("A$ 3.5 million", "AUD", "3500000"),
        ("CHF 1'234", "CHF", "1234"),
        ("$(5.0) million", "USD", "-5000000"),
        ("(3,700)", "", "-3700"),
        ("-5.2 %", "percent", "-5.2"),
        ("minus 3 %", "percent", "-3"),
        ("83,4 %", "percent", "83.4"),
        ("1.234.567,8", "", "1234567.8"),
        ("5 ‰", "percent", "0.5"),
        ("50 basis points", "points", "0.5"),
        ("1.5 pp", "points", "1.5"),
        ("2.20x", "ratio", "2.20"),
        ("twenty-five percent", "percent", "25"),
        ("two million dollars", "USD", "2000000"),
        ("four thousand five hundred U.S. dollars ($4,500)", "USD", "4500"),
        ("three million and five hundred thousand and 00/100 dollars", "USD", "3500000"),
        ("1-1/2% a month", "percent", "1.5"),
        ("3 lakh", "", "300000"),
    ],
)
def test_a_figure_has_its_value_in_single_units(text: str, unit: str, value: str) -> None:
    (figure,) = figures(text)
    assert (figure.unit, figure.value) == (unit, Decimal(value))


@cases(
    ("text", "date"),
    [
        ("March 31, 2024", (2024, 3, 31)),
        ("31 March 2024", (2024, 3, 31)),
        ("31.03.2024", (2024, 3, 31)),
        ("2024-03-31", (2024, 3, 31)),
        ("March 2024", (2024, 3, None)),
        ("fiscal 2024", (2024, None, None)),
        ("FY24", (2024, None, None)),
        ("the first quarter of fiscal year 2023", (2023, 1, None)),
        ("Q1 2023", (2023, 1, None)),
        ("9M 2023", (2023, 29, None)),
        ("2023/24", (2024, None, None)),
        ("11 October 1952", (1952, 10, 11)),
    ],
)
def test_a_date_is_a_figure(text: str, date: tuple[int | None, ...]) -> None:
    (figure,) = figures(text)
    assert figure.date == date


@cases(
    ("text", "limit"),
    [
        ("at least 5 %", "low"),
        ("not more than 5 %", "high"),
        ("nearly 5 %", "short"),
        ("about 5 %", "near"),
        ("5 or more", "low"),
        ("5 %", ""),
    ],
)
def test_a_figure_has_its_limit(text: str, limit: str) -> None:
    (figure,) = figures(text)
    assert figure.limit == limit


@cases(
    ("stated", "source", "is_same"),
    [
        ("EUR 5.0 million", "5,000 thousand euros", True),
        ("$94.8 billion", "$94,836 million", True),
        ("$95 billion", "$94,836 million", False),
        ("$94.8 billion", "$96,036 million", False),
        ("5 %", "5 percentage points", False),
        ("$5", "€5", False),
        ("$5", "A$5", False),
        ("30 days", "30 months", False),
        ("at least 5", "at most 5", False),
        ("about 5", "5", True),
        ("2024", "March 31, 2024", True),
        ("March 31, 2024", "2024", False),
        ("5 to 6 %", "5 % to 6 %", True),
    ],
)
def test_one_figure_is_another(stated: str, source: str, is_same: bool) -> None:
    assert same(figures(stated)[0], figures(source)[0]) is is_same


@cases("text", ["Form 10-K", "COVID-19", "note (2)"])
def test_a_number_that_is_a_name_is_no_figure(text: str) -> None:
    assert figures(text) == []


def test_a_number_in_words_and_digits_is_one_figure() -> None:
    (figure,) = figures("ninety (90) days")
    assert (figure.value, figure.measure) == (Decimal(90), "day")


@cases("text", ["two million and three million dollars", "between two thousand and three million people"])
def test_numbers_of_which_the_first_is_no_larger_are_two(text: str) -> None:
    assert [str(figure.value)[0] for figure in figures(text)] == ["2", "3"]


def test_hundreds_in_words_are_one_figure() -> None:
    assert [figure.value for figure in figures("one hundred eighty (180) days, two hundred and five people")] == [
        180,
        205,
    ]
