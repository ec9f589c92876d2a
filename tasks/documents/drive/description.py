"""The plug-in interface of drives: what a drive declares about itself, so that no caller knows one by name.

A drive is a package. Its `DESCRIPTION` is data and quick to import; the modules that it names by their
paths (`provider`, `AccountAccess.login`) are imported when they are needed. The service, `diligence login`,
`diligence doctor` and the batch file ask the description; none of them knows a drive by its name.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from storage.settings import Settings
from tasks.documents.drive.drive import Drive
from tasks.documents.drive.identity import Identity

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
