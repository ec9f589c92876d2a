"""The life cycle of a run in the database: start or resume under a lock, mark companies done, rank, report."""

import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final

from sqlmodel import Session

from flows.batch_definition import DeployedBatch, keep_definition, load_batch
from flows.batch_file import Batch, BatchCompany
from storage import database, runs, scores, texts
from storage.columns import now
from storage.documents import (
    DocumentStatus,
    Room,
    RoomDocument,
    RunDocument,
    count_documents,
    has_unread_pages,
    list_failed_contents,
    list_texts,
)
from storage.locks import Claims
from storage.migrations import HEAD
from storage.runs import CompanyStatus, ModelTrial, Run, RunCompany, RunStatus, batch_lock
from tasks.ai.registry import current_answerer
from tasks.companies.profile import registrable
from tasks.documents.drive.registry import drive_to_open_again, open_run_drive
from tasks.documents.drive.spool import remove_left
from tasks.errors import BadRequest, Conflict, DiligenceError, NotFound, Unavailable
from tasks.evidence.company import is_pdf
from tasks.reading.ocr.page import FAILED
from tasks.reports.files import write_reports
from tasks.scoring.criteria import Judged, read_criteria
from tasks.scoring.judge import find_standing
from tasks.scoring.results import rank_companies
from tasks.spending.budget import SpendingSettings, cap_and_price, record_unpriced
from tasks.webhooks import check_webhooks, end_run


class CompaniesFailed(DiligenceError):
    """The run finished, but some of its companies, or judgements on them, failed."""

    status, slug, title = 500, "companies-failed", "Some companies failed"

    def __init__(self, run_id: str, failed: Sequence[str]) -> None:
        reasons = "; ".join(reason.rstrip(".") for reason in failed)
        super().__init__(f"The run is finished, but incomplete: {reasons}. The report says what is missing.")
        self.run_id = run_id
        self.failed = list(failed)


class NoRoom(Unavailable):
    """The disk of a worker is full. What fails there succeeds elsewhere, so others go on with the run."""


PROGRAM: Final = f"{version('diligence')} with schema {HEAD}"
"""What processes that work on one run must have in common."""
_ROOM: Final = 50_000_000
"""Bytes of disk that a worker needs: documents are copied there whole."""
_POLL: Final = 0.5
"""Seconds between two looks at what another process is doing."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run that this process works on, and the locks that it holds for it.

    `is_deployed` means that nobody waits for the report's folder: the service also shows the report. `unwritten` says
    why it is not there.
    """

    id: str
    batch: str
    claims: Claims
    is_deployed: bool = False
    unwritten: list[str] = field(default_factory=list)

    @property
    def is_led_here(self) -> bool:
        """Whether this process leads the run, and so ranks the companies and writes the report."""
        return self.claims.holds(batch_lock(self.batch))

    def take_lead(self) -> bool:
        """Become the leader of the run unless another process is; returns whether this process leads it."""
        return self.is_led_here or self.claims.take(batch_lock(self.batch))

    def is_over(self) -> bool:
        """Whether the report is written."""
        with database.reading() as session:
            return runs.get_run(session, self.id).reported_at is not None


@contextmanager
def resume_or_start(batch: Batch, *, retry_failed: bool = False, is_deployed: bool = False) -> Iterator[OpenRun]:
    """Resume the interrupted run of this batch, or start one, with this process as its leader.

    Spooled files of killed processes are removed. With `retry_failed`, stored failures of its documents are deleted so
    that they are read again. A deployed batch waits while another run of it is under way.

    Raises:
        Conflict: another process is running this batch.
        NotConfigured: the drive's account, its root or the model's server is missing, or the budget is in USD and the
            model's price is not known. NotLoggedIn: the login of the drive's account has ended. NoRoom: a worker's disk
            is full. Nothing is begun.
    """
    with database.claims() as claims:
        while not claims.take(batch_lock(batch.name)):
            if not is_deployed:
                raise _being_run(batch)
            time.sleep(_POLL)
        open_run_drive()  # what is missing is said once, and not of each company
        check_webhooks()
        with suppress(OSError):  # what is left is in nobody's way
            remove_left()
        if is_deployed:
            check_room()
        if retry_failed:
            with database.writing() as session:
                texts.delete_failures(session, list_failed_contents(session, batch.name), FAILED)
        yield OpenRun(_begin(batch), batch.name, claims, is_deployed)


@contextmanager
def temporary_run(batch: Batch) -> Iterator[str]:
    """The interrupted run of this batch, or a new one that is deleted when the block ends; extracted texts are kept.

    Raises:
        Conflict: another process is running this batch.
    """
    with database.locked(batch_lock(batch.name), wait=False) as is_locked:
        if not is_locked:
            raise _being_run(batch)
        with database.writing() as session:
            unfinished = _find_unfinished(session, batch)
            run = unfinished.id if unfinished else _add_run(session, batch, RunStatus.SUPERSEDED)
        try:
            yield run
        finally:
            if unfinished is None:
                with database.writing() as session:
                    session.delete(runs.get_run(session, run))


