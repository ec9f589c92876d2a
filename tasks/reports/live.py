"""A run's report, evidence and review in the service: the pages that a run writes, under the viewer's rights.

A page only shows documents that the viewer may see on the drive now: a document that was deleted since the run, or is
not shared with the viewer, is left out. If the drive has accounts, a report is built from what this account sees
(`rights`); until its companies are ranked by that, they are in the order of the batch. The drive is opened where the
run opened it, whatever the service's own root is.

The service's home page says of each run its state, progress, ranking, cost, and what changed. The review says what its
viewer sees of each company and the decisions so far, and takes new ones.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from os import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple
from urllib.parse import quote

from sqlmodel import Session

from storage import database, documents, runs, scores, texts
from storage.documents import RunDocument
from storage.runs import CompanyStatus, Run, RunCompany
from storage.scores import WHOLE_COMPANY, Decision
from storage.settings import override_settings
from storage.texts import StoredText
from tasks.cancellation import FanOut
from tasks.documents.drive.drive import Document, Drive, base_path
from tasks.documents.drive.registry import choose_drive, open_drive
from tasks.errors import DiligenceError, NotFound
from tasks.evidence.company import draw_alone, is_pdf, list_citations
from tasks.evidence.page import find_picture
from tasks.offload import offload_always
from tasks.reports.company import FOLDER, CompanyPages, CompanyRows, Seen, look, review_of, side_of, without_privileged
from tasks.reports.evidence_pages import (
    EvidencePage,
    Original,
    WaysOn,
    cut_text_part,
    fill_pages,
    list_claims,
    list_pages,
    part_at,
    render_page,
    render_part,
    show_as_the_drive,
    with_originals,
)
from tasks.reports.files import as_json
from tasks.reports.html import render_company, render_overview
from tasks.reports.models import CompanyReport, CriterionReport, Report, ReviewedCell, ReviewedCompany, ReviewedLine
from tasks.reports.report import build, in_reports_order
from tasks.reports.wording import day, make_anchor, page_prefix, parse_picture_name, weblink
from tasks.review import Act, CompanyReview, decide, decided_companies, named_run, quote_key
from tasks.scoring.results import Standing

_CHANGED: Final = "The document was changed after the run read it. These are its words as the run read them."
_NOT_THERE: Final = (
    "There is no such page in this run, or what it shows was deleted since the run, or is not shared with your account."
)
PAGES: Final = (
    ("report.html", "Report"),
    ("review", "Review"),
    ("table", "Table"),
    ("search", "Search"),
    ("ask", "Ask"),
)
"""The pages of a run: the path below it, and the name."""
_SEEN_BY: Final = "You can see it because your account may see the document."
_SEEN_BY_ALL: Final = "Everyone who may use this service can see it."


class LiveRun(NamedTuple):
    """A run, its companies in the order of its report, and its drive as the viewer sees it."""

    run: Run
    companies: Sequence[RunCompany]
    drive: Drive
    has_accounts: bool


@contextmanager
def live_run(run_id: str) -> Iterator[LiveRun]:
    """A run as its viewer sees it; in the block the settings say where its documents are.

    Raises:
        NotFound: there is no such run, or its documents lie in another drive than the service's.
        NotLoggedIn: the drive has accounts, and nobody is logged in.
    """
    with database.reading() as session:
        run = named_run(session, run_id)
        companies: Sequence[RunCompany] = decided_companies(session, run)
    description = choose_drive()
    if description.accounts is None:
        companies = sorted(companies, key=in_reports_order)
    if run.drive is not None and run.drive["drive"] != description.name:
        raise NotFound(f"This run read another drive. The service shows {description.title}.")
    with override_settings(run.drive or {}):
        yield LiveRun(run, companies, open_drive(), description.accounts is not None)


def find_run_id(reference: str) -> str:
    """The id of the run meant by an id, a batch's name or `latest`.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(reference) as live:
        return live.run.id


