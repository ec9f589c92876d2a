"""Document Index: what lies in a folder of the drive, as the contract shows it, and kept in storage.

Where the drive keeps a record of changes and none concerns the folder, the stored index is the answer.
"""

from collections.abc import Sequence
from contextlib import suppress

from storage import database, documents
from storage.database import DatabaseUnavailable, now
from storage.documents import Room, RoomFolder
from tasks.documents.drive.drive import Drive, Folder, Listing, identifier, open_drive, open_own_drive
from tasks.documents.drive.tree import ROOT
from tasks.documents.entries import DocumentIndex, document_index_of
from tasks.documents.reading import known_warnings
from tasks.documents.rows import columns_of, document_of
from tasks.documents.spool import spool
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
    drive = open_drive()
    folder_id = identifier(cloud_drive_folder, "cloud_drive_folder")
    if drive.remote and (folder_id == ROOT or folder_id != cloud_drive_folder.strip()):
        folder_id = drive.find_folder(cloud_drive_folder)  # the root has an id besides; a URL can hold a key
    room = _unchanged(drive, folder_id, recursive=recursive)
    if room is None:
        listing = drive.list_folder(folder_id, recursive=recursive)
        _keep(drive, listing, recursive=recursive)
    else:
        listing = _stored(room)
    warnings = known_warnings(drive, list(listing.documents))
    return document_index_of(listing, recursive=recursive, warnings=warnings)


@operation(name="index_room", asks_a_source=True)
def index_room(folder: str, recursive: bool = True) -> int:
    """List a folder, given by path, id or URL, as the account of runs sees it, and keep it; gives the room's id.

    Memory stays flat in the number of documents: they go from the drive to storage by way of the spool.
    """
    drive = open_own_drive()
    folder_id = drive.find_folder(folder)
    room = _unchanged(drive, folder_id, recursive=recursive)
    if room is not None:
        assert room.id is not None
        return room.id
    with spool() as on_disk:
        return _keep(drive, drive.list_folder(folder_id, recursive=recursive, spool=on_disk), recursive=recursive)


def _unchanged(drive: Drive, folder_id: str, *, recursive: bool) -> Room | None:
    """The stored room, if this account sees the folder still and nothing in it has changed since.

    Raises:
        NotFound: this account does not see the folder any more.
    """
    marked: Sequence[Room] = ()
    with suppress(DatabaseUnavailable), database.reading() as session:
        marked = documents.marked_rooms(session, folder_id, recursive=recursive)
    # Whose view it is costs a request: it is asked only where someone has a mark to go on from.
    room = next((each for each in marked if each.drive == drive.view), None)
    if room is None or room.mark is None or room.id is None:
        return None
    changes = drive.changes_since(folder_id, room.mark)
    if changes is None:
        return None
    with suppress(DatabaseUnavailable):
        with database.reading() as session:
            if documents.has_any(session, room, changes.ids):
                return None
        if changes.mark != room.mark:
            with database.writing() as session:
                documents.move_mark(session, room.id, changes.mark)
        return room
    return None


def _stored(room: Room) -> Listing:
    """The listing that was kept as this room."""
    assert room.id is not None
    with database.reading() as session:
        folders = documents.room_folders(session, room.id)
        entries = documents.room_documents(session, room.id)
    return Listing(
        Folder(room.folder_id, room.folder_name, ""),
        [Folder(each.folder_id, each.name, each.path, each.parent_id) for each in folders],
        [document_of(each) for each in entries],
        room.warnings,
        room.incomplete,
        room.mark,
        frozenset(room.watched),
    )


def _keep(drive: Drive, listing: Listing, *, recursive: bool) -> int:
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
        RoomFolder(room_id=0, folder_id=each.id, name=each.name, path=each.path, parent_id=each.parent_id)
        for each in listing.folders
    )
    with database.writing() as session:
        return documents.replace_room(session, room, folders, map(columns_of, listing.documents))
