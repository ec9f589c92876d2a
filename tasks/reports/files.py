"""A run's report as files in a folder: its formats for people, and its tables for analysis.

To add a format, write a module in this folder with a function `render(report)` that returns text or bytes, and name it
in `ReportFormat`. It is imported on first use, with the libraries it needs.

Tables are typed, with keys that join them and units in column names. Every table has `run_id` and `company_domain`;
`criterion_id` and `document_id` join the others. `number` counts the rows of one company (for quotes, of one criterion)
from 1. Amounts of figures are in the unit of their row.
"""

import logging
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, Final, get_args
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import crc32

from markupsafe import Markup
from pydantic import BaseModel

from storage.database import reading
from storage.runs import get_run
from tasks.companies.claims import Claim
from tasks.documents.drive.drive import EvidenceSettings
from tasks.errors import BadRequest
from tasks.evidence.page import SUFFIXES as PICTURES
from tasks.files import HALF, Replacing
from tasks.language.normalise import escape_text
from tasks.reports import company as company_pages
from tasks.reports.evidence_pages import (
    CitingCompany,
    Original,
    WrittenPages,
    find_originals,
    list_claims,
    remove_evidence,
    with_originals,
    write_evidence,
)
from tasks.reports.html import HtmlReport, cut_section
from tasks.reports.models import (
    CompanyReport,
    CriterionReport,
    DocumentReport,
    Report,
    ReportedDecision,
    ReportedFigure,
    ReportedQuote,
    ReportedRequest,
    ReportInParts,
    RunSummary,
)
from tasks.reports.report import build_in_parts
from tasks.reports.wording import FOLDER, is_own_file
from tasks.requests.request_list import RequestList

_NUMBER: Final = r'\s+("{}": [^\s,]+)'
_BOX: Final = re.compile(r"\{" + ",".join(map(_NUMBER.format, ("page", "left", "top", "right", "bottom"))) + r"\s+\}")
"""It is found nowhere else: within a string a quotation mark has a backslash before it."""


def pieces(run: RunSummary, companies: Iterable[CompanyReport]) -> Iterator[str]:
    """The JSON of a report in pieces for streaming: the opening, each company, the closing."""
    yield write_opening(run)
    number = 0
    for number, company in enumerate(companies, 1):
        yield company_piece(company, number)
    yield write_closing(number)


def write_opening(run: RunSummary) -> str:
    """The JSON before the first company."""
    return f'{{\n  "run": {_indent(run, 1)},\n  "companies": ['


def company_piece(company: CompanyReport, number: int) -> str:
    """The JSON of company number `number` (from 1), with the comma before it."""
    return f"{',' if number > 1 else ''}\n    {_indent(company, 2)}"


def write_closing(companies: int) -> str:
    """The JSON after the last of that many companies."""
    return "\n  ]\n}\n" if companies else "]\n}\n"


def _indent(part: RunSummary | CompanyReport, steps: int) -> str:
    text = _BOX.sub(r"{\1, \2, \3, \4, \5}", escape_text(part.model_dump_json(indent=2)))
    return text.replace("\n", "\n" + "  " * steps)  # those of strings are escaped


log = logging.getLogger(__name__)

_ALWAYS: Final = (1980, 1, 1, 0, 0, 0)
"""The time of every file in report.zip: what did not change is the same archive."""
_LEVEL: Final = 1
"""zlib's, of its pages: a third of the usual one's time, and the pictures that take its room are packed already."""


class ReportFormat(StrEnum):
    """A format by the name that users type, which is also that of its module."""

    HTML = "html"
    XLSX = "xlsx"
    DOCX = "docx"
    PPTX = "pptx"
    JSON = "json"

    @property
    def is_text(self) -> bool:
        """Whether it may be printed."""
        return self in {ReportFormat.HTML, ReportFormat.JSON}


