"""Credentials of an identity: where its access tokens come from, which account they belong to, and how users log in.

An identity is a user's stored login, the configured key file (a service account's, or an authorised user's), or a
caller's own access token. Nothing here falls back from one identity to another.

An access token is only kept in memory. However many threads need one, it is requested once. A refusal by Google is
raised as an error of `tasks.errors` from the request that needed the token (google-auth and httplib2 let it pass):
`NotLoggedIn` for a login that has expired or was revoked.

The `token_uri` of a key file is ignored: a file may not choose where a secret is sent.

Users log in at Google (a `LoginFlow`) by the authorisation code flow with state and PKCE. `begin` returns the address
to send the user to, and a sealed note for the user's browser (or this process) to keep; `finish` takes that note and
what Google sent back. Only read access is requested.
"""

import hmac
import json
import logging
import os
import re
import secrets as randomness
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import requests
from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from google.auth.transport import Request
from google.oauth2 import credentials, service_account
from google_auth_oauthlib.flow import Flow  # type: ignore[import-untyped]
from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from storage import database, logins
from storage.errors import DatabaseUnavailable
from storage.logins import LONGEST_LOGIN, StoredLogin, Whose
from tasks.documents.drive.drive import Bearer, ConfiguredAccount, Identity, Login, LoginResult, LoginStart
from tasks.documents.drive.google import GoogleDriveSettings
from tasks.documents.drive.google.client import Client, mute_loggers
from tasks.errors import BadRequest, DiligenceError, NotAllowed, NotConfigured, NotLoggedIn, SourceFailed, Unavailable
from tasks.remote.environment import GOOGLE, check_connection
from tasks.remote.retry import Backoff, TryAgain, retry

logger = logging.getLogger(__name__)
SCOPE = "https://www.googleapis.com/auth/drive.readonly"
SEALED_FOR = "refresh token"
AGAIN = {
    Whose.MACHINE: "Run `diligence login` again.",
    Whose.WEB: "Log in again at /login.",
}
_KEY_FILE = "The file that DILIGENCE_GOOGLE_CREDENTIALS names"
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.:-]*")
_MAX_BYTES = 100_000  # of a key file; they have 2,500
_REQUIRED_FIELDS = {
    "service_account": ("client_email", "private_key"),
    "authorized_user": ("client_id", "client_secret", "refresh_token"),
}
_TRIES = 4  # of reaching the token endpoint; google-auth itself repeats what is answered with 429 and 5xx
_BACKOFF = Backoff(0.5, jitter=(0, 1))
_ACCOUNT_SECONDS = 20  # seconds, retries included: a user waits
_cache_lock = threading.Lock()  # lru_cache would let two threads build two
TokenRequest = Callable[[Request], Credentials]
"""Requests a new access token from Google; returns credentials that hold it."""


@dataclass(frozen=True, slots=True)
class GoogleAccount:
    """An account: its e-mail address, and `id`, Drive's permissionId, which stays the same when the address changes."""

    email: str
    id: str


def run_identity() -> Identity:
    """The account of scheduled runs: the configured credentials, otherwise the login made by `diligence login`.

    Raises:
        NotConfigured: neither exists.
        NotLoggedIn: the login was revoked.
    """
    if GoogleDriveSettings.current().google_credentials is not None:
        return ConfiguredAccount()
    with database.reading() as session:
        login = logins.machine_login(session)
    if login is None or login.id is None:
        raise NotConfigured(
            "No Google account is set for this: set DILIGENCE_GOOGLE_CREDENTIALS to the file of a service account, "
            "or run `diligence login`."
        )
    if login.revoked_at is not None:
        raise _make_login_error(login)
    return Login(login.id)


def find_credentials(who: Identity) -> Credentials:
    """The credentials of an identity; the same login gives the same object, so that its token is shared.

    Raises:
        NotConfigured: a setting is missing, or the file of a service's credentials is wrong.
    """
    settings = GoogleDriveSettings.current()
    if isinstance(who, Bearer):
        return AccountToken(_refuse_renewal, who.token)
    with _cache_lock:
        if isinstance(who, ConfiguredAccount):
            file, subject = settings.google_credentials, settings.google_subject
            if file is None:
                raise NotConfigured("Set DILIGENCE_GOOGLE_CREDENTIALS to the file of a service account.")
            return _service_account(read_key_file(file), subject, settings.google_token_uri)
        client_id, client_secret = oauth_client()
        return _login_account(who, client_id, client_secret, settings.google_token_uri, database.url())


