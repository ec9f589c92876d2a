"""Workbooks to read, filter, calculate with and print, and the answered request list that is one of them.

Rows are streamed, so hundreds of thousands of them fit into memory; each is as high as its words need, and all sheets
have one style. Words of documents are data: they are written as text, whatever they begin with, and never as a formula.

The request list of a run lies beside its report as requests.xlsx and requests.docx, ready to be sent. Items are in the
list's order and words. A workbook with columns for answers is filled in its own columns. If there are several
companies, each also has its own files in the folder `requests`, so that none is told what another has.
"""

import base64
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from io import BytesIO
from typing import Final, Literal, NamedTuple

import openpyxl
from openpyxl import Workbook
from openpyxl.cell import Cell, MergedCell, WriteOnlyCell
from openpyxl.styles import Alignment, Border, Font, NamedStyle, PatternFill, Side
from openpyxl.utils import get_column_letter
from openpyxl.utils.indexed_list import IndexedList
from openpyxl.worksheet.page import PageMargins
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.worksheet import Worksheet

from tasks.documents.kinds.catalogue import plain_words
from tasks.reports.company import to_ask_for
from tasks.reports.findings import HEAT_STEPS
from tasks.reports.models import CompanyReport, ReportedRequest
from tasks.reports.wording import (
    documents_in_words,
    line_count,
    link_address,
    not_read,
    remark,
    tally_in_words,
    xml_text,
)
from tasks.reports.wordprocessing import WordCell, WordFile, Words
from tasks.requests.match import RequestStatus
from tasks.requests.request_list import Request, RequestList

MOST_CHARACTERS = 32_767  # of a cell, set by the format
MOST_ROWS = 1_048_576  # of a sheet, likewise
_MOST_LINK = 2079  # characters of a link's address
_MOST_LINKS = 65_000  # of a sheet; with 65,531 Excel calls the file damaged
_CUT = " … (cut; the web page has all of it)"

FONT: Final = "Arial"
_SIZE: Final = 10
_SMALL: Final = 8.0
"""For heads, and the words in narrow columns of scores."""
_CHARACTER: Final = 5.25
"""Points that a column has for each unit of its width."""
_PADDING: Final = 4.0
_LINE: Final = 11.9
"""The height of a line, in points, and that of the highest row that the format allows."""
_HIGHEST: Final = 409.0
_BOLD: Final = 0.88
"""Bold letters are wider than the others, which are measured: so much of a width is theirs."""
_NARROWEST: Final = 0.19

_INK, _QUIET, _ACCENT, _FLAG, _HATCH, _PALE = "15232B", "5A6B74", "0B5563", "8A4B00", "F3E6D3", "DDE5E7"
_HEAT: Final = (
    *("EAF1F0", "D2E5E4", "BAD9D8", "A2CDCC", "89C1C0", "6FB5B4"),
    *("5B9EA1", "3E7E85", "35737B", "215E69", "0A4A57"),
)
_DARK_FROM: Final = 7
"""The step of the heat scale from which on letters are white."""
_SHARE: Final = '[>=0.9999999]0%;[>=0.999]"99.9%";0.0%'
"""A format in which only the whole is 100%."""

TEXT, LINK, FIGURE, COUNT, SHARE, TIME, WEIGHT, QUIET = (
    *("Report text", "Report link", "Report figure", "Report count", "Report share", "Report time"),
    *("Report weight", "Report remark"),
)
_NO_TITLE: Final = re.compile(r"[\x00-\x1f\\/*?:\[\]]")
"""Characters that Excel allows in no sheet's title; nor may it end in an apostrophe."""
_HEAD: Final = "Report head"
_HEADS: Final = dict.fromkeys((COUNT, FIGURE, SHARE), "Report head of figures") | {WEIGHT: "Report head of scores"}
"""The style of a column's head by that of its values; of all others it is `_HEAD`."""


class SheetLink(NamedTuple):
    """A word that links to an address; to none if a report may not link to it.

    LibreOffice does not wrap words in a link, so they must be few.
    """

    text: str
    url: str | None


class Formula(NamedTuple):
    """A formula of ours; text that looks like a formula stays text."""

    text: str


