"""Google Drive as a drive: what one account sees of it, requested with that account's own token each time.

As a `DriveProvider` this module opens it for an account, and reports on its configuration. It lists a folder, follows
its shortcuts, and puts the result in order.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

from google.auth.credentials import Credentials

from storage import logins
from tasks.documents.drive.drive import (
    NO_DOCUMENT,
    NO_FOLDER,
    ROOT,
    Bearer,
    Changes,
    CheckResult,
    ConfiguredAccount,
    Document,
    DocumentSettings,
    Drive,
    Fetched,
    Folder,
    Identity,
    Listing,
    identifier,
    no_such,
)
from tasks.documents.drive.google import GoogleDriveSettings, api, download
from tasks.documents.drive.google.api import (
    FOLDER,
    SHORTCUT,
    FileRow,
    FolderContents,
    ParentWalk,
    ShortcutTarget,
    make_document,
    make_row,
    read_target,
)
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.credentials import find_account, find_credentials, oauth_client, run_identity
from tasks.documents.drive.google.errors import Refused
from tasks.documents.drive.spool import ListedDocuments
from tasks.errors import BadRequest, DiligenceError, NotAllowed, NotConfigured, NotFound, NotLoggedIn, Unavailable
from tasks.files import hidden
from tasks.remote.environment import GOOGLE, check_connection

_MAX_CHAIN = 5  # shortcuts that lead to one another: Drive makes none such, so this is room enough


class Shortcuts:
    """The shortcuts in a listing: those to folders are listed like subfolders, those to documents once and last.

    `warnings` says what is left out, `drives` are the ids of the shared drives that targets are in, and `foreign` means
    that a target is in no shared drive and does not belong to the account.
    """

    def __init__(self, client: Client, contents: FolderContents, *, recursive: bool) -> None:
        self._client = client
        self._contents = contents
        self._recursive = recursive
        self._followed: set[str] = set()
        self._documents: list[tuple[FileRow, FileRow]] = []  # (shortcut, what it leads to)
        self.warnings: list[str] = []
        self.watched: set[str] = set()
        self.drives: set[str | None] = set()
        self.foreign = False

    def follow(self, walk: ParentWalk) -> None:
        """Follow the shortcuts, including those in the folders that they lead to.

        Raises:
            NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
        """
        while new := [
            pair for shortcut_id, pair in self._contents.shortcuts.items() if shortcut_id not in self._followed
        ]:
            reachable = {folder.id for folder in self._contents.order_folders()} | {self._contents.top.id}
            self._followed.update(row.id for row, _ in new)
            reachable_shortcuts = [(row, target) for row, target in new if row.parent in reachable]
            self.watched.update(row.id for row, _ in reachable_shortcuts)
            walk.through(list(self._target_folders(sorted(reachable_shortcuts))))

    def documents(self, path_by_id: Mapping[str, str]) -> Iterator[Document]:
        """The documents that shortcuts add, under the shortcuts' names; `path_by_id` has the folders' paths."""
        listed: set[str] = set()
        for shortcut, row in self._documents:
            if row.parent not in path_by_id and shortcut.parent in path_by_id and row.id not in listed:
                listed.add(row.id)
                yield make_document(
                    row._replace(name=shortcut.name, parent=shortcut.parent), path_by_id[shortcut.parent]
                )

    def _target_folders(self, shortcuts: Iterable[tuple[FileRow, ShortcutTarget]]) -> Iterator[str]:
        """Look up where shortcuts lead; returns the ids of folders not seen before."""
        to_look_up = [
            (row, target)
            for row, target in shortcuts
            if target.mime_type != FOLDER or (self._recursive and not self._contents.has(target.id))
        ]
        for shortcut, file in self._targets(to_look_up):
            if file is None:
                self._leave_out(shortcut, "something that is not there")
            elif hidden(file.get("name", "")):
                self._leave_out(shortcut, "something hidden")
            elif file.get("mimeType") != FOLDER:
                self._note_place(file)
                self.watched.add(file["id"])
                self._documents.append((shortcut, make_row(file, next(iter(file.get("parents", ())), ""))))
            elif self._recursive:
                row = make_row(file, shortcut.parent)._replace(name=shortcut.name)
                if self._contents.add_folder(row):
                    self._note_place(file)
                    yield row.id

    def _note_place(self, file: Mapping[str, Any]) -> None:
        self.drives.add(file.get("driveId"))
        self.foreign |= not file.get("driveId") and not file.get("ownedByMe")

    def _targets(
        self, shortcuts: Iterable[tuple[FileRow, ShortcutTarget]]
    ) -> Iterator[tuple[FileRow, dict[str, Any] | None]]:
        """The shortcuts with their targets; None if this account sees no target."""
        waiting = list(shortcuts)
        for _ in range(_MAX_CHAIN):
            targets = list({target.id: target for _, target in waiting if target.id}.values())
            answers = self._client.batch(
                [api.one(target.id, {target.id: target.key} if target.key else None) for target in targets]
            )
            answer_by_id = {target.id: answer for target, answer in zip(targets, answers, strict=True)}
            further = []
            for shortcut, target in waiting:
                self.watched.add(target.id)
                self._contents.note_key(target.id, target.key)
                file = _file_or_none(answer_by_id.get(target.id))
                if file is not None and file.get("mimeType") == SHORTCUT:
                    further.append((shortcut, read_target(file)))
                else:
                    yield shortcut, file
            waiting = further
            if not waiting:
                return
        for shortcut, _ in waiting:
            yield shortcut, None

    def _leave_out(self, shortcut: FileRow, what: str) -> None:
        self.warnings.append(f"Left out: {shortcut.name!r} is a shortcut to {what}.")


def list_folder(
    client: Client,
    top: FileRow,
    drive_id: str | None,
    *,
    recursive: bool,
    mark: str | None,
    spool: Path | None,
    keys: dict[str, str],
) -> Listing:
    """The contents of a folder.

    Args:
        client: acts for the account that asks.
        top: the folder.
        drive_id: the shared drive that it lies in, if it does.
        recursive: whether what lies in its subfolders is listed too.
        mark: where the log of changes stood before.
        spool: a folder for the documents; without it they are in memory.
        keys: resource keys by file id. Those of the listing join them.

    Raises:
        NotLoggedIn, TooManyRequests, Unavailable, SourceFailed, TookTooLong: Drive does not answer.
    """
    contents = FolderContents(top, spool, keys)
    walk = ParentWalk(client, contents, recursive=recursive)
    walk.through([top.id])
    shortcuts = Shortcuts(client, contents, recursive=recursive)
    shortcuts.follow(walk)

    folders = contents.order_folders() if recursive else []
    name_by_id = {top.id: top.name} | {folder.id: folder.path for folder in folders}
    path_by_id = name_by_id | {top.id: ""}
    closed_paths = sorted(name_by_id[folder_id] for folder_id in contents.closed if folder_id in name_by_id)
    cut_paths = sorted(name_by_id[folder_id] for folder_id in contents.cut_short if folder_id in name_by_id)
    # A log covers its own drive only, and what was not visible may become visible without a change.
    other_drives = shortcuts.drives - {drive_id}
    incomplete = contents.incomplete or bool(closed_paths) or bool(cut_paths)
    warnings = [f"The folder {path!r} cannot be opened: its contents are left out." for path in closed_paths]
    warnings += [
        f"The folder {path!r} is not listed completely: Google Drive refused to continue each time. "
        "Index it again later."
        for path in cut_paths
    ]

    if incomplete or other_drives:
        mark = None
    elif mark and shortcuts.foreign:
        mark = api.may_lack(mark)

    documents = ListedDocuments(spool)
    found = chain(contents.stream(path_by_id), shortcuts.documents(path_by_id))
    documents.add(found if spool else _without_repetitions(found))  # storing the spooled ones leaves repetitions out
    return Listing(
        Folder(top.id, top.name, ""),
        folders,
        documents,
        warnings + shortcuts.warnings,
        incomplete,
        mark,
        frozenset(shortcuts.watched),
    )


def _without_repetitions(documents: Iterable[Document]) -> Iterable[Document]:
    """The documents without duplicates: pages shift while people work, and may return a document twice."""
    by_id: dict[str, Document] = {}
    for document in documents:
        by_id.setdefault(document.id, document)
    return by_id.values()


def _file_or_none(answer: dict[str, Any] | DiligenceError | None) -> dict[str, Any] | None:
    if isinstance(answer, DiligenceError) and not isinstance(answer, NotFound | NotAllowed):
        raise answer
    return None if answer is None or isinstance(answer, DiligenceError) or answer.get("trashed") else answer


_FIELDS = "nextPageToken,files(id,name,mimeType,shortcutDetails(targetId,targetMimeType))"
_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_MAX_DEPTH = 100  # levels of folders that Drive allows in My Drive ("File organization")


class GoogleDrive:
    """Drive as the account of `credentials` sees it."""

    name = "google"
    remote = True
    max_parallel_fetches = 8

    def __init__(self, credentials: Credentials, settings: GoogleDriveSettings, client: Client | None = None) -> None:
        self._credentials = credentials
        self._client = client or Client(credentials, settings)
        self._url_keys: dict[str, str] = {}  # resource keys in the users' URLs, by file id
        self._keys: dict[str, str] = {}  # those in listings
        self._seen: tuple[str, str] = ("", "")  # an access token, hashed, and the view that it gives

    @property
    def view(self) -> str:
        known = self._remember_view()
        if known is None:
            try:
                known = self._find_view(self._client.call(api.account()))
            except (NotAllowed, NotFound, Refused) as error:
                known = self._find_view(error)
        return known

    def find_folder(self, reference: str) -> str:
        item_id = self._read_reference(reference, "folder")
        try:
            file = self._get(item_id, "folder")
        except NotFound:
            folder_id = folder_at(self._client, reference) if item_id == reference.strip() else None
            if folder_id is None:
                raise NotFound(
                    f"No folder {reference!r} in this account's Google Drive. Give its id, its URL, or its path from "
                    "My Drive or from a shared drive's name; it must be shared with this account."
                ) from None
            return folder_id
        return str(_folder(file)["id"])

    def find_document(self, reference: str) -> str:
        return self._read_reference(reference, "document_id")

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        top, drive_id, mark = self._begin(folder_id)
        keys = self._url_keys | {top["id"]: top["resourceKey"]} if top.get("resourceKey") else self._url_keys
        self._keys.update(keys)
        return list_folder(
            self._client, make_row(top, ""), drive_id, recursive=recursive, mark=mark, spool=spool, keys=self._keys
        )

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        drive_id, token = api.split_mark(mark)
        answer, first = self._client.batch([self._one(folder_id, "folder"), api.changes(token, drive_id)])
        if _there(answer, "folder").get("driveId") != drive_id:
            return None  # it was moved
        return api.read(self._client, mark, first)

    def document(self, document_id: str) -> Document:
        file = self._document(document_id)
        if (file.get("capabilities") or {}).get("canDownload") is False:
            raise NotAllowed(
                "The document's owner does not let this account download it. Ask for the right to download."
            )
        return make_document(make_row(file, next(iter(file.get("parents", ())), "")), "")

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        return download.fetch(self._client, self._document(document_id), spool, max_bytes)

    def open(self, document_id: str) -> BinaryIO:
        return download.open(self._client, self._document(document_id))

    def local_path(self, document_id: str) -> None:  # noqa: ARG002 - no document of Drive's lies here
        return None

    def _read_reference(self, reference: str, field: str) -> str:
        """The id in a user's text. If it is a URL with a resource key, that is kept for later requests."""
        item_id = identifier(reference, field)
        if item_id != reference.strip():
            for key in parse_qs(urlsplit(reference.strip()).query).get("resourcekey", ()):
                self._url_keys[item_id] = key
        return item_id

    def _begin(self, folder_id: str) -> tuple[dict[str, Any], str | None, str | None]:
        """A folder, the id of its shared drive if it lies in one, and the current mark: usually in one request."""
        makes = [self._one(folder_id, "folder"), api.get_changes_start(None), api.one(ROOT)]
        if self._remember_view() is None:
            makes.append(api.account())
        maybe_drive = folder_id.startswith("0A")  # as ids of shared drives do, and of My Drive's root
        if maybe_drive:
            makes += _about_drive(folder_id)
        answer, own_log, own_root, *further = self._client.batch(makes)
        about_drive = further[-2:] if maybe_drive else []
        for user in further[: len(further) - len(about_drive)]:
            self._find_view(user)
        top = _folder(self._follow(_there(answer, "folder"), "folder"))
        drive_id = top.get("driveId")
        if drive_id is None:
            return top, None, api.make_mark(None, own_log, in_my_drive=self._lies_below(own_root, top))
        if drive_id != folder_id or not about_drive:
            about_drive = self._client.batch(_about_drive(drive_id))
        log, drive = about_drive
        if drive_id == top["id"] and not isinstance(drive, DiligenceError):
            top["name"] = drive.get("name", top["name"])
        return top, drive_id, api.make_mark(drive_id, log)

    def _lies_below(self, root: dict[str, Any] | DiligenceError, folder: dict[str, Any]) -> bool:
        """Whether a folder is My Drive's root or lies below it. Makes one request for each level between them."""
        if isinstance(root, DiligenceError):
            return False
        for _ in range(_MAX_DEPTH):
            parents = folder.get("parents", ())
            if root["id"] in {folder["id"], *parents}:
                return True
            above = self._answer(self._one(parents[0], "folder")) if parents else None
            if above is None or isinstance(above, DiligenceError):
                return False
            folder = above
        return False

    def _document(self, document_id: str) -> dict[str, Any]:
        file = self._get(document_id, "document")
        if file.get("mimeType") == FOLDER:
            raise NotFound(NO_DOCUMENT)
        return file

    def _get(self, file_id: str, kind: str) -> dict[str, Any]:
        """The file with an id, or the target if it is a shortcut."""
        if kind == "folder" and self._remember_view() is None:
            answer, user = self._client.batch([self._one(file_id, kind), api.account()])
            self._find_view(user)
        else:
            answer = self._answer(self._one(file_id, kind))
        return self._follow(_there(answer, kind), kind)

    def _answer(self, make: "api.Make") -> dict[str, Any] | DiligenceError:
        try:
            return self._client.call(make)
        except NotFound as error:
            return error

    def _follow(self, file: dict[str, Any], kind: str) -> dict[str, Any]:
        for _ in range(_MAX_CHAIN):
            if file.get("mimeType") != SHORTCUT:
                return file
            target = read_target(file)
            if target.key:
                self._keys[target.id] = target.key
            file = _there(self._answer(self._one(target.id, kind)), kind)
        raise no_such(kind)

    def _one(self, file_id: str, kind: str) -> "api.Make":
        if not _ID.fullmatch(file_id):
            raise no_such(kind)
        keys = dict(self._url_keys)
        if file_id in self._keys:
            keys[file_id] = self._keys[file_id]
        return api.one(file_id, keys)

    def _remember_view(self) -> str | None:
        token, view = self._seen
        return view if view and token == self._token() else None

    def _find_view(self, answer: dict[str, Any] | DiligenceError) -> str:
        """The view of the account that `about.get` names; if it names none, a view for this access token alone."""
        if isinstance(answer, DiligenceError) and not isinstance(answer, NotAllowed | NotFound | Refused):
            raise answer
        user = {} if isinstance(answer, DiligenceError) else answer.get("user") or {}
        token = self._token()
        view = f"google:{user.get('permissionId') or token}"
        self._seen = (token, view)
        return view

    def _token(self) -> str:
        return hashlib.sha256(str(self._credentials.token).encode()).hexdigest()[:32]


