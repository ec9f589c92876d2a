"""Document Index: the contents of a folder of the drive, in the contract's form, and stored.

If the drive has a record of changes and none concerns the folder, the stored index is the answer. If that record may
miss something, the stored index is only used for a while, and says when it was made; runs do not use it then.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from storage import database, documents
from storage.columns import now
from storage.documents import Room, RoomDocument, RoomFolder
from storage.errors import DatabaseUnavailable
from tasks.documents.drive.drive import ROOT, Document, Drive, Folder, Listing, identifier
from tasks.documents.drive.registry import choose_drive, open_drive, open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.index_answer import DocumentIndex, IndexedFolder
from tasks.documents.kinds.room import IndexedDocument, room_kinds
from tasks.documents.settings import DocumentSettings
from tasks.documents.texts import find_known_texts, text_warning
from tasks.operation import operation


@operation(name="document_index", asks_a_source=True)
def document_index(cloud_drive_folder: str, recursive: bool = True) -> DocumentIndex:
    """Index a folder of the drive.

    Args:
        cloud_drive_folder: the folder's id, or a URL with the id in it.
        recursive: whether subfolders are indexed too.

    Raises:
        BadRequest: no id was given. NotFound: no such folder for this account.
    """
    return index_folder_in_pieces.function(cloud_drive_folder, recursive=recursive).index()


@operation(name="document_index", asks_a_source=True)
def index_folder_in_pieces(cloud_drive_folder: str, recursive: bool = True) -> IndexedFolder:
    """`document_index`, to be written piece by piece.

    Raises:
        BadRequest, NotFound: as `document_index`.
    """
    drive = open_drive()
    folder_id = identifier(cloud_drive_folder, "cloud_drive_folder")
    if drive.remote and (folder_id == ROOT or folder_id != cloud_drive_folder.strip()):
        folder_id = drive.find_folder(cloud_drive_folder)  # the root has another id too; a URL can hold a key
    max_age = timedelta(hours=DocumentSettings.current().index_max_age)
    stored = _find_unchanged(drive, folder_id, recursive=recursive, max_age=max_age)
    if stored is None:
        listing = drive.list_folder(folder_id, recursive=recursive)
        _store(drive, listing, recursive=recursive)
    else:
        listing = _read_listing(stored)
    return IndexedFolder(listing, recursive, _remarks(drive, list(listing.documents)))


def _remarks(drive: Drive, listed: Sequence[Document]) -> dict[str, dict[str, str]]:
    """What is known from reading these documents in their current versions, by document id."""
    known = find_known_texts(drive, listed)
    room = room_kinds(
        [IndexedDocument(document.id, document.name, document.path) for document in listed if document.id in known],
        {document_id: text.id for document_id, text in known.items() if text.characters},
        {},
        find=False,
    )
    remarks = {}
    for document_id, text in known.items():
        what = room.kinds[document_id]
        remark = {"warning": text_warning(text), "kind": what.title, "state": what.state if what.kind else None}
        remarks[document_id] = {name: value for name, value in remark.items() if value}
    return remarks


@operation(name="index_room", asks_a_source=True)
def index_room(folder: str, recursive: bool = True) -> int:
    """List a folder, named by path, id or URL, as the account of runs sees it; store it and return the room's id.

    The documents go from the drive to storage through the spool, so that memory use does not grow with their number.
    """
    drive = open_run_drive()
    folder_id = drive.find_folder(folder)
    stored = _find_unchanged(drive, folder_id, recursive=recursive, max_age=timedelta(0))
    if stored is not None:
        assert stored.room.id is not None
        return stored.room.id
    with spool() as on_disk:
        return _store(drive, drive.list_folder(folder_id, recursive=recursive, spool=on_disk), recursive=recursive)


class _Stored(NamedTuple):
    """A stored room without changes, as far as the drive can tell; `certain`: it can tell for all of it."""

    room: Room
    certain: bool


def _find_unchanged(drive: Drive, folder_id: str, *, recursive: bool, max_age: timedelta) -> _Stored | None:
    """The stored room, if this account still sees the folder and nothing in it has changed since.

    Args:
        drive: the drive as the account sees it.
        folder_id: the folder.
        recursive: whether its subfolders belong to the room.
        max_age: of a room of which the drive may not tell every change.

    Raises:
        NotFound: this account does not see the folder any more.
    """
    if not choose_drive().keeps_changes:
        return None
    marked: Sequence[Room] = ()
    with suppress(DatabaseUnavailable), database.reading() as session:
        marked = documents.list_marked_rooms(session, folder_id, recursive=recursive)
    # To know whose view it is may take a request: `drive.view` is asked for only where there is a mark to go on from.
    room = next((candidate for candidate in marked if candidate.drive == drive.view), None)
    if room is None or room.mark is None or room.id is None:
        return None
    changes = drive.changes_since(folder_id, room.mark)
    if changes is None or not (changes.complete or timedelta(0) <= now() - room.indexed_at < max_age):
        return None
    with suppress(DatabaseUnavailable):
        with database.reading() as session:
            if documents.has_any(session, room, changes.ids):
                return None
        if changes.mark != room.mark:
            with database.writing() as session:
                documents.move_mark(session, room.id, changes.mark)
        return _Stored(room, changes.complete)
    return None


def _read_listing(stored: _Stored) -> Listing:
    """The listing stored as this room."""
    room = stored.room
    assert room.id is not None
    with database.reading() as session:
        folders = documents.room_folders(session, room.id)
        entries = documents.room_documents(session, room.id)
    return Listing(
        Folder(room.folder_id, room.folder_name, ""),
        [Folder(folder.folder_id, folder.name, folder.path, folder.parent_id) for folder in folders],
        [read_document_row(entry) for entry in entries],
        room.warnings if stored.certain else [*room.warnings, _format_time(room.indexed_at)],
        room.incomplete,
        room.mark,
        frozenset(room.watched),
    )


def _format_time(time: datetime) -> str:
    return (
        f"As of {time.astimezone(UTC):%Y-%m-%d %H:%M} UTC; may be old: the drive does not report every change in this "
        "folder. DILIGENCE_INDEX_MAX_AGE says for how long the stored index is used."
    )


def _store(drive: Drive, listing: Listing, *, recursive: bool) -> int:
    room = Room(
        drive=drive.view,
        folder_id=listing.folder.id,
        folder_name=listing.folder.name,
        recursive=recursive,
        indexed_at=now(),
        incomplete=listing.incomplete,
        warnings=listing.warnings,
        mark=listing.mark,
        watched=sorted(listing.watched),
    )
    folders = (
        RoomFolder(room_id=0, folder_id=folder.id, name=folder.name, path=folder.path, parent_id=folder.parent_id)
        for folder in listing.folders
    )
    with database.writing() as session:
        return documents.replace_room(session, room, folders, map(document_columns, listing.documents))


_SAME: Final = tuple(field.name for field in fields(Document) if field.name != "id")
"""Fields of a document that a row has under the same names."""


def document_columns(document: Document) -> dict[str, Any]:
    """The columns of a document's row, except the room's."""
    return {"document_id": document.id} | {name: getattr(document, name) for name in _SAME}


def read_document_row(row: RoomDocument) -> Document:
    """The document that a row describes."""
    return Document(row.document_id, **{name: getattr(row, name) for name in _SAME})