class Styled(NamedTuple):
    """A value in a style other than its column's, showing that many decimals."""

    value: str | float | Formula | None
    style: str
    decimals: int = 0


class SheetColumn(NamedTuple):
    """The heading of a column, its width in digits, and the style of its values."""

    head: str
    width: float
    style: str = TEXT


ColumnFields = tuple[str, float] | tuple[str, float, str]
Value = str | float | int | datetime | None | SheetLink | Formula | Styled
Row = Sequence[Value]


def heat_style(step: int, *, flagged: bool) -> str:
    """The style for a score at this step of the heat scale; a red flag also has a sign and a line below."""
    return f"Report score {step}{', red flag' if flagged else ''}"


def status_style(status: str) -> str:
    """The style of the word for a score that does not count: missing, unscored or unsupported."""
    return f"Report {status}"


def severity_style(severity: str) -> str:
    """The style of a severity in a word: high, medium or low."""
    return f"Report severity {severity}"


class WorkbookFile:
    """A workbook that is being written, sheet by sheet."""

    def __init__(self) -> None:
        self._book = Workbook(write_only=True)
        # The digits of the first font are the unit of the columns' widths.
        self._book._fonts = IndexedList([Font(name=FONT, size=_SIZE)])  # type: ignore[attr-defined] # noqa: SLF001
        for style in _styles():
            self._book.add_named_style(style)

    def sheet(self, title: str, columns: Sequence[SheetColumn], rows: Iterable[Row], *, still: tuple[int, int]) -> None:
        """Write rows below their heading; if a sheet is full another continues it.

        `still` is how many rows and columns stay in view; these rows are printed on each page, and not filtered.
        """
        page = _Page(self._book, title, columns, still)
        for count, row in enumerate(rows):
            if count and count % (MOST_ROWS - 1) == 0:
                page.close()
                page = _Page(self._book, f"{title} {count // (MOST_ROWS - 1) + 1}", columns, still)
            page.write(row)
        page.close()

    def save(self) -> bytes:
        """The workbook as the bytes of a file."""
        file = BytesIO()
        self._book.save(file)
        return file.getvalue()


class _Page:
    """A sheet that is being written, row by row."""

    def __init__(self, book: Workbook, title: str, columns: Sequence[SheetColumn], still: tuple[int, int]) -> None:
        self._columns = columns
        self._sheet = sheet = book.create_sheet(_NO_TITLE.sub(" ", title).strip("' "))
        rows, beside = still
        sheet.freeze_panes = f"{get_column_letter(beside + 1)}{rows + 1}"
        for position, column in enumerate(columns, 1):
            sheet.column_dimensions[get_column_letter(position)].width = column.width
        sheet.page_setup.orientation = "landscape"
        sheet.page_setup.paperSize = Worksheet.PAPERSIZE_A4
        sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, 0
        sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
        sheet.page_margins = PageMargins(left=0.4, right=0.4, top=0.5, bottom=0.6, header=0.3, footer=0.3)
        sheet.print_title_rows = f"1:{rows}"
        sheet.oddFooter.left.text = "&A"
        sheet.oddFooter.right.text = "&P of &N"
        self._still = rows
        self._rows = self._links = 0
        self._append([self._cell(column.head, _HEADS.get(column.style, _HEAD)) for column in columns])

    def write(self, row: Row) -> None:
        self._append([self._cell(value, column.style) for value, column in zip(row, self._columns, strict=True)])

    def close(self) -> None:
        last = get_column_letter(len(self._columns))
        self._sheet.auto_filter.ref = f"A{self._still}:{last}{max(self._rows, self._still)}"

    def _append(self, cells: Sequence[Cell]) -> None:
        self._rows += 1
        lines = max(_lines(cell, column.width) for cell, column in zip(cells, self._columns, strict=True))
        self._sheet.row_dimensions[self._rows].height = min(lines * _LINE + _PADDING, _HIGHEST)
        self._sheet.append(cells)
        del self._sheet.row_dimensions[self._rows]  # it is written: what is kept is kept for every row

    def _cell(self, value: Value, style: str) -> Cell:
        if isinstance(value, Styled):
            cell = self._cell(value.value, value.style)
            if value.decimals:
                cell.number_format = cell.number_format.replace("General", f"0.{'0' * value.decimals}")
            return cell
        url = link_address(value.url) if isinstance(value, SheetLink) else None
        if isinstance(value, SheetLink):
            value = value.text
        elif isinstance(value, datetime):
            value, style = value.replace(tzinfo=None), TIME  # the format knows no zones: UTC
        is_text = isinstance(value, str)
        content = value.text if isinstance(value, Formula) else _text(value) if isinstance(value, str) else value
        cell = WriteOnlyCell(self._sheet, content)
        if is_text:
            cell.data_type = "s"  # also what looks like a formula or an error
        cell.style = style
        if url and len(url) <= _MOST_LINK and self._links < _MOST_LINKS:
            self._links += 1
            cell.hyperlink = url
            cell.style = LINK
        return cell


