"""What headers say of units, in the words of some fifteen languages: `units.tsv` has them."""

from decimal import Decimal
from pathlib import Path

from tasks.figures.document import LedgerDocument
from tasks.figures.document_figures import find_figures
from tasks.figures.figure import taxonomy
from tasks.language.numbers import (
    only_units,
    read_leading_units,
    read_units,
    thousands_mark,
    uses_decimal_comma,
    without_units,
)
from tests.cases import cases

LINES = Path(__file__).with_name("units.tsv").read_text(encoding="utf-8").splitlines()
WORDINGS = [
    (words, currency, scale) for words, currency, scale in (line.split("\t") for line in LINES if line[0] != "#")
]
LARGEST = 10**9
"""Revenue of 1,234 times more is nobody's."""

SCALES = [
    (words, currency, int(scale))
    for words, currency, scale in WORDINGS
    if scale.isdecimal() and int(scale) <= LARGEST and currency != "-" and "hares" not in words
]


@cases(("words", "currency", "scale"), WORDINGS)
def test_the_units_of_a_header(words: str, currency: str, scale: str) -> None:
    units = read_units(words)
    assert (units.currency or "-", str(units.multiplier or "-")) == (currency, scale)


@cases(("words", "currency", "scale"), SCALES)
def test_units_hold_for_a_table_wherever_they_stand(words: str, currency: str, scale: int) -> None:
    bare = words.strip("()")
    rows = "Revenue\t1,234\t1,102\nEBITDA\t310\t287\n"
    mark = "." if "1.000" in words or "miles de" in words else ","
    for table in (
        f"Income statement 2023\n{words}\n\n\t2023\t2022\n{rows}",
        f"Income statement 2023 ({bare})\n\n\t2023\t2022\n{rows}",
        f"Income statement 2023\n\n{words}\t2023\t2022\n{rows}",
        f"Income statement 2023\n\n\t2023\t2022\n\t{words}\t{words}\n{rows}",
    ):
        document = LedgerDocument(table.replace("1,234", f"1{mark}234").replace("1,102", f"1{mark}102"), [], "a.txt")
        found = [figure for figure in find_figures(document, taxonomy()).figures if figure.concept == "revenue"]
        assert [(figure.value, figure.unit) for figure in found] == [
            (Decimal(1234 * scale), currency),
            (Decimal(1102 * scale), currency),
        ]


def test_a_label_is_left_without_its_units_and_units_are_nothing_else() -> None:
    assert without_units("Revenue (in EUR 1,000)") == without_units("Revenue (x € 1 mln)") == "Revenue"
    assert [only_units(text) for text in ("EUR m", "#", "%", "Umsatz in TEUR", "2023", "in")] == [True] * 3 + [
        False
    ] * 3


def test_a_sentence_begins_with_units() -> None:
    assert read_leading_units("thousands of euros unless stated otherwise").multiplier == 1000
    assert read_leading_units("the notes, in thousands").multiplier is None


@cases(
    ("cells", "mark"),
    [
        (["1.234", "980", "310"], "."),
        (["1,234", "980"], ","),
        (["1.234", "0.98"], ""),
        (["1.234", "2023"], ""),
        (["1.234", "1234"], ""),
        (["1.234", "1,234", "5"], ""),
    ],
)
def test_a_column_of_whole_numbers_has_no_number_of_three_decimals(cells: list[str], mark: str) -> None:
    assert thousands_mark(cells) == mark


def test_the_language_tells_what_a_point_before_three_digits_is() -> None:
    assert uses_decimal_comma("1.1 Umsatz\n2.1 Kosten\nDer Umsatz betrug 12.345 TEUR", "de")
    assert not uses_decimal_comma("Revenue was EUR 1.234 million", "en")
