"""The report as a workbook: the ranking to calculate with, and a sheet for each kind of finding to filter.

Totals, coverage and ranks are formulas over the scores and the weights: who changes a weight sees the ranking change.

Rows are streamed, so that a run with hundreds of thousands of documents fits into memory. Words of
documents are data: they are written as text, whatever they begin with, and never as a formula.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from io import BytesIO
from typing import NamedTuple

from openpyxl import Workbook
from openpyxl.cell import Cell, WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from tasks.reports.evidence_links import is_evidence
from tasks.reports.models import CompanyReport, Report
from tasks.reports.wording import by_urgency, judge, plain, shown_at, to_request, weblink

MOST_CHARACTERS = 32_767  # of a cell, set by the format
MOST_ROWS = 1_048_576  # of a sheet, likewise
_MOST_LINK = 2079  # characters of a link's address
_MOST_LINKS = 65_000  # of a sheet; with 65,531 Excel calls the file damaged
_FIRST_COMPANY = 3  # row of the ranking, below its head and the weights
_FIRST_SCORE = 7  # column of the ranking
_ONE_LINE = 60  # characters; longer texts are wrapped
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CUT = " … (cut; the web page has all of it)"


class Link(NamedTuple):
    """Words that lead to an address; to none where that is neither a web address nor a page of evidence."""

    text: str
    url: str | None


class Formula(NamedTuple):
    """A formula of ours; a text that looks like one is a text."""

    text: str


Value = str | float | int | datetime | None | Link | Formula
Row = Sequence[Value]


def render(report: Report) -> bytes:
    """The workbook as the bytes of a file."""
    book = Workbook(write_only=True)
    criteria = [criterion.title or criterion.id for criterion in report.run.criteria]
    head = ["Rank", "Company", "Domain", "Total", "Coverage", "Rank stability", *criteria, "Status", "Problem"]
    _sheet(book, "Ranking", head, _ranking(report), widths=(6, 28, 24, 9, 9, 9), shares=(4, 5, 6))
    head = ["Criterion", "Weight", "Id", "Severity", "Asks", "Guide"]
    _sheet(book, "Weights", head, _weights(report), widths=(36, 9, 20, 10, 60, 60))
    head = ["Company", "Criterion", "Asks", "Kind", "Weight", "Score", "Status", "Confidence", "Agreement", "Reason"]
    _sheet(book, "Criteria", head, _criteria(report), widths=(24, 20, 44, 10, 8, 8, 12, 11, 11, 90), shares=(8, 9))
    head = ["Company", "Criterion", "Number", "Stance", "Quote", "Verified", "Document", "Place"]
    _sheet(book, "Quotes", head, _quotes(report), widths=(24, 20, 8, 9, 90, 9, 36, 24))
    head = ["Company", "About", "One says", "Document", "Place", "The other says", "Document", "Place"]
    _sheet(book, "Contradictions", head, _contradictions(report), widths=(24, 30, 50, 30, 18, 50, 30, 18))
    _sheet(book, "To ask for", ["Company", "Missing", "Nearest in the data room"], _missing(report), (24, 50, 90))
    head = ["Company", "Field", "Value", "Source", "As of", "Retrieved"]
    _sheet(book, "Disagreeing sources", head, _conflicts(report), widths=(24, 28, 40, 18, 14, 20))
    head = ["Company", "Kind", "Change", "Why"]
    _sheet(book, "Changes", head, _changes(report), widths=(24, 20, 60, 90))
    _sheet(book, "Warnings", ["Company", "Warning"], _warnings(report), widths=(24, 120))
    head = ["Company", "Document", "Folder", "Outcome", "Characters", "Remark"]
    _sheet(book, "Documents", head, _documents(report), widths=(24, 48, 36, 12, 12, 80))
    _sheet(book, "Run", ["What", "Value"], _run(report), widths=(24, 80))
    file = BytesIO()
    book.save(file)
    return file.getvalue()


def _ranking(report: Report) -> Iterator[Row]:
    """A row of weights, taken from their sheet, then a row a company whose figures are formulas over its scores."""
    count = len(report.run.criteria)
    weights = [Formula(f"=Weights!$B${row}") for row in range(2, count + 2)]
    yield [None, "Weight", None, None, None, None, *weights, None, None]
    last = _FIRST_COMPANY + len(report.companies) - 1
    for row, company in enumerate(report.companies, _FIRST_COMPANY):
        scores = [
            criterion.score if criterion.status == "scored" else criterion.status.value
            for criterion in company.criteria
        ]
        figures = _figures(row, last, count, report.run.scale) if count else (None, None, None)
        rank, total, coverage = figures
        yield [
            *(rank, company.name, company.domain, total, coverage, company.stability),
            *(*scores, company.status.value, company.problem),
        ]


def _figures(row: int, last: int, criteria: int, scale: tuple[float, float]) -> tuple[Formula, Formula, Formula]:
    """Rank, total and coverage of the company in a row. What is not scored is a word in its cell and counts nowhere."""
    begin, end = get_column_letter(_FIRST_SCORE), get_column_letter(_FIRST_SCORE + criteria - 1)
    weights, scores = f"${begin}$2:${end}$2", f"{begin}{row}:{end}{row}"
    counted = f"SUMPRODUCT({weights}*ISNUMBER({scores}))"
    low, high = scale
    earned = f"(SUMPRODUCT({weights},{scores})-{low:g}*{counted})/({high - low:g}*{counted})"
    totals = f"$D${_FIRST_COMPANY}:$D${last}"
    return (
        Formula(f'=IF(ISNUMBER(D{row}),RANK(D{row},{totals}),"")'),
        Formula(f'=IF({counted}=0,"",{earned})'),
        Formula(f"={counted}/SUM({weights})"),
    )


def _weights(report: Report) -> Iterator[Row]:
    for each in report.run.criteria:
        yield [
            each.title or each.id,
            each.weight,
            each.id,
            each.severity_in_words if each.severity else None,
            each.label,
            each.guide,
        ]


def _criteria(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in company.criteria:
            judged = (
                criterion.score,
                criterion.status.value,
                criterion.confidence,
                criterion.agreement,
                criterion.reason,
            )
            yield [company.name, criterion.id, criterion.label, criterion.kind, criterion.weight, *judged]


def _quotes(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in company.criteria:
            for number, quote in enumerate(criterion.quotes, 1):
                document = Link(quote.document_name or "", shown_at(quote))
                judged = (quote.stance, quote.text, "yes" if quote.verified else "no")
                yield [company.name, criterion.id, number, *judged, document, quote.place]


def _contradictions(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in company.criteria:
            for contradiction in criterion.contradictions:
                row: list[Value] = [company.name, contradiction.about]
                for quote in contradiction.quotes:
                    row += [quote.text, Link(quote.document_name, shown_at(quote)), quote.place]
                yield row


def _missing(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for criterion in to_request(company):
            nearest = "; ".join(f"{document.document_name} ({document.why})" for document in criterion.nearest)
            yield [company.name, criterion.missing, nearest]


def _conflicts(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for conflict in company.conflicts:
            for claim in conflict.claims:
                source = Link(claim.source, claim.url)
                yield [company.name, conflict.field, plain(claim.value), source, claim.as_of, claim.retrieved_at]


def _changes(report: Report) -> Iterator[Row]:
    for company in report.companies:
        for change in company.changes:
            yield [company.name, change.kind.replace("_", " "), change.text, change.why]


def _warnings(report: Report) -> Iterator[Row]:
    for company in report.companies:
        yield from ([company.name, warning] for warning in company.warnings)


def _documents(report: Report) -> Iterator[Row]:
    for company in report.companies:
        yield from _documents_of(company)


def _documents_of(company: CompanyReport) -> Iterator[Row]:
    for document in by_urgency(company.documents):
        link = Link(document.document_name, document.document_url)
        yield [company.name, link, document.path, document.status, document.characters, document.warning]


def _run(report: Report) -> Iterator[Row]:
    run = report.run
    facts: dict[str, Value] = {
        "Name": run.name,
        "Run": run.id,
        "Status": run.status.value,
        "Judged by": judge(run.answerer),
        "Started (UTC)": run.started_at,
        "Finished (UTC)": run.finished_at,
        "Scale": f"{run.scale[0]:g} to {run.scale[1]:g}",
        "Calls": run.cost.calls,
        "Calls, answer unknown": run.cost.unknown_calls,
        "Tokens in": run.cost.input_tokens,
        "Tokens out": run.cost.output_tokens,
        "USD": run.cost.usd,
        "Budget": run.budget,
    }
    if run.sensitivity:
        facts["Rank stability"] = f"share of {run.sensitivity.draws} draws, each weight {run.sensitivity.varied}"
    return ([what, value] for what, value in facts.items())


def _sheet(
    book: Workbook,
    title: str,
    head: Sequence[str],
    rows: Iterable[Row],
    widths: Sequence[float],
    shares: Sequence[int] = (),
) -> None:
    """Write the rows below their head; where a sheet is full another goes on. `shares` are columns of percentages."""
    page = _Page(book, title, head, widths)
    for count, row in enumerate(rows):
        if count and count % (MOST_ROWS - 1) == 0:
            page.close()
            page = _Page(book, f"{title} {count // (MOST_ROWS - 1) + 1}", head, widths)
        page.write(row, shares)
    page.close()


class _Page:
    """A sheet that is being written, row by row."""

    def __init__(self, book: Workbook, title: str, head: Sequence[str], widths: Sequence[float]) -> None:
        self._sheet = book.create_sheet(title)
        self._sheet.freeze_panes = "A2"
        for column, width in enumerate(widths, 1):
            self._sheet.column_dimensions[get_column_letter(column)].width = width
        self._last = get_column_letter(len(head))
        self._rows = self._links = 0
        cells = [self._cell(name) for name in head]
        for cell in cells:
            cell.font = Font(bold=True)
        self._append(cells)

    def write(self, row: Row, shares: Sequence[int]) -> None:
        self._append([self._cell(value, share=column in shares) for column, value in enumerate(row, 1)])

    def close(self) -> None:
        self._sheet.auto_filter.ref = f"A1:{self._last}{self._rows}"

    def _append(self, cells: Sequence[Cell]) -> None:
        self._sheet.append(cells)
        self._rows += 1

    def _cell(self, value: Value, *, share: bool = False) -> Cell:
        url = _address(value.url) if isinstance(value, Link) else None
        value = value.text if isinstance(value, Link) else value
        if isinstance(value, Formula):
            cell = WriteOnlyCell(self._sheet, value.text)
            if share:
                cell.number_format = "0%"
            return cell
        if isinstance(value, datetime):
            cell = WriteOnlyCell(self._sheet, value.replace(tzinfo=None))  # the format knows no zones: UTC
            cell.number_format = "yyyy-mm-dd hh:mm"
            return cell
        if not isinstance(value, str):
            cell = WriteOnlyCell(self._sheet, value)
            if share:
                cell.number_format = "0%"
            return cell
        cell = WriteOnlyCell(self._sheet, _text(value))
        cell.data_type = "s"  # also what looks like a formula or an error
        cell.alignment = Alignment(vertical="top", wrap_text=len(value) > _ONE_LINE)
        if url and len(url) <= _MOST_LINK and self._links < _MOST_LINKS:
            self._links += 1
            cell.hyperlink = url
            cell.font = Font(color="0B5563", underline="single")
        return cell


def _address(url: str | None) -> str | None:
    return url if url is not None and is_evidence(url) else weblink(url)


def _text(value: str) -> str:
    """The text as a cell can hold it."""
    value = _NO_XML.sub("", value)
    return value if len(value) <= MOST_CHARACTERS else value[: MOST_CHARACTERS - len(_CUT)] + _CUT