def _lines(cell: Cell, width: float) -> int:
    """How many lines the cell's words take; figures take one."""
    if cell.data_type != "s":
        return 1
    font = cell.font
    size = font.sz or _SIZE
    room = (width * _CHARACTER - _PADDING) * (_BOLD if font.b else 0.97)
    longest = int(_HIGHEST / _LINE * room / size / _NARROWEST)
    return line_count(str(cell.value)[:longest], room, size)


def _text(value: str) -> str:
    """The text in a form that a cell can contain."""
    value = xml_text(value)
    return value if len(value) <= MOST_CHARACTERS else value[: MOST_CHARACTERS - len(_CUT)] + _CUT


def _styles() -> list[NamedStyle]:
    """The styles of a workbook; each workbook needs its own."""
    top = Alignment(vertical="top", wrap_text=True)
    middle = Alignment(horizontal="center", vertical="top")
    right = Alignment(horizontal="right", vertical="top", indent=1)
    below = Border(bottom=Side("medium", color=_FLAG))
    styles = [
        _head(_HEAD, "left"),
        _head(_HEADS[FIGURE], "right"),
        _head(_HEADS[WEIGHT], "center"),
        _style(TEXT, top),
        _style(QUIET, top, colour=_QUIET),
        _style(LINK, top, colour=_ACCENT, underline="single"),
        _style(FIGURE, right),
        _style(COUNT, right, number_format="#,##0"),
        _style(SHARE, right, number_format=_SHARE),
        _style(TIME, Alignment(horizontal="left", vertical="top"), number_format="yyyy-mm-dd hh:mm"),
        _style(WEIGHT, middle, colour=_ACCENT, fill=_PALE, bold=True),
        _style(status_style("missing"), middle, size=_SMALL, colour=_FLAG, fill=_HATCH, border=below),
        _style(status_style("unscored"), middle, size=_SMALL, colour=_QUIET, italic=True),
        _style(status_style("unsupported"), middle, size=_SMALL, colour=_QUIET, fill=_HATCH, italic=True),
        _style(severity_style("high"), middle, colour="FFFFFF", fill=_FLAG, bold=True),
        _style(severity_style("medium"), middle, colour=_FLAG, fill=_HATCH, bold=True),
        _style(severity_style("low"), middle, colour=_FLAG),
    ]
    for step in range(HEAT_STEPS + 1):
        ink = "FFFFFF" if step >= _DARK_FROM else _INK
        styles.append(_style(heat_style(step, flagged=False), middle, colour=ink, fill=_HEAT[step]))
        flagged = _style(heat_style(step, flagged=True), middle, colour=ink, fill=_HEAT[step], border=below, bold=True)
        flagged.number_format = 'General" ▼"'
        styles.append(flagged)
    return styles


def _head(name: str, side: Literal["left", "right", "center"]) -> NamedStyle:
    alignment = Alignment(horizontal=side, vertical="center", wrap_text=True, indent=int(side == "right"))
    return _style(name, alignment, size=_SMALL, colour="FFFFFF", fill=_ACCENT, bold=True)


