"""Formulas without a stored value: computed where that is simple and certain, else they stand in their cells."""

from datetime import date
from pathlib import Path

import pytest
from openpyxl import Workbook

from tasks.reading.text_writer import Reading
from tasks.reading.xlsx import reader
from tasks.reading.xlsx.formulas import fill
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import OFFICE, SHEET


def read(path: Path, rows: str) -> Reading:
    return reader.read(packages.xlsx(path / "a.xlsx", rows))


def shown(path: Path, formula: str, cells: str = "") -> str:
    """What stands in the cell of a formula beside 2, 3, "word", -4.5, TRUE, #N/A and a blank in A1 to G1."""
    given = (
        '<c r="A1"><v>2</v></c><c r="B1"><v>3</v></c><c r="C1" t="str"><v>word</v></c><c r="D1"><v>-4.5</v></c>'
        '<c r="E1" t="b"><v>1</v></c><c r="F1" t="e"><v>#N/A</v></c>'
    )
    escaped = formula.replace("&", "&amp;").replace("<", "&lt;")
    text = read(path, f'<row r="1">{given}{cells}</row><row r="2"><c r="A2"><f>{escaped}</f></c></row>').text
    return text.splitlines()[2] if text.count("\n") > 2 else ""


@pytest.mark.parametrize(
    ("formula", "value"),
    [
        ("SUM(A1:B1)", "5"),
        ("A1*1000", "2000"),
        ("A1-B1/4+2^3%", "2.27101212570719"),
        ("-2^2", "4"),
        ("2^3^2", "64"),
        ("(A1+B1)*D1", "-22.5"),
        ("0.1+0.2-0.3", "0"),
        ("SUM(A1:G1)", "#N/A"),
        ("SUM(A1:E1,10)", "10.5"),
        ("SUM(A1,,B1)", "5"),
        ("AVERAGE(A1:D1)", "0.166666666666667"),
        ("MIN(A1:D1)+MAX(A1:D1)", "-1.5"),
        ("ROUND(2.345,2)", "2.35"),
        ("ROUND(-1250,-2)", "-1300"),
        ("ROUNDUP(2.01,0)+ROUNDDOWN(-2.9,0)", "1"),
        ("ABS(D1)", "4.5"),
        ('IF(A1>B1,"more","less")', "less"),
        ("IF(A1<=B1,A1)", "2"),
        ('IF(C1="WORD",1,0)', "1"),
        ('IF(G1="",0,1)', "0"),
        ("IF(AND(A1=2,NOT(B1=2)),E1,0)", "TRUE"),
        ("A1/G1", "#DIV/0!"),
        ('IFERROR(A1/0,"n/a")', "n/a"),
        ("IFERROR(F1,0)", "0"),
        ('C1&" "&A1&"%"', "word 2%"),
        ("5%*200", "10"),
        ("$A$1+B$1", "5"),
        ("Ledger!A1+'Ledger'!B1", "5"),
        ("SUM(B:D)", "-1.5"),
        ("SUMPRODUCT(A1:B1,A1:B1)", "13"),
        ('SUMIF(A1:D1,">0")', "5"),
        ('COUNTIF(A1:D1,"word")', "1"),
        ("COUNT(A1:G1)+COUNTA(A1:G1)", "9"),
        ("MEDIAN(A1:D1)", "2"),
        ("MOD(-7,3)", "2"),
        ("YEAR(DATE(2024,14,1))", "2025"),
        ("DAY(EOMONTH(DATE(2024,1,31),1))", "29"),
        ("1E+20*10", "1E+21"),
        ("G1", "0"),
        ("_xlfn.CONCAT(A1,B1)", "23"),
    ],
)
def test_what_is_simple_is_computed(tmp_path: Path, formula: str, value: str) -> None:
    assert shown(tmp_path, formula) == f"{value} [computed]"


