"""Numbers as a workbook shows them."""

from random import Random

from tasks.reading.ooxml.number_formats import changes_numbers, show_number, without_noise
from tasks.reading.xlsx.rows import number
from tests.cases import cases


@cases(
    ("raw", "code", "shown"),
    [
        ("45322", "yyyy-mm-dd", "2024-01-31"),
        ("45322", "d. mmmm yyyy", "2024-01-31"),
        ("45322", "[$-409]d-mmm-yy;@", "2024-01-31"),
        # a year alone, as models head their columns; a day within the year is that of a fiscal year
        ("44562", 'yyyy"E"', "2022E"),
        ("44561", "yyyy\\A", "2021A"),
        ("44561", "mmm\\-yy\\A", "Dec-21A"),
        ("43830", '"FY"\\ yy', "FY 2019"),
        ("45322", "yyyy", "2024-01-31"),
        ("44650", "yyyy", "2022-03-30"),  # of 52 weeks
        ("44923", 'yyyy"A"', "2022A"),
        ("45322", "mmm-yy", "2024-01-31"),
        # the first day of a month whose day is not shown is that month
        ("45323", "[$-409]mmm\\-yy;@", "2024-02"),
        ("45323", "mmmm yyyy", "2024-02"),
        ("45323", "mm/yyyy", "2024-02"),
        ("45323", "d-mmm-yy", "2024-02-01"),
        ("45322.604166666664", "m/d/yy h:mm", "2024-01-31 14:30:00"),
        ("0.604166666664", "h:mm AM/PM", "14:30:00"),
        ("1.5", "[h]:mm", "36:00:00"),
        ("1", "yyyy-mm-dd", "1900-01-01"),
        ("61", "yyyy-mm-dd", "1900-03-01"),
        ("45322.604166666664", "yyyy-mm-dd", "2024-01-31 14:30:00"),
        ("2", "h:mm", "1900-01-02 00:00:00"),
        ("0.99999999", "h:mm", "24:00:00"),
        ("0.0000263", "mm:ss.0", "00:00:02.272"),
        ("0.0000263", "mm:ss", "00:00:02"),
        ("1000000000", "yyyy-mm-dd", "1000000000"),
        ("-3", "yyyy-mm-dd", "-3"),
        ("0.125", "0.0%", "12.5%"),
        ("-0.5", "0%", "-50%"),
        ("1234.5", '"$"#,##0.00', "$1,234.50"),
        ("1234.5", "[$€-407] #,##0.00", "€ 1,234.50"),
        ("1234.5", "#,##0.00 [$kr-41D]", "1,234.50 kr"),
        ("-1234.5", '"$"#,##0.00;("$"#,##0.00)', "($1,234.50)"),
        ("-1234.5", '"$"#,##0.00', "-$1,234.50"),
        ("1234.5678", "#,##0.00", "1234.5678"),
        ("1234567", '#,##0.0,,"M"', "1.2M (1234567)"),
        ("123", "00000", "00123"),
        ("0.1", "General", "0.1"),
        ("0.30000000000000004", "General", "0.3"),
        ("n/a", "0%", "n/a"),
        ("nan", "0%", "nan"),
        ("inf", "yyyy-mm-dd", "inf"),
        ("1" * 500, "0%", "1" * 500),
        ("999999999999999.5", "0.000000000000%", "99999999999999950.000000000000%"),
        ("0.5", "0%" * 1000, "0.5"),
    ],
)
def test_a_format_that_changes_the_meaning_is_followed(raw: str, code: str, shown: str) -> None:
    assert show_number(raw, code) == shown


@cases(
    ("raw", "code", "shown"),
    [
        ("0.12478", "0.0%", "12.5% (0.12478)"),
        ("0.2075", "0.0%", "20.8% (0.2075)"),
        ("0.61250000000000004", "0.00%", "61.25%"),
        ("-0.004", "0%", "-0% (-0.004)"),
        ("1234.5678", '"$"#,##0.00', "$1,234.57 (1234.5678)"),
        ("-1234.5", '"$"#,##0;("$"#,##0)', "($1,235) (-1234.5)"),
        ("123.4", "00000", "00123 (123.4)"),
        ("0.62293333333333334", "0%", "62% (0.6229)"),
        ("-0.62293333333333334", "0%", "-62% (-0.6229)"),
        ("0.12478391", "0.0%", "12.5% (0.12478)"),
        ("1234567.891", '"$"#,##0', "$1,234,568 (1234567.89)"),
        ("1.0823456", "[$€-2] 0.00", "€ 1.08 (1.0823)"),
        ("0.0123456", '"$"0.00', "$0.01 (0.01235)"),
        ("0.0000034", '"$"0', "$0 (0.0000034)"),
        ("0.00012345678", "0%", "0% (0.0001235)"),
        ("4.9E-324", "0%", "0% (5E-324)"),
        ("123.5", "00000", "00124 (123.5)"),
    ],
)
def test_digits_that_a_format_rounds_away_stand_behind(raw: str, code: str, shown: str) -> None:
    assert show_number(raw, code) == shown


