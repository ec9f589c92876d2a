"""A file as Drive describes it, and the document that the product shows for it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote

from tasks.documents.drive.drive import Document

_APPS = "application/vnd.google-apps."
FOLDER = f"{_APPS}folder"
SHORTCUT = f"{_APPS}shortcut"
_EXTENSIONS = {
    f"{_APPS}document": ".docx",
    f"{_APPS}spreadsheet": ".xlsx",
    f"{_APPS}presentation": ".pptx",
    f"{_APPS}drawing": ".pdf",
}
_EDITORS = {
    f"{_APPS}document": "document",
    f"{_APPS}spreadsheet": "spreadsheets",
    f"{_APPS}presentation": "presentation",
    f"{_APPS}drawing": "drawings",
    f"{_APPS}form": "forms",
}
# What is asked of each file, and no more: 20,000 rows are 7 MB so. `parents` is asked for besides where it is
# not known, since pages with it are cut to 460 rows.
FIELDS = (
    "id,name,mimeType,size,createdTime,modifiedTime,md5Checksum,version,resourceKey,"
    "shortcutDetails(targetId,targetMimeType,targetResourceKey)"
)


class Target(NamedTuple):
    """What a shortcut leads to."""

    id: str
    mime_type: str
    key: str | None


class Row(NamedTuple):
    """A file of a listing, in the folder `parent`: plain values, so that it can rest on disk.

    Times are as Drive writes them, `version` is as in `Document`, `key` the resource key.
    """

    id: str
    name: str
    parent: str
    mime_type: str
    size: int | None
    created: str | None
    updated: str | None
    version: str
    key: str | None


def row_of(file: Mapping[str, Any], parent: str) -> Row:
    """The row of a file resource that was asked for with `FIELDS`."""
    get = file.get
    size = get("size")
    return Row(
        file["id"],
        get("name", ""),
        parent,
        get("mimeType", ""),
        None if size is None else int(size),
        get("createdTime"),
        get("modifiedTime"),
        version_of(file),
        get("resourceKey"),
    )


def version_of(file: Mapping[str, Any]) -> str:
    """The version in the sense of `Document`. Native documents have no md5; their `version` changes with each edit."""
    return file.get("md5Checksum") or f"v{file.get('version', '')}"


def target_of(file: Mapping[str, Any]) -> Target:
    """What a shortcut's file resource leads to."""
    details = file.get("shortcutDetails") or {}
    return Target(details.get("targetId", ""), details.get("targetMimeType", ""), details.get("targetResourceKey"))


Before = tuple[str, str, str]
After = tuple[str, str, int | None, datetime | None, datetime | None, str]


class Entry(NamedTuple):
    """A document but for its path: what `Document` takes before it, and what after."""

    before: Before
    after: After


def entry_of(row: Row) -> Entry:
    """The document of a row. The size of a native document is left out: what Drive says is not that of the export."""
    native = row.mime_type.startswith(_APPS)
    name = named(row.name, row.mime_type) if native else row.name
    size = None if native else row.size
    return Entry(
        (row.id, name, row.parent),
        (_url(row), row.mime_type, size, _time(row.created), _time(row.updated), row.version),
    )


def document_of(row: Row, path: str) -> Document:
    """The document of a row, in the folder with that path of the listing."""
    before, after = entry_of(row)
    return Document(before[0], before[1], before[2], path, *after)


def named(name: str, mime_type: str) -> str:
    """A file's name, with the extension of its export where it is a native document."""
    extension = _EXTENSIONS.get(mime_type, "")
    return name if name.lower().endswith(extension) else name + extension


def _url(row: Row) -> str:
    key = f"?resourcekey={quote(row.key)}" if row.key else ""
    if row.mime_type in _EDITORS:
        return f"https://docs.google.com/{_EDITORS[row.mime_type]}/d/{row.id}/edit{key}"
    return f"https://drive.google.com/file/d/{row.id}/view{key}"


def _time(written: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if written else None
    except ValueError:
        return None
