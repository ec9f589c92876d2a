"""Numbers in any locale become exact decimals with their unit; what is no amount is none."""

from decimal import Decimal

from tasks.language.numbers import (
    PERCENT,
    amounts,
    cell_amount,
    may_be_scale,
    numbers,
    parse_decimal,
    read_units,
    uses_decimal_comma,
    without_units,
)
from tests.cases import cases


@cases(
    ("written", "value", "unit"),
    [
        ("1.234,5", "1234.5", None),
        ("1 234,5", "1234.5", None),
        ("1,234.5", "1234.5", None),
        ("12,34,567", "1234567", None),
        ("１２３", "123", None),
        ("(1,234)", "-1234", None),
        ("1,234-", "-1234", None),
        ("1,234 DR", "-1234", None),
        ("1,234 CR", "1234", None),
        ("$ 294,866", "294866", "USD"),
        ("$(109,733)", "-109733", "USD"),
        ("€9.4m", "9400000", "EUR"),
        ("-€200k", "-200000", "EUR"),
        ("4.5 Mio. €", "4500000", "EUR"),
        ("€ 5 Mrd.", "5000000000", "EUR"),
        ("Rs. 12 crore", "120000000", "INR"),
        ("3 lakh", "300000", None),
        ("(23.6)%", "-23.6", PERCENT),
        ("23.9% (0.23944)", "23.944", PERCENT),
        ("96,169 (1)", "96169", None),
    ],
)
def test_amount_of_a_cell(written: str, value: str, unit: str | None) -> None:
    amount = cell_amount(written)
    assert amount is not None
    assert (amount.value, amount.unit) == (Decimal(value), unit)


@cases("written", ["—", "", "n/a", "2.5 pp", "Note 5", "1,23,4.5.6", "120 bps", "A-24-071", f"5{'*' * 50}x"])
def test_what_is_no_amount_gives_none(written: str) -> None:
    assert cell_amount(written) is None


@cases(("written", "digits"), [("1,200,000", 7), ("€9.4m", 2), ("(1,000)", 4), ("5)", 1), ("0", 0)])
def test_digits_of_an_amount_are_those_that_are_written(written: str, digits: int) -> None:
    amount = cell_amount(written)
    assert amount is not None
    assert amount.digits == digits


@cases("cell", ["10 (3-5)", "1 (2.1.3)", "12 (2019-2020)", "5 (4E)"])
def test_a_number_beside_a_range_is_no_amount(cell: str) -> None:
    assert cell_amount(cell) is None


@cases(("cell", "is_scale"), [("CHF 1,000", True), ("12,000", False), ("100", False)])
def test_a_round_number_may_be_a_scale(cell: str, is_scale: bool) -> None:
    assert may_be_scale(cell) is is_scale


def test_a_number_has_thirty_digits_at_most() -> None:
    assert parse_decimal("1" * 30) == (Decimal("1" * 30), 0)
    assert parse_decimal("1" * 31) is None


def test_last_digit_tells_how_far_a_number_is_rounded() -> None:
    amount = cell_amount("€9.4m")
    assert amount is not None
    assert amount.step == 100_000


def test_a_lone_separator_is_read_by_the_locale_of_the_document() -> None:
    german = uses_decimal_comma("Umsatz 1.234.567,89 EUR und 12,5 % Marge")
    assert uses_decimal_comma("1.234 und 2.345 und 3.456 Einheiten in 7 Jahren")
    amount = cell_amount("1.234", comma_decimal=german)
    assert amount is not None
    assert amount.value == 1234


def test_amounts_of_a_sentence_have_the_units_beside_them() -> None:
    found = [(amount.value, amount.unit) for amount in amounts("grew 22 % to € 9.4 million, or 7.1 million euros")]
    assert found == [(Decimal(22), PERCENT), (Decimal(9_400_000), "EUR"), (Decimal(7_100_000), "EUR")]


@cases(
    ("header", "currency", "multiplier"),
    [
        ("EUR thousand", "EUR", 1000),
        ("$'000", "USD", 1000),
        ("(In millions, except per share data)", None, 1_000_000),
        ("in T€", "EUR", 1000),
        ("en milliers d'euros", "EUR", 1000),
        ("DKK m", "DKK", 1_000_000),
        ("₹ crore", "INR", 10_000_000),
        ("valori in Euro/000", "EUR", 1000),
        ("R$ mil", "BRL", 1000),
        ("Belopp i tkr", None, 1000),
        ("Beløb i t.kr. (DKK)", "DKK", 1000),
        ("US$/000", "USD", 1000),
        ("Revenue", None, None),
    ],
)
def test_units_of_a_header(header: str, currency: str | None, multiplier: int | None) -> None:
    units = read_units(header)
    assert (units.currency, units.multiplier) == (currency, multiplier)


def test_a_label_is_left_without_its_units() -> None:
    assert [without_units(text) for text in ("ARR, EUR m", "Revenue (€ m)", "Umsatz in Mio. €")] == [
        "ARR",
        "Revenue",
        "Umsatz",
    ]


@cases(
    ("written", "value", "unit"),
    [
        ("€1,2 Mio.", "1200000", "EUR"),
        ("$5M", "5000000", "USD"),
        ("1’234’567 CHF", "1234567", "CHF"),
        ("12 345 EUR", "12345", "EUR"),
        ("TEUR 500", "500000", "EUR"),
        ("5 k€", "5000", "EUR"),
        ("0,123", "0.123", None),
        ("5 miles", "5", None),
        ("5 t", "5", None),
        ("R$ 5 mil", "5000", "BRL"),
        ("1,5 Milliarden Euro", "1500000000", "EUR"),
        ("EUR (5)", "-5", "EUR"),
        ("KES 5m", "5000000", "KES"),
        ("5 zł", "5", "PLN"),
        ("try 5", "5", None),
        ("5 ‰", "0.5", PERCENT),
        ("3.2x", "3.2", "ratio"),
        ("EUR5", "5", "EUR"),
        ("(3,700)", "-3700", None),
    ],
)
def test_a_cell_and_a_sentence_read_a_number_alike(written: str, value: str, unit: str | None) -> None:
    (amount,) = numbers(written)
    assert (amount.value, amount.unit) == (Decimal(value), unit)
    cell = cell_amount(written)
    assert cell is None or (cell.value, cell.unit) == (amount.value, amount.unit)


@cases(
    ("sentence", "values"),
    [
        ("a result of $(1.2) million", ["-1200000"]),
        ("it was negative at minus 5 %", ["-5"]),
        ("a grant (EUR 500) for all 94 (94) people", ["500", "94", "94"]),
        ("margins of 5%-8%, or 7.0% - 8.0%", ["5", "8", "7", "8"]),
        ("5,000 thousand million dollars", ["5000000000000"]),
        ("note (2), Form 10-K, 37signals, COVID-19", []),
        ("The score was 5 percentage points, the yield 5 %-points", ["5", "5"]),
    ],
)
def test_signs_ranges_and_names_in_a_sentence(sentence: str, values: list[str]) -> None:
    assert [amount.value for amount in numbers(sentence)] == [Decimal(value) for value in values]


def test_what_is_joined_or_no_amount_is_no_figure_of_a_company() -> None:
    assert [amount.value for amount in amounts("in 2023-24, 10:1, 5 pp, 50 cents and EUR 7")] == [Decimal(7)]


def test_a_number_stands_with_its_sign_its_currency_and_its_brackets() -> None:
    text = "about ($(1.2) million)"
    (amount,) = numbers(text)
    assert (text[amount.first : amount.stop], text[amount.start : amount.end]) == ("$(1.2) million", "1.2) million")
