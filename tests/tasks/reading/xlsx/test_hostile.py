"""Workbooks made to exhaust a reader: bounded texts that say what was left out."""

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.errors import TooLarge
from tasks.reading import limits
from tasks.reading.text_writer import Writer
from tasks.reading.xlsx import reader, sheet
from tasks.reading.xlsx.rows import LONGEST, CellKinds
from tests.cases import cases
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import SHEET


def strings(*items: str) -> dict[str, str | bytes]:
    return {
        "xl/sharedStrings.xml": f'<sst xmlns="{SHEET}">{"".join(f"<si><t>{item}</t></si>" for item in items)}</sst>'
    }


def test_two_cells_in_opposite_corners_cost_nothing(tmp_path: Path) -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row>'
    rows += '<row r="1048576"><c r="A1048576"><v>2</v></c><c r="XFD1048576"><v>3</v></c></row>'
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    assert reading.text == "Ledger\n1\n\n2\t3\n"
    assert [place.label for place in reading.places] == ["Ledger", "A1:A1", "A1048576:XFD1048576"]


@cases("reference", ["ZZZZZZZZZZ1", "A99999999999999999999", "1A", "", "é1", "A-1", "A" * 100_000])
def test_senseless_references_do_no_harm(tmp_path: Path, reference: str) -> None:
    rows = f'<row r="{reference}"><c r="{reference}" s="77"><v>kept</v></c></row>'
    assert "kept" in reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text


def test_cells_out_of_order_come_in_the_order_of_their_columns(tmp_path: Path) -> None:
    rows = "".join(
        f'<row r="{r}"><c r="C{r}"><v>3</v></c><c r="A{r}"><v>1</v></c><c r="A{r}"><v>11</v></c></row>'
        for r in (2, 3, 1)
    )
    assert (
        reader.read(packages.xlsx(tmp_path / "a.xlsx", rows)).text == "Ledger\n1\t11\t\t3\n1\t11\t\t3\n\n1\t11\t\t3\n"
    )


@cases("index", ["2", "-1", "99999999999999999999", "1.0", "x", ""])
def test_a_string_that_is_not_there_is_empty(tmp_path: Path, index: str) -> None:
    rows = f'<row r="1"><c r="A1" t="s"><v>{index}</v></c><c r="B1" t="s"><v> 1 </v></c></row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, strings("a", "b"))).text == "Ledger\n\tb\n"


def test_more_cells_than_the_limit_are_left_out_with_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "MOST_CELLS", 1000)
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row>" * 100_000
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows))
    assert reading.warnings == [sheet.FULL]
    assert 1000 < len(reading.text) < 40_000


def test_when_the_time_is_up_the_rows_read_so_far_are_kept(tmp_path: Path) -> None:
    rows = "<row><c><v>1</v></c><c><v>2</v></c></row>" * 100_000
    book = packages.xlsx(tmp_path / "a.xlsx", rows)
    limits.configure(0.001)
    try:
        reading = reader.read(book)
    finally:
        limits.configure(math.inf)
    assert reading.warnings == [sheet.LATE]
    assert len("Ledger\n1\t2\n") <= len(reading.text) < len(rows) // 10


@pytest.mark.parametrize("row", ["<row/>", "<row></row>", '<row r="1"/>', '<row r="1"><c r="A1" s="1"/></row>'])
def test_rows_without_a_value_count_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, row: str) -> None:
    monkeypatch.setattr(sheet, "MOST_CELLS", 1000)
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", row * 10_000)).warnings == [sheet.FULL]


