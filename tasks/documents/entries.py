"""The document index as the contract shows it, made from a drive's listing."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel

from tasks.documents.drive.drive import Document, Folder, Listing

SOURCE = "Cloud_Drive"


class DocumentEntry(BaseModel):
    """One document. `warning` stands there when reading it gave one."""

    document_id: str
    document_name: str
    document_url: str
    date_created: str | None
    date_updated: str | None
    size: str | None
    mime_type: str
    source: str
    warning: str | None = None


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
    """The answer of Document Index. Optional keys are absent unless they were set."""

    folder_id: str
    folder_name: str
    source: str
    document_index: list[CategoryEntry]
    incomplete: bool | None = None
    warnings: list[str] | None = None

    def answer(self) -> dict[str, Any]:
        """The JSON object of the contract."""
        return self.model_dump(mode="json", exclude_unset=True)


def document_index_of(listing: Listing, *, recursive: bool, warnings: Mapping[str, str]) -> DocumentIndex:
    """Group a listing into categories; `warnings` holds what reading said, by document id.

    Categories, subfolders and documents come in order of name; deeper folders stand flattened in
    their category, in order of path.
    """
    documents: dict[str, list[DocumentEntry]] = {}
    for document in sorted(listing.documents, key=lambda each: (each.name, each.id)):
        documents.setdefault(document.folder_id, []).append(_document(document, warnings.get(document.id)))
    below: dict[str | None, list[Folder]] = {}
    for folder in sorted(listing.folders, key=lambda each: (each.name, each.id)):
        below.setdefault(folder.parent_id, []).append(folder)
    top = listing.folder
    categories = [_category(top, documents)]
    if recursive:
        categories[0].subfolders = []
        for first in below.get(top.id, ()):
            category = _category(first, documents)
            category.subfolders = [_subfolder(path, each, documents) for path, each in _flattened(first, below)]
            categories.append(category)
    index = DocumentIndex(folder_id=top.id, folder_name=top.name, source=SOURCE, document_index=categories)
    if listing.incomplete:
        index.incomplete = True
    if listing.warnings:
        index.warnings = listing.warnings
    return index


def _flattened(folder: Folder, below: Mapping[str | None, list[Folder]]) -> Iterator[tuple[str, Folder]]:
    """Every folder below `folder` with its path from there, each before what lies in it."""
    waiting = [(each.name, each) for each in reversed(below.get(folder.id, ()))]
    while waiting:
        path, each = waiting.pop()
        yield path, each
        waiting.extend((f"{path}/{deeper.name}", deeper) for deeper in reversed(below.get(each.id, ())))


def _category(folder: Folder, documents: Mapping[str, list[DocumentEntry]]) -> CategoryEntry:
    return CategoryEntry(
        folder_id=folder.id, category=folder.name, source=SOURCE, documents=documents.get(folder.id, [])
    )


def _subfolder(path: str, folder: Folder, documents: Mapping[str, list[DocumentEntry]]) -> SubfolderEntry:
    return SubfolderEntry(
        folder_id=folder.id,
        subfolder_name=folder.name,
        path=path,
        source=SOURCE,
        documents=documents.get(folder.id, []),
    )


def _document(document: Document, warning: str | None) -> DocumentEntry:
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
    if warning:
        entry.warning = warning
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
