"""Rows of PDFs' tables that come back exactly, cells split by tabs: with rules, without, and financial statements.

The tables are those of the Word files, workbooks and presentations that DILIGENCE_BENCH_DOCUMENTS names (else of the
tests), put into a Word file between two paragraphs and printed to PDF by LibreOffice: the source tells the cells. A
table whose number divides by 5 with 3 or 4 left is held out: nobody looked at those while the reader was written. The
statements are drawn here in layouts of their own. pdfplumber reads the same files where `.peers` has it.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import docx
import openpyxl
import pptx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.shared import Pt

from tasks.reading.pdf import reader
from tests.benchmarks import statements

_PROJECT: Final = Path(__file__).parents[2]
_FONTS: Final = ("Liberation Serif", "Liberation Sans", "DejaVu Sans", "Carlito")
_FIGURE: Final = re.compile(r"[-(]?[$€£]?\s?[\d.,]+\s?%?\)?")
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]")
_MOST_ROWS: Final = 25
_MOST_COLUMNS: Final = 10
_STATEMENTS: Final = range(1000, 1100)
_PROSE: Final = (
    "Either party may give notice of six months to the end of a calendar year. The board approved the statements for "
    "issue and noted that comparative figures were restated for the change in presentation described in the notes."
)
_PDFPLUMBER: Final = """
import json, sys, pdfplumber
out = {}
for path in sys.argv[1:]:
    rows = []
    with pdfplumber.open(path) as document:
        for page in document.pages:
            text = {"vertical_strategy": "text", "horizontal_strategy": "text"}
            for table in page.extract_tables() or page.extract_tables(text):
                rows += ["\\t".join(" ".join((cell or "").split()) for cell in row) for row in table]
    out[path] = rows