def report_page(run_id: str, page: int = 1) -> str:
    """The report of a run as a page that links to the live pages: each company has its own page.

    `page` says which part of very many companies it shows, from 1; 0 for all of them.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        report = live_report(live, tables=False)
        original = originals(live)
        report.companies = [with_originals(company, original) for company in report.companies]
        return render_overview(report, [(f"{base_path()}/", "Runs"), *PAGES[1:]], most_in_one_page=0, page=page)


def live_report(live: LiveRun, number: int | None = None, *, for_model: bool = False, **parts: bool) -> Report:
    """The report as the viewer sees it, or that of the company of a number (from 1) alone.

    With `for_model` it is without all that rests on privileged documents; `parts`: as the keywords of `company_report`.

    Raises:
        NotFound: the viewer does not see that company.
    """
    companies = live.companies if number is None else [live.companies[number - 1]]
    seen: Mapping[str, Seen] | None = look(live.drive, companies) if live.has_accounts else None
    if for_model:
        seen = without_privileged(companies, seen)
    if number is None:
        return build(live.run.id, None, seen, **parts)
    if seen is not None and seen[companies[0].domain].documents is None:
        raise NotFound(_NOT_THERE)
    return build(live.run.id, companies[0].domain, seen, **parts)


def company_page(run_id: str, name: str) -> str:
    """The page of one of the companies of a run, by its file's name; see `report_page`.

    Raises:
        NotFound: the run has no such company.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        shown = _company_pages(live)
        paths = [shown.path(number) for number in range(1, len(live.companies) + 1)]
        if (path := f"{FOLDER}/{name}") not in paths:
            raise NotFound(_NOT_THERE)
        number = paths.index(path) + 1
        report = live_report(live, number, tables=False)
        company = with_originals(report.companies[0], originals(live))
        beside = live.companies[max(number - 2, 0) : number + 1]
        seen = look(live.drive, beside) if live.has_accounts else None
        names = [
            other.name if other in beside and (seen is None or seen[other.domain].documents is not None) else None
            for other in live.companies
        ]
        domain = quote(company.domain, safe="")
        elsewhere = {"table": f"../table?company={domain}", "documents": f"../search?company={domain}"}
        return render_company(report.run, company, number, names, shown, elsewhere)


def _company_pages(live: LiveRun) -> CompanyPages:
    return CompanyPages([company.domain for company in live.companies], most_in_one_page=0)


def list_run_data() -> dict[str, Any]:
    """The newest runs with what the viewer may see of them: `{runs: [{id, batch, status, started_at, companies}]}`.

    Raises:
        NotLoggedIn: the drive has accounts, and nobody is logged in.
    """
    return {
        "runs": [
            {
                "id": row.run.id,
                "batch": row.run.batch,
                "status": row.run.status.value,
                "started_at": row.run.started_at.isoformat(),
                "companies": [
                    {"name": one.name, "status": one.status.value, "rank": one.rank, "proven": one.proven}
                    for one in row.companies
                ],
            }
            for row in list_runs()
        ]
    }


def run_data(run_id: str) -> dict[str, Any]:
    """The report of a run, as `report --format json` gives it, for a model: without what rests on privileged documents.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    return offload_always(_run_data, run_id)


def _run_data(run_id: str) -> dict[str, Any]:
    with live_run(run_id) as live:
        content: dict[str, Any] = json.loads(as_json(live_report(live, for_model=True)))
        return content


def originals(live: LiveRun) -> Original:
    return show_as_the_drive if live.has_accounts else _link_here(live.run.id)


def evidence_page(run_id: str, name: str) -> str:
    """The evidence page of that name.

    Raises:
        NotFound: there is none, or the document is not there for this account.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        for number, company in enumerate(live.companies, 1):
            if name.startswith(page_prefix(company.domain)):
                page, ways = _find_page(live, number, company, name)
                return render_page(company.name, page, ways, pictures="'self'")
    raise NotFound(_NOT_THERE)