def render(report: Report, format_name: str) -> bytes:
    """The report in that format, as the bytes of a file; text is UTF-8.

    Raises:
        BadRequest: there is no such format.
    """
    chosen = ReportFormat.__members__.get(format_name.upper())
    if chosen is None:
        raise BadRequest(f"There is no report in that format. Choose one of {', '.join(ReportFormat)}.")
    if chosen is ReportFormat.JSON:
        return as_json(report).encode()
    content: str | bytes = import_module(f"tasks.reports.{chosen}").render(report)
    return content if isinstance(content, bytes) else content.encode()


def as_json(report: Report) -> str:
    """The report as indented JSON, exactly as `models` describes it; times are in UTC and end in `Z`."""
    return "".join(pieces(report.run, report.companies))


def write_report(report: Report, format_name: str, folder: Path) -> Path:
    """Write a report to `report.<format>` in a folder, with the evidence that it links to; returns its path.

    Its files replace earlier ones once all of them are written, so that nobody opens a half-written report. If the
    evidence cannot all be written, the report is written and says what is missing.

    Raises:
        BadRequest: there is no such format, or the folder cannot be written.
    """
    return _write_files(ReportInParts.of(report), [format_name], folder)


def write_reports(run: str, folder: Path) -> Path:
    """Write report.json, report.html, the folder `evidence` and report.zip of a run; returns the path of report.html.

    If the run answers a request list, requests.xlsx and requests.docx are written too.

    Raises:
        NotFound: there is no such run. BadRequest: the folder cannot be written.
    """
    report = build_in_parts(run)
    with reading() as session:
        is_answering = get_run(session, report.run.id).requests is not None
    formats = [*([_REQUESTS] if is_answering else []), ReportFormat.JSON, ReportFormat.HTML]
    return _write_files(report, formats, folder)


def _write_files(report: ReportInParts, formats: Sequence[str], folder: Path) -> Path:
    """Write a report in these formats, which share the evidence; returns the path of the last."""
    original = find_originals(report.run.id)
    companies = _write_formats(report, formats, folder, original)
    if formats[-1] != ReportFormat.JSON and EvidenceSettings.current().evidence != "none":
        try:
            unwritten = write_evidence(report.run.id, companies, folder, original)
            if unwritten:
                of_which = f"{len(unwritten)} companies" if len(unwritten) > 1 else "1 company"
                log.warning("The evidence of %s could not be written beside the report.", of_which)
                _write_again(report, unwritten, formats, folder, original)
            if ReportFormat.HTML in formats:
                pack(folder)
        except (OSError, BadRequest) as error:
            reason = error.message if isinstance(error, BadRequest) else error.strerror
            log.warning("Some files that belong to the report could not be written beside it. %s", reason)
    return folder / f"report.{formats[-1]}"


def _write_again(
    report: ReportInParts, unwritten: Mapping[str, str], formats: Sequence[str], folder: Path, original: Original
) -> None:
    """Write a report that says for which companies the evidence is missing; by domain, with the reason.

    If the disk is so full that there is no room for it beside the first, existing evidence makes way: a report with
    dead links is worse than one without evidence.

    Raises:
        BadRequest: there is no room for it even so.
    """
    try:
        _write_formats(without_evidence(report, unwritten), formats, folder, original)
    except BadRequest:
        remove_evidence(folder)
        (reason, *_) = unwritten.values()
        amended = without_evidence(report, {domain: reason for _, domain in report.listed})
        _write_formats(amended, formats, folder, original)


def _write_formats(
    report: ReportInParts, formats: Sequence[str], folder: Path, original: Original
) -> list[CitingCompany]:
    """Write a report in these formats, company by company; returns what the evidence needs to know about each.

    Raises:
        BadRequest: there is no such format, or a file cannot be written. The earlier ones stand.
    """
    citing: list[CitingCompany] = []
    places = company_pages.CompanyPages([domain for _, domain in report.listed])
    with Replacing(folder) as files:
        writers = [_WRITERS.get(format_name, _Whole)(report, format_name, files, original) for format_name in formats]
        for number, company in enumerate(report.companies(), 1):
            for writer in writers:
                writer.add(company)
            claims = list_claims(report.run, company, number, places)
            citing.append(CitingCompany(company.name, company.domain, claims))
        for writer in writers:
            writer.end()
        written = files.put()
    if ReportFormat.HTML in formats:
        _remove_other_pages(folder / company_pages.FOLDER, written)
    return citing