@pytest.mark.parametrize(
    "formula",
    [
        "VLOOKUP(A1,A1:B9,2,FALSE)", "NOW()", "TODAY()-1", "OFFSET(A1,1,0)", 'INDIRECT("A1")', "RAND()", "C1+1",
        "SUM(A1:B1 B1:C1)", "SUM((A1,B1))", "SUM(Sheet1:Sheet3!A1)", "SUM([1]Other!A1:A9)", "Unknown!A1", "Name*2",
        "Table1[Amount]", "SUM(1:1)", "{1,2}", "A1:B1", "A1:B1*2", 'IF(C1>"a",1,2)', "1+", "SUM(", ")", "",
        "MIN(A1,,B1)", "MAX(-1,,-2)", "AVERAGE(1,,2)", "PRODUCT(2,,3)", "COUNTA(A1,)",
        "A1048577", "SUM(A1,", "1 2", "A1..B1", "C1=E1*(", 'SUMIF(A1:D1,"w*")', 'TEXT(A1,"0%")',
    ],
)  # fmt: skip
def test_what_is_not_certain_stands_as_formula(tmp_path: Path, formula: str) -> None:
    assert shown(tmp_path, formula) == ("=" + formula if formula else "=…")


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        ("<f>A1+1</f>", "3 [computed]"),
        ("<f>A1+1</f><v></v>", "3 [computed]"),
        ("<f>A1+1</f><v/>", "3 [computed]"),
        ("<f>A1+1</f><v />", "3 [computed]"),
        ('<f ca="1" b="a>b/>">A1+1</f><v b="a>b/>"></v>', "3 [computed]"),
        ("<f ca='1'>A1+1</f>\n <v> </v>", ""),
        ("\n  <f>A1+1</f>\n  ", "3 [computed]"),
        ("<f>A1+1</f><v>7</v>", "7"),
        ("<f>_xlfn.XLOOKUP(A1,B:B,C:C)</f>", "=XLOOKUP(A1,B:B,C:C)"),
        ("<f t='array' ref='B1:B3'>SUM(A1*{1;2})</f>", "{=SUM(A1*{1;2})}"),
        ("<f t='array' ref='B1'>SUM(A1:A1)</f>", "2 [computed]"),
        ("<f t='dataTable' ref='B1:B3' r1='C1' r2='D1'/>", "{=TABLE(C1,D1)}"),
        ('<f>IF(A1=2,"",1)</f>', ""),
        ('<f>"&lt;"&amp;"&amp;amp;"</f>', "<&amp; [computed]"),
    ],
)
def test_a_formula_without_a_value_is_known_however_it_is_written(tmp_path: Path, stored: str, text: str) -> None:
    rows = f'<row r="1"><c r="A1"><v>2</v></c><c r="B1">{stored}</c></row>'
    assert read(tmp_path, rows).text == f"Ledger\n2\t{text}\n" if text else "Ledger\n2\n"


@pytest.mark.parametrize("stored", ["<v></v>", "<v/>", "<v />"])
def test_an_empty_text_that_a_formula_gave_stays_empty(tmp_path: Path, stored: str) -> None:
    rows = f'<row r="1"><c r="A1"><v>2</v></c><c r="B1" t="str"><f>NOW()</f>{stored}</c><c r="C1"><v>3</v></c></row>'
    reading = read(tmp_path, rows * 3)
    assert reading.text.startswith("Ledger\n2\t\t3\n")
    assert reading.warnings == []


def test_an_account_whose_margins_are_formulas_reads_whole(tmp_path: Path) -> None:
    """As openpyxl writes it, which computes nothing."""
    book = Workbook()
    account, rates = book.active, book.create_sheet("Ra'tes")
    assert account is not None
    account.title = "P&L"
    rates["B1"] = 0.25
    for line in (
        ["EUR m", 2023, 2024],
        ["Revenue", 120, 150],
        ["Costs", -80, "=B3*1.1"],
        ["EBITDA", "=SUM(B2:B3)", "=SUM(C2:C3)"],
        ["Margin", "=B4/B2", "=C4/C2"],
        ["Tax", "=-B4*'Ra''tes'!$B$1", "=-C4*'Ra''tes'!$B$1"],
        ["Closing", "=DATE(B1,12,31)", "=VLOOKUP(C1,Z:Z,1)"],
    ):
        account.append(line)
    for cell in ("B5", "C5"):
        account[cell].number_format = "0%"
    account["B7"].number_format = "yyyy-mm-dd"
    book.save(tmp_path / "a.xlsx")
    reading = reader.read(tmp_path / "a.xlsx")
    assert reading.text == (
        "P&L\nEUR m\t2023\t2024\nRevenue\t120\t150\nCosts\t-80\t-88 [computed]\nEBITDA\t40 [computed]\t62 [computed]\n"
        "Margin\t33% (0.3333) [computed]\t41% (0.4133) [computed]\nTax\t-10 [computed]\t-15.5 [computed]\n"
        f"Closing\t{date(2023, 12, 31)} [computed]\t=VLOOKUP(C1,Z:Z,1)\n"
        "\fRa'tes\n\t0.25\n"
    )
    assert len(reading.warnings) == 2
    assert all("“P&L”" in warning for warning in reading.warnings)