def _about_drive(drive_id: str) -> "list[api.Make]":
    """The requests for a drive's position in its log and for its name: its root folder is always called Drive."""
    return [api.get_changes_start(drive_id), api.get_shared_drive(drive_id)]


def _there(answer: dict[str, Any] | DiligenceError, kind: str) -> dict[str, Any]:
    if isinstance(answer, NotFound):
        raise no_such(kind) from answer
    if isinstance(answer, DiligenceError):
        raise answer
    if answer.get("trashed"):
        raise NotFound(f"This {kind} is in the bin.")
    return answer


def _folder(file: dict[str, Any]) -> dict[str, Any]:
    if file.get("mimeType") != FOLDER:
        raise NotFound(NO_FOLDER)
    return file


def folder_at(client: Client, path: str) -> str | None:
    """The id of the folder at a path from My Drive's root or from the name of a shared drive, with `/` between names.

    None if this account sees no such folder.

    Raises:
        BadRequest: several folders have that path.
    """
    names = [name for name in path.strip().split("/") if name]
    if not names:
        return None
    first, *deeper = names
    drives = api.all_pages(client, api.list_shared_drives, "drives")
    named = [drive["id"] for drive in drives if drive.get("name") == first]
    at = _find_one(first, [*_folders(client, "root", first), *named])
    for name in deeper:
        if at is None:
            return None
        at = _find_one(name, _folders(client, at, name))
    return at


