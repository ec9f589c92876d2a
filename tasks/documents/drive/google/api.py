"""The Drive API as it is used here: files as rows and documents, the requests, and the logs of changes.

Without `supportsAllDrives` and `includeItemsFromAllDrives`, answers leave out what lies in a shared drive.

A shared drive has a log of changes of its own; all other changes are in the account's log. That one tells of the
account's My Drive, and not of all that others do in folders of theirs ("Changes and revisions overview": "not all
changes to that file are reflected in every users' change log"). A mark names the log and a position in it:

    <drive>:<token>     the log of a shared drive: complete
    own:<token>         the account's log, of a folder in its My Drive: complete
    :<token>            the account's log, of any other folder: it may lack something
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from tasks.documents.drive.drive import Changes, Document
from tasks.documents.drive.google import DESCRIPTION
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Gone, Refused
from tasks.errors import DiligenceError, NotAllowed, NotFound

if TYPE_CHECKING:
    from googleapiclient._apis.drive.v3.resources import DriveResource
    from googleapiclient.http import HttpRequest

    Make = Callable[[DriveResource], HttpRequest]


_APPS = "application/vnd.google-apps."
FOLDER = f"{_APPS}folder"
SHORTCUT = f"{_APPS}shortcut"
_EDITORS = {
    f"{_APPS}document": "document",
    f"{_APPS}spreadsheet": "spreadsheets",
    f"{_APPS}presentation": "presentation",
    f"{_APPS}drawing": "drawings",
    f"{_APPS}form": "forms",
}
# The fields of a file, and no more: 20,000 rows are 7 MB. `parents` is added only where it is not known, since
# pages with it are cut to 460 rows.
FIELDS = (
    "id,name,mimeType,size,createdTime,modifiedTime,md5Checksum,version,resourceKey,"
    "shortcutDetails(targetId,targetMimeType,targetResourceKey)"
)
ALONE = f"nextPageToken,incompleteSearch,files({FIELDS})"
TOGETHER = f"nextPageToken,incompleteSearch,files({FIELDS},parents)"
_FILE_FIELDS = f"{FIELDS},parents,trashed,driveId,ownedByMe,capabilities/canDownload"
_CHANGE_FIELDS = "nextPageToken,newStartPageToken,changes(changeType,fileId,driveId,file/parents)"
ROWS = 1000  # the most that a page may hold
CALLS_AT_ONCE = 24  # of one listing
_MY_DRIVE = "own"  # in a mark
RESTARTS = 2  # of a listing whose page tokens are refused
_MAX_CHANGE_PAGES = 10  # of a log: beyond them, listing anew is as quick


class ShortcutTarget(NamedTuple):
    """What a shortcut points to."""

    id: str
    mime_type: str
    key: str | None


class FileRow(NamedTuple):
    """A file of a listing, in the folder `parent`, as plain values that can be written to disk.

    Times are as Drive writes them, `version` is as in `Document`, `key` is the resource key.
    """

    id: str
    name: str
    parent: str
    mime_type: str
    size: int | None
    created: str | None
    updated: str | None
    version: str
    key: str | None


def make_row(file: Mapping[str, Any], parent: str) -> FileRow:
    """The row of a file resource with `FIELDS`."""
    get = file.get
    size = get("size")
    return FileRow(
        file["id"],
        get("name", ""),
        parent,
        get("mimeType", ""),
        None if size is None else int(size),
        get("createdTime"),
        get("modifiedTime"),
        read_version(file),
        get("resourceKey"),
    )


def read_version(file: Mapping[str, Any]) -> str:
    """The version, as `Document` defines it. Native documents have no md5; their `version` changes with each edit."""
    return file.get("md5Checksum") or f"v{file.get('version', '')}"


def read_target(file: Mapping[str, Any]) -> ShortcutTarget:
    """What a shortcut's file resource points to."""
    details = file.get("shortcutDetails") or {}
    return ShortcutTarget(
        details.get("targetId", ""), details.get("targetMimeType", ""), details.get("targetResourceKey")
    )


def make_document(row: FileRow, path: str) -> Document:
    """The document in a row, in the folder with that path in the listing.

    A native document has no size: the one in Drive is not that of the export.
    """
    native = row.mime_type.startswith(_APPS)
    return Document(
        row.id,
        name_file(row.name, row.mime_type) if native else row.name,
        row.parent,
        path,
        _url(row),
        row.mime_type,
        None if native else row.size,
        _time(row.created),
        _time(row.updated),
        row.version,
    )


def name_file(name: str, mime_type: str) -> str:
    """A file's name, with the extension of its export if it is a native document."""
    extension = DESCRIPTION.native_exports.get(mime_type, "")
    return name if name.lower().endswith(extension) else name + extension