print(json.dumps(out))
"""

Grid = list[list[str]]


class _Printed(NamedTuple):
    """A table as a PDF, and the rows that it holds."""

    pdf: Path
    rows: list[str]
    group: str


def measure() -> Iterator[tuple[str, str, str]]:
    """Rows of (what, figure, target)."""
    with tempfile.TemporaryDirectory() as folder:
        printed = [*_statements(Path(folder)), *_tables(Path(folder))]
        theirs = _by_pdfplumber([table.pdf for table in printed])
        targets = {"with rules": ".90", "without rules": ".70", "statements": ".90"}
        for group in dict.fromkeys(table.group for table in printed):
            tables = [table for table in printed if table.group == group]
            wanted = sum(len(table.rows) for table in tables)
            ours = sum(found_rows(table.rows, reader.read(table.pdf).text.splitlines()) for table in tables)
            figure = f"{ours / wanted:.3f} ({ours} of {wanted} rows of {len(tables)} tables)"
            if theirs:
                others = sum(found_rows(table.rows, theirs[str(table.pdf)]) for table in tables)
                figure += f"; pdfplumber {others / wanted:.3f}"
            yield f"rows of PDF tables, {group}", figure, targets[group.split(",")[0]]


def found_rows(rows: Sequence[str], lines: Sequence[str]) -> int:
    """How many rows are among the lines; a space beside a currency or percent sign does not count."""
    left = Counter(map(_plain, lines))
    return sum((Counter(map(_plain, rows)) & left).values())


def _plain(row: str) -> str:
    cells = (" ".join(cell.split()) for cell in row.split("\t"))
    return "\t".join(re.sub(r"\s*([$€£%])\s*", r"\1", cell) for cell in cells)


def _statements(folder: Path) -> Iterator[_Printed]:
    for seed in _STATEMENTS:
        statement = statements.draw(seed)
        path = folder / f"statement-{seed}.pdf"
        path.write_bytes(statement.pdf)
        yield _Printed(path, statement.rows, "statements")


def _tables(folder: Path) -> Iterator[_Printed]:
    soffice = shutil.which("soffice")
    if soffice is None:
        return
    given = os.environ.get("DILIGENCE_BENCH_DOCUMENTS")
    grids = {json.dumps(grid): grid for grid in _grids(Path(given) if given else _PROJECT / "tests/documents")}
    wanted: dict[Path, tuple[Grid, str]] = {}
    for number, (key, grid) in enumerate(grids.items()):
        part = "held out" if int(hashlib.md5(key.encode()).hexdigest(), 16) % 5 > 2 else "seen"
        for kind in ("with rules", "without rules"):
            path = folder / f"{kind.split()[0]}-{number}.docx"
            _write(grid, path, number, ruled=kind == "with rules")
            wanted[path] = grid, f"{kind}, {part}"
    files = list(wanted)
    for start in range(0, len(files), 50):
        command = [soffice, f"-env:UserInstallation=file://{folder}/office", "--headless", "--convert-to", "pdf"]
        subprocess.run(
            [*command, "--outdir", folder, *files[start : start + 50]], check=True, capture_output=True, timeout=600
        )
    for path, (grid, group) in sorted(wanted.items(), key=lambda item: item[1][1]):
        rows = ["\t".join(row) for row in grid if sum(map(bool, row)) > 1]
        yield _Printed(path.with_suffix(".pdf"), rows, group)


def _write(grid: Grid, path: Path, number: int, *, ruled: bool) -> None:
    document = docx.Document()
    font = document.styles["Normal"].font
    font.size, font.name = Pt(8 + number % 4), _FONTS[number % len(_FONTS)]
    document.add_paragraph(_PROSE)
    table = document.add_table(rows=0, cols=len(grid[0]))
    if ruled:
        table.style = "Table Grid"
    columns = list(zip(*grid, strict=True))
    right = [2 * sum(map(bool, map(_FIGURE.fullmatch, column))) > sum(map(bool, column)) for column in columns]
    for index, row in enumerate(grid):
        for cell, words, is_right in zip(table.add_row().cells, row, right, strict=True):
            paragraph = cell.paragraphs[0]
            paragraph.paragraph_format.space_after = Pt(0)
            paragraph.add_run(words).bold = index == 0
            if is_right:
                paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
    document.add_paragraph(_PROSE)
    document.save(str(path))


def _grids(folder: Path) -> Iterator[Grid]:
    """The tables of the documents, without merged cells, with cells that stand in a line or a few."""
    readers = {".docx": _of_word, ".pptx": _of_presentation, ".xlsx": _of_workbook}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for path in sorted(path for path in folder.rglob("*") if path.suffix in readers):
            try:
                tables = list(readers[path.suffix](path))
            except Exception:  # noqa: BLE001 - damaged documents are among them
                continue
            for table in tables:
                grid = _trimmed([[_UNPRINTABLE.sub("", " ".join(cell.split())) for cell in row] for row in table])
                if grid:
                    yield grid


def _of_word(path: Path) -> Iterator[Grid]:
    for table in docx.Document(str(path)).tables[:6]:
        if not table._tbl.xpath(".//w:gridSpan|.//w:vMerge|.//w:tbl"):
            yield [[cell.text for cell in row.cells] for row in table.rows[:40]]


def _of_presentation(path: Path) -> Iterator[Grid]:
    for slide in pptx.Presentation(str(path)).slides:
        for shape in slide.shapes:
            if shape.has_table:
                rows: Any = shape.table.rows
                if not any(cell.is_spanned or cell.is_merge_origin for row in rows for cell in row.cells):
                    yield [[cell.text for cell in row.cells] for row in rows]


def _of_workbook(path: Path) -> Iterator[Grid]:
    for sheet in openpyxl.load_workbook(path, data_only=True).worksheets[:8]:
        if not sheet.merged_cells.ranges and (sheet.max_column or 0) <= _MOST_COLUMNS:
            yield [[_shown(value) for value in row] for row in sheet.iter_rows(max_row=_MOST_ROWS, values_only=True)]


def _shown(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value)
        case float():
            return f"{value:,.2f}"
        case int():
            return f"{value:,}" if abs(value) > 9999 else str(value)
        case _:
            return value.isoformat()[:10] if hasattr(value, "isoformat") else str(value)


def _trimmed(rows: Grid) -> Grid:
    """The rows and columns that hold something; nothing where it is no table that a page shows."""
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    rows = [row + [""] * (width - len(row)) for row in rows]
    kept = [index for index in range(width) if any(row[index] for row in rows)]
    rows = [[row[index] for index in kept] for row in rows][:_MOST_ROWS]
    cells = [cell for row in rows for cell in row if cell]
    several = sum(sum(map(bool, row)) > 1 for row in rows)
    if several < 3 or not 2 <= len(kept) <= _MOST_COLUMNS or len(cells) < 0.4 * len(rows) * len(kept):
        return []
    return rows if max(map(len, cells)) <= 260 and sum(map(len, cells)) <= 75 * len(cells) else []


def _by_pdfplumber(paths: Sequence[Path]) -> dict[str, list[str]]:
    """The rows that pdfplumber's defaults give, by rules where a page has some, else by its text; none without it."""
    python = _PROJECT / ".peers/bin/python"
    if not python.exists():
        return {}
    result = subprocess.run([python, "-c", _PDFPLUMBER, *paths], capture_output=True, text=True, check=False)
    rows: dict[str, list[str]] = json.loads(result.stdout) if result.returncode == 0 else {}
    return rows