@pytest.mark.parametrize("cells_of_a_row", [1, 200, 20_000])
def test_a_long_string_in_many_cells_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cells_of_a_row: int
) -> None:
    monkeypatch.setattr(sheet, "MOST_TEXT", 1_000_000)
    row = "<row>" + '<c t="s"><v>0</v></c>' * cells_of_a_row + "</row>"
    path = packages.xlsx(tmp_path / "a.xlsx", row * (40_000 // cells_of_a_row), strings("word " * 6_000))
    reading = reader.read(path)
    assert reading.warnings == [sheet.FULL]
    assert 500_000 < len(reading.text) < 1_300_000


def test_a_sheet_beyond_the_limit_gives_what_was_read_of_it() -> None:
    def pieces() -> Iterator[bytes]:
        yield b"<worksheet><sheetData><row><c><v>5</v></c></row>"
        raise TooLarge("Split it.")

    writer = Writer()
    scanner = sheet.Scanner(writer, CellKinds(list, dict, from_1904=False))
    assert scanner.scan(scanner.readable(pieces())) == []
    assert (writer.reading().text, scanner.cut) == ("5\n", sheet.FULL)


def test_a_text_longer_than_any_cell_can_hold_is_cut_off(tmp_path: Path) -> None:
    long = "many words " * 500_000
    rows = f'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>{long}</t></is></c></row>'
    rows += '<row r="2"><c r="A2" t="s"><v>1</v></c></row>'
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, strings(long, "after")))
    assert reading.warnings == [reader.CLIPPED]
    assert reading.text.endswith("many words many\nafter\n") or reading.text.endswith("\nafter\n")
    assert LONGEST < len(reading.text) < 3 * LONGEST


def test_more_strings_than_the_limit_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_STRINGS", 100)
    rows = '<row><c t="s"><v>0</v></c></row>'
    with pytest.raises(TooLarge, match="different texts"):
        reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, strings(*map(str, range(200)))))


@cases(
    "rows",
    [
        "<" * 3_000_000,
        "<c " * 1_000_000,
        '<c r="A1"><v>' * 300_000,
        "<row><c><f>" * 300_000,
        '<c t="inlineStr"><is><r><rPh sb="0"><t>' * 100_000,
        "<!-- " * 500_000,
        "<![CDATA[" * 300_000,
        "<?" * 1_000_000,
        '<row r="' * 500_000,
        "&" * 3_000_000,
    ],
)
def test_what_is_never_closed_takes_no_time(tmp_path: Path, rows: str) -> None:
    before = '<row r="1"><c r="A1"><v>7</v></c></row>'
    assert reader.read(packages.xlsx(tmp_path / "a.xlsx", before + rows)).text.startswith("Ledger\n7\n")


def test_more_comments_than_the_limit_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MOST_COMMENT_TEXT", 1000)
    comments = "<comment ref='A1'><text><t>word</t></text></comment>" * 1000
    parts: dict[str, str | bytes] = {
        "xl/worksheets/_rels/sheet1.xml.rels": packages.relationships(("comments", "../comments1.xml")),
        "xl/comments1.xml": f"<comments xmlns='{SHEET}'><commentList>{comments}</commentList></comments>",
    }
    reading = reader.read(packages.xlsx(tmp_path / "a.xlsx", "", parts))
    assert (reading.text.count("word"), reading.warnings) == (250, [reader.FULL_OF_COMMENTS])


def test_a_sheet_that_is_named_often_is_read_once(tmp_path: Path) -> None:
    named = '<sheet name="S" sheetId="1" r:id="rId1"/>' * 500
    book = f'<workbook xmlns="{SHEET}" xmlns:r="{packages.OFFICE}"><sheets>{named}</sheets></workbook>'
    path = packages.xlsx(tmp_path / "a.xlsx", "<row><c><v>5</v></c></row>" * 100, {"xl/workbook.xml": book})
    assert reader.read(path).text.count("5") == 100


def test_formats_that_no_one_wrote_by_hand_do_no_harm(tmp_path: Path) -> None:
    codes = ["0" * 300 + "%", "[$" * 100_000, '"' * 1001, "$0." + "0" * 300, "[h" * 500, "\\" * 999]
    escaped = [code.replace('"', "&quot;") for code in codes]
    formats = "".join(f'<numFmt numFmtId="{200 + i}" formatCode="{code}"/>' for i, code in enumerate(escaped))
    xfs = "".join(f'<xf numFmtId="{200 + i}"/>' for i in range(len(codes)))
    styles = f'<styleSheet xmlns="{SHEET}"><numFmts>{formats}</numFmts><cellXfs>{xfs}</cellXfs></styleSheet>'
    rows = "".join(
        f'<row><c s="{style}"><v>{value}</v></c></row>'
        for style in range(len(codes))
        for value in ("999999999999999.5", "1e-300", "9" * 100_000, "-0", "0." + "1" * 5000)
    )
    text = reader.read(packages.xlsx(tmp_path / "a.xlsx", rows, {"xl/styles.xml": styles})).text
    assert text.count("9" * 100_000) == len(codes)
