"""The seam: what every drive gives, and which one the settings name.

A drive answers for one account. What that account may not see does not exist here: `NotFound`
stands for unknown and not shared alike.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import unquote

from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest

_URL = re.compile(r"https?://", re.IGNORECASE)
_ID_IN_URL = re.compile(r"/(?:file/d|folders|d)/([^/?#]+)|[?&]id=([^&#]+)")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a listing, below the folder `parent_id` of the same listing.

    `path` is for reading: relative to the listed folder, `/` between names, "" for the folder itself.
    Names may repeat and may hold a `/` on some drives, so it identifies nothing.
    """

    id: str
    name: str
    path: str
    parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the drive describes it.

    `folder_id` is the listing's folder that it lies in, `path` that folder's path. `size` is in bytes,
    times are in UTC. `version` changes whenever the content may have changed.
    """

    id: str
    name: str
    folder_id: str
    path: str
    url: str
    mime_type: str
    size: int | None
    created: datetime | None
    updated: datetime | None
    version: str


@dataclass(slots=True)
class Listing:
    """What lies in a folder: each document once, `incomplete` when the drive could not show all of it."""

    folder: Folder
    folders: list[Folder] = field(default_factory=list)
    documents: list[Document] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A document's content on the local disk: the file, the SHA-256 of its bytes in hex, the version it is of."""

    path: Path
    content_hash: str
    version: str


class Drive(Protocol):
    """Where documents lie. Every method raises `NotFound`, `Unavailable` or `SourceFailed` where it cannot answer."""

    @property
    def name(self) -> str:
        """The drive's name in storage: the same for the same documents."""

    @property
    def remote(self) -> bool:
        """Whether its answers come over a network, so that an event loop must not wait for them."""

    def find_folder(self, given: str) -> str:
        """The id of the folder that a user names: by id, by URL, or by its path under the drive's root."""

    def list_folder(self, folder_id: str, *, recursive: bool) -> Listing:
        """Everything in the folder; with `recursive`, in its subfolders too."""

    def document(self, document_id: str) -> Document:
        """What the drive says of one document now. `path` is empty."""

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        """Bring the document's content into the folder `spool`.

        Raises:
            TooLarge: it is larger than `max_bytes`.
        """

    def open(self, document_id: str) -> BinaryIO:
        """The document's content as an open file, for showing it to the account's user."""


def identifier(given: str, field_name: str) -> str:
    """The id that a user gave, alone or within a URL (`/file/d/ID`, `/folders/ID`, `?id=ID`).

    Raises:
        BadRequest: nothing was given, or a URL without an id in it.
    """
    given = given.strip()
    if not given:
        raise BadRequest(f"{field_name} is empty: give an id or a URL.", {field_name: "must not be blank"})
    if not _URL.match(given):
        return given
    found = _ID_IN_URL.search(given)
    if found is None:
        problem = "this URL holds no id: expected /file/d/ID, /folders/ID or ?id=ID in it"
        raise BadRequest(f"{field_name}: {problem}.", {field_name: problem})
    return unquote(found.group(1) or found.group(2))


def open_drive() -> Drive:
    """The drive that the settings name.

    Raises:
        NotConfigured: the drive's root is missing or is no folder.
    """
    settings = DocumentSettings.current()
    return _open_local(settings.drive_root.absolute(), settings.base_url)


@lru_cache(maxsize=16)
def _open_local(root: Path, base_url: str) -> Drive:
    from tasks.documents.drive.local import LocalDrive  # noqa: PLC0415 - a drive imports this module

    return LocalDrive(root, base_url)
