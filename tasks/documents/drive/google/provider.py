"""Opens Google Drive for an account, and reports on its configuration (a `DriveProvider`)."""

from collections.abc import Iterator
from functools import lru_cache

from google.auth.credentials import Credentials

from storage import logins
from tasks.documents.drive.drive import Bearer, CheckResult, ConfiguredAccount, Drive, Identity
from tasks.documents.drive.google.credentials import find_account, find_credentials, oauth_client, run_identity
from tasks.documents.drive.google.drive import GoogleDrive
from tasks.documents.drive.google.settings import GoogleDriveSettings
from tasks.documents.settings import DocumentSettings
from tasks.errors import DiligenceError, NotConfigured, NotLoggedIn, Unavailable
from tasks.remote.environment import GOOGLE, check_connection

__all__ = ["check_reachable", "examine", "open_drive", "run_identity"]


def open_drive(identity: Identity | None) -> Drive:
    """Google Drive as `identity` sees it; the same login gives the same object, so that connections are reused.

    Raises:
        NotConfigured: a setting is missing, or a variable of the environment cannot be used.
        NotLoggedIn: there is no identity.
    """
    if identity is None:
        raise NotLoggedIn("Google Drive answers to an account only.")
    settings = GoogleDriveSettings.current()
    check_connection(settings.google_api_endpoint, GOOGLE)
    account = identity if isinstance(identity, Bearer) else find_credentials(identity)
    return _open(account, settings.google_api_endpoint, settings.google_batch_uri)


def check_reachable(seconds: float) -> None:
    """Check that Google Drive answers at all; nobody needs to be logged in.

    Raises:
        NotConfigured: a variable of the environment cannot be used.
        Unavailable: it does not. Any status is an answer: a failure of Google's is no reason to take a service away
            whose other work goes on.
    """
    import httpx  # noqa: PLC0415 - with its command line it takes 0.1 s, which an index does not need

    check_connection(GoogleDriveSettings.current().google_api_endpoint)
    try:
        httpx.get(GoogleDriveSettings.current().google_api_endpoint.rstrip("/") + "/about", timeout=seconds)
    except httpx.HTTPError as error:
        raise Unavailable("Google Drive cannot be reached. Check the network.") from error


def examine() -> Iterator[CheckResult]:
    """The account of runs and of the command line, and whether users can log in."""
    try:
        identity = run_identity()
        source = "DILIGENCE_GOOGLE_CREDENTIALS" if isinstance(identity, ConfiguredAccount) else "`diligence login`"
        yield CheckResult("drive", f"google, runs act as {find_account(find_credentials(identity)).email} ({source})")
    except DiligenceError as error:
        yield CheckResult("drive", f"google: {error.message}", failed=True)
    try:
        oauth_client()
        logins.seal("", "trial")
    except NotConfigured as error:
        yield CheckResult("logins", f"none at /login: {error.message}", tried=False)
    except logins.SecretKeyUnusable as error:
        yield CheckResult("logins", str(error), failed=True)
    else:
        yield CheckResult(
            "logins", f"come back to {DocumentSettings.current().base_url.rstrip('/')}/login/callback", tried=False
        )


@lru_cache(maxsize=128)
def _open(account: Bearer | Credentials, _endpoint: str, _batch_uri: str) -> Drive:
    credentials = find_credentials(account) if isinstance(account, Bearer) else account
    return GoogleDrive(credentials, GoogleDriveSettings.current())
