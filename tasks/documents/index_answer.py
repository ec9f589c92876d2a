"""From a listing to the answer of Document Index."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from tasks.documents.drive.drive import Document, Folder, Listing

SOURCE = "Cloud_Drive"
Remarks = Mapping[str, Mapping[str, str]]
"""By document id its `warning`, `kind` and `state`, those that there are."""


class DocumentEntry(BaseModel):
    """One document. `warning` is there when reading it gave one, `kind` and `state` where they are known and sure."""

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
    """The indexed folder itself, or one of its first-level subfolders with all that lies below."""

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

    def as_json(self, indent: int | None = None) -> bytes:
        """The same as JSON. For 20,000 documents json.dumps takes 0.8 s, and this 0.05 s."""
        return self.model_dump_json(exclude_unset=True, indent=indent).encode()


def build_document_index(listing: Listing, *, recursive: bool, remarks: Remarks) -> DocumentIndex:
    """Group a listing into categories. `remarks` are what is known from reading, by document id.

    Categories, subfolders and documents are in order of name. Deeper folders are flattened into their
    category, in order of path.
    """
    by_folder: dict[str, list[Document]] = {}
    for document in sorted(listing.documents, key=lambda document: (document.name, document.id)):
        by_folder.setdefault(document.folder_id, []).append(document)
    index = _build_index(listing, recursive=recursive)
    for category in index.document_index:
        for folder in (category, *(category.subfolders or ())):
            folder.documents = [
                _document(document, remarks.get(document.id)) for document in by_folder.get(folder.folder_id, ())
            ]
    return index


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
            category.subfolders = [_subfolder(path, folder) for path, folder in _walk_folders(first, below)]
            categories.append(category)
    index = DocumentIndex(folder_id=top.id, folder_name=top.name, source=SOURCE, document_index=categories)
    if listing.incomplete:
        index.incomplete = True
    if listing.warnings:
        index.warnings = listing.warnings
    return index


def _walk_folders(folder: Folder, below: Mapping[str | None, list[Folder]]) -> Iterator[tuple[str, Folder]]:
    """Every folder below `folder` with its path from there, before the folders that lie in it."""
    waiting = [(child.name, child) for child in reversed(below.get(folder.id, ()))]
    while waiting:
        path, current = waiting.pop()
        yield path, current
        waiting.extend((f"{path}/{child.name}", child) for child in reversed(below.get(current.id, ())))


def _category(folder: Folder) -> CategoryEntry:
    return CategoryEntry(folder_id=folder.id, category=folder.name, source=SOURCE, documents=[])


def _subfolder(path: str, folder: Folder) -> SubfolderEntry:
    return SubfolderEntry(folder_id=folder.id, subfolder_name=folder.name, path=path, source=SOURCE, documents=[])


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
    """A size in bytes as the contract writes it: in 1024s, at most one decimal, no space (`1.4MB`)."""
    value, unit = float(size), "B"
    for larger in ("KB", "MB", "GB", "TB"):
        if round(value, 1) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.1f}".removesuffix(".0") + unit


def _utc(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