@cases(
    ("raw", "code", "shown"),
    [
        ("0.30000000000000004", "0%", "30%"),
        ("0.61999999999999", "0%", "62%"),
        ("0.9999999", "0%", "100%"),
        ("5.00001", '"$"0', "$5"),
    ],
)
def test_digits_that_tell_nothing_are_left_out(raw: str, code: str, shown: str) -> None:
    assert show_number(raw, code) == shown


@cases(
    ("raw", "code", "shown"),
    [
        ("2024", '0"E"', "2024E"),
        ("2023", '"FY"0', "FY2023"),
        ("5.25", '0.0"x"', "5.3x (5.25)"),
        ("5.2", "0.0x", "5.2x"),
        ("-5.2", '0.0"x";(0.0"x")', "(5.2x)"),
        ("62", '0"%"', "62%"),
        ("1234567", '#,##0" kg"', "1,234,567 kg"),
        ("1234567", '#,##0" units"', "1234567"),
        ("12", '0" months"', "12"),
        ("25", '0\\ "bps"', "25 bps"),
        ("42", '"INV-"0000', "INV-0042"),
        ("7", '"H2 20#0: "0', "H2 20#0: 7"),
        ("7.5", '"#"0.0" m²"', "#7.5 m²"),
        ("1234567", '0.0,,"m"', "1.2m (1234567)"),
        ("1.5", '# ?/?" in"', "1.5"),
        ("3723", '0"h "00', "3723"),
        ("5000", '[<1000]0"x";0.0,"k"', "5000"),
        ("0.5", "[<1]0%;0", "0.5"),
        ("1234567", '#,##0_);"("#,##0")"', "1234567"),
    ],
)
def test_marks_of_a_format_are_shown(raw: str, code: str, shown: str) -> None:
    assert show_number(raw, code) == shown


def test_the_calendar_of_1904() -> None:
    assert show_number("43860", "yyyy-mm-dd", from_1904=True) == "2024-01-31"
    assert show_number("2957004", "yyyy-mm-dd", from_1904=True) == "2957004"
    assert show_number("0", "yyyy-mm-dd", from_1904=True) == "1904-01-01"
    assert show_number("0.5", "d.m.yy h:mm", from_1904=True) == "1904-01-01 12:00:00"
    assert show_number("0.5", "h:mm", from_1904=True) == "12:00:00"


@cases(
    ("raw", "shown"),
    [
        ("12", "12"),
        ("12.0", "12"),
        ("0.30000000000000004", "0.3"),
        ("9.4999999999999998E-3", "0.0095"),
        ("0.99715151175097994", "0.99715151175098"),
        ("46619.579999999507", "46619.58"),
        ("46619.57999999951", "46619.58"),
        ("46619.5799999995", "46619.58"),
        ("-1234.5600000000013", "-1234.56"),
        ("752259.388399975", "752259.3884"),
        ("0.24192189559966773", "0.241921895599668"),
        ("1234.56789012345", "1234.56789012345"),
        ("0.33333333333333331", "0.333333333333333"),
        ("10000000000.01", "10000000000.01"),
        ("1.0000000000000131E-5", "1E-05"),
        ("123456789012345678", "123456789012345678"),
        ("1.0E7", "10000000"),
        ("1E+20", "1E+20"),
        ("x", "x"),
        ("1e400", "1e400"),
        ("1" * 500, "1" * 500),
    ],
)
def test_a_plain_number_keeps_its_value(raw: str, shown: str) -> None:
    assert without_noise(raw) == shown


@cases("code", ["General", "0.00", "#,##0;(#,##0)", "@", "0.0E+00", "# ?/?"])
def test_a_format_that_only_rounds_or_groups_changes_no_number(code: str) -> None:
    assert not changes_numbers(code)
    assert show_number("1234.5678", code) == "1234.5678"


@cases("code", ["0%", "yyyy-mm-dd", '"$"#,##0', "00000", "[h]:mm", "0.00;[$€-407] -0.00"])
def test_a_format_that_means_something_changes_numbers(code: str) -> None:
    assert changes_numbers(code)


@cases("shape", ["%.17g", "%.16g", "%.15g", "%r", "%.0f.0", "%.17E"])
def test_a_cell_without_a_format_shows_the_number_without_noise(shape: str) -> None:
    random = Random(shape)
    values = [random.choice((-1, 1)) * random.random() * 10 ** random.randint(-8, 16) for _ in range(300)]
    values += [sum(round(random.random(), 2) for _ in range(random.randint(2, 60))) for _ in range(300)]
    for raw in (shape % value for value in values):
        assert number(raw.encode()) == without_noise(raw).encode()


@cases("odd", ["", "x", "0.1.2", "12", "NaN", "Infinity", "1" * 40, "٣.٥", "1.50", "0012"])
def test_a_cell_that_holds_no_usual_number_is_shown_as_stored(odd: str) -> None:
    assert number(odd.encode()) == odd.encode()
