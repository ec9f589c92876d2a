"""Writes workbooks whose formulas carry their values, as a spreadsheet program saves them."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time

import xlsxwriter  # type: ignore[import-untyped]
from xlsxwriter.worksheet import Worksheet  # type: ignore[import-untyped]

from tests.sample_rooms.package import settle

_LOOKS: dict[str, dict[str, object]] = {
    "text": {},
    "head": {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"},
    "title": {"bold": True, "font_size": 14},
    "count": {"num_format": "#,##0"},
    "percent": {"num_format": "0.0%"},
    "date": {"num_format": "dd/mm/yyyy"},
    "month": {"num_format": "mmm yyyy"},
    "eur": {"num_format": '#,##0.00 "€"'},
    "keur": {"num_format": '"€"#,##0"k"'},
    "dkk": {"num_format": '#,##0 "DKK";[Red]-#,##0 "DKK"'},
}

Plain = str | int | float | date | None


@dataclass(frozen=True)
class Cell:
    """A cell with its own style; `formula` computes `value`, and a program that opens the file would recompute it."""

    value: Plain
    look: str = "text"
    formula: str = ""


Row = list[Plain | Cell]
"""The cells of a row, from column A."""


@dataclass(frozen=True)
class Sheet:
    """A sheet: `rows` from the top, each column's style in `looks` (a cell's own style overrides it), widths in
    characters.
    """

    name: str
    rows: Sequence[Row]
    looks: Sequence[str] = ()
    widths: Sequence[float] = ()
    hidden: bool = False


def head(*names: str) -> Row:
    """A row of column headings."""
    return [Cell(name, "head") for name in names]


def total(values: Iterable[float], column: str, first: int, look: str) -> Cell:
    """The sum of `values`, which stand in `column` from row `first` (1-based) downwards."""
    numbers = list(values)
    return Cell(round(sum(numbers), 6), look, f"=SUM({column}{first}:{column}{first + len(numbers) - 1})")


def write(sheets: Sequence[Sheet], title: str, author: str, written: date) -> bytes:
    """The sheets as the bytes of a .xlsx."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out, {"in_memory": True})
    moment = datetime.combine(written, time(9))
    book.set_properties({"title": title, "author": author, "created": moment})
    looks = {name: book.add_format(look) for name, look in _LOOKS.items()}
    for sheet in sheets:
        page: Worksheet = book.add_worksheet(sheet.name)
        for column, width in enumerate(sheet.widths):
            page.set_column(column, column, width)
        for row, cells in enumerate(sheet.rows):
            for column, given in enumerate(cells):
                default = sheet.looks[column] if column < len(sheet.looks) else "text"
                cell = given if isinstance(given, Cell) else Cell(given, "text" if isinstance(given, str) else default)
                _put(page, row, column, cell, looks[cell.look])
        if sheet.hidden:
            page.hide()
    book.close()
    return settle(out.getvalue(), written)


def _put(page: Worksheet, row: int, column: int, cell: Cell, look: object) -> None:
    if cell.formula:
        page.write_formula(row, column, cell.formula, look, cell.value)
    elif isinstance(cell.value, date):
        page.write_datetime(row, column, cell.value, look)
    elif cell.value is not None:
        page.write(row, column, cell.value, look)
