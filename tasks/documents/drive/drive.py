"""The Drive seam: what every drive gives, as which account it answers, and what it declares about itself.

Callers know the protocol `Drive` and a drive's description, and no drive by name.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Protocol, Self
from urllib.parse import unquote

from storage.settings import Settings
from tasks.errors import BadRequest


@dataclass(frozen=True, slots=True)
class Bearer:
    """A caller who sent an access token of the drive. It stays in this process: it cannot be pickled."""

    token: str = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an access token is not handed on")


@dataclass(frozen=True, slots=True)
class Login:
    """A user who logged in here: the id of the stored login, whose refresh token is stored encrypted."""

    id: int


@dataclass(frozen=True, slots=True)
class ConfiguredAccount:
    """The account that the drive's settings name, by a key file for example."""


Identity = Bearer | Login | ConfiguredAccount

_caller: ContextVar[Identity | None] = ContextVar("caller", default=None)


@contextmanager
def acting_as(identity: Identity | None) -> Iterator[None]:
    """Let the drive answer as `identity` within the block; with None, as nobody."""
    token = _caller.set(identity)
    try:
        yield
    finally:
        _caller.reset(token)


def caller() -> Identity | None:
    """Who is asking; None while nobody is named. A thread knows it if it runs in a copy of the caller's context."""
    return _caller.get()


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


if TYPE_CHECKING:  # only a login needs them: the tables and the encryption take 0.3 s to import
    from storage.logins import StoredLogin, Whose


@dataclass(frozen=True, slots=True)
class AccountAccess:
    """How callers are known to a drive that answers each of them as that caller's own account.

    The documents of such a drive are shown by the drive itself: `Document.url` leads there.
    """

    provider: str
    """Whose accounts they are, for messages: "Google"."""
    token: str
    """What the bearer token of a request is, for the OpenAPI document."""
    login: str
    """The path of the module that logs users in, a `LoginFlow`."""

    @property
    def login_needed(self) -> str:
        """The message for a caller who is not logged in."""
        return (
            f"This needs your {self.provider} account. "
            "Send its access token as `Authorization: Bearer …`, or log in at /login."
        )


@dataclass(frozen=True, slots=True)
class DriveDescription:
    """What a drive can do, and where its code is."""

    name: str
    """As DILIGENCE_DRIVE names it."""
    title: str
    """As messages name it."""
    settings: type[Settings]
    provider: str
    """The path of the module that opens the drive, a `DriveProvider`."""
    batch_settings: frozenset[str] = frozenset()
    """Those of its settings that a batch file may set. The others are the environment's."""
    accounts: AccountAccess | None = None
    """How callers are known; None where the service's own rights are all there is, and its API keys guard them."""
    keeps_changes: bool = False
    """Whether the drive keeps a record of changes, so that `Drive.changes_since` may know something."""
    session_check: str | None = None
    """The path of a module that tries the drive out on a folder, a `SessionCheck`; None where there is none."""
    native_exports: Mapping[str, str] = field(default_factory=dict)
    """The formats in which the drive exports documents that have no file, by MIME type: `{"…document": ".docx"}`."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of `diligence doctor`. With `failed`, `state` says what to do; `tried` is whether anything was tried."""

    subject: str
    state: str
    failed: bool = False
    tried: bool = True

    @property
    def mark(self) -> str:
        """What stands before the line: only what was tried, and works, has a tick."""
        return "✗" if self.failed else "✓" if self.tried else "·"


class DriveProvider(Protocol):
    """Opens a drive and answers for its configuration. A module with these functions is one."""

    def open_drive(self, identity: Identity | None) -> Drive:
        """The drive as that identity sees it; None stands for the service's own rights.

        Raises:
            NotConfigured: a setting is missing or names nothing that is there.
        """

    def run_identity(self) -> Identity | None:
        """The account of scheduled runs and of the command line; None for the service's own rights.

        Raises:
            NotConfigured: no account is configured.
            NotLoggedIn: its login has expired or was revoked.
        """

    def check_reachable(self, seconds: float) -> None:
        """Check within `seconds` that the drive answers, whoever is logged in.

        Raises:
            Unavailable, NotConfigured: it does not.
        """

    def examine(self) -> Iterator[CheckResult]:
        """What `diligence doctor` says about the drive."""


class SessionCheck(Protocol):
    """Tries a drive out for `diligence doctor --drive-check`. A module with this function is one."""

    def check_folder(self, reference: str) -> Iterator[CheckResult]:
        """What the drive answers about a folder, in counts, times and shapes: no name, id, address or token.

        Raises:
            NotConfigured, NotLoggedIn: as `DriveProvider.run_identity`.
        """


@dataclass(frozen=True, slots=True)
class LoginStart:
    """A login that has begun: the address to send the user to, and a sealed note that the user's browser keeps."""

    url: str
    note: str


@dataclass(frozen=True, slots=True)
class LoginResult:
    """A login that was granted and is not stored yet. `then` is the path that was given when it began."""

    login: "StoredLogin"
    then: str


class LoginFlow(Protocol):
    """Logs users in, in a browser that goes to the drive's own pages and comes back. A module with these is one."""

    def begin(self, redirect_uri: str, then: str = "") -> LoginStart:
        """Begin a login that comes back to `redirect_uri`.

        Raises:
            NotConfigured: a setting for logins is missing.
        """

    def finish(self, note: str | None, answer: Mapping[str, str], whose: "Whose") -> LoginResult:
        """Finish the login with the note and with what came back in the address's query.

        Raises:
            BadRequest: the answer belongs to no login of this browser, or to one that is over.
            NotAllowed: the user or an administrator did not agree.
            NotConfigured, Unavailable, SourceFailed: the drive's login service did not grant it.
        """
