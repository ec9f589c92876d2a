"""The flows for one company: `due_diligence` composes the others.

index_folder   lists a folder of the drive and stores one row for each document
extract_all    extracts the text of every new or changed document of a folder, in batches, two at a time
company_facts  queries the fact sources for a company and stores the merged profile with its claims
score_company  scores one company on every criterion of a run, or copies scores that are still valid
estimate       a dry run of a batch that counts model calls, tokens and cost without calling the model

For an estimate the data rooms are indexed and read as in the run, and their texts are stored, so that the run does not
read them again. The prompts are those of the run. Cached answers are not counted, and no outcome is stored.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Final
from uuid import UUID

from prefect.artifacts import (
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from flows.artifacts import IfGiven, company_key, escape, flow, name_company_run, prefix_keys, scorecard, show_outcome
from flows.batch_definition import DeployedBatch, in_its_folder
from flows.batch_file import read_batch
from flows.prefect_server import is_embedded
from flows.run import (
    add_warnings,
    close_company,
    companies_to_do,
    count_pdfs,
    find_known_company,
    find_run_company,
    finish,
    list_room_warnings,
    new_company,
    resume_or_start,
    single,
    temporary_run,
)
from flows.scheduling import set_worker_secrets
from storage import database, documents, runs
from storage.columns import now
from storage.documents import DocumentOutcome, RoomDocument
from storage.runs import CompanyStatus, RunCompany, latest_profile
from storage.settings import override_settings
from tasks.ai.budget import LONGEST_ANSWER, cap_and_price, find_ledger
from tasks.ai.estimate import BRIEF_ANSWER, CountingAnswerer
from tasks.ai.registry import current_answerer
from tasks.ai.settings import Cap, Pace, Price, Usage
from tasks.companies import facts
from tasks.documents.batch import load_known_outcomes, read_documents, recognise_scans
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.index import index_room
from tasks.documents.kinds.room import find_company_kinds
from tasks.errors import DiligenceError
from tasks.evidence.company import draw_evidence
from tasks.figures.ledger import build_ledger, ledger_warnings
from tasks.operation import concerning
from tasks.prefect_setup import untracked
from tasks.remote.fan_out import FanOut, Leave, take_finished
from tasks.reports.company import profile_facts
from tasks.reports.report import build, load_results
from tasks.scoring.ask import Width, search_plans
from tasks.scoring.evidence import Evidence
from tasks.scoring.isolation import JudgementAlone, PortionReading
from tasks.scoring.score import Inputs, criterion_results, score_criteria, take_over
from tasks.table.cells import ask_company, ask_table
from tasks.tracking import is_shown, show


@flow(name="index_folder")
def index_folder(folder: str, recursive: bool = True, company_id: int | None = None) -> int:
    """Index a folder of the drive.

    Args:
        folder: its path under the drive's root, its id or its URL.
        recursive: whether subfolders are indexed too.
        company_id: the company of a run whose data room it is.

    Returns:
        The id of the room, as storage keeps it.

    Raises:
        NotFound: no such folder for the account in force.
    """
    room_id = index_room.tracked(folder, recursive)
    if company_id is not None:
        assign_room(company_id, room_id)
    return room_id


def assign_room(company_id: int, room_id: int) -> None:
    """Assign an indexed room to a company of a run: documents become pending unless they already have an outcome."""
    with database.writing() as session:
        room = documents.get_room(session, room_id)
        company = runs.get_company(session, company_id)
        company.room_id, company.folder_id = room_id, room.folder_id
        listed = documents.room_documents(session, room_id)
        company.warnings = list_room_warnings(room, listed)
        documents.place_documents(session, company_id, listed)


@flow(name="score_company")
def score_company(domain: str, run: str = "latest") -> bool:
    """Score one company of a run on all of the run's criteria.

    Args:
        domain: the company's domain.
        run: the run's id, its batch's name, or `latest`.

    Returns:
        Whether every judgement that was requested was made.

    Raises:
        NotFound: no such run, or the company is not in it.
    """
    company = find_run_company(run, domain)
    assert company.id is not None
    if take_over(company.id):
        return True
    is_complete = score_criteria.tracked(company.id, is_new=True)
    if is_shown():
        report = build(company.run_id, company.domain, scores_alone=True)
        card = scorecard(report.companies[0], report.run)
        key = company_key("scorecard", company.domain)
        show(create_markdown_artifact, card, key=key, description=f"{company.name}: scores")
    return is_complete


@flow(name="company_facts")
def company_facts(domain: str, company_id: int | None = None) -> int | None:
    """Ask the configured sources for facts about a company.

    Args:
        domain: its web domain, as registered.
        company_id: the company of a run that the facts are for. A run goes on without facts: there is a
            warning then, and the criteria that need facts are missing.

    Returns:
        The id of the stored profile; None when a run goes on without one.

    Raises:
        BadRequest: `domain` is not a domain. NotFound, SourceFailed, NotConfigured: there are no facts, outside a run.
    """
    answer = facts.company_facts.tracked(domain) if company_id is None else facts.facts_or_reason.tracked(domain)
    if isinstance(answer, str):
        assert company_id is not None
        _assign(company_id, None, [answer])
        return None
    with database.reading() as session:
        stored = latest_profile(session, domain)
    assert stored is not None
    if company_id is not None:
        _assign(company_id, stored.id, answer.warnings)
    if not answer.claims:
        return stored.id
    rows = [
        f"| {escape(fact.name)} | {escape(fact.value)} | {escape(fact.claim.source)} |"
        for fact in profile_facts(answer.claims)
    ]
    name = next((str(claim.value) for claim in answer.claims if claim.field == "name"), domain)
    show(
        create_markdown_artifact,
        "\n".join([f"# {escape(name)}", "", "| Fact | Value | Source |", "|---|---|---|", *rows]),
        key=company_key("facts", domain),
        description=f"{name}: what the sources say",
    )
    return stored.id


def _assign(company_id: int, profile_id: int | None, warnings: list[str]) -> None:
    with database.writing() as session:
        company = runs.get_company(session, company_id)
        company.profile_id = profile_id
        company.warnings = list(dict.fromkeys([*company.warnings, *warnings]))
        runs.save_company(session, company)


_SIDE_BY_SIDE = 2  # batches: one is fetched while the other is read
REFRESH_SECONDS = 1.0  # between two updates of the progress, 15 ms each
_SHOWN = 1000  # rows of the table of documents; a report shows them all


@flow(name="extract_all")
def extract_all(folder: str, room_id: int | None = None, company_id: int | None = None) -> dict[str, int]:
    """Read every document of a folder whose content has not been read before.

    Args:
        folder: its path under the drive's root, its id or its URL.
        room_id: the room that it was indexed as; without it, it is indexed first.
        company_id: the company of a run that the outcomes are written down for.

    Returns:
        How many documents ended with which status: read, unchanged, empty, failed, unsupported.
    """
    if room_id is None:
        room_id = index_folder(folder)
    with database.reading() as session:
        listed = documents.room_documents(session, room_id)
        company = runs.get_company(session, company_id) if company_id else None
        since = runs.get_run(session, company.run_id).started_at if company else now()
    outcomes = load_known_outcomes(listed, company_id, since)
    known = {outcome.document_id for outcome in outcomes}
    to_read = [document for document in listed if document.document_id not in known]
    if to_read or company is None:
        key = company_key("documents", company.domain) if company else "documents"
        read = partial(read_documents.tracked, company_id=company_id, since=since)
        outcomes += _read(key, folder, to_read, read, room_id)
        others = f" ({len(known):,} more were known)" if known else ""
        show(
            create_table_artifact,
            _rows(to_read, outcomes),
            key=f"{key}-read",
            description=f"{company.name if company else folder}: what happened to the documents{others}",
        )
    by_id = {outcome.document_id: outcome for outcome in outcomes}
    if any(outcome.pages != outcome.pages_read for outcome in outcomes):
        scanned = recognise_scans.tracked(room_id, company_id=company_id, since=since)
        by_id |= {outcome.document_id: outcome for outcome in scanned}
    return dict(Counter(outcome.status.value for outcome in by_id.values()))


def _read(
    key: str, folder: str, to_read: Sequence[RoomDocument], read: Callable[..., list[DocumentOutcome]], room_id: int
) -> Iterator[DocumentOutcome]:
    """Read the documents in batches with `read`, some in parallel; yields their outcomes as batches end.

    In Prefect, an artifact with that key shows the progress if it takes longer than a moment.
    """
    _freeze_garbage_collector()
    all_ids = [[document.document_id for document in batch] for batch in batches(to_read)]
    progress: object = None
    updated_at = time.monotonic()
    # Not Prefect's task runner: what became of a batch must not depend on what Prefect knows of it.
    with FanOut(_SIDE_BY_SIDE, "extract_all", Leave.ON_INTERRUPT) as threads:
        under_way = {threads.submit(read, room_id, ids): ids for ids in all_ids}
        for done, (_ids, future) in enumerate(take_finished(under_way), 1):
            yield from future.result()
            is_last = done == len(all_ids)
            if time.monotonic() - updated_at > REFRESH_SECONDS or (is_last and progress is not None):
                updated_at = time.monotonic()
                if progress is None:
                    progress = show(create_progress_artifact, 0.0, key=key, description=f"Documents of {folder}")
                if isinstance(progress, UUID):  # else Prefect could not make it
                    show(update_progress_artifact, progress, 100.0 * done / len(all_ids))


@cache
def _freeze_garbage_collector() -> None:
    """Exempt everything loaded so far from garbage collection: with Prefect a full collection takes 0.14 s."""
    gc.freeze()


def batches(listed: Sequence[RoomDocument]) -> list[list[RoomDocument]]:
    """The documents in batches of 25 to 500, largest first, so that no large one is left to the end.

    A task costs Prefect and its server 30 ms of work, as much as reading ten documents.
    """
    size = min(500, max(25, len(listed) // 8))
    by_size = sorted(listed, key=lambda document: -(document.size or 0))
    return [by_size[start : start + size] for start in range(0, len(by_size), size)]


def _rows(listed: Sequence[RoomDocument], outcomes: Sequence[DocumentOutcome]) -> list[dict[str, str | int]]:
    """One row a document, those that gave no text first."""
    by_id = {outcome.document_id: outcome for outcome in outcomes}
    rows: list[dict[str, str | int]] = [
        {
            "document": document.name,
            "folder": document.path,
            "outcome": by_id[document.document_id].status.value,
            "characters": by_id[document.document_id].characters,
            "warning": by_id[document.document_id].warning or "",
        }
        for document in listed
        if document.document_id in by_id
    ]
    return sorted(rows, key=lambda row: row["characters"] != 0)[:_SHOWN]


_SMALL: Final = 100, 5_000_000
"""Documents, and bytes of all of them, that are read and scored without a model in some two seconds."""
_FEW_PDFS: Final = 20
"""PDFs whose cited pages are drawn in less than a second."""

_places: ContextVar[AbstractContextManager[object] | None] = ContextVar("places", default=None)
_turns: ContextVar[AbstractContextManager[object] | None] = ContextVar("turns", default=None)


@contextmanager
def examining_in_turns(scored_at_once: int, read_at_once: int) -> Iterator[None]:
    """Limit how many companies in the block are examined at the same time, and how many of them are being read.

    Reading needs cores, judging needs the model's time. When rooms are read one after the other, the first can be
    judged while the next are read; read side by side, all would be ready late and at once. Drawing pages happens in
    its own processes and holds up no other company.
    """
    places, turns = _places.set(BoundedSemaphore(scored_at_once)), _turns.set(BoundedSemaphore(read_at_once))
    try:
        yield
    finally:
        _turns.reset(turns)
        _places.reset(places)


@flow(name="due_diligence", flow_run_name=name_company_run)
def due_diligence(
    name: Annotated[str | None, IfGiven] = None,
    domain: Annotated[str | None, IfGiven] = None,
    folder: Annotated[str | None, IfGiven] = None,
    criteria: Annotated[Path | None, IfGiven] = None,
    batch_file: Annotated[Path | None, IfGiven] = None,
    out: Annotated[Path | None, IfGiven] = None,
    reports: Annotated[Path | None, IfGiven] = None,
    definition: DeployedBatch | None = None,
    company: Annotated[str | None, IfGiven] = None,
) -> str:
    """Examine one company.

    Args:
        name: what it is called.
        domain: its web domain, as registered.
        folder: its data room: a path under the drive's root, or a folder's id or URL.
        criteria: the criteria file.
        batch_file: a batch whose settings hold here too, and whose criteria where `criteria` is not given.
        out: the folder that the report is written to.
        reports: a folder in which each run gets its own folder, named by its id; without it and without `out`, the
            report is kept in storage alone.
        definition: the batch as it was deployed, which then counts; `batch_file` says where it came from.
        company: the name of a company of the batch, in the place of name, domain and folder.

    Returns:
        The run's id.

    Raises:
        BadRequest: the company, the domain or a file is wrong, or there are no criteria.
        NotConfigured, NotLoggedIn: the drive's account or the model's server is missing. Nothing is begun.
        CompaniesFailed: the data room could not be read, or a judgement failed; all the rest is done.
    """
    with in_its_folder(definition), set_worker_secrets(is_deployed=definition is not None):
        chosen = (
            find_known_company(company, batch_file, definition)
            if company is not None
            else new_company(name, domain, folder)
        )
        screen = single(chosen, criteria, batch_file, definition)
        with (
            override_settings(screen.settings),
            resume_or_start(screen, is_deployed=definition is not None) as run,
            prefix_keys(screen.part_of),
        ):
            if out is None and reports is not None:
                out = reports / run.id
            with concerning(chosen.name):
                examine(run.id, chosen.domain, chosen.folder)
            try:
                database.retry_if_cut(lambda: finish(run, out))
            finally:
                show_outcome(load_results(run.id), out)
    return run.id


def examine(run: str, domain: str, folder: str, room_id: int | None = None) -> None:
    """Index, extract, fetch facts and score one company of a run. A failure is stored with the company.

    Args:
        run: the run's id.
        domain: the company's domain, as the run has it.
        folder: its data room.
        room_id: the room as it was indexed just now; without it, it is indexed first.
    """
    company_id = find_run_company(run, domain).id
    assert company_id is not None
    # A step that finds its work done, or next to none, costs Prefect more than it costs us: Prefect is not told of it.
    # Nor is it told of those of a small room where its server ends with this command, so that nobody looks at them.
    try:
        with _places.get() or nullcontext(), ExitStack() as small:
            if _turns.get() is not None and is_embedded() and _is_done_here():
                small.enter_context(untracked())
            with _turns.get() or nullcontext():
                if room_id is None:
                    room_id = index_folder(folder, company_id=company_id)
                else:
                    assign_room(company_id, room_id)
                if not _is_small(room_id):
                    small.close()  # its steps take long enough to be looked at
                extract_all(folder, room_id=room_id, company_id=company_id)
                build_ledger.tracked(company_id)
                add_warnings(company_id, ledger_warnings(company_id))
                find_company_kinds(company_id)
            company_facts(domain, company_id=company_id)
            is_complete = score_company(domain, run=run)
            add_warnings(company_id, ask_table(company_id))
        pdfs = count_pdfs(company_id)
        if pdfs:
            is_quick = pdfs <= _FEW_PDFS or find_run_company(run, domain).carried_from is not None
            add_warnings(company_id, (draw_evidence if is_quick else draw_evidence.tracked)(company_id))
    except DiligenceError as error:
        close_company(company_id, CompanyStatus.FAILED, error.message)
        return
    problem = None if is_complete else "A judgement failed; the criteria marked unscored say why."
    close_company(company_id, CompanyStatus.FINISHED if is_complete else CompanyStatus.FAILED, problem)


def _is_done_here() -> bool:
    """Whether neither the drive nor a model is waited for. A source of facts may be: mostly its answer is stored."""
    return not current_answerer().judges and not open_run_drive().remote


def _is_small(room_id: int) -> bool:
    most, most_bytes = _SMALL
    with database.reading() as session:
        count, size = documents.measure_room(session, room_id)
    return count <= most and size <= most_bytes


@dataclass(frozen=True)
class CompanyEstimate:
    """What one company would cost. `problem` says why that could not be estimated.

    `most` is an upper limit: every prompt and answer at its longest, every judgement requested twice because the first
    answer did not fit the schema, a second look at each document that was read by itself, and all of that again with
    another search plan because nothing was found.
    """

    name: str
    usual: Usage = field(default_factory=Usage)
    most: Usage = field(default_factory=Usage)
    problem: str | None = None


@dataclass(frozen=True)
class Estimate:
    """What a batch would still cost. `model` is None where no model is configured.

    `longest` is the length of an answer, in tokens, that `most` counts with: the budget's limit, or an assumption
    without a budget. `spent` and `spent_usd` are what the interrupted run has cost so far. `pace` is the measured speed
    of the model, if it was measured.
    """

    model: str | None
    price: Price | None
    cap: Cap | None
    longest: int
    spent: Usage
    spent_usd: float | None
    companies: Sequence[CompanyEstimate]
    pace: Pace | None = None

    @property
    def usual(self) -> Usage:
        """What all companies together would typically use."""
        return sum((company.usual for company in self.companies), Usage())

    @property
    def most(self) -> Usage:
        """The most that all companies together could use."""
        return sum((company.most for company in self.companies), Usage())

    def fits(self, usage: Usage) -> bool:
        """Whether `usage`, on top of what was spent, stays within the budget; always true without one."""
        if self.cap is None:
            return True
        if self.cap.tokens is not None:
            total = self.spent + usage
            return total.input_tokens + total.output_tokens <= self.cap.tokens
        assert self.cap.usd is not None
        return self.price is None or (self.spent_usd or 0.0) + self.price.of(usage) <= self.cap.usd


@flow(name="estimate")
def estimate(batch_file: Path, criteria: Path | None = None) -> Estimate:
    """Estimate what a batch would cost; for an interrupted run, the part that is left.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    screen = read_batch(batch_file, criteria)
    with override_settings(screen.settings):
        cap, price = cap_and_price()
        with temporary_run(screen) as run:
            longest = find_ledger(run).answer_limit or LONGEST_ANSWER
            planned: set[str] = set()
            companies = [_count(company, longest, planned) for company in companies_to_do(run)]
            with database.reading() as session:
                row = runs.get_run(session, run)
            spent = Usage(row.calls, row.input_tokens, row.output_tokens)
            answerer = current_answerer()
            return Estimate(answerer.model, price, cap, longest, spent, row.usd, companies, answerer.pace)


def _count(company: RunCompany, longest: int, planned: set[str]) -> CompanyEstimate:
    """Read a company's data room and count what would be asked.

    `longest` is the most tokens of one answer; `planned` are the search plans that earlier companies asked for.
    """
    assert company.id is not None
    answerer = CountingAnswerer(current_answerer(), planned, reading=PortionReading, second_look=JudgementAlone)
    try:
        room_id = index_folder(company.folder, company_id=company.id)
        extract_all(company.folder, room_id=room_id, company_id=company.id)
        with database.reading() as session:
            inputs = Inputs.of(session, company.id)
        evidence = Evidence(company.id, inputs.documents)
        plans = search_plans(evidence.open_to(answerer), answerer, None)
        for _result in criterion_results(inputs, evidence, answerer, None, plans):
            pass
        ask_company(company.id, answerer, None)
    except DiligenceError as error:
        return CompanyEstimate(company.name, problem=error.message)
    usual = min(longest, BRIEF_ANSWER) if Width.of(answerer).is_narrow else longest
    return CompanyEstimate(company.name, usual=answerer.usual(usual), most=answerer.most(longest))
