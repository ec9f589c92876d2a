"""Document Index: the contents of a folder of the drive, in the contract's form, and stored.

If the drive has a record of changes and none concerns the folder, the stored index is the answer. If that record may
miss something, the stored index is only used for a while, and says when it was made; runs do not use it then.

The answer is an object, or JSON that is written piece by piece.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from storage import database, documents
from storage.columns import now
from storage.documents import Room, RoomDocument, RoomFolder
from storage.errors import DatabaseUnavailable
from tasks.documents.drive.drive import ROOT, Document, DocumentSettings, Drive, Folder, Listing, identifier
from tasks.documents.drive.registry import choose_drive, open_drive, open_run_drive
from tasks.documents.drive.spool import spool
from tasks.documents.kinds.room import IndexedDocument, room_kinds
from tasks.documents.texts import find_known_texts, text_warning
from tasks.operation import operation

SOURCE = "Cloud_Drive"
Remarks = Mapping[str, Mapping[str, str]]
"""By document id its `warning`, `kind` and `state`, those that there are."""


class DocumentEntry(BaseModel):
    """One document. `warning` is present if reading it gave one, `kind` and `state` if they are certain."""

    document_id: str
    document_name: str
    document_url: str
    date_created: str | None
    date_updated: str | None
    size: str | None
    mime_type: str
    source: str
    warning: str | None = None
    kind: str | None = None
    state: str | None = None


class SubfolderEntry(BaseModel):
    """A folder below a category's folder. `path` is relative to the category."""

    folder_id: str
    subfolder_name: str
    path: str
    source: str
    documents: list[DocumentEntry]


class CategoryEntry(BaseModel):
    """The indexed folder itself, or one of its first-level subfolders with everything below it."""

    folder_id: str
    category: str
    source: str
    documents: list[DocumentEntry]
    subfolders: list[SubfolderEntry] | None = None


class DocumentIndex(BaseModel):
    """The answer of Document Index. Optional keys are absent unless they are set."""

    folder_id: str
    folder_name: str
    source: str
    document_index: list[CategoryEntry]
    incomplete: bool | None = None
    warnings: list[str] | None = None

    def answer(self) -> dict[str, Any]:
        """The JSON object of the contract."""
        return self.model_dump(mode="json", exclude_unset=True)

    def as_json(self) -> str:
        """The same as indented text. For 20,000 documents this takes 0.05 s, json.dumps 0.8 s."""
        return self.model_dump_json(exclude_unset=True, indent=2)


@dataclass(frozen=True, slots=True)
class IndexedFolder:
    """The contents of a folder, and what reading has shown, by document id."""

    listing: Listing
    recursive: bool
    remarks: Remarks

    def index(self) -> DocumentIndex:
        """The answer of Document Index."""
        return build_document_index(self.listing, recursive=self.recursive, remarks=self.remarks)

    def pieces(self) -> Iterator[bytes]:
        """The JSON of that answer in pieces of some 100 KB; entries are only made as they are sent."""
        by_folder = _by_folder(self.listing)
        waiting: list[bytes] = []
        size = 0
        for piece in _write_index(_build_index(self.listing, recursive=self.recursive), by_folder, self.remarks):
            waiting.append(piece)
            size += len(piece)
            if size >= _PIECE:
                yield b"".join(waiting)
                waiting, size = [], 0
        yield b"".join(waiting)


_PIECE: Final = 100_000
_ENTRIES: Final = 250
"""Documents that are written together: 100 KB."""


def build_document_index(listing: Listing, *, recursive: bool, remarks: Remarks) -> DocumentIndex:
    """Group a listing into categories. `remarks` are what reading has shown, by document id.

    Categories, subfolders and documents are in order of name. Deeper folders are flattened into their category, in
    order of path.
    """
    by_folder = _by_folder(listing)
    index = _build_index(listing, recursive=recursive)
    for category in index.document_index:
        for folder in (category, *(category.subfolders or ())):
            folder.documents = [
                _document(document, remarks.get(document.id)) for document in by_folder.get(folder.folder_id, ())
            ]
    return index


def _by_folder(listing: Listing) -> dict[str, list[Document]]:
    """The documents of each folder, sorted by name, under the folder's id."""
    by_folder: dict[str, list[Document]] = {}
    for document in sorted(listing.documents, key=lambda document: (document.name, document.id)):
        by_folder.setdefault(document.folder_id, []).append(document)
    return by_folder