def check_room() -> None:
    """Check that this machine has the disk that a run needs: without it each company would fail, one within a second.

    Raises:
        NoRoom: the disk has too little room.
    """
    if shutil.disk_usage(database.home()).free < _ROOM:
        raise NoRoom(
            "The disk of this machine's DILIGENCE_HOME is full. Make room before you start the run here again; other "
            "machines can go on with it."
        )


def _being_run(batch: Batch) -> Conflict:
    return Conflict(f"Another process is running the batch {batch.name!r}. Wait for it to end, or stop it.")


def _begin(batch: Batch) -> str:
    cap, _price = cap_and_price()
    trial = find_standing(current_answerer())
    with database.reading() as session:
        unfinished = _find_unfinished(session, batch)
    if unfinished is not None:
        record_unpriced(unfinished.id)
    with database.writing() as session:
        run = _find_unfinished(session, batch)
        if run is None:
            changed = runs.find_unfinished(session, batch.name)
            if changed is not None:
                runs.finish_run(session, changed.id, RunStatus.SUPERSEDED)
            return _add_run(session, batch, RunStatus.RUNNING, trial)
        run.status, run.finished_at = RunStatus.RUNNING, None
        run.budget = str(cap) if cap else None  # it may have changed since the run started
        run.drive = drive_to_open_again()
        run.model_trial = trial
        run.definition, run.version = keep_definition(session, batch), PROGRAM
        session.add(run)
        return run.id


def _find_unfinished(session: Session, batch: Batch) -> Run | None:
    """The interrupted run, if the batch has not changed since."""
    run = runs.find_unfinished(session, batch.name)
    return run if run is not None and run.fingerprint == batch.fingerprint(current_answerer().name) else None


def _add_run(session: Session, batch: Batch, status: RunStatus, trial: ModelTrial | None = None) -> str:
    answerer, (cap, _price) = current_answerer().name, cap_and_price()
    run = Run(
        id=f"{now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}",
        batch=batch.name,
        fingerprint=batch.fingerprint(answerer),
        status=status,
        answerer=answerer,
        criteria=batch.criteria.as_json(),
        budget=str(cap) if cap else None,
        drive=drive_to_open_again(),
        model_trial=trial,
        requests=batch.requests.model_dump() if batch.requests else None,
        definition=keep_definition(session, batch),
        version=PROGRAM,
    )
    companies = [
        RunCompany(run_id=run.id, ordinal=ordinal, name=company.name, domain=company.domain, folder=company.folder)
        for ordinal, company in enumerate(batch.companies)
    ]
    runs.add_run(session, run, companies)
    return run.id


def find_known_company(name: str, batch_file: Path | None, definition: DeployedBatch | None) -> BatchCompany:
    """The company of that name in a batch.

    Raises:
        BadRequest: there is none, or no batch; a file is wrong.
    """
    if batch_file is None:
        raise BadRequest("Name the batch that the company is in.", {"batch_file": "it is needed with `company`"})
    companies = load_batch(batch_file, None, definition).companies
    for company in companies:
        if company.name == name:
            return company
    names = ", ".join(company.name for company in companies)
    raise BadRequest(f"The batch has no company {name!r}. It has {names}.", {"company": "no company of the batch"})


def new_company(name: str | None, domain: str | None, folder: str | None) -> BatchCompany:
    """A company described by its name, domain and data room.

    Raises:
        BadRequest: one of them is missing, or the domain is none.
    """
    given = {"name": name, "domain": domain, "folder": folder}
    missing = {what: "it is needed" for what, value in given.items() if not value}
    if not name or not domain or not folder:
        raise BadRequest(f"Say which company: {', '.join(missing)} is missing.", missing)
    return BatchCompany(name, registrable(domain), folder)


def single(
    company: BatchCompany,
    criteria: Path | None,
    batch_file: Path | None,
    definition: DeployedBatch | None = None,
) -> Batch:
    """One company as a batch of its own, with the criteria and settings of another batch or of a criteria file.

    Args:
        company: the company.
        criteria: the criteria file, which counts before that of the batch.
        batch_file: the other batch.
        definition: that batch as it was deployed, which then counts.

    Raises:
        BadRequest: a file is wrong, or none is given.
    """
    if batch_file is not None:
        other = load_batch(batch_file, criteria, definition)
        return Batch(
            company.name, other.criteria, [company], other.settings, part_of=other.name, requests=other.requests
        )
    if criteria is None:
        raise BadRequest("Give a criteria file or a batch file.", {"criteria": "one of criteria, batch_file is needed"})
    return Batch(company.name, read_criteria(criteria), [company], {})


def judged_criteria(batch: Batch) -> int:
    """How many criteria the model is asked about for each company of a batch; 0 without a model."""
    judges = current_answerer().judges
    return sum(isinstance(criterion, Judged) for criterion in batch.criteria.criteria) if judges else 0


def pending(run_id: str) -> int:
    """How many companies of the run are left to examine."""
    with database.reading() as session:
        return runs.count_pending(session, run_id)


