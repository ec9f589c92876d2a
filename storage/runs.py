"""Runs: what was asked, how far each company and each document has come."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, Column, bindparam, func, insert, or_, update
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, now, string_enum
from storage.companies import StoredProfile  # noqa: F401 - its table is referred to below
from storage.documents import RoomDocument
from storage.upserts import table_of, values_of


class RunStatus(StrEnum):
    """`superseded`: broken off, and its batch file was changed before it was started again."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"
    SUPERSEDED = "superseded"


class CompanyStatus(StrEnum):
    PENDING = "pending"
    FINISHED = "finished"
    FAILED = "failed"


class DocumentStatus(StrEnum):
    """`pending` until the run has come to it; `unchanged` has its text from an earlier run."""

    PENDING = "pending"
    READ = "read"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class Run(SQLModel, table=True):
    """One run of a batch. `fingerprint` tells whether a batch file still asks for the same run.

    `sequence` counts runs in the order in which they were started, whatever the clock said. `reported_at` is when its
    report was written, or kept where none was asked for: a run that was killed before that is unfinished.
    `usd` is what it cost so far, None where no price is known; `budget` the most it may spend, as written. `drive` is
    where its documents lie, as `override_settings` takes it; None in runs of earlier releases.
    """

    __tablename__ = "runs"

    id: str = Field(primary_key=True)
    sequence: int | None = Field(default=None, index=True, unique=True)
    batch: str = Field(index=True)
    fingerprint: str
    status: RunStatus = Field(default=RunStatus.RUNNING, sa_type=string_enum(RunStatus))
    started_at: datetime = Field(default_factory=now, sa_type=UtcDateTime)
    finished_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    reported_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    answerer: str
    criteria: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    budget: str | None = None
    drive: dict[str, str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True), nullable=True))


class RunCompany(SQLModel, table=True):
    """One company of a run. `problem` says why it failed, in a sentence for the report.

    `evidence_warnings` is what its evidence alone warns of, which holds while the evidence is the same; None where
    something else than the evidence was at work (a model that could not be asked). `carried_from` is the run that all
    its outcomes were taken over from.
    """

    __tablename__ = "run_companies"
    __table_args__ = (UniqueConstraint("run_id", "domain"),)

    id: int | None = Field(default=None, primary_key=True)
    run_id: str = Field(foreign_key="runs.id", ondelete="CASCADE", index=True)
    ordinal: int
    name: str
    domain: str
    folder: str
    folder_id: str | None = None
    room_id: int | None = Field(default=None, foreign_key="rooms.id", ondelete="SET NULL")
    profile_id: int | None = Field(default=None, foreign_key="profiles.id", ondelete="SET NULL", index=True)
    status: CompanyStatus = Field(default=CompanyStatus.PENDING, sa_type=string_enum(CompanyStatus))
    problem: str | None = None
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    evidence_warnings: list[str] | None = Field(default=None, sa_column=Column(JSON(none_as_null=True)))
    carried_from: str | None = None
    total: float | None = None
    coverage: float | None = None
    rank: int | None = None


class RunDocument(SQLModel, table=True):
    """What became of one document in one run. `path` is the folder's path in the room."""

    __tablename__ = "run_documents"
    __table_args__ = (UniqueConstraint("company_id", "document_id"),)

    id: int | None = Field(default=None, primary_key=True)
    company_id: int = Field(foreign_key="run_companies.id", ondelete="CASCADE", index=True)
    document_id: str = Field(index=True)
    name: str
    path: str
    url: str
    status: DocumentStatus = Field(default=DocumentStatus.PENDING, sa_type=string_enum(DocumentStatus))
    content_hash: str | None = None
    text_id: int | None = Field(default=None, foreign_key="texts.id", ondelete="SET NULL", index=True)
    characters: int = 0
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """What became of one document: its status in the run, and the text it has now."""

    document_id: str
    status: DocumentStatus
    content_hash: str | None = None
    text_id: int | None = None
    characters: int = 0
    warning: str | None = None