def _find_page(live: LiveRun, number: int, company: RunCompany, name: str) -> tuple[EvidencePage, WaysOn]:
    assert company.id is not None
    report = live_report(live, number, scores_alone=True)
    claims = list_claims(report.run, report.companies[0], number, _company_pages(live))
    with database.reading() as session:
        pages = list_pages(list_citations(session, [company.id])[company.id], company.domain, claims)
    position = next((position for position, page in enumerate(pages) if page.name == name), None)
    if position is None:
        raise NotFound(_NOT_THERE)
    first = pages[position].first
    document = _visible(live, first.document.document_id)
    with database.reading() as session:
        (page,) = fill_pages(session, [pages[position]], texts.find_span_pages(session, [first.text_id]))
    seen_by = _SEEN_BY if live.has_accounts else _SEEN_BY_ALL
    in_service = f"../documents/{quote(document.id, safe='')}"
    return page, WaysOn(
        previous=pages[position - 1].name if position else None,
        following=pages[position + 1].name if position + 1 < len(pages) else None,
        original=weblink(document.url) if live.has_accounts else f"{in_service}/original",
        whole=f"{in_service}?start={first.start}&end={first.end}#{make_anchor(first.start, first.end)}",
        notice=_notice(live, document, first.document),
        seen_by=f"From the run {live.run.id} of {day(live.run.started_at)}. {seen_by}",
    )


def picture(run_id: str, name: str) -> Path:
    """The picture of that name beside the evidence pages.

    Raises:
        NotFound: there is none, or no document that it shows is there for this account.
        NotLoggedIn: as `live_run`.
    """
    shown = parse_picture_name(name)
    with live_run(run_id) as live:
        if shown is not None:
            with database.reading() as session:
                held_by = documents.find_documents_by_hash(session, live.run.id, shown[0])
            for document in held_by:
                with suppress(NotFound):
                    _visible(live, document.document_id)
                    path = find_picture(document.content_hash or "", shown[1])
                    if path is not None:
                        return path
    raise NotFound(_NOT_THERE)


def document_page(run_id: str, document_id: str, number: int | None, start: int | None, end: int | None) -> str:
    """A part of the whole text of a document, by its number (from 1), or the part in which the span begins, with it
    marked.

    Raises:
        NotFound: the run has no such document, the document is not there for this account, or it has no such part.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        document, text, notice = _load_text(live, document_id)
        spans = [] if start is None or end is None or not 0 <= start < end <= len(text.text) else [(start, end)]
        chosen = number or (part_at(text.text, spans[0][0]) if spans else 1)
        seen_by = _SEEN_BY if live.has_accounts else _SEEN_BY_ALL
        return render_part(live.run, document, cut_text_part(text, chosen, spans), notice, seen_by)


def page_picture(run_id: str, document_id: str, page: int) -> Path:
    """The picture of a page of a PDF, drawn now if needed.

    Raises:
        NotFound: as `document_page`, or it is no PDF with that page.
        Unreadable, TookTooLong, TooLarge, Unavailable: it cannot be drawn.
    """
    with live_run(run_id) as live:
        document, text, _ = _load_text(live, document_id)
        if not is_pdf(text.reader):
            raise NotFound("Only pages of PDFs are shown as pictures.")
        return draw_alone(live.drive, document, text, page)


def open_original(run_id: str, document_id: str) -> tuple[Document, BinaryIO, int] | str:
    """A document of a run: its description, the open file, and its size in bytes; only its address if the drive shows
    it itself.

    Raises:
        NotFound: the run has no such document, or it is not there for this account.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        _find_document(live, document_id)
        document = _visible(live, document_id)
        if live.has_accounts:
            return document.url
        content = live.drive.open(document_id)
        return document, content, content.seek(0, SEEK_END) + content.seek(0)


def _find_document(live: LiveRun, document_id: str) -> RunDocument:
    with database.reading() as session:
        document = documents.find_document(session, live.run.id, document_id)
    if document is None:
        raise NotFound(_NOT_THERE)
    return document


def _load_text(live: LiveRun, document_id: str) -> tuple[RunDocument, StoredText, str | None]:
    """A document of the run, its text as the run read it, and what a reader must know about it."""
    document = _find_document(live, document_id)
    current = _visible(live, document_id)
    if document.text_id is None:
        raise NotFound("The text that the run read is not stored.")
    with database.reading() as session:
        text = texts.get_text(session, document.text_id)
    return document, text, _notice(live, current, document)


def _visible(live: LiveRun, document_id: str) -> Document:
    """The document as this viewer sees it now.

    Raises:
        NotFound: the viewer does not see the document.
    """
    try:
        return live.drive.document(document_id)
    except NotFound as error:
        raise NotFound(_NOT_THERE) from error


