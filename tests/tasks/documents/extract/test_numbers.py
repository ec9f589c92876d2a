"""Numbers as a workbook shows them."""

import pytest

from tasks.documents.extract.numbers import plain, show


@pytest.mark.parametrize(
    ("raw", "code", "shown"),
    [
        ("45322", "yyyy-mm-dd", "2024-01-31"),
        ("45322", "d. mmmm yyyy", "2024-01-31"),
        ("45322", "[$-409]d-mmm-yy;@", "2024-01-31"),
        ("45322.604166666664", "m/d/yy h:mm", "2024-01-31 14:30:00"),
        ("0.604166666664", "h:mm AM/PM", "14:30:00"),
        ("1.5", "[h]:mm", "36:00:00"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("1000000000", "yyyy-mm-dd", "1000000000"),
        ("-3", "yyyy-mm-dd", "-3"),
        ("0.125", "0.0%", "12.5%"),
        ("-0.5", "0%", "-50%"),
        ("1234.5", '"$"#,##0.00', "$1,234.50"),
        ("1234.5", "[$€-407] #,##0.00", "€ 1,234.50"),
        ("1234.5", "#,##0.00 [$kr-41D]", "1,234.50 kr"),
        ("-1234.5", '"$"#,##0;("$"#,##0)', "($1,235)"),
        ("-1234.5", '"$"#,##0.00', "-$1,234.50"),
        ("1234.5678", "#,##0.00", "1234.5678"),
        ("1234567", '#,##0.0,,"M"', "1234567"),
        ("123", "00000", "00123"),
        ("0.1", "General", "0.1"),
        ("0.30000000000000004", "General", "0.3"),
        ("n/a", "0%", "n/a"),
        ("nan", "0%", "nan"),
        ("inf", "yyyy-mm-dd", "inf"),
    ],
)
def test_a_format_that_changes_the_meaning_is_followed(raw: str, code: str, shown: str) -> None:
    assert show(raw, code) == shown


def test_the_calendar_of_1904() -> None:
    assert show("43860", "yyyy-mm-dd", from_1904=True) == "2024-01-31"


@pytest.mark.parametrize(
    ("raw", "shown"), [("12", "12"), ("12.0", "12"), ("1E+20", "1E+20"), ("x", "x"), ("1e400", "1e400")]
)
def test_a_plain_number_keeps_its_value(raw: str, shown: str) -> None:
    assert plain(raw) == shown
