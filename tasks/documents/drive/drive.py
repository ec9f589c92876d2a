"""The Drive interface: what every drive offers, as which account it answers, what it declares, and settings for all.

Callers use the protocol `Drive` and a drive's description, and no drive by name. Which drive to use is set in
`drive.registry`; each drive has its own settings. Those here say where users reach documents, how long an index is
used, and which evidence lies beside a report.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, Protocol
from urllib.parse import unquote, urlsplit

from pydantic import Field

from storage.context import holding
from storage.settings import Settings
from tasks.errors import BadRequest, NotFound


@dataclass(frozen=True, slots=True)
class Bearer:
    """A caller who sent an access token of the drive. It stays in this process: it cannot be pickled."""

    token: str = field(repr=False)

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("an access token is not passed on")


@dataclass(frozen=True, slots=True)
class Login:
    """A user who logged in here: the id of the stored login, whose refresh token is encrypted."""

    id: int


@dataclass(frozen=True, slots=True)
class ConfiguredAccount:
    """The account that the drive's settings name, for example by a key file."""


Identity = Bearer | Login | ConfiguredAccount

_caller: ContextVar[Identity | None] = ContextVar("caller", default=None)


def acting_as(identity: Identity | None) -> AbstractContextManager[None]:
    """Make the drive answer as `identity` in the block; with None, as nobody."""
    return holding(_caller, identity)


def caller() -> Identity | None:
    """The identity in force; None if there is none. A thread has it if it runs in a copy of the caller's context."""
    return _caller.get()


ROOT = "root"
"""The id by which every drive knows its top folder, besides the folder's own id if it has one."""
_URL = re.compile(r"https?://", re.IGNORECASE)
_ID_IN_URL = re.compile(r"/(?:file/d|folders|d)/([^/?#]+)|[?&]id=([^&#]+)")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of a listing, inside the folder `parent_id` of the same listing.

    `path` is for people: relative to the listed folder, with `/` between names, "" for the folder itself. Names may
    repeat and, on some drives, contain `/`, so it identifies nothing.
    """

    id: str
    name: str
    path: str
    parent_id: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A document as the drive describes it.

    `folder_id` is the folder of the listing that it is in, `path` that folder's path. `size` is in bytes, times are in
    UTC. `version` changes whenever the content may have changed.
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
    """The contents of a folder, every document once. It is `incomplete` if the drive could not show everything.

    Documents kept on disk (`list_folder` with a spool) may occur twice: the first one counts.
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
    """What a drive has recorded since a mark: the ids of what changed, their present folders, and the next mark.

    Unless it is `complete`, the record may miss some changes in the folder.
    """

    ids: frozenset[str]
    mark: str
    complete: bool = True


@dataclass
class Fetched(AbstractContextManager["Fetched", None]):
    """A document's content on the local disk: the file, the SHA-256 of its bytes in hex, and its version.

    The file, a copy in the spool, exists until `release`, which a `with` block calls.
    """

    path: Path
    content_hash: str
    version: str

    def is_unchanged(self) -> bool:
        """Whether the file still has the content that was hashed; readers ask at the end. Always true for a copy."""
        return True

    def release(self) -> None:
        """Delete the file, which is no longer needed."""
        self.path.unlink(missing_ok=True)

    def __exit__(self, *_: object) -> None:
        self.release()


class Drive(Protocol):
    """Where documents are kept. Every method raises `NotFound`, `Unavailable` or `SourceFailed` if it cannot answer."""

    @property
    def name(self) -> str:
        """The drive's name in storage: the same for the same documents, whichever account sees them."""

    @property
    def view(self) -> str:
        """The name in storage for what this account sees of the drive; indexes are stored under it."""

    @property
    def remote(self) -> bool:
        """Whether its answers come over a network, so that an event loop must not wait for them."""

    @property
    def max_parallel_fetches(self) -> int:
        """The most documents to fetch at the same time."""

    def find_folder(self, reference: str) -> str:
        """The id of the folder that a user names by id, URL, or path under the drive's root."""

    def find_document(self, reference: str) -> str:
        """The id of the document that a caller names by id or URL."""

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        """Everything in the folder; with `recursive`, also in its subfolders.

        If `spool` names a folder on disk, the documents are kept there instead of in memory, as long as it exists.
        """

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        """What changed since a listing's mark, if this account may still see the folder.

        None if the drive does not know, or no longer: then the folder must be listed again.
        """

    def document(self, document_id: str) -> Document:
        """One document as it is now. `path` is empty."""

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        """Bring the document's content to the local disk, into the folder `spool` unless it is on disk already.

        Raises:
            TooLarge: it is larger than `max_bytes`.
        """

    def open(self, document_id: str) -> BinaryIO:
        """The document's content as an open file, to show it to the account's user."""

    def local_path(self, document_id: str) -> Path | None:
        """Where the document, or its archive, is on this machine's disk; None if it is not there.

        For links on pages that are opened from the file system.
        """