def _find_one(name: str, folder_ids: list[str]) -> str | None:
    if len(folder_ids) > 1:
        raise BadRequest(
            f"{len(folder_ids)} folders in the same place are called {name!r}. Give the folder's id or its URL."
        )
    return folder_ids[0] if folder_ids else None


def _folders(client: Client, parent: str, name: str) -> list[str]:
    """The ids of the folders in `parent` with exactly that name, and of those that such shortcuts lead to."""
    q = (
        f"name = {api.cite_quote(name)} and {api.cite_quote(parent)} in parents and trashed = false and "
        f"(mimeType = {api.cite_quote(FOLDER)} or mimeType = {api.cite_quote(SHORTCUT)})"
    )
    files = api.all_pages(client, lambda token: api.page(q, fields=_FIELDS, token=token), "files")
    same_name = (file for file in files if file.get("name") == name)  # Drive's query ignores case
    return list(dict.fromkeys(folder_id for file in same_name for folder_id in _leads_to(file)))


def _leads_to(file: dict[str, Any]) -> list[str]:
    if file.get("mimeType") != SHORTCUT:
        return [file["id"]]
    target = read_target(file)
    return [target.id] if target.mime_type == FOLDER else []


__all__ = ["check_reachable", "examine", "open_drive", "run_identity"]


def open_drive(identity: Identity | None) -> Drive:
    """Google Drive as `identity` sees it; the same login gives the same object, so that connections are reused.

    Raises:
        NotConfigured: a setting is missing, or a variable of the environment cannot be used.
        NotLoggedIn: there is no identity.
    """
    if identity is None:
        raise NotLoggedIn("Google Drive requires an account.")
    settings = GoogleDriveSettings.current()
    check_connection(settings.google_api_endpoint, GOOGLE)
    account = identity if isinstance(identity, Bearer) else find_credentials(identity)
    return _open(account, settings.google_api_endpoint, settings.google_batch_uri)


def check_reachable(seconds: float) -> None:
    """Check that Google Drive answers at all; nobody needs to be logged in.

    Raises:
        NotConfigured: a variable of the environment cannot be used.
        Unavailable: Google Drive does not answer. Any status is an answer: a failure of Google's is no reason to take
            away a service whose other work goes on.
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
