"""Which Google account credentials are of, as Drive itself says (`about.get`)."""

from dataclasses import dataclass

from google.auth.credentials import Credentials

from tasks.documents.drive.google.client import Client
from tasks.errors import SourceFailed

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