def cite_quote(value: str) -> str:
    r"""A string escaped for `q`: first `\`, then `'` (search query guide)."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def query_folders(folder_ids: Sequence[str]) -> str:
    """The query for everything in these folders that is not in the bin."""
    return f"({' or '.join(f'{cite_quote(id_)} in parents' for id_ in folder_ids)}) and trashed = false"


def page(
    q: str,
    *,
    fields: str,
    order: str | None = None,
    token: str | None = None,
    keys: Mapping[str, str] | None = None,
) -> "Make":
    """One page of `files.list`, from all of the user's drives.

    An account that was given access to a folder of a shared drive, but not to the drive, may not name that drive.
    """
    options: dict[str, Any] = {"q": q, "fields": fields, "orderBy": order, "pageToken": token}  # None: left out
    return lambda drive: _with_keys(
        drive.files().list(supportsAllDrives=True, includeItemsFromAllDrives=True, pageSize=ROWS, **options), keys
    )


def one(file_id: str, keys: Mapping[str, str] | None = None) -> "Make":
    """One file."""
    return lambda drive: _with_keys(
        drive.files().get(fileId=file_id, supportsAllDrives=True, fields=_FILE_FIELDS), keys
    )


def account() -> "Make":
    """The account that the token belongs to."""
    return lambda drive: drive.about().get(fields="user/permissionId")


def get_shared_drive(drive_id: str) -> "Make":
    """A shared drive. Its root folder has the same id."""
    return lambda drive: drive.drives().get(driveId=drive_id, fields="id,name")


def list_shared_drives(token: str | None) -> "Make":
    """One page of the shared drives of which this account is a member."""
    options: dict[str, Any] = {"pageToken": token}
    return lambda drive: drive.drives().list(pageSize=100, fields="nextPageToken,drives(id,name)", **options)


def get_changes_start(drive_id: str | None) -> "Make":
    """The current position in a log of changes: the shared drive's, or the account's own."""
    options: dict[str, Any] = {"driveId": drive_id}
    return lambda drive: drive.changes().getStartPageToken(supportsAllDrives=True, fields="startPageToken", **options)


def changes(token: str, drive_id: str | None) -> "Make":
    """One page of that log."""
    options: dict[str, Any] = {"driveId": drive_id}
    return lambda drive: drive.changes().list(
        pageToken=token,
        pageSize=ROWS,
        includeItemsFromAllDrives=True,
        supportsAllDrives=True,
        includeRemoved=True,
        fields=_CHANGE_FIELDS,
        **options,
    )


def all_pages(client: Client, make: "Callable[[str | None], Make]", key: str) -> list[dict[str, Any]]:
    """The rows of all pages; `make` builds the request for the page with a token, `key` is the key of its rows.

    Raises:
        Refused, Gone: Drive refuses its own page tokens, however often the listing begins again.
        and as `Client.call`.
    """
    rows: list[dict[str, Any]] = []
    token, restarts = None, 0
    while True:
        try:
            page = client.call(make(token))
        except (Refused, Gone):
            if token is None or restarts == RESTARTS:
                raise
            rows, token, restarts = [], None, restarts + 1
            continue
        rows += page.get(key, ())
        token = page.get("nextPageToken")
        if not token:
            return rows


def make_mark(
    drive_id: str | None, answer: dict[str, Any] | DiligenceError, *, in_my_drive: bool = False
) -> str | None:
    """The mark for the answer to `get_changes_start`; None if this account may not read the log."""
    if isinstance(answer, DiligenceError) or not answer.get("startPageToken"):
        return None
    return f"{drive_id or (_MY_DRIVE if in_my_drive else '')}:{answer['startPageToken']}"


def split_mark(mark: str) -> tuple[str | None, str]:
    """The shared drive that a mark belongs to, if any, and the token of the next page."""
    log, _, token = mark.partition(":")
    return (None if log in {"", _MY_DRIVE} else log), token


def may_lack(mark: str) -> str:
    """The mark of a folder in My Drive that also contains something which is not the account's own."""
    return mark.removeprefix(_MY_DRIVE)


def read(client: Client, mark: str, first: dict[str, Any] | DiligenceError) -> Changes | None:
    """The changes since a mark; `first` is the answer for the log's first page. None if the log cannot tell.

    Raises:
        NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
    """
    log = mark.partition(":")[0]
    ids: set[str] = set()
    answer = first
    for _ in range(_MAX_CHANGE_PAGES):
        if isinstance(answer, NotFound | NotAllowed | Refused):
            return None  # the token has expired or is invalid
        if isinstance(answer, DiligenceError):
            raise answer
        for change in answer.get("changes", ()):
            # What changes about a shared drive itself (its name) concerns its root, which has its id.
            ids.add(change.get("driveId" if change.get("changeType") == "drive" else "fileId", ""))
            ids.update((change.get("file") or {}).get("parents", ()))
        if answer.get("newStartPageToken"):
            return Changes(frozenset(ids), f"{log}:{answer['newStartPageToken']}", complete=bool(log))
        if not answer.get("nextPageToken"):
            return None
        try:
            answer = client.call(changes(answer["nextPageToken"], split_mark(mark)[0]))
        except DiligenceError as error:
            answer = error
    return None


def _url(row: FileRow) -> str:
    key = f"?resourcekey={quote(row.key, safe='')}" if row.key else ""
    item = quote(row.id, safe="")
    if row.mime_type in _EDITORS:
        return f"https://docs.google.com/{_EDITORS[row.mime_type]}/d/{item}/edit{key}"
    return f"https://drive.google.com/file/d/{item}/view{key}"


def _time(written: str | None) -> datetime | None:
    try:
        return datetime.fromisoformat(written) if written else None
    except ValueError:
        return None


def _with_keys(request: "HttpRequest", keys: Mapping[str, str] | None) -> "HttpRequest":
    if keys:
        pairs = ",".join(f"{file_id}/{key}" for file_id, key in keys.items())
        request.headers = {**(request.headers or {}), "X-Goog-Drive-Resource-Keys": pairs}
    return request
