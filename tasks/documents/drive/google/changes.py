"""Drive's logs of changes: where one stands, and what it has told since.

A shared drive has a log of its own; all the rest is in the account's. A mark names both: `<drive>:<token>`.
"""

from typing import Any

from tasks.documents.drive.drive import Changes
from tasks.documents.drive.google import queries
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.faults import Refused
from tasks.errors import DiligenceError, NotAllowed, NotFound

_PAGES = 10  # of changes: where more has happened, listing is as quick


def mark_of(drive_id: str | None, answer: dict[str, Any] | DiligenceError) -> str | None:
    """The mark of what `queries.start_of_changes` was answered; None where this account may not read the log."""
    if isinstance(answer, DiligenceError) or not answer.get("startPageToken"):
        return None
    return f"{drive_id or ''}:{answer['startPageToken']}"


def log_of(mark: str) -> tuple[str | None, str]:
    """The shared drive that a mark is of, if it is of one, and the token of the next page."""
    drive_id, _, token = mark.partition(":")
    return drive_id or None, token


def read(client: Client, mark: str, first: dict[str, Any] | DiligenceError) -> Changes | None:
    """What has happened since a mark; `first` is the answer for the log's first page. None if it is not told.

    Raises:
        NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
    """
    drive_id, _ = log_of(mark)
    ids: set[str] = set()
    answer = first
    for _ in range(_PAGES):
        if isinstance(answer, NotFound | NotAllowed | Refused):
            return None  # the token has expired, or is none
        if isinstance(answer, DiligenceError):
            raise answer
        for change in answer.get("changes", ()):
            # What changes about a shared drive itself (its name) concerns its root, which has its id.
            ids.add(change.get("driveId" if change.get("changeType") == "drive" else "fileId", ""))
            ids.update((change.get("file") or {}).get("parents", ()))
        if answer.get("newStartPageToken"):
            return Changes(frozenset(ids), f"{drive_id or ''}:{answer['newStartPageToken']}")
        if not answer.get("nextPageToken"):
            return None
        try:
            answer = client.call(queries.changes(answer["nextPageToken"], drive_id))
        except DiligenceError as error:
            answer = error
    return None
