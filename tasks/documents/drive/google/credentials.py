"""Credentials of an identity: where its access tokens come from. Nothing here falls back to another identity.

An access token lives in memory alone. However many threads need one, it is asked for once. What Google
refuses is raised as an error of our tree right out of the request that needed the token (google-auth and
httplib2 let it pass): `NotLoggedIn` for a login that has expired or was revoked.

Which Google account credentials are of, as Drive itself says (`about.get`).

Key files: the account of scheduled runs, as Google hands it out. And a user's credentials, from their parts.

What a file says of where tokens come from is passed over: a file may not choose where a secret is sent.
"""

import json
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.auth.transport import Request
from google.oauth2 import credentials, service_account

from storage import database, logins
from storage.errors import DatabaseUnavailable
from storage.logins import StoredLogin, Whose
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.settings import GoogleDriveSettings
from tasks.documents.drive.identity import Bearer, ConfiguredAccount, Identity, Login
from tasks.errors import DiligenceError, NotConfigured, NotLoggedIn, SourceFailed, Unavailable
from tasks.remote.retry import Backoff, TryAgain, retry

SCOPE = "https://www.googleapis.com/auth/drive.readonly"
_FILE = "The file that DILIGENCE_GOOGLE_CREDENTIALS names"
_LARGEST = 100_000  # bytes; they have 2,500
_NEEDED = {
    "service_account": ("client_email", "private_key"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
}


def read(file: Path) -> bytes:
    """The file's content.

    Raises:
        NotConfigured: it cannot be read.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(_LARGEST)
    except OSError as error:
        raise NotConfigured(f"{_FILE} cannot be read ({error.strerror}).") from None


def maker(content: bytes, subject: str | None, token_uri: str) -> Callable[[], Credentials]:
    """How credentials are made from a key file, acting for the user `subject` where one is given.

    Raises:
        NotConfigured: what is wrong with the file, without its content.
    """
    try:
        info = json.loads(content)
        kind = info.get("type")
    except (ValueError, AttributeError, RecursionError):
        raise NotConfigured(f"{_FILE} is no JSON object.") from None
    if kind not in ("service_account", "authorized_user"):
        raise NotConfigured(f"{_FILE} has neither the type service_account nor authorized_user.")
    missing = [name for name in _NEEDED[kind] if not isinstance(info.get(name), str) or not info[name]]
    if missing:
        raise NotConfigured(f"{_FILE} lacks {' and '.join(missing)}.")
    if kind == "authorized_user":
        if subject is not None:
            raise NotConfigured("DILIGENCE_GOOGLE_SUBJECT is for service accounts; the file is an authorised user's.")
        # Made of its parts: `from_authorized_user_info` (google-auth 2.62) takes no token_uri, from nowhere.
        return lambda: user(info["refresh_token"], info["client_id"], info["client_secret"], token_uri)
    try:
        service: Credentials = service_account.Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
            {**info, "token_uri": token_uri}, scopes=[SCOPE], subject=subject
        )
    except (ValueError, TypeError, GoogleAuthError):
        raise NotConfigured(f"{_FILE} holds a private_key that is none.") from None
    return lambda: service


def user(refresh_token: str, client_id: str, client_secret: str, token_uri: str) -> credentials.Credentials:
    """A user's credentials, without an access token yet."""
    return credentials.Credentials(  # type: ignore[no-untyped-call]
        None, refresh_token=refresh_token, token_uri=token_uri, client_id=client_id, client_secret=client_secret
    )


logger = logging.getLogger(__name__)

SEALED_FOR = "refresh token"
AGAIN = {
    Whose.MACHINE: "Run `diligence login` again.",
    Whose.WEB: "Log in again at /login.",
}
_TRIES = 4  # of reaching the token endpoint; google-auth itself repeats what is answered with 429 and 5xx
_BACKOFF = Backoff(0.5, jitter=(0, 1))

Ask = Callable[[Request], Credentials]
"""Asks Google for a new access token; gives credentials that hold it."""


class Account(Credentials):
    """An account's access token, asked for when it is needed, and by one thread for all."""

    def __init__(self, ask: Ask, token: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # google-auth 2.62
        self.token = token
        self.expiry: datetime | None = None
        self._ask = ask
        self._asking = threading.Lock()
        self._used = threading.local()

    def apply(self, headers: Any, token: str | None = None) -> None:
        """Put the token into a request's headers."""
        self._used.token = self.token
        super().apply(headers, token)  # type: ignore[no-untyped-call]

    def refresh(self, request: Request) -> None:
        """Have a new token, unless another thread has had one since this thread used the last.

        Raises:
            NotLoggedIn: the login has expired or was revoked.
            NotConfigured: Google does not know the client or the service account.
            Unavailable: Google's token endpoint is out of reach.
            SourceFailed: it answered wrongly.
        """
        seen = getattr(self._used, "token", self.token)
        with self._asking:
            if self.valid and self.token != seen:
                return
            found = self._ask(request)
            self.token, self.expiry = found.token, found.expiry

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials are not handed on: name the identity instead")


def credentials_of(who: Identity) -> Credentials:
    """The credentials of an identity; the same object for the same login, so that its token is shared.

    Raises:
        NotConfigured: a setting is missing, or the file of a service's credentials is wrong.
    """
    settings = GoogleDriveSettings.current()
    if isinstance(who, Bearer):
        return Account(_ended, who.token)
    with _building:
        if isinstance(who, ConfiguredAccount):
            file, subject = settings.google_credentials, settings.google_subject
            if file is None:
                raise NotConfigured("Set DILIGENCE_GOOGLE_CREDENTIALS to the file of a service account.")
            return _of_service(read(file), subject, settings.google_token_uri)
        client_id, client_secret = oauth_client()
        return _of_login(who, client_id, client_secret, settings.google_token_uri, database.url())


def run_identity() -> Identity:
    """The account of scheduled runs: the configured credentials, else the login made by `diligence login`.

    Raises:
        NotConfigured: there is neither.
        NotLoggedIn: the login was revoked.
    """
    if GoogleDriveSettings.current().google_credentials is not None:
        return ConfiguredAccount()
    with database.reading() as session:
        found = logins.machine_login(session)
    if found is None or found.id is None:
        raise NotConfigured(
            "No Google account is set for this: set DILIGENCE_GOOGLE_CREDENTIALS to the file of a service account, "
            "or run `diligence login`."
        )
    if found.revoked_at is not None:
        raise _refused(found)
    return Login(found.id)


def oauth_client() -> tuple[str, str]:
    """The id and secret of the OAuth client that logins are made with.

    Raises:
        NotConfigured: one of them is not set.
    """
    settings = GoogleDriveSettings.current()
    if settings.google_client_id is None or settings.google_client_secret is None:
        missing = "ID" if settings.google_client_id is None else "SECRET"
        raise NotConfigured(f"Logins need an OAuth client of Google's: set DILIGENCE_GOOGLE_CLIENT_{missing}.")
    return settings.google_client_id, settings.google_client_secret.get_secret_value()


_building = threading.Lock()  # lru_cache would let two threads build two


def _ended(_request: Request) -> Credentials:
    raise NotLoggedIn("The Google access token has expired or was revoked. Send a new one.")


@lru_cache(maxsize=1024)
def _of_login(who: Login, client_id: str, client_secret: str, token_uri: str, _database: str) -> Account:
    def ask(request: Request) -> Credentials:
        """The refresh token is read anew each time: it may have been revoked, or replaced by a new login."""
        try:
            with database.reading() as session:
                login = logins.find_login(session, who.id)
            if login is None:
                raise NotLoggedIn("You are logged out. Log in at /login.")
            if login.revoked_at is not None:
                raise _refused(login)
            if login.client_id != client_id:
                raise NotConfigured(
                    "This login was made with another OAuth client than DILIGENCE_GOOGLE_CLIENT_ID names. "
                    + AGAIN[login.whose]
                )
            refresh_token = logins.unseal(login.refresh_token, SEALED_FOR)
            found = user(refresh_token, client_id, client_secret, token_uri)
            try:
                _refresh(found, request, "DILIGENCE_GOOGLE_CLIENT_ID and DILIGENCE_GOOGLE_CLIENT_SECRET")
            except NotLoggedIn:
                with database.writing() as session:
                    logins.mark_revoked(session, who.id, login.refresh_token)
                raise _refused(login) from None
            rotated = found.refresh_token != refresh_token
            with database.writing() as session:
                new = logins.seal(found.refresh_token, SEALED_FOR) if rotated and found.refresh_token else None
                logins.mark_used(session, who.id, new)
        except logins.NotSealedHere:
            raise NotConfigured(
                "The stored login was sealed with another key. Set DILIGENCE_SECRET_KEY to that one. "
                "If it is lost, log in again."
            ) from None
        except logins.SecretKeyUnusable as error:
            raise NotConfigured(str(error)) from None
        except DatabaseUnavailable as error:
            raise Unavailable(str(error)) from None
        return found

    return Account(ask)


@lru_cache(maxsize=8)
def _of_service(content: bytes, subject: str | None, token_uri: str) -> Account:
    make = maker(content, subject, token_uri)
    settings = "DILIGENCE_GOOGLE_CREDENTIALS" + (" and DILIGENCE_GOOGLE_SUBJECT" if subject else "")

    def ask(request: Request) -> Credentials:
        found = make()
        try:
            _refresh(found, request, settings)
        except NotLoggedIn:
            raise NotLoggedIn(
                f"Google does not accept the account of {settings}: its key or login has expired or was revoked, "
                "the user is none of the domain's, or this machine's clock is wrong."
            ) from None
        return found

    return Account(ask)


def _refused(login: StoredLogin) -> NotLoggedIn:
    whose = f" of {login.account}" if login.account else ""
    return NotLoggedIn(f"The Google login{whose} has expired or was revoked. {AGAIN[login.whose]}")


def _refresh(credentials: Credentials, request: Request, settings: str) -> None:
    """Have a token from Google, trying again what the network loses; `settings` are those that may be wrong."""
    cause = ""

    def once() -> None:
        nonlocal cause
        try:
            credentials.refresh(request)  # type: ignore[no-untyped-call]
        except RefreshError as error:
            raise _of_google(error, settings) from None  # what Google says may hold what was sent
        except (TransportError, OSError, ValueError, TypeError, AttributeError) as error:
            # The last three: google-auth takes an answer that is no JSON object for one.
            cause = type(error).__qualname__
            raise TryAgain(Unavailable("Google's token endpoint cannot be reached. Try again later.")) from None

    def pause(failure: TryAgain, attempt: int) -> float:
        if attempt == _TRIES:
            logger.warning("no access token: %s", cause)
            raise failure.error from None
        return _BACKOFF.pause(attempt)

    retry(once, pause)


def _of_google(error: RefreshError, settings: str) -> DiligenceError:
    answer = error.args[1] if len(error.args) > 1 else None
    code = answer.get("error") if isinstance(answer, dict) else None
    if code == "invalid_grant":
        return NotLoggedIn("Google does not accept the login any more.")
    if code in ("invalid_client", "unauthorized_client", "deleted_client", "disabled_client", "invalid_scope"):
        return NotConfigured(f"Google refuses {settings} ({code}): check them, and what the account may do.")
    if error.retryable:
        return Unavailable("Google's token endpoint does not give tokens now. Try again later.")
    return SourceFailed("Google's token endpoint answered wrongly. Try again later.")


_PATIENCE = 20  # seconds, retries included: a user waits


@dataclass(frozen=True, slots=True)
class GoogleAccount:
    """An account: its e-mail address, and `id`, Drive's permissionId, which stays when the address changes."""

    email: str
    id: str


def account_of(credentials: Credentials) -> GoogleAccount:
    """The account whose view of Drive these credentials give.

    Raises:
        NotLoggedIn, NotAllowed, NotConfigured, Unavailable, TookTooLong: as every call of Drive.
        SourceFailed: Drive does not say.
    """
    answer = Client(credentials, seconds=_PATIENCE).call(
        lambda drive: drive.about().get(fields="user(emailAddress,permissionId)")
    )
    try:
        return GoogleAccount(str(answer["user"]["emailAddress"]), str(answer["user"]["permissionId"]))
    except (KeyError, TypeError):
        raise SourceFailed("Google Drive does not say whose account this is.") from None
