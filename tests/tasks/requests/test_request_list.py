"""Request lists of the shapes in which buyers send them."""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from openpyxl.worksheet.worksheet import Worksheet

from tasks.errors import BadRequest
from tasks.requests.request_list import read_requests
from tests.cases import cases

LISTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("lists.toml").read_text(encoding="utf-8"))["list"]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.split("|")]


def fill_sheet(sheet: Worksheet, rows: str) -> None:
    for number, line in enumerate(rows.splitlines(), 1):
        for column, text in enumerate(cells(line.removeprefix("*")), 1):
            if text == "<":
                sheet.merge_cells(start_row=number, start_column=column - 1, end_row=number, end_column=column)
            elif text == "^":
                sheet.merge_cells(start_row=number - 1, start_column=column, end_row=number, end_column=column)
            elif text:
                sheet.cell(number, column, text).font = Font(bold=line.startswith("*"))


def write_list(folder: Path, listed: dict[str, Any]) -> Path:
    if listed.get("format") == "csv":
        (folder / "list.csv").write_bytes(listed["rows"].encode(listed.get("encoding", "utf-8")))
        return folder / "list.csv"
    book = openpyxl.Workbook()
    titles = listed.get("sheets", ["Requests"])
    for title, rows in zip(titles, listed["rows"].split("---\n"), strict=True):
        fill_sheet(book.create_sheet(title), rows)
    del book["Sheet"]
    book.save(folder / "list.xlsx")
    return folder / "list.xlsx"


@cases("listed", LISTS)
def test_lists_of_other_shapes(tmp_path: Path, listed: dict[str, Any]) -> None:
    read = read_requests(write_list(tmp_path, listed))
    expected = [tuple(cells(line)) for line in listed["expected"].splitlines()]
    assert [(item.number, item.section or "", item.item) for item in read.items] == expected
    columns = {name: column for known in read.columns.values() for name, column in known.items()}
    assert listed.get("columns", {}).items() <= columns.items()


def headings_by_number(sheet: Worksheet) -> None:
    sheet.append(["Project Falcon, request list"])
    sheet.append([])
    sheet.append(["No.", "Information requested", "Priority", "Comments"])
    sheet.append([1, "Corporate"])
    for number in (1.1, 1.2, 1.9):
        sheet.append([number, f"Articles {number}", "H"])
    sheet.append([1.1, "Minutes"])  # 1.10, which the workbook keeps as a number
    sheet.append([2, "Finance"])
    sheet.append([2.1, "Accounts", "M"])


def bold_sections(sheet: Worksheet) -> None:
    sheet.append(["Nr.", "Unterlage", "Status"])
    for number, text in ((1, "GESELLSCHAFT"), (2, "Satzung"), (3, "Gesellschafterliste"), (4, "FINANZEN"), (5, "BWA")):
        sheet.append([number, text])
        if text.isupper() and text != "BWA":
            for cell in sheet[sheet.max_row]:
                cell.font = Font(bold=True)


def letters_and_numbers(sheet: Worksheet) -> None:
    for row in (
        ["A", "Corporate"],
        [1, "Articles of association, as amended"],
        [2, "Register of members of the company"],
    ):
        sheet.append(row)
    for row in (["B", "Tax"], [1, "Tax returns for the last three years"], [2, "Tax assessments for the last years"]):
        sheet.append(row)


def sections_in_a_column(sheet: Worksheet) -> None:
    sheet.append(["Section", "Ref", "Question", "Company response"])
    sheet.append(["People", "HR-01", "List of employees", None])
    sheet.append(["People", "HR-02", "Employment contracts", None])
    sheet.append(["IT", "IT-01", "IT landscape", None])


def text_of_a_heading_in_the_first_cell(sheet: Worksheet) -> None:
    sheet.append(["#", "Request", "Priority"])
    sheet.append(["Legal matters"])
    sheet.append(["1", "Litigation summary", "High"])
    sheet.append(["2", "Settlement agreements", "Low"])


@cases(
    ("write", "expected"),
    [
        (
            headings_by_number,
            [
                ("1.1", "Corporate"),
                ("1.2", "Corporate"),
                ("1.9", "Corporate"),
                ("1.10", "Corporate"),
                ("2.1", "Finance"),
            ],
        ),
        (bold_sections, [("2", "GESELLSCHAFT"), ("3", "GESELLSCHAFT"), ("5", "FINANZEN")]),
        (letters_and_numbers, [("1", "Corporate"), ("2", "Corporate"), ("1", "Tax"), ("2", "Tax")]),
        (sections_in_a_column, [("HR-01", "People"), ("HR-02", "People"), ("IT-01", "IT")]),
        (text_of_a_heading_in_the_first_cell, [("1", "Legal matters"), ("2", "Legal matters")]),
    ],
)
def test_workbooks_of_any_shape(
    tmp_path: Path, write: Callable[[Worksheet], None], expected: list[tuple[str, str]]
) -> None:
    book = openpyxl.Workbook()
    assert isinstance(book.active, Worksheet)
    write(book.active)
    book.save(tmp_path / "list.xlsx")
    assert [(item.number, item.section) for item in read_requests(tmp_path / "list.xlsx").items] == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Number;Request;Priority\n1;Corporate;\n1.1;Articles;H\n1.2;Minutes;L\n", [("1.1", "H"), ("1.2", "L")]),
        ("1. Articles of association\n2. Cap table\n3. Board minutes\n", [("1.", None), ("2.", None), ("3.", None)]),
        ("number,item\n1,Articles\n2,Cap table\n", [("1", None), ("2", None)]),
    ],
    ids=["headings by number", "number and text in one cell", "flat"],
)
def test_csv_lists(tmp_path: Path, written: str, expected: list[tuple[str, str | None]]) -> None:
    (tmp_path / "list.csv").write_text(written)
    assert [(item.number, item.priority) for item in read_requests(tmp_path / "list.csv").items] == expected


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (
            "requests:\n  - {number: 1, itm: Articles}\n",
            "line 2, requests.0.itm: there is no such field; did you mean item",
        ),
        (
            "requests:\n  - {number: 1, item: A}\n  - {number: 1, item: B}\n",
            "'1' is already the number of the item in line 2",
        ),
        ("requests: []\n", "it is empty: list at least one item"),
        ("requests:\n  - {number: 1, item: ' '}\n", "line 2, requests.0.item: must not be empty"),
        ("items: []\n", "requests: it is missing"),
    ],
)
def test_mistakes_name_file_line_and_field(tmp_path: Path, written: str, message: str) -> None:
    (tmp_path / "list.yaml").write_text(written)
    with pytest.raises(BadRequest, match=r"list\.yaml") as error:
        read_requests(tmp_path / "list.yaml")
    assert message in error.value.message
