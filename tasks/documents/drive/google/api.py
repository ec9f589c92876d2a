"""The Drive API as it is used here: files as rows and documents, the requests, logs of changes, and trees of folders.

Without `supportsAllDrives` and `includeItemsFromAllDrives`, answers leave out what lies in a shared drive.

A shared drive has a log of changes of its own; all other changes are in the account's log. That one tells of the
account's My Drive, and not of all that others do in folders of theirs ("Changes and revisions overview": "not all
changes to that file are reflected in every users' change log"). A mark names the log and a position in it:

    <drive>:<token>     the log of a shared drive: complete
    own:<token>         the account's log, of a folder in its My Drive: complete
    :<token>            the account's log, of any other folder: it may lack something

A tree is listed with many folders in one query, as many as the earlier answers suggest.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from tasks.cancellation import FanOut
from tasks.documents.drive.drive import Changes, Document, Folder
from tasks.documents.drive.google import DESCRIPTION
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Gone, Refused
from tasks.documents.drive.spool import ListedRows
from tasks.errors import DiligenceError, NotAllowed, NotFound
from tasks.files import hidden

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


class FolderContents:
    """The folder `top` and everything below it. Only one thread adds to it.

    A row may come twice, because pages shift while people work: the first one counts.
    """

    def __init__(self, top: FileRow, spool: Path | None, keys: dict[str, str]) -> None:
        """`keys` are resource keys by file id; those of files that are added are put in."""
        self.top = top
        self.folders: dict[str, FileRow] = {}
        self.shortcuts: dict[str, tuple[FileRow, ShortcutTarget]] = {}
        self._documents = ListedRows(spool)
        self.closed: set[str] = set()
        """Ids of folders that could not be listed."""
        self.cut_short: set[str] = set()
        """Ids of folders that could not be listed to their end."""
        self.incomplete = False
        self._keys = keys

    def take(self, files: Iterable[tuple[Mapping[str, Any], str]]) -> list[str]:
        """Add files, paired with the ids of their folders; returns the ids of the folders that are new."""
        new: list[str] = []
        documents: list[FileRow] = []
        for file, parent in files:
            if hidden(file.get("name", "")):
                continue
            row = make_row(file, parent)
            self.note_key(row.id, row.key)
            if row.mime_type == FOLDER:
                if self.add_folder(row):
                    new.append(row.id)
            elif row.mime_type == SHORTCUT:
                self.shortcuts.setdefault(row.id, (row, read_target(file)))
            else:
                documents.append(row)
        self._documents.add(documents)
        return new

    def add_folder(self, row: FileRow) -> bool:
        """Add a folder; False if it is known already."""
        if self.has(row.id):
            return False
        self.folders[row.id] = row
        return True

    def has(self, folder_id: str) -> bool:
        """Whether the folder is known."""
        return folder_id in self.folders or folder_id == self.top.id

    def note_key(self, file_id: str, key: str | None) -> None:
        """Add a file's resource key, if it has one."""
        if key:
            self._keys[file_id] = key

    def keys_to(self, folder_ids: Iterable[str]) -> dict[str, str]:
        """The resource keys that a call about these folders needs: their own, and those of the folders above them."""
        needed: dict[str, str] = {}
        if self._keys:
            for folder_id in folder_ids:
                for at in self._upwards(folder_id):
                    if at in self._keys:
                        needed[at] = self._keys[at]
        return needed

    def order_folders(self) -> list[Folder]:
        """The folders that can be reached from the top, parents before children, in order of name."""
        below: dict[str, list[FileRow]] = {}
        for row in sorted(self.folders.values(), key=lambda row: (row.name, row.id), reverse=True):
            below.setdefault(row.parent, []).append(row)
        ordered: list[Folder] = []
        waiting = [(row, row.name) for row in below.get(self.top.id, ())]
        while waiting:
            row, path = waiting.pop()
            ordered.append(Folder(row.id, row.name, path, row.parent))
            waiting.extend((deeper, f"{path}/{deeper.name}") for deeper in below.get(row.id, ()))
        return ordered

    def stream(self, paths: Mapping[str, str]) -> Iterator[Document]:
        """The documents in these folders (paths by id), in the order in which they were added."""
        for row in map(FileRow._make, self._documents):
            path = paths.get(row.parent)
            if path is not None:
                yield make_document(row, path)

    def _upwards(self, folder_id: str) -> Iterator[str]:
        seen = {self.top.id}
        while folder_id not in seen:
            seen.add(folder_id)
            yield folder_id
            row = self.folders.get(folder_id)
            if row is None:
                break
            folder_id = row.parent
        yield self.top.id


_MOST = 100  # parents in a query: Drive refuses one from about 150 as too complex; also the parts of a batch
_PAGE = 460  # rows of a page with `parents` in it, until a longer one was seen
_PAGES = 1.2  # pages that a query should fill: 66 requests for 1,000 folders; 75 with 0.9, and no quicker with 1.85
_ENOUGH = 0.6  # of a full query, to be sent while more folders may come
_EXPECTED = (50.0, 1000.0)  # folders and rows in them, before anything is learned: one broad folder says little
_MEMORY = 0.8  # of what was learned about rows a folder, with each query


@dataclass(slots=True, eq=False)
class _Query:
    """A query under way that covers several parents together."""

    parents: Sequence[str]
    token: str | None = None
    restarts: int = 0
    seen: set[str] = field(default_factory=set)
    rows: int = 0
    brings_folders: bool = True
    astray: bool = False
    """A row named none of the parents."""


