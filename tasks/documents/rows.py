"""A drive's documents as the rows of an index, and back."""

from typing import Any

from storage.documents import RoomDocument
from tasks.documents.drive.drive import Document


def columns_of(document: Document) -> dict[str, Any]:
    """The columns of a document's row, but for the room's."""
    return {
        "document_id": document.id,
        "name": document.name,
        "folder_id": document.folder_id,
        "path": document.path,
        "url": document.url,
        "mime_type": document.mime_type,
        "size": document.size,
        "created": document.created,
        "updated": document.updated,
        "version": document.version,
    }


def document_of(row: RoomDocument) -> Document:
    """The document that a row describes."""
    return Document(
        id=row.document_id,
        name=row.name,
        folder_id=row.folder_id,
        path=row.path,
        url=row.url,
        mime_type=row.mime_type,
        size=row.size,
        created=row.created,
        updated=row.updated,
        version=row.version,
    )
