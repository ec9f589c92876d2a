"""The documents of a run and the status of each: pending, read, unchanged, empty, failed, unsupported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, cast

from sqlalchemy import bindparam, func, insert, or_, update
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import find_rows, find_table, string_enum
from storage.documents import RoomDocument
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus


class DocumentStatus(StrEnum):
    """`pending` until the run reaches the document; `unchanged` documents have their text from an earlier run."""

    PENDING = "pending"
    READ = "read"
    UNCHANGED = "unchanged"
    EMPTY = "empty"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"


class RunDocument(SQLModel, table=True):
    """The outcome of one document in one run.

    `path` is the folder's path in the room, `updated` the day on which the file was changed according to the drive
    (ISO). `pages` and `pages_read` are None where pages are not known.
    """

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
    updated: str | None = None
    pages: int | None = None
    pages_read: int | None = None


_documents = find_table(RunDocument)


def format_day(moment: datetime | str | None) -> str | None:
    """The day of a moment in ISO format; a day is returned as it is."""
    return moment.date().isoformat() if isinstance(moment, datetime) else moment


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """The outcome of one document: its status in the run, and its current text."""

    document_id: str
    status: DocumentStatus
    content_hash: str | None = None
    text_id: int | None = None
    characters: int = 0
    warning: str | None = None
    pages: int | None = None
    pages_read: int | None = None


_OF_OUTCOME: Final = tuple(field.name for field in fields(DocumentOutcome) if field.name != "document_id")


def pages_of(document: RunDocument | DocumentOutcome) -> dict[str, int | None]:
    """How many pages a document has and how many were read; empty where pages are not known."""
    return {} if document.pages is None else {"pages": document.pages, "pages_read": document.pages_read}


def add_documents(
    session: Session, company_id: int, listed: Sequence[RoomDocument], outcomes: Sequence[DocumentOutcome]
) -> None:
    """Insert the documents of a company that the run has not started, with their outcomes, in listing order."""
    rows = [_place(company_id, document) | _values(outcome) for document, outcome in zip(listed, outcomes, strict=True)]
    if rows:
        session.connection().execute(insert(_documents), rows)


def _place(company_id: int, document: RoomDocument | RunDocument) -> dict[str, Any]:
    named = {name: getattr(document, name) for name in ("document_id", "name", "path", "url")}
    return named | {"company_id": company_id, "updated": format_day(document.updated)}


def _values(outcome: DocumentOutcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in _OF_OUTCOME}


def place_documents(session: Session, company_id: int, documents: Iterable[RoomDocument | RunDocument]) -> None:
    """Insert the documents of a company as pending; those with an outcome keep it.

    Documents that left the index while the run was interrupted are removed from the run.
    """
    stored = session.exec(select(RunDocument).where(RunDocument.company_id == company_id))
    known = {row.document_id: row for row in stored}
    new: list[dict[str, Any]] = []
    for document in documents:
        row = known.pop(document.document_id, None)
        if row is None:
            new.append(_place(company_id, document) | {"status": DocumentStatus.PENDING, "characters": 0})
        else:
            row.name, row.path, row.url = document.name, document.path, document.url
            row.updated = format_day(document.updated)
    for gone in known.values():
        session.delete(gone)
    session.flush()
    if new:
        session.connection().execute(insert(_documents), new)


def company_documents(session: Session, company_id: int) -> Sequence[RunDocument]:
    """The company's documents in this run, by path and name.

    They are plain rows for reading only: the session's objects take several times as long.
    """
    return load_company_documents(session, [company_id])[company_id]


def some_documents(session: Session, company_id: int, document_ids: Sequence[str]) -> Sequence[RunDocument]:
    """The company's documents in this run that have one of these ids, in no order."""
    of_company = _documents.select().where(_documents.c.company_id == company_id)
    return cast("list[RunDocument]", list(find_rows(session, of_company, _documents.c.document_id, document_ids)))


def load_company_documents(session: Session, company_ids: Sequence[int]) -> dict[int, list[RunDocument]]:
    """`company_documents` for these companies (a few hundred at most), by company id."""
    by_company: dict[int, list[RunDocument]] = {company_id: [] for company_id in company_ids}
    of_these = sql_select(_documents).where(_documents.c.company_id.in_(company_ids))
    for row in session.connection().execute(of_these):
        by_company[row.company_id].append(cast("RunDocument", row))
    for rows in by_company.values():
        rows.sort(key=attrgetter("path", "name", "document_id"))  # PostgreSQL sorts by its own language
    return by_company


def remarkable_documents(session: Session, run_id: str) -> Sequence[RunDocument]:
    """The documents of a run that have a warning, or that it has not reached, by path and name."""
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
    """The documents of a run whose content hash starts with `beginning`."""
    return session.exec(
        select(RunDocument)
        .join(RunCompany)
        .where(RunCompany.run_id == run_id, col(RunDocument.content_hash).startswith(beginning, autoescape=True))
    ).all()