def find_account(credentials: Credentials) -> GoogleAccount:
    """The account whose view of Drive these credentials give.

    Raises:
        NotLoggedIn, NotAllowed, NotConfigured, Unavailable, TookTooLong: as every call of Drive.
        SourceFailed: Drive does not say.
    """
    answer = Client(credentials, seconds=_ACCOUNT_SECONDS).call(
        lambda drive: drive.about().get(fields="user(emailAddress,permissionId)")
    )
    try:
        return GoogleAccount(str(answer["user"]["emailAddress"]), str(answer["user"]["permissionId"]))
    except (KeyError, TypeError):
        raise SourceFailed("Google Drive does not say whose account this is.") from None


def oauth_client() -> tuple[str, str]:
    """The id and secret of the OAuth client that logins use.

    Raises:
        NotConfigured: one of them is not set.
    """
    settings = GoogleDriveSettings.current()
    if settings.google_client_id is None or settings.google_client_secret is None:
        missing = "ID" if settings.google_client_id is None else "SECRET"
        raise NotConfigured(f"Logins need an OAuth client of Google's: set DILIGENCE_GOOGLE_CLIENT_{missing}.")
    return settings.google_client_id, settings.google_client_secret.get_secret_value()


class AccountToken(Credentials):
    """An account's access token, requested when needed by one thread for all."""

    def __init__(
        self, request_token: TokenRequest, token: str | None = None, quota_project_id: str | None = None
    ) -> None:
        """Each request names the project `quota_project_id` in x-goog-user-project, if given (AIP-4110)."""
        super().__init__()  # type: ignore[no-untyped-call] # google-auth 2.62
        self.token = token
        self._quota_project_id = quota_project_id
        self.expiry: datetime | None = None
        self._request_token = request_token
        self._renewing = threading.Lock()
        self._used = threading.local()

    def apply(self, headers: Any, token: str | None = None) -> None:
        """Put the token into a request's headers."""
        self._used.token = self.token
        super().apply(headers, token)  # type: ignore[no-untyped-call]

    def refresh(self, request: Request) -> None:
        """Get a new token, unless another thread has got one since this thread last used one.

        Raises:
            NotLoggedIn: the login has expired or was revoked.
            NotConfigured: Google does not know the client or the service account.
            Unavailable: Google's token endpoint is out of reach.
            SourceFailed: Google's answer holds no token.
        """
        last_used = getattr(self._used, "token", self.token)
        with self._renewing:
            if self.valid and self.token != last_used:
                return
            renewed = self._request_token(request)
            self.token, self.expiry = renewed.token, renewed.expiry

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("credentials are not passed on: name the identity instead")


def read_key_file(file: Path) -> bytes:
    """The file's content.

    Raises:
        NotConfigured: it cannot be read.
    """
    try:
        with file.open("rb") as key_file:
            return key_file.read(_MAX_BYTES)
    except OSError as error:
        raise NotConfigured(f"{_KEY_FILE} cannot be read ({error.strerror}).") from None


def credentials_factory(content: bytes, subject: str | None, token_uri: str) -> Callable[[], Credentials]:
    """A function that makes credentials from a key file, acting for the user `subject` if one is given.

    Raises:
        NotConfigured: what is wrong with the file, without its content.
    """
    try:
        info = json.loads(content)
        kind = info.get("type")
    except (ValueError, AttributeError, RecursionError):
        raise NotConfigured(f"{_KEY_FILE} is not a JSON object.") from None
    if kind not in ("service_account", "authorized_user"):
        raise NotConfigured(f"{_KEY_FILE} has neither the type service_account nor authorized_user.")
    missing = [name for name in _REQUIRED_FIELDS[kind] if not isinstance(info.get(name), str) or not info[name]]
    if missing:
        raise NotConfigured(f"{_KEY_FILE} lacks {' and '.join(missing)}.")
    project = info.get("quota_project_id")
    if project is not None and not (isinstance(project, str) and _PROJECT.fullmatch(project)):
        raise NotConfigured(f"{_KEY_FILE} has a quota_project_id that is not a project's id.")
    if kind == "authorized_user":
        if subject is not None:
            raise NotConfigured("DILIGENCE_GOOGLE_SUBJECT is for service accounts; the file is an authorised user's.")
        # Made of its parts: `from_authorized_user_info` (google-auth 2.62) takes no token_uri, from nowhere.
        return lambda: user_credentials(
            info["refresh_token"], info["client_id"], info["client_secret"], token_uri, project
        )
    try:
        service: Credentials = service_account.Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
            {**info, "token_uri": token_uri}, scopes=[SCOPE], subject=subject
        )
    except (ValueError, TypeError, GoogleAuthError):
        raise NotConfigured(f"{_KEY_FILE} holds a private_key that is not a key.") from None
    return lambda: service