def _notice(live: LiveRun, current: Document, read: RunDocument) -> str | None:
    """Whether the document has changed since the run, as far as that is known without fetching it."""
    with database.reading() as session:
        content = documents.find_contents(session, live.drive.name, [current.id]).get(current.id)
    if content is None or content.version.endswith("-unsettled"):  # it was read while it was written
        return None
    is_as_read = content.version == current.version and content.content_hash == read.content_hash
    return None if is_as_read else _CHANGED


def _link_here(run_id: str) -> Original:
    base = f"{base_path()}/runs/{quote(run_id, safe='')}"
    return lambda document_id, _url: f"{base}/documents/{quote(document_id, safe='')}/original"


_AT_ONCE = 8


class CompanyRow(NamedTuple):
    """A company of a run; `rank` and `proven` are None if only the viewer's own report can tell them."""

    number: int
    name: str
    rank: int | None
    proven: float | None
    status: CompanyStatus


class RunRow(NamedTuple):
    """A run in the list on the home page.

    `progress` is how many documents it has finished, and how many it has; None once it has ended. `moved` is how many
    scores differ from the batch's previous run; None if there is none.
    """

    run: Run
    companies: Sequence[CompanyRow]
    progress: tuple[int, int] | None
    moved: int | None
    is_unfinished: bool


def list_runs(most: int = 20) -> list[RunRow]:
    """The newest runs, as far as the viewer may see them; if the drive has accounts, what it shows this account.

    Raises:
        NotLoggedIn: the drive has accounts, and nobody is logged in.
    """
    has_accounts = choose_drive().accounts is not None
    with database.reading() as session:
        listed = [(run, decided_companies(session, run)) for run in runs.newest_runs(session, most)]
    visible = _visible_folders(open_drive(), listed) if has_accounts else None
    with database.reading() as session:
        rows = [_row(session, run, companies, visible) for run, companies in listed]
    return [row for row in rows if row.companies or not has_accounts]


def _row(session: Session, run: Run, companies: Sequence[RunCompany], visible: Mapping[str, bool] | None) -> RunRow:
    done = documents.documents_done(session, run.id)
    is_running = runs.is_under_way(session, run)
    progress = (sum(row[0] for row in done.values()), sum(row[1] for row in done.values())) if is_running else None
    shown = [
        CompanyRow(number, company.name, company.rank, Standing.of(company).proven, company.status)
        for number, company in enumerate(sorted(companies, key=in_reports_order), 1)
    ]
    if visible is not None:
        shown = [
            CompanyRow(number, company.name, None, None, company.status)
            for number, company in enumerate(companies, 1)
            if visible.get(company.folder_id or "")
        ]
    return RunRow(run, shown, progress, None if visible is not None else _moved(session, run), run.reported_at is None)


def _visible_folders(drive: Drive, listed: Sequence[tuple[Run, Sequence[RunCompany]]]) -> dict[str, bool]:
    folders = {company.folder_id for _, companies in listed for company in companies if company.folder_id}
    with FanOut(_AT_ONCE, "home") as threads:
        looked = {folder: threads.submit(_is_visible, drive, folder) for folder in folders}
    return {folder: result.result() for folder, result in looked.items()}


def _is_visible(drive: Drive, folder_id: str) -> bool:
    try:
        drive.find_folder(folder_id)
    except DiligenceError:
        return False
    return True


def _moved(session: Session, run: Run) -> int | None:
    before = runs.previous_run(session, run)
    if before is None or run.reported_at is None:
        return None
    now, then = _scores(session, run.id), _scores(session, before.id)
    return sum(now.get(cell) != then.get(cell) for cell in now.keys() | then.keys())


def _scores(session: Session, run_id: str) -> dict[tuple[str, str], float]:
    domains = {company.id: company.domain for company in runs.run_companies(session, run_id)}
    return {
        (domains[company_id], criterion): score
        for company_id, criterion, score in scores.list_counted_scores(session, run_id)
    }


_NO_COMPANY = "The run has no such company, or it is not shared with your account."


