"""Requests of the Drive API as the listing makes them: what is asked, of which drives, with which resource keys.

Without `supportsAllDrives` and `includeItemsFromAllDrives` what lies in a shared drive is not there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tasks.documents.drive.google.entries import FIELDS

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource
    from googleapiclient.http import HttpRequest

    Make = Callable[[DriveResource], HttpRequest]

ALONE = f"nextPageToken,incompleteSearch,files({FIELDS})"
TOGETHER = f"nextPageToken,incompleteSearch,files({FIELDS},parents)"
ROWS = 1000  # the most that a page may hold
_ONE = f"{FIELDS},parents,trashed,driveId,capabilities/canDownload"
_CHANGES = "nextPageToken,newStartPageToken,changes(changeType,fileId,driveId,file/parents)"


def quoted(value: str) -> str:
    r"""A string as `q` takes it: `\` escaped first, then `'` (search query guide)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def lying_in(folder_ids: Sequence[str]) -> str:
    """The query for what lies in any of these folders and not in the bin."""
    return f"({' or '.join(f'{quoted(each)} in parents' for each in folder_ids)}) and trashed = false"


def page(
    q: str, *, fields: str, order: str | None = None, token: str | None = None,
    drive_id: str | None = None, keys: Mapping[str, str] | None = None,
) -> "Make":  # fmt: skip
    """One page of `files.list`; with `drive_id`, out of that shared drive alone.

    By parents, all drives are asked as one user's: an account with which a folder of a shared drive was
    shared, and not the drive, may not name that drive.
    """
    given: dict[str, Any] = {"q": q, "fields": fields, "pageSize": ROWS}
    if order:
        given["orderBy"] = order
    if token:
        given["pageToken"] = token
    if drive_id:
        given |= {"corpora": "drive", "driveId": drive_id}
    return lambda drive: _with(
        drive.files().list(supportsAllDrives=True, includeItemsFromAllDrives=True, **given), keys
    )


def one(file_id: str, keys: Mapping[str, str] | None = None) -> "Make":
    """What Drive says of one file."""
    return lambda drive: _with(drive.files().get(fileId=file_id, supportsAllDrives=True, fields=_ONE), keys)


def account() -> "Make":
    """Whose token it is."""
    return lambda drive: drive.about().get(fields="user/permissionId")


def shared_drive(drive_id: str) -> "Make":
    """A shared drive. Its root folder has its id."""
    return lambda drive: drive.drives().get(driveId=drive_id, fields="id,name")


def shared_drives(token: str | None) -> "Make":
    """One page of the shared drives that this account is a member of."""
    given: dict[str, Any] = {"pageToken": token} if token else {}
    return lambda drive: drive.drives().list(pageSize=100, fields="nextPageToken,drives(id,name)", **given)


def start_of_changes(drive_id: str | None) -> "Make":
    """Where a log of changes stands now: the shared drive's, or the account's own."""
    given: dict[str, Any] = {"driveId": drive_id} if drive_id else {}
    return lambda drive: drive.changes().getStartPageToken(supportsAllDrives=True, fields="startPageToken", **given)


def changes(token: str, drive_id: str | None) -> "Make":
    """One page of that log."""
    given: dict[str, Any] = {"driveId": drive_id} if drive_id else {}
    return lambda drive: drive.changes().list(
        pageToken=token,
        pageSize=ROWS,
        includeItemsFromAllDrives=True,
        supportsAllDrives=True,
        includeRemoved=True,
        fields=_CHANGES,
        **given,
    )


def _with(request: "HttpRequest", keys: Mapping[str, str] | None) -> "HttpRequest":
    if keys:
        listed = ",".join(f"{file_id}/{key}" for file_id, key in keys.items())
        request.headers = {**(request.headers or {}), "X-Goog-Drive-Resource-Keys": listed}
    return request
