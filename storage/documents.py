"""The index: rooms (indexed folders), their documents and folders, and the content of each document.

Texts are stored in texts.py, by the hash of the content.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Any, cast

from sqlalchemy import JSON, BigInteger, Column, delete, func, insert, or_, update
from sqlalchemy import select as sql_select
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.columns import UtcDateTime, find_rows, find_table, now, put, put_new_rows, put_rows, row_values


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
    """The documents of the room that have one of these ids (a few hundred at most), in no order."""
    return session.exec(
        select(RoomDocument).where(RoomDocument.room_id == room_id, col(RoomDocument.document_id).in_(document_ids))
    ).all()


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