def list_failed_contents(session: Session, batch: str) -> Sequence[str]:
    """The content hashes of documents that failed in any run of the batch."""
    rows = session.exec(
        select(RunDocument.content_hash)
        .distinct()
        .join(RunCompany)
        .join(Run)
        .where(Run.batch == batch, RunDocument.status == DocumentStatus.FAILED)
    )
    return [content_hash for content_hash in rows if content_hash is not None]


def find_document_drives(session: Session, document_id: str) -> list[dict[str, str]]:
    """The drives on which runs found this document, or documents inside it; the newest run's first, each once."""
    companies = select(RunDocument.company_id).where(
        or_(
            col(RunDocument.document_id) == document_id,
            col(RunDocument.document_id).startswith(f"{document_id}~", autoescape=True),
        )
    )
    runs = select(RunCompany.run_id).where(col(RunCompany.id).in_(companies))
    drives = session.exec(select(Run.drive).where(col(Run.id).in_(runs)).order_by(col(Run.sequence).desc()))
    return [dict(drive) for drive in dict.fromkeys(tuple(drive.items()) for drive in drives if drive is not None)]


def newest_run_with(session: Session, document_id: str, text_id: int) -> str | None:
    """The id of the newest run that read this document with this text; None if there is none."""
    newest = (
        select(Run.id)
        .join(RunCompany, col(RunCompany.run_id) == col(Run.id))
        .join(RunDocument, col(RunDocument.company_id) == col(RunCompany.id))
        .where(RunDocument.document_id == document_id, RunDocument.text_id == text_id)
        .order_by(col(Run.started_at).desc())
    )
    return session.exec(newest.limit(1)).first()


def save_document_outcomes(session: Session, company_id: int, outcomes: Iterable[DocumentOutcome]) -> None:
    """Store the outcomes of documents in this run."""
    rows = [
        {"the_company": company_id, "the_document": outcome.document_id, **_values(outcome)}
        for outcome in sorted(outcomes, key=lambda outcome: outcome.document_id)
    ]
    if rows:
        session.connection().execute(_OUTCOME, rows)


_OUTCOME = update(_documents).where(
    _documents.c.company_id == bindparam("the_company"), _documents.c.document_id == bindparam("the_document")
)


def documents_done(session: Session, run_id: str) -> dict[int, tuple[int, int]]:
    """How many documents of each company the run has finished, and how many there are, by company id."""
    done = func.count().filter(col(RunDocument.status) != DocumentStatus.PENDING)
    rows = session.exec(
        select(RunDocument.company_id, done, func.count())
        .join(RunCompany)
        .where(RunCompany.run_id == run_id)
        .group_by(col(RunDocument.company_id))
    )
    return {company_id: (come_to, total) for company_id, come_to, total in rows}


def count_documents(session: Session, company_id: int) -> dict[DocumentStatus, int]:
    """How many of the company's documents have each status."""
    rows = session.exec(
        select(RunDocument.status, func.count())
        .where(RunDocument.company_id == company_id)
        .group_by(col(RunDocument.status))
    )
    return {DocumentStatus(status): count for status, count in rows}


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Runs by status; companies and documents by status for runs under way (or killed); the USD of all runs."""

    runs: Mapping[RunStatus, int]
    under_way: Sequence[Run]
    companies: Mapping[CompanyStatus, int]
    documents: Mapping[DocumentStatus, int]
    usd: float


def read_run_metrics(session: Session) -> RunMetrics:
    """The current numbers, from four queries that read the rows of runs under way and one row of every other run."""
    is_running = col(Run.status) == RunStatus.RUNNING
    counted = session.exec(select(Run.status, func.count(), func.sum(Run.usd)).group_by(col(Run.status))).all()
    companies = (
        select(RunCompany.status, func.count())
        .join(Run, col(RunCompany.run_id) == col(Run.id))
        .where(is_running)
        .group_by(col(RunCompany.status))
    )
    documents = (
        select(RunDocument.status, func.count())
        .join(RunCompany, col(RunDocument.company_id) == col(RunCompany.id))
        .join(Run, col(RunCompany.run_id) == col(Run.id))
        .where(is_running)
        .group_by(col(RunDocument.status))
    )
    return RunMetrics(
        runs={RunStatus(status): count for status, count, _ in counted},
        under_way=session.exec(select(Run).where(is_running)).all(),
        companies={CompanyStatus(status): count for status, count in session.exec(companies)},
        documents={DocumentStatus(status): count for status, count in session.exec(documents)},
        usd=sum(usd or 0.0 for _, _, usd in counted),
    )
