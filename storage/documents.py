"""Documents: the index of rooms (indexed folders) with the content of each document, and the documents of each run.

In a run a document has a status: pending, read, unchanged, empty, failed, unsupported. Texts are stored in texts.py, by
the hash of the content.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from typing import Any, Final, cast

from sqlalchemy import JSON, BigInteger, Column, bindparam, delete, func, insert, or_, update
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import (
    UtcDateTime,
    find_rows,
    find_table,
    now,
    put,
    put_new_rows,
    put_rows,
    row_values,
    string_enum,
)
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus


class Room(SQLModel, table=True):
    """A folder of a drive as one account saw it when it was last indexed.

    `drive` is the drive as that account sees it. `mark` is the position in the drive's record of changes at that time;
    `watched` are ids that belong to the index besides those of its folders and documents.
    """

    __tablename__ = "rooms"
    __table_args__ = (UniqueConstraint("drive", "folder_id", "recursive"),)

    id: int | None = Field(default=None, primary_key=True)
    drive: str
    folder_id: str
    recursive: bool = True
    folder_name: str
    indexed_at: datetime = Field(sa_type=UtcDateTime)
    incomplete: bool = False
    warnings: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False))
    mark: str | None = None
    watched: list[str] = Field(default_factory=list, sa_column=Column(JSON, nullable=False, server_default="[]"))


class RoomFolder(SQLModel, table=True):
    """A folder inside a room. `path` is relative to the room's folder, with `/` between names."""

    __tablename__ = "room_folders"

    id: int | None = Field(default=None, primary_key=True)
    room_id: int = Field(foreign_key="rooms.id", ondelete="CASCADE", index=True)
    folder_id: str
    name: str
    path: str
    parent_id: str | None = None


class RoomDocument(SQLModel, table=True):
    """A document of a room: its entry in the document index.

    `path` is the folder's path relative to the room's folder ("" for the room's own folder). `version` changes whenever
    the drive says that the content may have changed.
    """

    __tablename__ = "room_documents"
    __table_args__ = (UniqueConstraint("room_id", "document_id"),)

    id: int | None = Field(default=None, primary_key=True)
    room_id: int = Field(foreign_key="rooms.id", ondelete="CASCADE", index=True)
    document_id: str
    name: str
    folder_id: str
    path: str
    url: str
    mime_type: str
    size: int | None = Field(default=None, sa_type=BigInteger)  # files of 2 GB and more
    created: datetime | None = Field(default=None, sa_type=UtcDateTime)
    updated: datetime | None = Field(default=None, sa_type=UtcDateTime)
    version: str


class Content(SQLModel, table=True):
    """The hash of a document's bytes when it was last fetched, at that `version`."""

    __tablename__ = "contents"

    drive: str = Field(primary_key=True)
    document_id: str = Field(primary_key=True)
    version: str
    content_hash: str = Field(index=True)
    fetched_at: datetime = Field(sa_type=UtcDateTime)


def replace_room(
    session: Session, room: Room, folders: Iterable[RoomFolder], documents: Iterable[Mapping[str, Any]]
) -> int:
    """Store `room` with all its entries in place of what was stored for it; returns the room's id.

    Args:
        session: one that writes.
        room: the room.
        folders: its folders.
        documents: the columns of `RoomDocument` but for id and room_id. They are taken a few hundred at a
            time, so that a room of 200,000 needs no more memory than a small one. Of two with one
            document_id the first is kept.
    """
    put(session, room, "drive", "folder_id", "recursive")  # from here on, whoever indexes the same folder waits
    stored = find_room(session, room.drive, room.folder_id, recursive=room.recursive)
    assert stored is not None
    assert stored.id is not None
    for model in (RoomFolder, RoomDocument):
        table = find_table(model)
        session.connection().execute(delete(table).where(table.c.room_id == stored.id))
    for some in _place_in_room(stored.id, map(row_values, folders)):
        session.connection().execute(insert(find_table(RoomFolder)), some)
    for some in _place_in_room(stored.id, documents):
        put_new_rows(session, RoomDocument, some, "room_id", "document_id")
    return stored.id