class _Writer(ABC):
    """Writes a report in one format: it gets the companies one by one, then finishes."""

    def __init__(self, report: ReportInParts, format_name: str, files: Replacing, original: Original) -> None:
        self._run, self._format, self._files, self._original = report.run, format_name, files, original
        self._name = f"report.{format_name}"

    @abstractmethod
    def add(self, company: CompanyReport) -> None: ...

    @abstractmethod
    def end(self) -> None: ...


class _Json(_Writer):
    def __init__(self, report: ReportInParts, format_name: str, files: Replacing, original: Original) -> None:
        super().__init__(report, format_name, files, original)
        self._companies = 0
        files.add(self._name, write_opening(report.run))

    def add(self, company: CompanyReport) -> None:
        self._companies += 1
        self._files.add(self._name, company_piece(company, self._companies))

    def end(self) -> None:
        self._files.add(self._name, write_closing(self._companies))


class _Html(_Writer):
    def __init__(self, report: ReportInParts, format_name: str, files: Replacing, original: Original) -> None:
        super().__init__(report, format_name, files, original)
        self._html = HtmlReport(report.run, report.listed)
        self._earlier, self._written = WrittenPages(files.folder / company_pages.FOLDER), list[str]()

    def add(self, company: CompanyReport) -> None:
        company = with_originals(company, self._original)
        self._html.add(company)
        if self._html.are_apart:
            shown = self._html.hash_section(company)
            path, written = self._html.own_page(company, self._find_section(self._html.path, shown))
            page = written.encode()
            self._files.add(path, page)
            self._earlier.note(path, f"{shown} {sha256(page).hexdigest()}", ())
            self._written.append(path)

    def _find_section(self, path: str, shown: str) -> Markup | None:
        """The section of the earlier page at this path, if that page is as we wrote it and showed exactly the same."""
        try:
            page = (self._files.folder / path).read_bytes()
        except OSError:
            return None
        is_same = self._earlier.files(path, f"{shown} {sha256(page).hexdigest()}") is not None
        return cut_section(page.decode()) if is_same else None

    def end(self) -> None:
        if self._written:
            with suppress(OSError):  # the next report renders the sections again
                self._earlier.save(self._written)
        for piece in self._html.first_page():
            self._files.add(self._name, piece)


class _Whole(_Writer):
    """For formats whose pages are about all companies, which are all kept in memory."""

    def __init__(self, report: ReportInParts, format_name: str, files: Replacing, original: Original) -> None:
        super().__init__(report, format_name, files, original)
        self._companies: list[CompanyReport] = []

    def add(self, company: CompanyReport) -> None:
        self._companies.append(with_originals(company, self._original))

    def end(self) -> None:
        self._files.add(self._name, render(Report(run=self._run, companies=self._companies), self._format))


class _Requests(_Writer):
    """For the request list that the run answers: not a format of the report, but files beside it."""

    def __init__(self, report: ReportInParts, format_name: str, files: Replacing, original: Original) -> None:
        super().__init__(report, format_name, files, original)
        with reading() as session:
            listed = RequestList.model_validate(get_run(session, report.run.id).requests)
        # Imported as a format is: few runs have a list, and what reads and writes Office files takes 0.1 s.
        self._lists = import_module("tasks.reports.workbook").RequestFiles(listed)

    def add(self, company: CompanyReport) -> None:
        self._lists.add(company)

    def end(self) -> None:
        for name, content in self._lists.files():
            self._files.add(name, content)


_REQUESTS: Final = "requests"
_WRITERS: Final[Mapping[str, type[_Writer]]] = {
    ReportFormat.JSON: _Json,
    ReportFormat.HTML: _Html,
    _REQUESTS: _Requests,
}