class ParentWalk:
    """Lists folders and everything below them into `contents`."""

    def __init__(self, client: Client, contents: FolderContents, *, recursive: bool) -> None:
        self._client = client
        self._contents = contents
        self._recursive = recursive
        self._waiting: deque[str] = deque()
        self._empty: deque[str] = deque()  # without a row so far: to be queried on their own
        self._queries: dict[Future[Any], _Query] = {}
        self._batches: dict[Future[Any], Sequence[str]] = {}
        self._page = _PAGE
        self._folders, self._rows = _EXPECTED

    def through(self, folder_ids: Iterable[str]) -> None:
        """List these folders.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        self._waiting.extend(folder_ids)
        with FanOut(CALLS_AT_ONCE, "listing") as threads:
            while True:
                self._send(threads)
                if not (self._queries or self._batches):
                    return
                for done in wait([*self._queries, *self._batches], return_when=FIRST_COMPLETED).done:
                    if done in self._queries:
                        self._take_page(self._queries.pop(done), done, threads)
                    else:
                        self._take_batch(self._batches.pop(done), done.result(), threads)

    def _send(self, threads: FanOut) -> None:
        """Send queries for the waiting folders: full ones at once, the rest when no more folders can be added."""
        size = self._size()
        more_may_come = any(query.brings_folders for query in self._queries.values()) or bool(self._batches)
        enough = max(1, int(size * _ENOUGH)) if more_may_come else 1
        # Answers wait in memory until they are added: no more of them than keep the threads busy.
        while len(self._waiting) >= enough and len(self._queries) < 2 * CALLS_AT_ONCE:
            parents = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
            self._ask(_Query(parents), threads)
        while len(self._empty) >= _MOST or (self._empty and not self._waiting and not self._queries):
            alone = [self._empty.popleft() for _ in range(min(_MOST, len(self._empty)))]
            makes = [self._make(_Query([parent])) for parent in alone]
            self._batches[threads.submit(self._client.batch, makes)] = alone

    def _size(self) -> int:
        """How many parents to combine in a query so that it has about `_PAGES` pages."""
        return max(1, min(_MOST, int(_PAGES * self._page * self._folders / max(self._rows, self._folders))))

    def _ask(self, query: _Query, threads: FanOut) -> None:
        self._queries[threads.submit(self._client.call, self._make(query))] = query

    def _make(self, query: _Query) -> "Make":
        q = query_folders(query.parents)
        if not self._recursive:
            q += f" and mimeType != {cite_quote(FOLDER)}"
        return page(
            q,
            fields=ALONE if len(query.parents) == 1 else TOGETHER,
            order="folder",
            token=query.token,
            keys=self._contents.keys_to(query.parents),
        )

    def _take_page(self, query: _Query, done: Future[Any], threads: FanOut) -> None:
        try:
            answer = done.result()
        except (NotFound, NotAllowed, Refused) as error:
            if query.token and isinstance(error, Gone | Refused):
                self._restart(query, threads)
            elif len(query.parents) > 1:
                self._empty.extend(query.parents)  # one of them is gone: queries of their own show which
            elif isinstance(error, Refused):
                raise
            else:
                self._contents.closed.add(query.parents[0])
            return
        files = answer.get("files", [])
        self._note(answer, list(self._place(query, files)))
        query.rows += len(files)
        query.brings_folders = bool(files) and files[-1].get("mimeType") == FOLDER
        query.token = answer.get("nextPageToken")
        if query.token:
            if len(query.parents) > 1:
                self._page = max(self._page, len(files))
            query.brings_folders = query.brings_folders or not files
            self._ask(query, threads)
            return
        # The latest answers count most: deeper folders hold less as a rule.
        self._folders = _MEMORY * self._folders + len(query.parents)
        self._rows = _MEMORY * self._rows + query.rows
        if len(query.parents) > 1:
            self._empty.extend(
                query.parents if query.astray else [parent for parent in query.parents if parent not in query.seen]
            )

    def _restart(self, query: _Query, threads: FanOut) -> None:
        """Restart a query whose page token was refused; a folder whose tokens are always refused is cut short."""
        if query.restarts < RESTARTS:
            self._ask(_Query(query.parents, restarts=query.restarts + 1), threads)
        elif len(query.parents) > 1:
            self._empty.extend(query.parents)
        else:
            self._contents.cut_short.add(query.parents[0])

    def _place(self, query: _Query, files: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Pair files with the ids of their folders."""
        if len(query.parents) == 1:
            for file in files:
                yield file, query.parents[0]
            return
        parents = frozenset(query.parents)
        for file in files:
            for parent in file.get("parents", ()):
                if parent in parents:
                    query.seen.add(parent)
                    yield file, parent
                    break
            else:
                query.astray = True

    def _take_batch(
        self, alone: Sequence[str], answers: Sequence[dict[str, Any] | DiligenceError], threads: FanOut
    ) -> None:
        for parent, answer in zip(alone, answers, strict=True):
            if isinstance(answer, NotFound | NotAllowed):
                self._contents.closed.add(parent)
            elif isinstance(answer, DiligenceError):
                raise answer
            else:
                self._note(answer, [(file, parent) for file in answer.get("files", [])])
                if answer.get("nextPageToken"):
                    self._ask(_Query([parent], answer["nextPageToken"]), threads)

    def _note(self, answer: Mapping[str, Any], files: Sequence[tuple[Mapping[str, Any], str]]) -> None:
        self._contents.incomplete |= bool(answer.get("incompleteSearch"))
        new = self._contents.take(files)
        if self._recursive:
            self._waiting.extend(new)