def _build_index(listing: Listing, *, recursive: bool) -> DocumentIndex:
    """The index without its documents."""
    below: dict[str | None, list[Folder]] = {}
    for folder in sorted(listing.folders, key=lambda folder: (folder.name, folder.id)):
        below.setdefault(folder.parent_id, []).append(folder)
    top = listing.folder
    categories = [_category(top)]
    if recursive:
        categories[0].subfolders = []
        for first in below.get(top.id, ()):
            category = _category(first)
            category.subfolders = [
                SubfolderEntry(folder_id=folder.id, subfolder_name=folder.name, path=path, source=SOURCE, documents=[])
                for path, folder in _walk_folders(first, below)
            ]
            categories.append(category)
    index = DocumentIndex(folder_id=top.id, folder_name=top.name, source=SOURCE, document_index=categories)
    if listing.incomplete:
        index.incomplete = True
    if listing.warnings:
        index.warnings = listing.warnings
    return index


def _write_index(
    index: DocumentIndex, by_folder: Mapping[str, Sequence[Document]], remarks: Remarks
) -> Iterator[bytes]:
    """The JSON of an index that has no documents yet, with the documents filled in."""
    before, _, behind = _json(index.model_copy(update={"document_index": []})).partition(b'"document_index":[]')
    yield before + b'"document_index":['
    for number, category in enumerate(index.document_index):
        subfolders = category.subfolders
        without = category if subfolders is None else category.model_copy(update={"subfolders": []})
        yield b"," if number else b""
        yield from _with_documents(_json(without), by_folder.get(category.folder_id, ()), remarks)
        if subfolders is not None:
            yield b',"subfolders":['
            for place, subfolder in enumerate(subfolders):
                yield b"," if place else b""
                documents = by_folder.get(subfolder.folder_id, ())
                yield from _with_documents(_json(subfolder), documents, remarks)
                yield b"}"
            yield b"]"
        yield b"}"
    yield b"]" + behind


def _with_documents(folder: bytes, documents: Sequence[Document], remarks: Remarks) -> Iterator[bytes]:
    """The JSON of a folder up to the end of its documents, with these filled in.

    No name can be mistaken for its `"documents":[]`: a quotation mark within a name has a backslash before it.
    """
    yield folder.partition(b'"documents":[]')[0] + b'"documents":['
    for start in range(0, len(documents), _ENTRIES):
        entries = [_json(_document(each, remarks.get(each.id))) for each in documents[start : start + _ENTRIES]]
        yield (b"," if start else b"") + b",".join(entries)
    yield b"]"


def _json(part: BaseModel) -> bytes:
    return part.__pydantic_serializer__.to_json(part, exclude_unset=True)


def _walk_folders(folder: Folder, below: Mapping[str | None, list[Folder]]) -> Iterator[tuple[str, Folder]]:
    """All folders below `folder` with their paths from there, each before the folders in it."""
    waiting = [(child.name, child) for child in reversed(below.get(folder.id, ()))]
    while waiting:
        path, current = waiting.pop()
        yield path, current
        waiting.extend((f"{path}/{child.name}", child) for child in reversed(below.get(current.id, ())))


def _category(folder: Folder) -> CategoryEntry:
    return CategoryEntry(folder_id=folder.id, category=folder.name, source=SOURCE, documents=[])


def _document(document: Document, known: Mapping[str, str] | None) -> DocumentEntry:
    entry = DocumentEntry(
        document_id=document.id,
        document_name=document.name,
        document_url=document.url,
        date_created=_utc(document.created),
        date_updated=_utc(document.updated),
        size=None if document.size is None else human_size(document.size),
        mime_type=document.mime_type,
        source=SOURCE,
    )
    for name, value in (known or {}).items():
        setattr(entry, name, value)
    return entry


def human_size(size: int) -> str:
    """A size in bytes as the contract writes it: in units of 1024, at most one decimal, no space (`1.4MB`)."""
    value, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if round(value, 1) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f}".removesuffix(".0") + unit


def _utc(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


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
    old = (
        f"As of {room.indexed_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC; may be old: the drive does not report every "
        "change in this folder. DILIGENCE_INDEX_MAX_AGE says for how long the stored index is used."
    )
    return Listing(
        Folder(room.folder_id, room.folder_name, ""),
        [Folder(folder.folder_id, folder.name, folder.path, folder.parent_id) for folder in folders],
        [read_document_row(entry) for entry in entries],
        room.warnings if stored.certain else [*room.warnings, old],
        room.incomplete,
        room.mark,
        frozenset(room.watched),
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
    rows = (
        {"document_id": document.id} | {name: getattr(document, name) for name in _SAME}
        for document in listing.documents
    )
    with database.writing() as session:
        return documents.replace_room(session, room, folders, rows)


_SAME: Final = tuple(field.name for field in fields(Document) if field.name != "id")
"""Fields of a document that a row has under the same names."""


def read_document_row(row: RoomDocument) -> Document:
    """The document that a row describes."""
    return Document(row.document_id, **{name: getattr(row, name) for name in _SAME})