def _remove_other_pages(folder: Path, written: Collection[Path]) -> None:
    """Delete the pages of companies that an earlier report wrote here, or that a killed run left incomplete."""
    for path in folder.iterdir() if folder.is_dir() else ():
        if path not in written and company_pages.is_own_file(path.name.removesuffix(HALF)):
            with suppress(OSError):  # nothing leads to it
                path.unlink()


def without_evidence(report: ReportInParts, unwritten: Mapping[str, str]) -> ReportInParts:
    """The report without links to the evidence of these companies, and with a warning; by domain, with the reason."""

    def amended(company: CompanyReport) -> CompanyReport:
        if company.domain not in unwritten:
            return company
        company = _without_links(company)
        company.warnings.append(
            f"The pages that show its quotes could not be written beside the report: {unwritten[company.domain]}."
        )
        return company

    return report.with_each(amended)


def make_standalone(report: Report) -> Report:
    """The report for a page without a folder beside it: quotations link to the original documents."""
    original = find_originals(report.run.id)
    companies = [with_originals(_without_links(company), original) for company in report.companies]
    return Report(run=report.run, companies=companies)


def _without_links(company: CompanyReport) -> CompanyReport:
    company = company.model_copy(deep=True)
    for criterion in company.criteria:
        for quote in criterion.quotes:
            quote.evidence_url = None
        for contradiction in criterion.contradictions:
            for side in contradiction.quotes:
                side.evidence_url = None
    return company


def pack(folder: Path) -> Path:
    """Write report.zip: report.html with `companies` and `evidence`, to be sent; it is not rewritten if unchanged.

    Raises:
        OSError: it cannot be written; an earlier one is taken away, for it belongs to an earlier report.
    """
    target, half = folder / "report.zip", folder / "report.zip.part"
    try:
        pages = sorted((folder / company_pages.FOLDER).glob("*.html"))
        files = {
            f"report/{path.relative_to(folder).as_posix()}": path
            for path in [folder / "report.html", *pages, *sorted((folder / FOLDER).iterdir())]
            if path.name == "report.html" or company_pages.is_own_file(path.name) or is_own_file(path.name)
        }
        if _holds(target, files):
            return target
        half.unlink(missing_ok=True)
        with ZipFile(half, "x") as archive:
            for name, path in files.items():
                entry = ZipInfo(name, _ALWAYS)
                entry.external_attr = 0o644 << 16
                entry.compress_type = ZIP_STORED if path.suffix in PICTURES else ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes(), compresslevel=_LEVEL)
        half.replace(target)
    except OSError:
        half.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
        raise
    return target


def _holds(target: Path, files: Mapping[str, Path]) -> bool:
    """Whether an archive contains exactly these files under these names."""
    try:
        with ZipFile(target) as archive:
            packed = {entry.filename: (entry.file_size, entry.CRC) for entry in archive.infolist()}
    except (OSError, BadZipFile):
        return False
    if list(packed) != list(files):
        return False
    return all(
        packed[name][0] == path.stat().st_size and packed[name][1] == crc32(path.read_bytes())
        for name, path in files.items()
    )


