"""The answered request list of a run, beside its report: requests.xlsx and requests.docx, ready to be sent.

Items are in the list's order and words. A workbook with columns for answers is filled in its own columns. If there are
several companies, each also has its own files in the folder `requests`, so that none is told what another has.
"""

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import openpyxl
from openpyxl.cell import MergedCell
from openpyxl.styles import Alignment
from openpyxl.worksheet.worksheet import Worksheet

from tasks.documents.kinds.catalogue import plain_words
from tasks.reports.company import to_ask_for
from tasks.reports.models import CompanyReport, ReportedRequest
from tasks.reports.wording import documents_in_words, not_read, remark, tally_in_words, xml_text
from tasks.reports.wordprocessing import WordCell, WordFile, Words
from tasks.reports.workbook import QUIET, Row, SheetColumn, WorkbookFile
from tasks.requests.match import RequestStatus
from tasks.requests.request_list import Request, RequestList

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
