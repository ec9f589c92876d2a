"""Key files: the account of scheduled runs, as Google hands it out. And a user's credentials, from their parts.

What a file says of where tokens come from is passed over: a file may not choose where a secret is sent.
"""

import json
from collections.abc import Callable
from pathlib import Path

from google.auth.credentials import Credentials
from google.auth.exceptions import GoogleAuthError
from google.oauth2 import credentials, service_account

from tasks.errors import NotConfigured

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