Row = Mapping[str, Any]
Rows = Iterator[Row]
_TYPES: Final = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", datetime: "TIMESTAMP WITH TIME ZONE"}
"""Types of columns, as SQL calls them, by those of the report's fields; text for all others."""
_TEXT: Final = "VARCHAR"


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table: its columns with their types and source fields, and its rows for a company."""

    columns: Mapping[str, str]
    fields: Mapping[str, str]
    of_company: Callable[[Row], Rows]

    def rows(self, report: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
        """Its rows for a report in the form of `report --format json`, in the order of the columns."""
        for company in report["companies"]:
            of_all: Row = {"run_id": report["run"]["id"], "company_domain": company["domain"]}
            for row in self.of_company(company):
                yield tuple({**row, **of_all}.get(field) for field in self.fields.values())


def _export_table(
    of_company: Callable[[Row], Rows], model: type[BaseModel], columns: str, **others: type
) -> ExportTable:
    """A table with these columns, `column=field` if a field has another name; `others` are those without a field."""
    fields = {column.partition("=")[0]: column.rpartition("=")[2] for column in columns.split()}
    types = {name: field.annotation for name, field in model.model_fields.items()} | others
    known = {column: _find_type(types.get(field)) for column, field in fields.items()}
    keys = ("run_id", "company_domain")
    return ExportTable(dict.fromkeys(keys, _TEXT) | known, {key: key for key in keys} | fields, of_company)


def _find_type(annotation: Any) -> str:
    candidates = get_args(annotation) or (annotation,)
    return next((_TYPES[one] for one in candidates if isinstance(one, type) and one in _TYPES), _TEXT)


def _companies(company: Row) -> Rows:
    standing = company["standing"]
    yield {**standing, **company, "gates_failed": ", ".join(standing["gates_failed"]) or None}


def _quotes(company: Row) -> Rows:
    for criterion in company["criteria"]:
        for number, one in enumerate(criterion["quotes"], 1):
            yield {**one, "criterion_id": criterion["id"], "number": number}


def _figures(company: Row) -> Rows:
    for number, one in enumerate(company["figures"], 1):
        start, _, end = one["period"].rpartition("/")
        yield {**one, "number": number, "amount": float(one["value"]), "period_start": start or None, "period_end": end}


def _requests(company: Row) -> Rows:
    for position, one in enumerate(company.get("requests") or (), 1):
        nothing: Row = {}
        for document in one["documents"] or (nothing,):
            yield {**one, **document, "position": position}


def _decisions(company: Row) -> Rows:
    """What people decided on the company, its criteria, and the cells of its tables."""
    on_cells = [
        {**one, "document_id": row["document_id"]}
        for table in company.get("tables") or ()
        for row in table["rows"]
        for cell in row["cells"].values()
        for one in cell.get("decisions") or ()
    ]
    return _number([*(company.get("decisions") or ()), *on_cells])


def _numbered(name: str) -> Callable[[Row], Rows]:
    """The rows of a company's list of that name."""
    return lambda company: _number(company.get(name) or ())


def _number(rows: Iterable[Row]) -> Rows:
    """Rows with their numbers, and their values as text."""
    for number, one in enumerate(rows, 1):
        value = one.get("value")
        yield {**one, "number": number, "value_text": None if value is None else str(value)}


TABLES: Final[Mapping[str, ExportTable]] = {
    "companies": _export_table(
        _companies,
        CompanyReport,
        "company_name=name status rank is_ranked=ranked proven_share=proven lowest_share=low highest_share=high "
        "scored_total_share=total coverage_share=coverage why_not_ranked=why_not gates_failed",
        ranked=bool,
        proven=float,
        low=float,
        high=float,
    ),
    "criteria": _export_table(
        _numbered("criteria"),
        CriterionReport,
        "criterion_id=id title kind severity weight_points=weight score_points=score status absence reason must",
    ),
    "quotes": _export_table(
        _quotes,
        ReportedQuote,
        "criterion_id number text verified stance document_id document_name document_url place evidence_url",
        number=int,
    ),
    "figures": _export_table(
        _figures,
        ReportedFigure,
        "number concept label value=amount value_text=value unit period_start period_end entity basis document_id "
        "document_name place",
        number=int,
        amount=float,
    ),
    "claims": _export_table(
        _numbered("facts"), Claim, "number field value_text source url retrieved_at as_of", number=int, as_of=datetime
    ),
    "documents": _export_table(
        _numbered("documents"),
        DocumentReport,
        "document_id document_name document_url path status characters_count=characters pages_count=pages "
        "pages_read_count=pages_read kind state date family warning",
    ),
    "requests": _export_table(
        _requests,
        ReportedRequest,
        "position request_number=number item status document_id document_name",
        position=int,
    ),
    "decisions": _export_table(
        _decisions,
        ReportedDecision,
        "number document_id criterion_id kind by at value_text reason is_open",
        number=int,
    ),
}
"""The tables by name."""