def add_run(session: Session, run: Run, companies: Iterable[RunCompany]) -> None:
    """Keep a new run with its companies, as the newest one."""
    if session.connection().dialect.name == "postgresql":  # SQLite has one writer at a time anyway
        session.connection().exec_driver_sql("LOCK TABLE runs IN SHARE ROW EXCLUSIVE MODE")
    run.sequence = (session.exec(select(func.max(Run.sequence))).one() or 0) + 1
    session.add(run)
    session.flush()
    session.add_all(companies)


def get_run(session: Session, run_id: str) -> Run:
    """The run of that id."""
    return session.get_one(Run, run_id)


def find_run(session: Session, run_id: str) -> Run | None:
    """A run by its id, by its batch's name (the latest run of it), or the latest of all for `latest`."""
    query = select(Run).order_by(col(Run.sequence).desc()).limit(1)
    if run_id == "latest":
        return session.exec(query).first()
    return session.get(Run, run_id) or session.exec(query.where(Run.batch == run_id)).first()


def find_unfinished(session: Session, batch: str) -> Run | None:
    """The run of that batch that was broken off, before its report was written at the latest, when there is one."""
    return session.exec(
        select(Run)
        .where(Run.batch == batch, Run.status != RunStatus.SUPERSEDED, col(Run.reported_at).is_(None))
        .order_by(col(Run.sequence).desc())
    ).first()


def previous_run(session: Session, run: Run) -> Run | None:
    """The last run of the same batch before this one that came to its report."""
    return session.exec(
        select(Run)
        .where(
            Run.batch == run.batch,
            col(Run.status).in_((RunStatus.FINISHED, RunStatus.FAILED)),
            col(Run.reported_at).is_not(None),
            col(Run.sequence) < run.sequence,
        )
        .order_by(col(Run.sequence).desc())
        .limit(1)
    ).first()


def earlier_company(session: Session, company: RunCompany) -> RunCompany | None:
    """The same company, by its domain, in the run of its batch before; None where that run had none."""
    before = previous_run(session, get_run(session, company.run_id))
    return None if before is None else find_company(session, before.id, company.domain)


def with_earlier(session: Session, run: Run) -> list[tuple[RunCompany, RunCompany]]:
    """The companies that a run has not begun with, each with the same company in the run of its batch before."""
    before = previous_run(session, run)
    if before is None:
        return []
    earlier = {company.domain: company for company in run_companies(session, before.id)}
    return [
        (company, earlier[company.domain])
        for company in run_companies(session, run.id)
        if company.status is CompanyStatus.PENDING and company.room_id is None and company.domain in earlier
    ]


def finish_run(session: Session, run_id: str, status: RunStatus) -> None:
    """Write down how the run ended."""
    run = session.get_one(Run, run_id)
    run.status = status
    run.finished_at = now()
    session.add(run)


def note_report(session: Session, run_id: str) -> None:
    """Write down that the run's report is there: only now has it come to its end."""
    run = session.get_one(Run, run_id)
    run.reported_at = now()
    session.add(run)


def prunable_runs(session: Session, keep: int) -> tuple[Sequence[Run], datetime | None]:
    """The runs that nobody needs beside the newest `keep` that came to their report, and when the first of these began.

    The newest run of each batch that came to its report is needed, and every run that can go on. Of the rest none is in
    use: a process works on runs without a report alone, or on that of an estimate, which is superseded from its start.
    """
    finished: list[Run] = []
    others: list[Run] = []
    for run in session.exec(select(Run).order_by(col(Run.sequence).desc())):
        if run.status is RunStatus.SUPERSEDED:
            if run.finished_at is not None or run.started_at < now() - _LONGEST_ESTIMATE:
                others.append(run)
        elif run.reported_at is not None:
            finished.append(run)
    needed = {run.id for run in finished[:keep]}
    batches: set[str] = set()
    for run in finished:
        if run.batch not in batches:
            batches.add(run.batch)
            needed.add(run.id)
    first = min((run.started_at for run in finished[:keep]), default=None)
    return [run for run in [*finished, *others] if run.id not in needed], first


_LONGEST_ESTIMATE = timedelta(days=1)
"""A superseded run without an end is that of an estimate: under way, or killed."""


def newest_runs(session: Session, most: int) -> Sequence[Run]:
    """The runs, the newest first, so many at most."""
    return session.exec(select(Run).order_by(col(Run.sequence).desc()).limit(most)).all()