def _style(
    name: str,
    alignment: Alignment,
    *,
    size: float = _SIZE,
    colour: str = _INK,
    fill: str | None = None,
    border: Border | None = None,
    number_format: str = "General",
    bold: bool = False,
    italic: bool = False,
    underline: Literal["single"] | None = None,
) -> NamedStyle:
    return NamedStyle(
        name=name,
        font=Font(name=FONT, size=size, color=colour, bold=bold, italic=italic, underline=underline),
        fill=PatternFill("solid", fgColor=fill) if fill else PatternFill(),
        border=border or Border(bottom=Side("thin", color=_PALE)),
        alignment=alignment,
        number_format=number_format,
    )


FOLDER: Final = "requests"
REQUEST_COLUMNS: Final = (
    SheetColumn("Number", 10),
    SheetColumn("Section", 20, QUIET),
    SheetColumn("Request", 60),
    SheetColumn("Priority", 10),
    SheetColumn("Status", 12),
    SheetColumn("Documents", 50),
    SheetColumn("Remark", 30),
)
_WIDTHS: Final = (1.8, 7.2, 2.2, 5.8)
_SIGNS: Final = {RequestStatus.MISSING: "8A4B00", RequestStatus.PARTLY: "8A4B00"}


def request_rows(company: CompanyReport) -> Iterator[Row]:
    """A row for each item and each document that answers none."""
    for request in company.requests:
        yield [
            request.number or "",
            request.section or "",
            request.item,
            request.priority or "",
            request.status.value,
            documents_in_words(request) if request.number is not None else "",
            remark(request),
        ]


def also_missing(company: CompanyReport) -> list[tuple[str, list[str]]]:
    """What the list does not ask for and is missing too, under headings; those without entries are left out."""
    unread = [f"{row.document_name}: {row.warning or row.status}" for row in not_read(company.documents)]
    unread += [
        f"{row.document_name}: {row.pages - row.pages_read} of {row.pages} pages have no readable text"
        for row in company.documents
        if row.pages and row.pages_read is not None and 0 < row.pages_read < row.pages
    ]
    cited = list(map(to_ask_for, company.cited))
    items = [request.item for request in company.requests if request.number is not None]
    asked = {plain_words(name).rstrip("s") for item in items for name in re.split("[()]", item)}
    other = [one for one in company.missing if one not in cited and plain_words(one).rstrip("s") not in asked]
    told = {"Also missing": other}
    told |= {"Referred to, and not in the data room": cited, "Could not be read": unread}
    return [(heading, entries) for heading, entries in told.items() if entries]


class RequestFiles:
    """Collects the requests of a report's companies one by one, and makes the files."""

    def __init__(self, listed: RequestList) -> None:
        self._listed = listed
        self._companies: list[CompanyReport] = []

    def add(self, company: CompanyReport) -> None:
        """Add the next company; only what the files say is kept."""
        kept = {
            name: getattr(company, name) for name in ("name", "domain", "requests", "missing", "cited", "documents")
        }
        self._companies.append(CompanyReport.model_construct(**kept))

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The files by their paths in the report's folder."""
        if len(self._companies) == 1:
            (company,) = self._companies
            yield "requests.xlsx", self._workbook(company)
        else:
            yield "requests.xlsx", _written_workbook(self._companies)
        yield "requests.docx", _document(self._companies)
        for company in self._companies if len(self._companies) > 1 else ():
            yield f"{FOLDER}/{company.domain}.xlsx", self._workbook(company)
            yield f"{FOLDER}/{company.domain}.docx", _document([company])

    def _workbook(self, company: CompanyReport) -> bytes:
        return fill_workbook(self._listed, company) or _written_workbook([company])


def _written_workbook(companies: Sequence[CompanyReport]) -> bytes:
    """A new workbook with a sheet for each company."""
    book = WorkbookFile()
    titles: set[str] = set()
    for company in companies:
        title = _sheet_title(company.name if len(companies) > 1 else "Requests", titles)
        book.sheet(title, REQUEST_COLUMNS, request_rows(company), still=(1, 1))
        entries = [(heading, entry) for heading, found in also_missing(company) for entry in found]
        if entries:
            columns = (SheetColumn("What", 36), SheetColumn("Document or item", 90))
            book.sheet(_sheet_title(f"{title[:24]} also", titles), columns, entries, still=(1, 0))
    return book.save()