def test_formulas_that_share_one_mean_their_own_cells(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c><c r="B1"><f t="shared" ref="B1:B9" si="0">A1*$A$1+T("A1")</f></c></row>'
    rows += '<row r="2"><c r="A2"><v>5</v></c><c r="B2"><f t="shared" si="0"/></c></row>'
    rows += '<row r="3"><c r="A3"><v>5</v></c><c r="B3"><f t="shared" ref="B3:B9" si="1">A3*10+A$1</f></c></row>'
    rows += '<row r="4"><c r="A4"><v>7</v></c><c r="B4"><f t="shared" si="1"/></c>'
    rows += '<c r="C4"><f t="shared" si="8"/></c></row>'
    assert read(tmp_path, rows).text.splitlines()[1:] == [
        '1\t=A1*$A$1+T("A1")', '5\t=A2*$A$1+T("A1")', "5\t51 [computed]", "7\t71 [computed]\t=…",
    ]  # fmt: skip


def test_defined_names_are_followed(tmp_path: Path) -> None:
    names = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="Ledger" sheetId="1" '
        'r:id="rId1"/></sheets><definedNames><definedName name="Rate">Ledger!$A$1</definedName><definedName name="All">'
        'SUM(Ledger!$A$1:$B$1)</definedName><definedName name="Loop">Loop+1</definedName></definedNames></workbook>'
    }
    rows = '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><v>3</v></c><c r="C1"><f>Rate*10+all</f></c>'
    rows += '<c r="D1"><f>Loop</f></c></row>'
    assert (
        reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {**names})).text == "Ledger\n2\t3\t25 [computed]\t=Loop\n"
    )


def test_a_chain_of_formulas_is_followed_to_its_end(tmp_path: Path) -> None:
    rows = "".join(f'<row r="{r}"><c r="A{r}"><f>A{r + 1}+1</f></c></row>' for r in range(1, 5000))
    text = read(tmp_path, rows + '<row r="5000"><c r="A5000"><v>1</v></c></row>').text
    assert text.splitlines()[1:3] == ["5000 [computed]", "4999 [computed]"]


def test_formulas_in_a_circle_stand_as_they_are(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><f>B1+1</f></c><c r="B1"><f>A1*2</f></c><c r="C1"><f>C1</f></c>'
    rows += '<c r="D1"><f>SUM(A1:D1)</f></c>'
    assert (
        read(tmp_path, rows + "<c><f>2+2</f></c></row>").text
        == "Ledger\n=B1+1\t=A1*2\t=C1\t=SUM(A1:D1)\t4 [computed]\n"
    )


@pytest.mark.parametrize(
    "formula",
    ["(" * 5000 + "1" + ")" * 5000, "-" * 8000 + "1", "1" + "+1" * 4000, "SUM(" * 2000 + "1" + ")" * 2000,
     "1" + "%" * 8000, "IF(1," * 60 + "1" + ")" * 60, '"' * 8001, "9" * 8000, "9^9^9^9^9", "A1" + "&A1" * 3000,
     "=" * 8000, "x" * 20_000, "1+" * 299 + "1"],
    ids=lambda formula: formula[:6],
)  # fmt: skip
def test_a_formula_made_to_exhaust_does_no_harm(tmp_path: Path, formula: str) -> None:
    assert shown(tmp_path, formula)


def test_what_formulas_look_at_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "MOST_VISITS", 10_000)
    rows = "".join(
        f'<row r="{r}"><c r="A{r}"><v>1</v></c><c r="B{r}"><f>SUM(A$1:A$1000)</f></c></row>' for r in range(1, 1001)
    )
    reading = read(tmp_path, rows)
    assert 2 < reading.text.count("1000 [computed]") < 10
    assert reading.text.count("=SUM(A$1:A$1000)") > 900
    assert len(reading.warnings) == 2


def test_a_sheet_with_too_many_cells_is_not_looked_into(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fill, "MOST_CELLS", 100)
    rows = "".join(f'<row r="{r}"><c r="A{r}"><v>1</v></c><c r="B{r}"><f>A{r}+1</f></c></row>' for r in range(1, 200))
    assert read(tmp_path, rows).text.startswith("Ledger\n1\t=A1+1\n")


def test_sheets_are_named_in_the_warning_up_to_a_limit(tmp_path: Path) -> None:
    book = Workbook()
    for number in range(30):
        book.create_sheet(f"S{number}")["A1"] = "=NOW()"
    book.save(tmp_path / "a.xlsx")
    (warning,) = reader.read(tmp_path / "a.xlsx").warnings
    assert "“S0”, “S1”" in warning
    assert "“S19” and 10 more" in warning
    assert len(warning) < 500


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ('calcId="124519" fullCalcOnLoad="1"', "5 [computed]\t7\t=NOW()"),
        ('calcId="191029" fullCalcOnLoad="1"', "0\t7\t0"),
        ('calcId="124519"', "0\t7\t0"),
    ],
)
def test_a_zero_that_xlsxwriter_gives_each_formula_is_no_value(tmp_path: Path, settings: str, text: str) -> None:
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets><sheet name="Ledger" sheetId="1" '
        f'r:id="rId1"/></sheets><calcPr {settings}/></workbook>'
    }
    cells = (("A", "2+3", 0), ("B", "3+4", 7), ("C", "NOW()", 0))
    rows = "".join(f'<c r="{letter}1"><f>{formula}</f><v>{value}</v></c>' for letter, formula, value in cells)
    rows = f'<row r="1">{rows}</row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {**parts})).text == f"Ledger\n{text}\n"