def _place_in_room(room_id: int, rows: Iterable[Mapping[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The rows with the room's id, a thousand at a time: 20,000 entries take half a second instead of ten."""
    waiting = iter(rows)
    while some := [{**row, "room_id": room_id} for row in islice(waiting, 1000)]:
        yield some


def find_room(session: Session, drive: str, folder_id: str, *, recursive: bool = True) -> Room | None:
    """The room of that folder, if it has been indexed."""
    return session.exec(
        select(Room).where(Room.drive == drive, Room.folder_id == folder_id, col(Room.recursive).is_(recursive))
    ).first()


def list_marked_rooms(session: Session, folder_id: str, *, recursive: bool) -> Sequence[Room]:
    """The rooms of that folder, as different accounts saw it, that have a mark in the drive's record of changes."""
    return session.exec(
        select(Room).where(Room.folder_id == folder_id, col(Room.recursive).is_(recursive), col(Room.mark).is_not(None))
    ).all()


def has_any(session: Session, room: Room, ids: Iterable[str]) -> bool:
    """Whether one of these ids belongs to the room: its own, or that of a folder, document or watched item."""
    sought = set(ids)
    if room.folder_id in sought or not sought.isdisjoint(room.watched):
        return True
    return any(
        next(
            find_rows(session, sql_select(col(known)).where(col(room_id) == room.id).limit(1), col(known), sought), None
        )
        for room_id, known in (
            (RoomFolder.room_id, RoomFolder.folder_id),
            (RoomDocument.room_id, RoomDocument.document_id),
        )
    )


def move_mark(session: Session, room_id: int, mark: str) -> None:
    """Record that nothing in the room has changed up to that mark."""
    table = find_table(Room)
    session.connection().execute(update(table).where(table.c.id == room_id).values(mark=mark))


def room_folders(session: Session, room_id: int) -> Sequence[RoomFolder]:
    """Every folder of the room, in the order of listing."""
    return session.exec(select(RoomFolder).where(RoomFolder.room_id == room_id).order_by(col(RoomFolder.id))).all()


def get_room(session: Session, room_id: int) -> Room:
    """The room of that id."""
    return session.get_one(Room, room_id)


def room_documents(session: Session, room_id: int) -> Sequence[RoomDocument]:
    """Every document of the room, by path and name.

    They are plain rows for reading only: the session's objects take twice as long.
    """
    table = find_table(RoomDocument)
    rows = session.connection().execute(table.select().where(table.c.room_id == room_id))
    by_name = sorted(rows, key=attrgetter("path", "name", "document_id"))  # PostgreSQL sorts by its own language
    return cast("list[RoomDocument]", by_name)


def measure_room(session: Session, room_id: int) -> tuple[int, int]:
    """How many documents the room has, and the bytes of all whose size is known."""
    sizes = select(func.count(), func.sum(RoomDocument.size)).where(RoomDocument.room_id == room_id)
    count, size = session.exec(sizes).one()
    return count, size or 0


def some_documents(session: Session, room_id: int, document_ids: Sequence[str]) -> Sequence[RoomDocument]:
    """The documents of the room that have one of these ids, in no order: plain rows, as `room_documents`."""
    table = find_table(RoomDocument)
    of_room = table.select().where(table.c.room_id == room_id)
    return cast("list[RoomDocument]", list(find_rows(session, of_room, table.c.document_id, document_ids)))


def find_paths(session: Session, item_id: str) -> set[str]:
    """The paths of a folder, or of a document and its copies, in all rooms that have them; for files with the name."""
    of_folder = select(RoomFolder.path).where(RoomFolder.folder_id == item_id)
    contents = select(Content.content_hash).where(Content.document_id == item_id)
    copies = select(Content.document_id).where(col(Content.content_hash).in_(contents))
    is_one = or_(col(RoomDocument.document_id) == item_id, col(RoomDocument.document_id).in_(copies))
    files = session.exec(select(RoomDocument.path, RoomDocument.name).where(is_one))
    return {*session.exec(of_folder), *(f"{path}/{name}" for path, name in files)}


def find_contents(session: Session, drive: str, document_ids: Sequence[str]) -> dict[str, Content]:
    """What is known about the content of these documents, by document id, as plain rows."""
    of_drive = find_table(Content).select().where(col(Content.drive) == drive)
    rows = find_rows(session, of_drive, col(Content.document_id), document_ids)
    return {row.document_id: cast("Content", row) for row in rows}


def save_contents(session: Session, drive: str, contents: Mapping[str, tuple[str, str]]) -> None:
    """Store the present content of documents: by document id, the version and the hash of the content."""
    fetched: dict[str, Any] = {"drive": drive, "fetched_at": now()}
    rows = [
        fetched | {"document_id": document_id, "version": version, "content_hash": content_hash}
        for document_id, (version, content_hash) in sorted(contents.items())
    ]
    put_rows(session, Content, rows, "drive", "document_id")


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


def list_texts(documents: Sequence[RunDocument]) -> dict[str, int]:
    """The ids of the texts of those documents that have words."""
    return {row.document_id: row.text_id for row in documents if row.text_id is not None and row.characters}


def company_documents(session: Session, company_id: int) -> Sequence[RunDocument]:
    """The company's documents in this run, by path and name.

    They are plain rows for reading only: the session's objects take several times as long.
    """
    return load_company_documents(session, [company_id])[company_id]


def some_run_documents(
    session: Session, company_ids: Sequence[int], document_ids: Collection[str]
) -> Sequence[RunDocument]:
    """The documents of these companies of a run that have one of these ids, in no order."""
    of_companies = _documents.select().where(_documents.c.company_id.in_(company_ids))
    return cast("list[RunDocument]", list(find_rows(session, of_companies, _documents.c.document_id, document_ids)))


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
    """The content hashes of documents that failed, or have pages that were not read, in any run of the batch."""
    rows = session.exec(
        select(RunDocument.content_hash)
        .distinct()
        .join(RunCompany)
        .join(Run)
        .where(Run.batch == batch)
        .where(or_(col(RunDocument.status) == DocumentStatus.FAILED, _documents.c.pages_read < _documents.c.pages))
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
        .order_by(col(Run.sequence).desc())
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


def has_unread_pages(session: Session, company_id: int) -> bool:
    """Whether a company of a run has documents with pages that were not read."""
    unread = _documents.c.company_id == company_id, _documents.c.pages_read < _documents.c.pages
    return session.exec(select(_documents.c.id).where(*unread).limit(1)).first() is not None


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