def _sheet_title(name: str, taken: set[str]) -> str:
    """A valid sheet title that is not taken; it is added to `taken`."""
    plain = "".join(" " if letter in "[]:*?/\\'" else letter for letter in xml_text(name)).strip()[:28] or "Company"
    title, number = plain, 1
    while title.casefold() in taken:
        number += 1
        title = f"{plain} {number}"
    taken.add(title.casefold())
    return title


def fill_workbook(listed: RequestList, company: CompanyReport) -> bytes | None:
    """The buyer's own workbook with the answers in its columns; None if the list is no workbook, or has no such
    columns.

    Cells that already have content are left alone. If there is a column for answers and none for the status, the status
    is written before the documents.
    """
    answers = {"status", "documents", "comment"}
    if listed.workbook is None or not any(answers & columns.keys() for columns in listed.columns.values()):
        return None
    book = openpyxl.load_workbook(io.BytesIO(base64.b64decode(listed.workbook)))
    for request, outcome in zip(listed.items, company.requests, strict=False):
        columns = listed.columns.get(request.sheet or "", {})
        sheet = book[request.sheet] if request.sheet in book.sheetnames else None
        if isinstance(sheet, Worksheet):
            _fill_row(sheet, request, outcome, columns)
    entries = [(heading, entry) for heading, found in also_missing(company) for entry in found]
    if entries:
        beside = book.create_sheet(_sheet_title("Also missing", {title.casefold() for title in book.sheetnames}))
        for row, words in enumerate([("What", "Document or item"), *entries], 1):
            for column, text in enumerate(words, 1):
                beside.cell(row, column, xml_text(text)).data_type = "s"
        beside.column_dimensions["A"].width, beside.column_dimensions["B"].width = 36, 90
    saved = io.BytesIO()
    book.save(saved)
    return saved.getvalue()


def _fill_row(sheet: Worksheet, request: Request, outcome: ReportedRequest, columns: Mapping[str, int]) -> None:
    status = outcome.status.value.capitalize()
    texts = {"status": status, "documents": documents_in_words(outcome), "comment": remark(outcome)}
    if "status" not in columns:
        into = "documents" if "documents" in columns else "comment"
        texts[into] = "\n".join(filter(None, (status, texts[into])))
    for name, text in texts.items():
        if name not in columns or request.row is None or not text:
            continue
        cell = sheet.cell(request.row, columns[name] + 1)
        if isinstance(cell, MergedCell) or cell.value not in {None, ""}:
            continue
        cell.value = xml_text(text)
        cell.data_type = "s"  # a document's name is no formula
        cell.alignment = Alignment(wrap_text=True, vertical="top")


def _document(companies: Sequence[CompanyReport]) -> bytes:
    """A Word file, a section for each company."""
    title = "Information requests"
    file = WordFile(title, title if len(companies) > 1 else f"{title}: {companies[0].name}" if companies else title)
    file.paragraph(title, style="Title")
    for company in companies:
        file.heading(company.name, 1, new_page=company is not companies[0])
        file.paragraph(f"{tally_in_words(company.requests)}.", style="Lead")
        asked = [row for row in company.requests if row.number is not None]
        section: str | None = None
        block: list[ReportedRequest] = []
        for request in asked:
            if request.section != section and block:
                _table(file, section, block)
                block = []
            section = request.section
            block.append(request)
        if block:
            _table(file, section, block)
        others = [row.item for row in company.requests if row.number is None]
        for heading, entries in [*also_missing(company), *([("Not asked for", others)] if others else [])]:
            file.heading(heading, 2)
            for entry in entries:
                file.paragraph(entry, style="ListBullet")
    return file.save()


def _table(file: WordFile, section: str | None, requests: Sequence[ReportedRequest]) -> None:
    if section:
        file.heading(section, 2)
    file.table(
        ("No.", "Request", "Status", "Documents"),
        [
            [
                WordCell((request.number or "",)),
                WordCell((request.item,)),
                WordCell((Words(request.status.value, colour=_SIGNS.get(request.status)),)),
                WordCell(
                    ("; ".join(filter(None, (documents_in_words(request).replace("\n", "; "), remark(request)))),)
                ),
            ]
            for request in requests
        ],
        _WIDTHS,
    )
