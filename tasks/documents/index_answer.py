"""Turns a listing into the answer of Document Index: as an object, or as JSON that is written piece by piece."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import BaseModel

from tasks.documents.drive.drive import Document, Folder, Listing

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