def user_credentials(
    refresh_token: str, client_id: str, client_secret: str, token_uri: str, quota_project_id: str | None = None
) -> credentials.Credentials:
    """A user's credentials, as yet without an access token."""
    return credentials.Credentials(  # type: ignore[no-untyped-call]
        None,
        refresh_token=refresh_token,
        token_uri=token_uri,
        client_id=client_id,
        client_secret=client_secret,
        quota_project_id=quota_project_id,
    )


def _refuse_renewal(_request: Request) -> Credentials:
    raise NotLoggedIn("The Google access token has expired or was revoked. Send a new one.")


@lru_cache(maxsize=1024)
def _login_account(who: Login, client_id: str, client_secret: str, token_uri: str, _database: str) -> AccountToken:
    def request_token(request: Request) -> Credentials:
        """The refresh token is read anew each time: it may have been revoked, or replaced by a new login."""
        try:
            with database.reading() as session:
                login = logins.find_login(session, who.id)
            if login is None:
                raise NotLoggedIn("You are logged out. Log in at /login.")
            if login.revoked_at is not None:
                raise _make_login_error(login)
            if login.client_id != client_id:
                raise NotConfigured(
                    "This login was made with another OAuth client than DILIGENCE_GOOGLE_CLIENT_ID names. "
                    + AGAIN[login.whose]
                )
            refresh_token = logins.unseal(login.refresh_token, SEALED_FOR)
            renewed = user_credentials(refresh_token, client_id, client_secret, token_uri)
            try:
                _refresh(renewed, request, "DILIGENCE_GOOGLE_CLIENT_ID and DILIGENCE_GOOGLE_CLIENT_SECRET")
            except NotLoggedIn:
                with database.writing() as session:
                    logins.mark_revoked(session, who.id, login.refresh_token)
                raise _make_login_error(login) from None
            rotated = renewed.refresh_token != refresh_token
            with database.writing() as session:
                sealed = logins.seal(renewed.refresh_token, SEALED_FOR) if rotated and renewed.refresh_token else None
                logins.mark_used(session, who.id, sealed)
        except logins.NotSealedHere:
            raise NotConfigured(
                "The stored login was sealed with another key. Set DILIGENCE_SECRET_KEY to that one. "
                "If it is lost, log in again."
            ) from None
        except logins.SecretKeyUnusable as error:
            raise NotConfigured(str(error)) from None
        except DatabaseUnavailable as error:
            raise Unavailable(str(error)) from None
        return renewed

    return AccountToken(request_token)


@lru_cache(maxsize=8)
def _service_account(content: bytes, subject: str | None, token_uri: str) -> AccountToken:
    make_credentials = credentials_factory(content, subject, token_uri)
    settings = "DILIGENCE_GOOGLE_CREDENTIALS" + (" and DILIGENCE_GOOGLE_SUBJECT" if subject else "")

    def request_token(request: Request) -> Credentials:
        renewed = make_credentials()
        try:
            _refresh(renewed, request, settings)
        except NotLoggedIn:
            raise NotLoggedIn(
                f"Google does not accept the account of {settings}: its key or login has expired or was revoked, "
                "the user is not in the domain, or this machine's clock is wrong."
            ) from None
        return renewed

    return AccountToken(request_token, quota_project_id=make_credentials().quota_project_id)


def _make_login_error(login: StoredLogin) -> NotLoggedIn:
    whose = f" of {login.account}" if login.account else ""
    return NotLoggedIn(f"The Google login{whose} has expired or was revoked. {AGAIN[login.whose]}")