NO_FOLDER = "This is the id of a document, not of a folder."
NO_DOCUMENT = "This is the id of a folder, not of a document."


def no_such(kind: str) -> NotFound:
    """The one error for a document or folder that is unknown, and for one that the account may not see."""
    return NotFound(f"No such {kind}, or it is not shared with this account.")


def identifier(reference: str, field_name: str) -> str:
    """The id in a user's text, which is the id itself or a URL that has it (`/file/d/ID`, `/folders/ID`, `?id=ID`).

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


if TYPE_CHECKING:  # only a login needs them: the tables and the encryption take 0.3 s to import
    from storage.logins import StoredLogin, Whose


@dataclass(frozen=True, slots=True)
class AccountAccess:
    """How callers are known to a drive that answers each of them as their own account.

    Such a drive shows its documents itself: `Document.url` leads there.
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
    """What a drive can do, and the module that implements it."""

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
    """One line of `diligence doctor`. If it `failed`, `state` says what to do; `tried` is whether
    anything was tried.
    """

    subject: str
    state: str
    failed: bool = False
    tried: bool = True

    @property
    def mark(self) -> str:
        """The mark before the line: only what was tried and works gets a tick."""
        return "✗" if self.failed else "✓" if self.tried else "·"


class DriveProvider(Protocol):
    """Opens a drive and reports on its configuration. Implemented by a module with these functions."""

    def open_drive(self, identity: Identity | None) -> Drive:
        """The drive as that identity sees it; None means the service's own rights.

        Raises:
            NotConfigured: a setting is missing or names nothing that is there.
        """

    def run_identity(self) -> Identity | None:
        """The account of scheduled runs and the command line; None for the service's own rights.

        Raises:
            NotConfigured: no account is configured.
            NotLoggedIn: its login has expired or was revoked.
        """

    def check_reachable(self, seconds: float) -> None:
        """Check within `seconds` that the drive answers, whoever is logged in.

        Raises:
            Unavailable, NotConfigured: the drive does not answer.
        """

    def examine(self) -> Iterator[CheckResult]:
        """What `diligence doctor` says about the drive."""


class SessionCheck(Protocol):
    """Tries a drive out for `diligence doctor --drive-check`. Implemented by a module with this function."""

    def check_folder(self, reference: str) -> Iterator[CheckResult]:
        """What the drive answers about a folder, as counts, times and shapes: no name, id, address or token.

        Raises:
            NotConfigured, NotLoggedIn: as `DriveProvider.run_identity`.
        """


@dataclass(frozen=True, slots=True)
class LoginStart:
    """A login that has begun: the address to send the user to, and a sealed note for the user's browser to keep."""

    url: str
    note: str


@dataclass(frozen=True, slots=True)
class LoginResult:
    """A login that was granted but is not stored yet. `then` is the path that was given at the start."""

    login: "StoredLogin"
    then: str


class LoginFlow(Protocol):
    """Logs users in through the drive's own pages in the browser. Implemented by a module with these functions."""

    def begin(self, redirect_uri: str, then: str = "") -> LoginStart:
        """Begin a login that comes back to `redirect_uri`.

        Raises:
            NotConfigured: a setting for logins is missing.
        """

    def finish(self, note: str | None, answer: Mapping[str, str], whose: "Whose") -> LoginResult:
        """Finish the login with the note and the query of the address that the browser came back to.

        Raises:
            BadRequest: the answer belongs to no login of this browser, or to one that is over.
            NotAllowed: the user or an administrator did not agree.
            NotConfigured, Unavailable, SourceFailed: the drive's login service did not grant it.
        """


class DocumentSettings(Settings):
    """Where users reach documents, and how long an index is used."""

    base_url: str = Field(
        "http://127.0.0.1:8000",
        description="where users reach the service; else the host and port of serve",
        pattern="^https?://",
    )
    index_max_age: float = Field(
        1, ge=0, description="hours that a stored index is used where the drive may not report every change"
    )


def base_path() -> str:
    """The path that a proxy puts in front of the service's own paths, without a final slash; "" if there is none."""
    return urlsplit(DocumentSettings.current().base_url).path.rstrip("/")


class EvidenceSettings(Settings):
    evidence: Literal["none", "cited", "all"] = Field("cited", description="for which passages pages are drawn")