def reopen_companies(run_id: str, *, retry_failed: bool = False) -> None:
    """Set the companies that a resumed run still has to examine (`companies_to_do`) to pending."""
    ids = [company.id for company in companies_to_do(run_id, retry_failed=retry_failed) if company.id is not None]
    with database.writing() as session:
        runs.reopen_companies(session, ids)


def companies_to_do(run_id: str, *, retry_failed: bool = False) -> list[RunCompany]:
    """The companies that a resumed run still has to examine: pending and failed ones.

    Companies left partly unscored by the budget are included, since it may have been raised; with `retry_failed`, also
    those with documents or pages that could not be read.
    """
    with database.reading() as session:
        unscored = scores.count_without_evidence(session, run_id)
        return [
            company
            for company in runs.run_companies(session, run_id)
            if company.status is not CompanyStatus.FINISHED
            or company.id in unscored
            or (retry_failed and _has_unread_documents(session, company))
        ]


def count_unfinished(run_id: str) -> tuple[int, bool]:
    """How many judgements of the run are to be made when it is continued; whether a budget may be why."""
    with database.reading() as session:
        has_cap = runs.get_run(session, run_id).budget or SpendingSettings.current().ai_monthly_budget
        return sum(scores.count_without_evidence(session, run_id).values()), bool(has_cap)


def _has_unread_documents(session: Session, company: RunCompany) -> bool:
    assert company.id is not None
    return DocumentStatus.FAILED in count_documents(session, company.id) or has_unread_pages(session, company.id)


def find_run_company(run: str, domain: str) -> RunCompany:
    """The company of a run, given by the run's id, its batch's name or `latest`.

    Raises:
        NotFound: no such run, or the company is not in it.
    """
    with database.reading() as session:
        stored = runs.find_run(session, run)
        if stored is None:
            raise NotFound(f"No run {run!r}. Give a run's id, a batch's name or latest.")
        company = runs.find_company(session, stored.id, domain)
    if company is not None:
        return company
    raise NotFound(f"The run {stored.id} has no company {domain}.")


def count_pdfs(documents: Sequence[RunDocument]) -> int:
    """How many of the texts of a company's documents come from PDFs, whose pages can be drawn."""
    with database.reading() as session:
        return sum(map(is_pdf, texts.load_readers(session, list(list_texts(documents).values())).values()))


def close_company(company_id: int, status: CompanyStatus, problem: str | None = None) -> None:
    """Store how the examination of a company ended."""
    with database.writing() as session:
        runs.change_company(session, company_id, status=status, problem=problem)


def add_warnings(company_id: int, warnings: Sequence[str]) -> None:
    """Store warnings about a company for the readers of the report; each sentence only once."""
    if warnings:
        with database.writing() as session:
            runs.change_company(session, company_id, *warnings)


def conclude(run: OpenRun, out: Path | None) -> None:
    """Finish a run that has no pending companies, or wait until its leader has finished it.

    If the leader dies before the report is written, this process becomes the leader.

    Raises:
        CompaniesFailed: some companies failed; all the rest is done.
    """
    database.retry_if_cut(lambda: _conclude(run, out))


def _conclude(run: OpenRun, out: Path | None) -> None:
    while not run.is_over():
        if run.take_lead():
            if not run.is_over():  # it may have been, just before the lock was given back
                finish(run, out)
            return
        time.sleep(_POLL)
    with database.reading() as session:
        failed = _failed(runs.run_companies(session, run.id))
    if failed:
        raise CompaniesFailed(run.id, failed)


def finish(run: OpenRun, out: Path | None) -> None:
    """Rank the companies, close the run, and write its report into the folder `out`, if one is given.

    A folder that a worker cannot write to costs only a warning: the service shows the report, and `diligence report`
    writes it.

    Raises:
        CompaniesFailed: some of them failed; all the rest is done.
    """
    failed = _close(run.id)
    if out is not None:
        try:
            write_reports(run.id, out)
        except BadRequest as error:
            if not run.is_deployed:
                raise
            why = (
                f"{error.message} For a deployed batch that is `diligence deploy --reports`. The service shows the "
                f"report, and `diligence report {run.id}` writes it."
            )
            run.unwritten[:] = [why]  # it may be finished twice, where a connection breaks
    end_run(run.id)
    if failed:
        raise CompaniesFailed(run.id, failed)


def _close(run_id: str) -> list[str]:
    """Rank the companies and close the run; returns which of them failed, and why."""
    with database.writing() as session:
        companies = runs.run_companies(session, run_id)
        rank_companies(companies)
        failed = _failed(companies)
        runs.finish_run(session, run_id, RunStatus.FAILED if failed else RunStatus.FINISHED)
    return failed


def _failed(companies: Sequence[RunCompany]) -> list[str]:
    return [f"{company.name}: {company.problem}" for company in companies if company.status is CompanyStatus.FAILED]


def list_room_warnings(room: Room, listed: Sequence[RoomDocument]) -> list[str]:
    """Warnings about a company's data room for the report: incomplete, empty, or reported by the drive."""
    incomplete = ["The drive could not show all of the data room."] if room.incomplete else []
    empty = [] if listed else ["The data room has no documents."]
    return [*incomplete, *empty, *room.warnings]