def add_cost(
    session: Session, run_id: str, calls: int, input_tokens: int, output_tokens: int, usd: float | None = None
) -> None:
    """Add what was spent to the run's cost; `usd` is None where the price is not known."""
    spent: dict[str, Any] = {
        "calls": Run.calls + calls,
        "input_tokens": Run.input_tokens + input_tokens,
        "output_tokens": Run.output_tokens + output_tokens,
    }
    if usd is not None:
        spent["usd"] = func.coalesce(Run.usd, 0.0) + usd
    session.exec(update(Run).where(col(Run.id) == run_id).values(**spent))


def run_companies(session: Session, run_id: str) -> Sequence[RunCompany]:
    """The run's companies in the batch's order."""
    return session.exec(select(RunCompany).where(RunCompany.run_id == run_id).order_by(col(RunCompany.ordinal))).all()


def get_company(session: Session, company_id: int) -> RunCompany:
    """The company of a run, by its id."""
    return session.get_one(RunCompany, company_id)


def find_company(session: Session, run_id: str, domain: str) -> RunCompany | None:
    """The company of a run by its domain; None where the run has none."""
    return session.exec(select(RunCompany).where(RunCompany.run_id == run_id, RunCompany.domain == domain)).first()


def save_company(session: Session, company: RunCompany) -> None:
    """Keep what has changed of a run's company."""
    session.merge(company)


def save_companies(session: Session, companies: Iterable[RunCompany]) -> None:
    """Keep what has changed of companies that were read in another session."""
    session.add_all(companies)


def add_documents(
    session: Session, company_id: int, listed: Sequence[RoomDocument], outcomes: Sequence[DocumentOutcome]
) -> None:
    """Write down the documents of a company that the run has not begun with, and what became of each, in one order."""
    rows = [
        {
            "company_id": company_id,
            "document_id": document.document_id,
            "name": document.name,
            "path": document.path,
            "url": document.url,
            "status": outcome.status,
            "content_hash": outcome.content_hash,
            "text_id": outcome.text_id,
            "characters": outcome.characters,
            "warning": outcome.warning,
        }
        for document, outcome in zip(listed, outcomes, strict=True)
    ]
    if rows:
        session.connection().execute(insert(table_of(RunDocument)), rows)


def place_documents(session: Session, company_id: int, documents: Iterable[RunDocument]) -> None:
    """Write down which documents the run has to do with; those it has come to already keep their outcome.

    A document that has left the index since the run was broken off leaves the run too.
    """
    known = {row.document_id: row for row in company_documents(session, company_id)}
    new: list[dict[str, Any]] = []
    for document in documents:
        row = known.pop(document.document_id, None)
        if row is None:
            new.append(values_of(document))
        else:
            row.name, row.path, row.url = document.name, document.path, document.url
    for gone in known.values():
        session.delete(gone)
    session.flush()
    if new:
        session.connection().execute(insert(table_of(RunDocument)), new)


def company_documents(session: Session, company_id: int) -> Sequence[RunDocument]:
    """The company's documents in this run, by path and name."""
    rows = session.exec(select(RunDocument).where(RunDocument.company_id == company_id))
    return sorted(rows, key=lambda row: (row.path, row.name, row.document_id))  # PostgreSQL sorts by its own language


def some_documents(session: Session, company_id: int, document_ids: Sequence[str]) -> Sequence[RunDocument]:
    """Those of the company's documents in this run that have one of these ids, in no order."""
    found: list[RunDocument] = []
    for start in range(0, len(document_ids), 500):
        some = col(RunDocument.document_id).in_(document_ids[start : start + 500])
        found += session.exec(select(RunDocument).where(RunDocument.company_id == company_id, some))
    return found


def documents_of_companies(session: Session, company_ids: Sequence[int]) -> dict[int, list[RunDocument]]:
    """The documents of these companies (a few hundred at most), by company, by path and name."""
    found: dict[int, list[RunDocument]] = {company_id: [] for company_id in company_ids}
    for row in session.exec(select(RunDocument).where(col(RunDocument.company_id).in_(company_ids))):
        found[row.company_id].append(row)
    for rows in found.values():
        rows.sort(key=lambda row: (row.path, row.name, row.document_id))
    return found


