"""Documents of synthetic rooms as people make them: workbooks, letters, decks, mails, notes, web and printed pages."""

import csv
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from email.message import EmailMessage
from html import escape
from pathlib import Path
from typing import Final, NamedTuple

import docx
import openpyxl
import pptx.presentation
from openpyxl.styles import Font
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reportlab.pdfgen.canvas import Canvas

Cell = str | float | None
Rows = Sequence[Sequence["Cell | Shown"]]


class Shown(NamedTuple):
    """A cell's number with the format that shows it."""

    value: float
    form: str


class Chart(NamedTuple):
    """A slide's native chart: its categories, most often periods, and a series a measure."""

    categories: Sequence[str]
    series: Mapping[str, Sequence[float]]


_PRINT: Final = "soffice --headless --convert-to pdf --outdir"


def percent(value: float) -> Shown:
    """A share as workbooks keep it: 0.22, shown as 22.0 %."""
    return Shown(value, "0.0%")


def book(file: Path, sheets: Mapping[str, Rows]) -> None:
    """A workbook; an empty row is left blank, the first row of a sheet is bold."""
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for at, row in enumerate(rows, 1):
            for column, cell in enumerate(row, 1):
                written = sheet.cell(at, column)
                if isinstance(cell, Shown):
                    written.value, written.number_format = cell
                elif cell is not None:
                    written.value = cell
                    if isinstance(cell, int | float) and abs(cell) >= 10_000:
                        written.number_format = "#,##0;(#,##0)"
                if at == 1:
                    written.font = Font(bold=True)
    workbook.save(file)


def letter(file: Path, *blocks: str | Sequence[Sequence[str]]) -> None:
    """A document of headings ("# Results"), paragraphs and tables."""
    document = docx.Document()
    for block in blocks:
        if isinstance(block, str):
            if block.startswith("# "):
                document.add_heading(block[2:], 1)
            else:
                document.add_paragraph(block)
            continue
        table = document.add_table(len(block), max(map(len, block)), "Table Grid")
        for row, cells in zip(table.rows, block, strict=True):
            for place, words in zip(row.cells, cells, strict=False):
                place.text = words
    document.save(str(file))


def printed(file: Path, *blocks: str | Sequence[Sequence[str]]) -> None:
    """The same as a printed page: a PDF by the printer that is set."""
    PRINTER.get()(file, *blocks)


def _by_libreoffice(file: Path, *blocks: str | Sequence[Sequence[str]]) -> None:
    """A PDF that LibreOffice makes of the document."""
    source = file.with_suffix(".docx")
    letter(source, *blocks)
    subprocess.run([*_PRINT.split(), str(file.parent), str(source)], check=True, capture_output=True)
    source.unlink()


PRINTER: ContextVar[Callable[..., None]] = ContextVar("printer", default=_by_libreoffice)
"""What makes a PDF of a document's blocks: `(file, *blocks)`. Another one does without LibreOffice."""


def deck(file: Path, *slides: tuple[str, Sequence[str] | Rows | Chart]) -> None:
    """Slides with a title and bullets, a table, or a native chart."""
    presentation = pptx.Presentation()
    for title, body in slides:
        if isinstance(body, Chart):
            _charted(presentation, title, body)
            continue
        of_words = all(isinstance(line, str) for line in body)
        slide = presentation.slides.add_slide(presentation.slide_layouts[1 if of_words else 5])
        assert slide.shapes.title is not None
        slide.shapes.title.text = title
        if of_words:
            slide.placeholders[1].text = "\n".join(map(str, body))
            continue
        width = max(map(len, body))
        table = slide.shapes.add_table(len(body), width, Inches(0.5), Inches(1.5), Inches(9), Inches(4)).table
        for row, cells in enumerate(body):
            for column, cell in enumerate(cells):
                table.cell(row, column).text = "" if cell is None else str(cell)
    presentation.save(str(file))


def chart(file: Path, title: str, periods: Sequence[str], series: Mapping[str, Sequence[float]]) -> None:
    """One slide with a native column chart: a series a measure, a category a period."""
    deck(file, (title, Chart(periods, series)))


def _charted(presentation: pptx.presentation.Presentation, title: str, chart: Chart) -> None:
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = title
    data = CategoryChartData()  # type: ignore[no-untyped-call]  # python-pptx leaves charts untyped
    data.categories = list(chart.categories)
    for name, values in chart.series.items():
        data.add_series(name, values)  # type: ignore[no-untyped-call]
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(2), Inches(8), Inches(4), data)


def drawn(file: Path, *pages: Sequence[str | Sequence[str]]) -> None:
    """A PDF drawn line by line: words at the left margin, the cells after a row's first one set flush right."""
    canvas = Canvas(str(file))
    for lines in pages:
        for at, line in enumerate(lines):
            cells = [line] if isinstance(line, str) else line
            canvas.drawString(60, 780 - 18 * at, cells[0])
            for column, cell in enumerate(cells[1:]):
                canvas.drawRightString(330 + 90 * column, 780 - 18 * at, cell)
        canvas.showPage()
    canvas.save()


def listing(file: Path, rows: Sequence[Sequence[str | float]], delimiter: str = ",") -> None:
    """A .csv file, as an accounting program exports it."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)


def page(file: Path, *blocks: str | Sequence[Sequence[str]]) -> None:
    """A web page of headings ("# Results"), paragraphs and tables."""
    parts = []
    for block in blocks:
        if isinstance(block, str):
            parts.append(f"<h1>{escape(block[2:])}</h1>" if block.startswith("# ") else f"<p>{escape(block)}</p>")
            continue
        rows = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in block)
        parts.append("<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>")
    file.write_text(f"<!doctype html><meta charset=utf-8><body>{''.join(parts)}</body>", "utf-8")


def mail(file: Path, subject: str, date: str, words: str) -> None:
    """A mail of plain text."""
    message = EmailMessage()
    message["From"] = "Finance <finance@example.com>"
    message["To"] = "Deal team <deal@example.com>"
    message["Subject"] = subject
    message["Date"] = date
    message.set_content(words)
    file.write_bytes(message.as_bytes())
