"""What every drive gives: the protocol `Drive` and what its methods take and return.

A drive answers for one account. What that account may not see does not exist: `NotFound` stands for
unknown and for not shared. `description` says what a drive can do, `registry` which drives there are.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, Self
from urllib.parse import unquote

from tasks.errors import BadRequest

ROOT = "root"
"""The id by which every drive knows its top folder, besides the folder's own id if it has one."""
_CLUTTER = {"thumbs.db", "desktop.ini"}
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
    """What lies in a folder, every document once. It is `incomplete` when the drive could not show all of it.

    Documents that are on disk (`list_folder` with a spool) may come twice: the first one counts.
    """

    folder: Folder
    folders: list[Folder] = field(default_factory=list)
    documents: Collection[Document] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    incomplete: bool = False
    mark: str | None = None
    """Where the drive's record of changes stood before the listing began; None where the drive keeps none."""
    watched: frozenset[str] = frozenset()
    """Ids besides those of the folders and documents whose change would make this another listing (shortcuts)."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a drive has recorded since a mark: the ids of what changed and of its folders now, and the next mark.

    Where it is not `complete`, the record may lack some of what changed in the folder.
    """

    ids: frozenset[str]
    mark: str
    complete: bool = True


@dataclass
class Fetched:
    """A document's content on the local disk: the file, the SHA-256 of its bytes in hex, and its version.

    The file, a copy in the spool, is there until `release`. A `with` block releases it.
    """

    path: Path
    content_hash: str
    version: str

    def is_unchanged(self) -> bool:
        """Whether the file still holds what was hashed, for the reader to ask at the end. A copy always does."""
        return True

    def release(self) -> None:
        """Remove the file: it is not needed any more."""
        self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


class Drive(Protocol):
    """Where documents lie. Every method raises `NotFound`, `Unavailable` or `SourceFailed` where it cannot answer."""

    @property
    def name(self) -> str:
        """The drive's name in storage: the same for the same documents, whichever account sees them."""

    @property
    def view(self) -> str:
        """The name in storage of what this account sees of the drive: an index is kept under it."""

    @property
    def remote(self) -> bool:
        """Whether its answers come over a network. An event loop must not wait for them."""

    @property
    def max_parallel_fetches(self) -> int:
        """How many documents to fetch at the same time at most."""

    def find_folder(self, reference: str) -> str:
        """The id of the folder that a user names: by id, by URL, or by its path under the drive's root."""

    def find_document(self, reference: str) -> str:
        """The id of the document that a caller names, by id or by URL."""

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        """Everything in the folder; with `recursive`, in its subfolders too.

        With a folder on disk in `spool`, the documents are kept there and not in memory, for as long as it exists.
        """

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        """What changed since a listing's mark. This account must still see the folder.

        None where the drive does not know, or no longer: then the folder has to be listed again.
        """

    def document(self, document_id: str) -> Document:
        """One document as it is now. `path` is empty."""

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        """Bring the document's content to the local disk, into the folder `spool` if it is not on the disk already.

        Raises:
            TooLarge: it is larger than `max_bytes`.
        """

    def open(self, document_id: str) -> BinaryIO:
        """The document's content as an open file, for showing it to the account's user."""

    def local_path(self, document_id: str) -> Path | None:
        """Where the document, or the archive that it is in, lies on this machine's disk; None where it does not.

        For links of pages that are opened from the file system.
        """


def identifier(reference: str, field_name: str) -> str:
    """The id in a user's text, which is the id itself or a URL with it (`/file/d/ID`, `/folders/ID`, `?id=ID`).

    Raises:
        BadRequest: the text is blank, or a URL without an id in it. The error names the field.
    """
    reference = reference.strip()
    if not reference:
        raise BadRequest(f"{field_name} is empty: give an id or a URL.", {field_name: "must not be blank"})
    if not _URL.match(reference):
        return reference
    match = _ID_IN_URL.search(reference)
    if match is None:
        problem = "this URL holds no id: expected /file/d/ID, /folders/ID or ?id=ID in it"
        raise BadRequest(f"{field_name}: {problem}.", {field_name: problem})
    return unquote(match.group(1) or match.group(2))


def hidden(name: str) -> bool:
    """Whether drives leave out what has this name: `.x`, `~$x` (lock files), Thumbs.db, desktop.ini."""
    return name.startswith((".", "~$")) or name.lower() in _CLUTTER