def remarkable_documents(session: Session, run_id: str) -> Sequence[RunDocument]:
    """The documents of a run that have a warning, or that it has not come to, by path and name."""
    rows = session.exec(
        select(RunDocument)
        .join(RunCompany)
        .where(
            RunCompany.run_id == run_id,
            or_(col(RunDocument.warning).is_not(None), col(RunDocument.status) == DocumentStatus.PENDING),
        )
    )
    return sorted(rows, key=lambda row: (row.path, row.name, row.document_id))


def find_document(session: Session, run_id: str, document_id: str) -> RunDocument | None:
    """A document of a run, whichever of its companies has it."""
    return session.exec(
        select(RunDocument)
        .join(RunCompany)
        .where(RunCompany.run_id == run_id, RunDocument.document_id == document_id)
        .order_by(col(RunDocument.id))
        .limit(1)
    ).first()


def find_documents_by_hash(session: Session, run_id: str, beginning: str) -> Sequence[RunDocument]:
    """The documents of a run whose content's hash begins like this."""
    return session.exec(
        select(RunDocument)
        .join(RunCompany)
        .where(RunCompany.run_id == run_id, col(RunDocument.content_hash).startswith(beginning, autoescape=True))
    ).all()


def failed_contents(session: Session, batch: str) -> Sequence[str]:
    """The hashes of what the documents of a batch that have failed held, in all of its runs."""
    rows = session.exec(
        select(RunDocument.content_hash)
        .distinct()
        .join(RunCompany)
        .join(Run)
        .where(Run.batch == batch, RunDocument.status == DocumentStatus.FAILED)
    )
    return [content_hash for content_hash in rows if content_hash is not None]


def drives_of_document(session: Session, document_id: str) -> list[dict[str, str]]:
    """Where the runs that had this document, or documents inside of it, found it; the newest run's first, each once."""
    companies = select(RunDocument.company_id).where(
        or_(
            col(RunDocument.document_id) == document_id,
            col(RunDocument.document_id).startswith(f"{document_id}~", autoescape=True),
        )
    )
    runs = select(RunCompany.run_id).where(col(RunCompany.id).in_(companies))
    drives = session.exec(select(Run.drive).where(col(Run.id).in_(runs)).order_by(col(Run.sequence).desc()))
    return [dict(drive) for drive in dict.fromkeys(tuple(drive.items()) for drive in drives if drive is not None)]


def save_document_outcomes(session: Session, company_id: int, outcomes: Iterable[DocumentOutcome]) -> None:
    """Write down what became of documents in this run."""
    rows = [
        {
            "the_company": company_id,
            "the_document": outcome.document_id,
            "status": outcome.status,
            "content_hash": outcome.content_hash,
            "text_id": outcome.text_id,
            "characters": outcome.characters,
            "warning": outcome.warning,
        }
        for outcome in sorted(outcomes, key=lambda outcome: outcome.document_id)
    ]
    if rows:
        session.connection().execute(_OUTCOME, rows)


def save_document_outcome(session: Session, company_id: int, document_id: str, **outcome: Any) -> None:
    """Write down what became of a document in this run."""
    save_document_outcomes(session, company_id, [DocumentOutcome(document_id, **outcome)])


_documents = table_of(RunDocument)
_OUTCOME = update(_documents).where(
    _documents.c.company_id == bindparam("the_company"), _documents.c.document_id == bindparam("the_document")
)


def documents_done(session: Session, run_id: str) -> dict[int, tuple[int, int]]:
    """How many documents of each company of a run, by its id, the run has come to, and how many there are."""
    done = func.count().filter(col(RunDocument.status) != DocumentStatus.PENDING)
    rows = session.exec(
        select(RunDocument.company_id, done, func.count())
        .join(RunCompany)
        .where(RunCompany.run_id == run_id)
        .group_by(col(RunDocument.company_id))
    )
    return {company_id: (come_to, total) for company_id, come_to, total in rows}


def count_documents(session: Session, company_id: int) -> dict[DocumentStatus, int]:
    """How many of the company's documents have which status."""
    rows = session.exec(
        select(RunDocument.status, func.count())
        .where(RunDocument.company_id == company_id)
        .group_by(col(RunDocument.status))
    )
    return {DocumentStatus(status): count for status, count in rows}
