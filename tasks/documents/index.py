"""Document Index: what lies in a folder of the drive, as the contract shows it, and kept in storage."""

from storage import database, documents
from storage.database import now
from storage.documents import Room, RoomDocument, RoomFolder
from tasks.documents.drive.drive import Drive, Listing, identifier, open_drive
from tasks.documents.entries import DocumentIndex, document_index_of
from tasks.documents.reading import known_warnings
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
    listing = drive.list_folder(identifier(cloud_drive_folder, "cloud_drive_folder"), recursive=recursive)
    _keep(drive, listing, recursive=recursive)
    return document_index_of(listing, recursive=recursive, warnings=known_warnings(drive, listing.documents))


@operation(name="index_room", asks_a_source=True)
def index_room(folder: str, recursive: bool = True) -> int:
    """List a folder, given by path, id or URL, and keep it as a room; gives the room's id."""
    drive = open_drive()
    listing = drive.list_folder(drive.find_folder(folder), recursive=recursive)
    return _keep(drive, listing, recursive=recursive)


def _keep(drive: Drive, listing: Listing, *, recursive: bool) -> int:
    room = Room(
        drive=drive.name,
        folder_id=listing.folder.id,
        folder_name=listing.folder.name,
        recursive=recursive,
        indexed_at=now(),
        incomplete=listing.incomplete,
        warnings=listing.warnings,
    )
    folders = [RoomFolder(room_id=0, folder_id=each.id, name=each.name, path=each.path) for each in listing.folders]
    entries = [
        RoomDocument(
            room_id=0,
            document_id=each.id,
            name=each.name,
            folder_id=each.folder_id,
            path=each.path,
            url=each.url,
            mime_type=each.mime_type,
            size=each.size,
            created=each.created,
            updated=each.updated,
            version=each.version,
        )
        for each in listing.documents
    ]
    with database.writing() as session:
        return documents.replace_room(session, room, folders, entries)
