"""Logging in at Google (a `LoginFlow`): the authorisation code flow with state and PKCE.

`begin` returns the address to send the user to, and a sealed note for the user's browser (or this process) to keep;
`finish` takes that note and what Google sent back. Only read access is requested.
"""

import hmac
import json
import os
import re
import secrets as randomness
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests
from google.auth.credentials import Credentials
from google_auth_oauthlib.flow import Flow  # type: ignore[import-untyped]
from oauthlib.oauth2 import OAuth2Error  # type: ignore[import-untyped]
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from storage import database, logins
from storage.errors import DatabaseUnavailable
from storage.logins import LONGEST_LOGIN, StoredLogin, Whose
from tasks.documents.drive.drive import LoginResult, LoginStart
from tasks.documents.drive.google.client import mute_loggers
from tasks.documents.drive.google.credentials import SCOPE, SEALED_FOR, AccountToken, find_account, oauth_client
from tasks.documents.drive.google.settings import GoogleDriveSettings
from tasks.errors import BadRequest, DiligenceError, NotAllowed, NotConfigured, NotLoggedIn, SourceFailed, Unavailable
from tasks.remote.environment import GOOGLE, check_connection

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
