"""The texts of a folder on the drive as its caller sees it, for questions about a room outside of a run."""

from pathlib import Path
from typing import Final, NamedTuple

from storage import database, documents, texts
from storage.run_documents import format_day
from storage.texts import StoredText
from tasks.documents.drive.drive import Document, Drive, identifier
from tasks.documents.drive.local import LocalDriveSettings
from tasks.documents.drive.registry import open_drive
from tasks.documents.index import index_folder_in_pieces
from tasks.documents.texts import find_known_texts, load_text
from tasks.errors import DiligenceError, NotAllowed, NotFound
from tasks.figures.ledger import LedgerText
from tasks.rooms.passages import part_privileged

_MOST_READ: Final = 200
"""Documents that one question reads at most; a run reads the rest."""


class FolderTexts(NamedTuple):
    """The texts of a room's documents, the names of the documents that have none, and how many are privileged."""

    texts: tuple[LedgerText, ...]
    unread: tuple[str, ...]
    kept: int


def room_texts(folder_id: str) -> FolderTexts:
    """The texts of a folder's documents that the caller sees, for a model: without privileged ones.

    Documents that have never been read are read, up to 200.

    Raises:
        BadRequest, NotFound: as `document_index`.
    """
    listing = index_folder_in_pieces.function(folder_id).listing
    listed = list(listing.documents)
    drive = open_drive()
    known = find_known_texts(drive, listed)
    new = [document for document in listed if document.id not in known][:_MOST_READ]
    for document in new:
        _read(drive, document)
    known |= find_known_texts(drive, new)
    found = [
        LedgerText(known[one.id].id, one.id, one.name, one.path, format_day(one.updated))
        for one in listed
        if one.id in known and known[one.id].characters
    ]
    have = {text.document_id for text in found}
    with database.reading() as session:
        above = [listing.folder.name, *documents.find_paths(session, listing.folder.id)]
    open_to_models, privileged = part_privileged(found, above)
    return FolderTexts(open_to_models, tuple(one.name for one in listed if one.id not in have), len(privileged))


def _read(drive: Drive, document: Document) -> None:
    """Read a document; why one could not be read is kept with it."""
    try:
        load_text(drive, document)
    except DiligenceError:
        return


def document_with_text(document_id: str) -> tuple[Document, StoredText]:
    """A document that the caller sees and its text, for a model; the text is read now if it never was.

    Raises:
        NotAllowed: it is privileged.
        BadRequest, NotFound, UnsupportedFormat, TooLarge, Unreadable, TookTooLong: as `document_text`.
    """
    drive = open_drive()
    document = drive.document(identifier(document_id, "document_id"))
    load_text(drive, document)
    summary = find_known_texts(drive, [document]).get(document.id)
    if summary is None:
        raise NotFound("The document is being changed. Ask again in a moment.")
    with database.reading() as session:
        above, text = documents.find_paths(session, document.id), texts.get_text(session, summary.id)
    path = drive.local_path(document.id)
    known = LedgerText(summary.id, document.id, document.name, document.path)
    _, privileged = part_privileged([known], [*above, *([_below_root(path)] if path else ())])
    if privileged:
        raise NotAllowed("The document is privileged: DILIGENCE_AI_PRIVILEGED keeps its words from models.")
    return document, text


def _below_root(file: Path) -> str:
    root = LocalDriveSettings.current().drive_root.resolve()
    return str(file.relative_to(root)) if file.is_relative_to(root) else file.name