def overview(run_id: str) -> tuple[str, str, list[ReviewedLine]]:
    """The run's id, its batch, and the progress of the review for each company that the viewer sees.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        lines = []
        for company, seen in seen_companies(live):
            review = _review(live, company, seen)
            cells = [criterion_id for criterion_id in review.cells if criterion_id != WHOLE_COMPANY]
            lines.append(
                ReviewedLine(
                    company.name,
                    company.domain,
                    len(live.run.criteria["criteria"]),
                    sum(map(review.is_signed, cells)),
                    sum(state.is_open for state in review.states()),
                    review.is_signed(WHOLE_COMPANY),
                )
            )
        return live.run.id, live.run.batch, lines


def reviewed_company(run_id: str, domain: str) -> ReviewedCompany:
    """A company of a run with everything that its viewer may see and decide on.

    Raises:
        NotFound: there is none, or it is not shared with this account.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        number, row = find_company(live, domain)
        report = live_report(live, number, scores_alone=True)
        company = with_originals(report.companies[0], originals(live))
        review = _review(live, row, find_seen(live, row))
        known = {criterion.id for criterion in company.criteria}
        return ReviewedCompany(
            run=report.run,
            company=company,
            cells=[_cell(criterion, company, review) for criterion in company.criteria if criterion.id in review.cells],
            decisions=[one for one in company.decisions if one.criterion_id is None],
            others=[one for one in company.decisions if one.criterion_id and one.criterion_id not in known],
            follows=review.newest(WHOLE_COMPANY),
            is_signed=review.is_signed(WHOLE_COMPANY),
            may_sign=len(review.cells) > len(company.criteria),
        )


def _cell(criterion: CriterionReport, company: CompanyReport, review: CompanyReview) -> ReviewedCell:
    return ReviewedCell(
        criterion=criterion,
        decisions=[one for one in company.decisions if one.criterion_id == criterion.id],
        saw=review.cells[criterion.id]["digest"],
        follows=review.newest(criterion.id),
        is_signed=review.is_signed(criterion.id),
        quote_keys=[quote_key(quote.document_id, quote.text) for quote in criterion.quotes],
    )


def write_decision(run_id: str, domain: str, act: Act, by: str) -> Decision:
    """Store somebody's decision on a company of a run.

    Raises:
        BadRequest, Conflict, NotFound: as `tasks.review.decide`.
        NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        _, row = find_company(live, domain)
        return decide(live.run, domain, _review(live, row, find_seen(live, row)), act, by)


def exported_log(run_id: str) -> list[dict[str, Any]]:
    """Every act on the batch of a run that the viewer may see, including undone ones, oldest first.

    Raises:
        NotFound, NotLoggedIn: as `live_run`.
    """
    with live_run(run_id) as live:
        if not live.has_accounts:
            with database.reading() as session:
                log = [*scores.decisions_of(session, live.run.batch)]
                log += scores.table_decisions(session, live.run.batch)
        else:
            log = []
            for company, seen in seen_companies(live):
                log += _review(live, company, seen).log
                with database.reading() as session:
                    on_cells = scores.table_decisions(session, live.run.batch, company.domain)
                log += [one for one in on_cells if seen is not None and one.document_id in (seen.documents or ())]
        in_order = sorted(log, key=lambda one: one.id or 0)
        return [one.model_dump(mode="json", exclude={"follows"}) for one in in_order]


def seen_companies(live: LiveRun) -> list[tuple[RunCompany, Seen | None]]:
    """The companies of a run that the viewer sees, each with what they see of it."""
    if not live.has_accounts:
        return [(company, None) for company in live.companies]
    seen = look(live.drive, live.companies)
    return [(row, seen[row.domain]) for row in live.companies if seen[row.domain].documents is not None]


def find_seen(live: LiveRun, company: RunCompany) -> Seen | None:
    """What the viewer sees of a company; None if they see everything."""
    return look(live.drive, [company])[company.domain] if live.has_accounts else None


def find_company(live: LiveRun, domain: str) -> tuple[int, RunCompany]:
    """The company of that domain with its number in the run, from 1.

    Raises:
        NotFound: the run has no such company.
    """
    for number, company in enumerate(live.companies, 1):
        if company.domain == domain:
            return number, company
    raise NotFound(_NO_COMPANY)


def _review(live: LiveRun, company: RunCompany, seen: Seen | None) -> CompanyReview:
    if seen is not None and seen.documents is None:
        raise NotFound(_NO_COMPANY)
    with database.reading() as session:
        now = side_of(session, live.run, company, seen, scores_alone=True)
        return review_of(session, live.run, now.company, CompanyRows.of(session, now.company, now.outcomes))