def _refresh(credentials: Credentials, request: Request, settings: str) -> None:
    """Get a token from Google, retrying on network errors; `settings` names the settings that may be wrong."""
    cause = ""

    def refresh_once() -> None:
        nonlocal cause
        try:
            credentials.refresh(request)  # type: ignore[no-untyped-call]
        except RefreshError as error:
            raise _translate_error(error, settings) from None  # what Google says may hold what was sent
        except (TransportError, OSError, ValueError, TypeError, AttributeError) as error:
            # The last three: google-auth takes an answer that is no JSON object for one.
            cause = type(error).__qualname__
            raise TryAgain(Unavailable("Google's token endpoint cannot be reached. Try again later.")) from None

    def pause(failure: TryAgain, attempt: int) -> float:
        if attempt == _TRIES:
            logger.warning("no access token: %s", cause)
            raise failure.error from None
        return _BACKOFF.pause(attempt)

    retry(refresh_once, pause)


def _translate_error(error: RefreshError, settings: str) -> DiligenceError:
    answer = error.args[1] if len(error.args) > 1 else None
    code = answer.get("error") if isinstance(answer, dict) else None
    if code == "invalid_grant":
        return NotLoggedIn("Google does not accept the login any more.")
    if code in ("invalid_client", "unauthorized_client", "deleted_client", "disabled_client", "invalid_scope"):
        return NotConfigured(f"Google refuses {settings} ({code}): check them, and what the account may do.")
    if error.retryable:
        return Unavailable("Google's token endpoint issues no tokens at present. Try again later.")
    return SourceFailed("Google's token endpoint gave an invalid answer. Try again later.")


_NOTE = "login under way"
_PATIENCE = (5, 10)  # seconds to connect to the token endpoint, and to wait for its answer: a user waits too

mute_loggers()  # the libraries of the flow write codes and tokens into their debug log


def begin(redirect_uri: str, then: str = "") -> LoginStart:
    """Begin a login; Google answers at `redirect_uri`.

    Raises:
        NotConfigured: the OAuth client or the key that seals is missing.
    """
    state = randomness.token_urlsafe(32)
    flow = _flow(redirect_uri)
    with _on_loopback(GoogleDriveSettings.current().google_auth_uri):
        # Without "consent" Google gives a refresh token at the first login only, and a later one would have none.
        url, _ = flow.authorization_url(state=state, access_type="offline", prompt="consent")
    note = {"state": state, "verifier": flow.code_verifier, "redirect_uri": redirect_uri, "then": then}
    return LoginStart(url, _seal(json.dumps(note), _NOTE))


def finish(note: str | None, answer: Mapping[str, str], whose: Whose) -> LoginResult:
    """Finish a login with what Google sent to the redirect address (`state` with `code` or `error`).

    Raises:
        BadRequest: the answer belongs to no login of this browser, or to one that is over.
        NotAllowed: the user or the domain's administrator did not agree.
        NotConfigured: Google does not know the OAuth client.
        Unavailable, SourceFailed: Google's token endpoint.
    """
    begun = _unseal(note)
    if not hmac.compare_digest(str(begun["state"]).encode(), answer.get("state", "").encode()):
        raise BadRequest("This answer belongs to another login. Log in again.")
    try:
        with database.writing() as session:
            unspent = logins.spend_state(session, str(begun["state"]))
    except DatabaseUnavailable as error:
        raise Unavailable(str(error)) from None
    if not unspent:
        raise BadRequest("This login has already been used. Log in again.")
    if "error" in answer:
        raise _make_denial(answer["error"])
    if not answer.get("code"):
        raise BadRequest("Google's answer contains no code. Log in again.")
    token = _exchange(begun, answer["code"])
    if SCOPE not in token.get("scope", [SCOPE]):  # a list, to oauthlib
        raise NotAllowed("The permission to see Drive's files was not given. Log in again and leave it ticked.")
    refresh_token = token.get("refresh_token")
    if not refresh_token:
        raise SourceFailed(
            "Google gave no refresh token. Remove this application's access at "
            "https://myaccount.google.com/permissions and log in again."
        )
    login = StoredLogin(whose=whose, client_id=oauth_client()[0], refresh_token=_seal(refresh_token, SEALED_FOR))
    try:
        account = find_account(AccountToken(_no_other, str(token["access_token"])))
        login.account, login.account_id = account.email, account.id
    except DiligenceError:
        pass  # a login without a name is a login all the same
    return LoginResult(login, str(begun["then"]))


