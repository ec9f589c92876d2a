"""Rows of workbooks that LibreOffice prints, with rules around all cells and without any, that come back in order.

    python -m tests.benchmarks.printed_sheets FOLDER [--list]

FOLDER holds .xlsx files, each of whose first two sheets with a table are printed as they are formatted, a page wide.
The cells are those that LibreOffice writes as HTML; a row counts if its cells that are not empty come in order. What a
print does not show is left out.
"""

import argparse
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any, Final

import openpyxl
from lxml import html
from openpyxl.styles import Border, Side
from openpyxl.worksheet.properties import PageSetupProperties

from tasks.reading.pdf import reader
from tests.benchmarks.real_tables import filled_cells

_MOST_ROWS: Final = 70
_MOST_COLUMNS: Final = 15
_FEWEST: Final = 4
"""Rows of several cells that a sheet has at least."""


def sheets_with_tables(workbook: bytes) -> Iterator[str]:
    """The names of sheets with a table of a page's size."""
    for sheet in openpyxl.load_workbook(BytesIO(workbook), data_only=True).worksheets[:6]:
        rows = [[cell.value for cell in row] for row in sheet.iter_rows(max_row=_MOST_ROWS)]
        filled = [sum(value is not None for value in row) for row in rows]
        if sheet.max_column <= _MOST_COLUMNS and sum(count > 1 for count in filled) >= _FEWEST and max(filled) > 2:
            yield sheet.title


def write_sheet(workbook: bytes, name: str, path: Path, *, ruled: bool) -> None:
    """A workbook of one sheet, with rules around all cells or without any, a page wide."""
    book = openpyxl.load_workbook(BytesIO(workbook), data_only=True)
    for other in set(book.sheetnames) - {name}:
        del book[other]
    sheet: Any = book[name]
    sheet.sheet_state = "visible"
    sheet._charts, sheet._images, sheet.print_area = [], [], None
    sheet.print_options.gridLines = False
    if sheet.max_row > _MOST_ROWS:
        sheet.delete_rows(_MOST_ROWS + 1, sheet.max_row)
    side = Side(style="thin") if ruled else None
    for cell in (cell for row in sheet.iter_rows() for cell in row):
        cell.border = Border(left=side, right=side, top=side, bottom=side)
    sheet.page_setup.orientation = "landscape" if sheet.max_column > 6 else "portrait"
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
    book.save(path)


def shown_rows(page: Path) -> list[str]:
    """The rows of several cells of the sheet that LibreOffice wrote as HTML."""
    found: Any = html.fromstring(page.read_bytes()).xpath("(//table)[1]//tr")
    rows = [[" ".join(cell.text_content().split()) for cell in row.iter("td", "th")] for row in found]
    return ["\t".join(row) for row in rows if sum(map(bool, row)) > 1 and "###" not in "".join(row)]


def main() -> None:
    """Print the sheets of a folder's workbooks, read the prints, and count the rows that come back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--list", action="store_true", help="list the rows that are missing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        written: list[Path] = []
        for number, path in enumerate(sorted(options.folder.rglob("*.xlsx"))):
            for name in islice(sheets_with_tables(path.read_bytes()), 2):
                sheet = Path(home) / f"{number} {len(written)}.xlsx"
                for kind in ("with", "without"):
                    write_sheet(path.read_bytes(), name, sheet.with_stem(f"{kind} {sheet.stem}"), ruled=kind == "with")
                written.append(sheet)
        for target in ("pdf", "html"):
            office = ["soffice", f"-env:UserInstallation=file://{home}/office", "--headless", "--convert-to", target]
            sheets = sorted(map(str, Path(home).glob("*.xlsx")))
            subprocess.run([*office, "--outdir", home, *sheets], check=True, capture_output=True)
        for kind in ("with", "without"):
            found = wanted = 0
            for sheet in (sheet.with_stem(f"{kind} {sheet.stem}") for sheet in written):
                lines = reader.read(sheet.with_suffix(".pdf")).text.splitlines()
                letters = "".join("".join(lines).split())
                rows = shown_rows(sheet.with_suffix(".html"))
                rows = [
                    row for row in rows if all(len(cell.split()) > 1 or cell in letters for cell in row.split("\t"))
                ]
                left = Counter(map(filled_cells, lines))
                missing = Counter(map(filled_cells, rows)) - left
                found, wanted = found + len(rows) - missing.total(), wanted + len(rows)
                if options.list:
                    print(sheet.name, *(" | ".join(row) for row in missing.elements()), sep="\n    ")
            print(f"{kind} rules: {found / max(1, wanted):.3f} ({found} of {wanted} rows)")


if __name__ == "__main__":
    main()
