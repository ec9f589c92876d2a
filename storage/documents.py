"""The index: rooms (indexed folders), the documents and folders in them, and which content a document has.

A document's text is not here but in texts.py, keyed by what the document contains.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import JSON, BigInteger, Column, delete, insert
from sqlmodel import Field, Session, SQLModel, UniqueConstraint, col, select

from storage.database import UtcDateTime
from storage.upserts import put, table_of, values_of


class Room(SQLModel, table=True):
    """A folder of a drive as it was indexed last."""

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


class RoomFolder(SQLModel, table=True):
    """A folder below a room's folder. `path` is relative to the room's folder, `/` between names."""

    __tablename__ = "room_folders"

    id: int | None = Field(default=None, primary_key=True)
    room_id: int = Field(foreign_key="rooms.id", ondelete="CASCADE", index=True)
    folder_id: str
    name: str
    path: str


class RoomDocument(SQLModel, table=True):
    """A document of a room: its entry in the document index.

    `path` is the folder's path relative to the room's folder ("" for the room's own folder).
    `version` changes whenever the drive says that the content may have changed.
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
    """What a document held when it was fetched last: the hash of its bytes at that `version`."""

    __tablename__ = "contents"

    drive: str = Field(primary_key=True)
    document_id: str = Field(primary_key=True)
    version: str
    content_hash: str
    fetched_at: datetime = Field(sa_type=UtcDateTime)


def replace_room(session: Session, room: Room, folders: Iterable[RoomFolder], documents: Iterable[RoomDocument]) -> int:
    """Put `room` with all its entries in place of what was stored of it; gives the room's id."""
    put(session, room, "drive", "folder_id", "recursive")  # from here on, whoever indexes the same folder waits
    kept = find_room(session, room.drive, room.folder_id, recursive=room.recursive)
    assert kept is not None
    assert kept.id is not None
    for model, entries in ((RoomFolder, folders), (RoomDocument, documents)):
        table = table_of(model)
        session.connection().execute(delete(table).where(table.c.room_id == kept.id))
        rows = [values_of(entry) | {"room_id": kept.id} for entry in entries]
        if rows:
            session.connection().execute(insert(table), rows)  # 20,000 entries: half a second instead of ten
    return kept.id


def find_room(session: Session, drive: str, folder_id: str, *, recursive: bool = True) -> Room | None:
    """The room of that folder, when it was indexed."""
    return session.exec(
        select(Room).where(Room.drive == drive, Room.folder_id == folder_id, col(Room.recursive).is_(recursive))
    ).first()


def get_room(session: Session, room_id: int) -> Room:
    """The room of that id."""
    return session.get_one(Room, room_id)


def room_documents(session: Session, room_id: int) -> Sequence[RoomDocument]:
    """Every document of the room, by path and name."""
    rows = session.exec(select(RoomDocument).where(RoomDocument.room_id == room_id))
    return sorted(rows, key=lambda row: (row.path, row.name, row.document_id))  # PostgreSQL sorts by its own language


def some_documents(session: Session, room_id: int, document_ids: Sequence[str]) -> Sequence[RoomDocument]:
    """Those of the room's documents that have one of these ids (a few hundred at most), in no order."""
    return session.exec(
        select(RoomDocument).where(RoomDocument.room_id == room_id, col(RoomDocument.document_id).in_(document_ids))
    ).all()


def find_contents(session: Session, drive: str, document_ids: Sequence[str]) -> dict[str, Content]:
    """What is known of the content of these documents, by document id."""
    found: dict[str, Content] = {}
    for start in range(0, len(document_ids), 500):
        some = document_ids[start : start + 500]
        rows = session.exec(select(Content).where(Content.drive == drive, col(Content.document_id).in_(some)))
        found.update({row.document_id: row for row in rows})
    return found


def save_content(session: Session, content: Content) -> None:
    """Remember which content the document has now."""
    put(session, content, "drive", "document_id")