def _no_other(_request: object) -> Credentials:
    raise NotLoggedIn("Google refuses the access token that it has just given.")


def _flow(redirect_uri: str, code_verifier: str | None = None) -> Any:
    settings = GoogleDriveSettings.current()
    check_connection(settings.google_token_uri, GOOGLE)
    client_id, client_secret = oauth_client()
    client = {
        "client_id": client_id,
        "client_secret": client_secret,
        "auth_uri": settings.google_auth_uri,
        "token_uri": settings.google_token_uri,
    }
    return Flow.from_client_config(
        {"web": client}, scopes=[SCOPE], redirect_uri=redirect_uri, code_verifier=code_verifier
    )


def _exchange(begun: Mapping[str, Any], code: str) -> Mapping[str, Any]:
    """The tokens that Google returns for the code."""
    flow = _flow(str(begun["redirect_uri"]), str(begun["verifier"]))
    again = Retry(total=2, backoff_factor=0.3, status_forcelist=(429, 500, 502, 503, 504), allowed_methods=None)
    for scheme in ("http://", "https://"):
        flow.oauth2session.mount(scheme, HTTPAdapter(max_retries=again))
    try:
        with flow.oauth2session, _on_loopback(GoogleDriveSettings.current().google_token_uri):
            token: Mapping[str, Any] = flow.fetch_token(code=code, include_client_id=True, timeout=_PATIENCE)
    except Warning as warning:  # oauthlib's way to say that another scope was granted than asked for
        token = getattr(warning, "token", {})
    except OAuth2Error as error:
        if error.error == "invalid_grant":
            raise BadRequest("Google does not accept the code any more. Log in again.") from None
        if error.error in ("invalid_client", "unauthorized_client", "redirect_uri_mismatch"):
            raise NotConfigured(
                f"Google refuses the OAuth client ({error.error}): check DILIGENCE_GOOGLE_CLIENT_ID, its secret, "
                f"and that {begun['redirect_uri']} is among its redirect URIs."
            ) from None
        raise SourceFailed("Google's token endpoint gave an invalid answer. Log in again.") from None
    except (requests.RequestException, OSError):
        raise Unavailable("Google's token endpoint cannot be reached. Try again later.") from None
    except (ValueError, TypeError, AttributeError):  # what oauthlib makes of JSON that is not an object
        raise SourceFailed("Google's token endpoint gave an invalid answer. Log in again.") from None
    return token


def _make_denial(code: str) -> DiligenceError:
    if code == "access_denied":
        return NotAllowed("Google denied access. To use your Drive here, log in again and agree.")
    shown = f" ({code})" if re.fullmatch(r"[a-z_]{1,60}", code) else ""
    return NotAllowed(f"Google did not allow the login{shown}. Ask the administrator of your Google account.")


def _seal(text: str, purpose: str) -> str:
    try:
        return logins.seal(text, purpose)
    except logins.SecretKeyUnusable as error:
        raise NotConfigured(str(error)) from None


def _unseal(note: str | None) -> Mapping[str, Any]:
    try:
        content: Mapping[str, Any] = json.loads(logins.unseal(note or "", _NOTE, int(LONGEST_LOGIN.total_seconds())))
    except logins.SecretKeyUnusable as error:
        raise NotConfigured(str(error)) from None
    except logins.NotSealedHere:
        raise BadRequest(
            f"This login was begun in another browser, at another address, or more than "
            f"{LONGEST_LOGIN.seconds // 60} minutes ago. Log in again."
        ) from None
    return content


_environment = threading.Lock()


@contextmanager
def _on_loopback(address: str) -> Iterator[None]:
    """Let oauthlib use plain HTTP within the block; the settings allow it only on loopback.

    oauthlib 4 takes this permission only from the environment.
    """
    if not address.lower().startswith("http://"):
        yield
        return
    name = "OAUTHLIB_INSECURE_TRANSPORT"
    with _environment:
        before = os.environ.get(name)
        os.environ[name] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[name]
            else:
                os.environ[name] = before
