"""Google Drive as a drive: what one account sees of it, asked with that account's own token each time.

A folder by its path: from My Drive's root, or from the name of a shared drive.
"""

import hashlib
import re
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import parse_qs, urlsplit

from google.auth.credentials import Credentials

from tasks.documents.drive.drive import Changes, Document, Fetched, Listing, identifier
from tasks.documents.drive.google import api, download
from tasks.documents.drive.google.api import FOLDER, SHORTCUT, document_of, row_of, target_of
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.errors import Refused
from tasks.documents.drive.google.listing import listing_of
from tasks.documents.drive.google.settings import GoogleDriveSettings
from tasks.errors import BadRequest, DiligenceError, NotAllowed, NotFound

_FIELDS = "nextPageToken,files(id,name,mimeType,shortcutDetails(targetId,targetMimeType))"


def folder_at(client: Client, path: str) -> str | None:
    """The id of the folder at a path, `/` between names; None if there is none for this account.

    Raises:
        BadRequest: several folders have that path.
    """
    names = [name for name in path.strip().split("/") if name]
    if not names:
        return None
    first, *deeper = names
    at = _one_of(first, [*_folders(client, "root", first), *_drives(client, first)])
    for name in deeper:
        if at is None:
            return None
        at = _one_of(name, _folders(client, at, name))
    return at


def _one_of(name: str, found: list[str]) -> str | None:
    if len(found) > 1:
        raise BadRequest(
            f"{len(found)} folders in the same place are called {name!r}. Give the folder's id or its URL."
        )
    return found[0] if found else None


def _folders(client: Client, parent: str, name: str) -> list[str]:
    """The folders of that very name in a folder, and where shortcuts of that name lead to folders."""
    q = (
        f"name = {api.quoted(name)} and {api.quoted(parent)} in parents and trashed = false and "
        f"(mimeType = {api.quoted(FOLDER)} or mimeType = {api.quoted(SHORTCUT)})"
    )
    found: dict[str, None] = {}
    token = None
    while True:
        page = client.call(api.page(q, fields=_FIELDS, token=token))
        for file in page.get("files", ()):
            if file.get("name") == name:  # Drive does not tell upper case from lower
                found |= dict.fromkeys(_leads_to(file))
        token = page.get("nextPageToken")
        if not token:
            return list(found)


def _leads_to(file: dict[str, Any]) -> list[str]:
    if file.get("mimeType") != SHORTCUT:
        return [file["id"]]
    target = target_of(file)
    return [target.id] if target.mime_type == FOLDER else []


def _drives(client: Client, name: str) -> list[str]:
    found: list[str] = []
    token = None
    while True:
        page = client.call(api.shared_drives(token))
        found += [drive["id"] for drive in page.get("drives", ()) if drive.get("name") == name]
        token = page.get("nextPageToken")
        if not token:
            return found


_ID = re.compile(r"[A-Za-z0-9_-]{1,200}")
_CHAIN = 5  # shortcuts that lead to one another; Drive makes none such


class GoogleDrive:
    """Drive as the account of `credentials` sees it."""

    name = "google"
    remote = True
    side_by_side = 8

    def __init__(self, credentials: Credentials, settings: GoogleDriveSettings) -> None:
        self._credentials = credentials
        self._client = Client(credentials, settings)
        self._given_keys: dict[str, str] = {}  # resource keys that the user gave in URLs, by file id
        self._keys: dict[str, str] = {}  # those that listings told
        self._seen: tuple[str, str] = ("", "")  # an access token, hashed, and the view that it gives

    @property
    def view(self) -> str:
        known = self._known_view()
        if known is None:
            try:
                known = self._view_of(self._client.call(api.account()))
            except (NotAllowed, NotFound, Refused) as error:
                known = self._view_of(error)
        return known

    def find_folder(self, given: str) -> str:
        wanted = self._named(given, "folder")
        try:
            file = self._get(wanted, "folder")
        except NotFound:
            found = folder_at(self._client, given) if wanted == given.strip() else None
            if found is None:
                raise NotFound(
                    f"No folder {given!r} in this account's Google Drive. Give its id, its URL, or its path from "
                    "My Drive or from a shared drive's name; it must be shared with this account."
                ) from None
            return found
        return str(_folder(file)["id"])

    def find_document(self, given: str) -> str:
        return self._named(given, "document_id")

    def list_folder(self, folder_id: str, *, recursive: bool, spool: Path | None = None) -> Listing:
        top, drive_id, mark = self._begin(folder_id)
        keys = self._given_keys | {top["id"]: top["resourceKey"]} if top.get("resourceKey") else self._given_keys
        self._keys.update(keys)
        return listing_of(
            self._client, row_of(top, ""), drive_id, recursive=recursive, mark=mark, spool=spool, keys=self._keys
        )

    def changes_since(self, folder_id: str, mark: str) -> Changes | None:
        drive_id, token = api.log_of(mark)
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
        return document_of(row_of(file, next(iter(file.get("parents", ())), "")), "")

    def fetch(self, document_id: str, spool: Path, max_bytes: int) -> Fetched:
        return download.fetch(self._client, self._document(document_id), spool, max_bytes)

    def open(self, document_id: str) -> BinaryIO:
        return download.open(self._client, self._document(document_id))

    def _named(self, given: str, field: str) -> str:
        """The id in what a user gave; a resource key beside it in a URL is remembered."""
        wanted = identifier(given, field)
        for key in parse_qs(urlsplit(given.strip()).query).get("resourcekey", ()) if wanted != given.strip() else ():
            self._given_keys[wanted] = key
        return wanted

    def _begin(self, folder_id: str) -> tuple[dict[str, Any], str | None, str | None]:
        """A folder, the shared drive that it lies in if it does, and the mark of now; as a rule in one request."""
        makes = [self._one(folder_id, "folder"), api.start_of_changes(None)]
        if self._known_view() is None:
            makes.append(api.account())
        suspected = folder_id.startswith("0A")  # as ids of shared drives do, and of My Drive's root
        if suspected:
            makes += _about_drive(folder_id)
        answer, own_log, *further = self._client.batch(makes)
        about_drive = further[-2:] if suspected else []
        for user in further[: len(further) - len(about_drive)]:
            self._view_of(user)
        top = _folder(self._followed(_there(answer, "folder"), "folder"))
        drive_id = top.get("driveId")
        if drive_id is None:
            return top, None, api.mark_of(None, own_log)
        if drive_id != folder_id or not about_drive:
            about_drive = self._client.batch(_about_drive(drive_id))
        log, drive = about_drive
        if drive_id == top["id"] and not isinstance(drive, DiligenceError):
            top["name"] = drive.get("name", top["name"])
        return top, drive_id, api.mark_of(drive_id, log)

    def _document(self, document_id: str) -> dict[str, Any]:
        file = self._get(document_id, "document")
        if file.get("mimeType") == FOLDER:
            raise NotFound("This is the id of a folder, not of a document.")
        return file

    def _get(self, file_id: str, kind: str) -> dict[str, Any]:
        """What Drive says of a file, or of what it is a shortcut to."""
        if kind == "folder" and self._known_view() is None:
            answer, user = self._client.batch([self._one(file_id, kind), api.account()])
            self._view_of(user)
        else:
            answer = self._answer(self._one(file_id, kind))
        return self._followed(_there(answer, kind), kind)

    def _answer(self, make: "api.Make") -> dict[str, Any] | DiligenceError:
        try:
            return self._client.call(make)
        except NotFound as error:
            return error

    def _followed(self, file: dict[str, Any], kind: str) -> dict[str, Any]:
        for _ in range(_CHAIN):
            if file.get("mimeType") != SHORTCUT:
                return file
            target = target_of(file)
            if target.key:
                self._keys[target.id] = target.key
            file = _there(self._answer(self._one(target.id, kind)), kind)
        raise _none_such(kind)

    def _one(self, file_id: str, kind: str) -> "api.Make":
        if not _ID.fullmatch(file_id):
            raise _none_such(kind)
        keys = dict(self._given_keys)
        if file_id in self._keys:
            keys[file_id] = self._keys[file_id]
        return api.one(file_id, keys)

    def _known_view(self) -> str | None:
        token, view = self._seen
        return view if view and token == self._token() else None

    def _view_of(self, answer: dict[str, Any] | DiligenceError) -> str:
        """The view of the account that `about.get` tells; where it does not, of this access token alone."""
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
    """Where its log stands, and its name: that of its root folder is always Drive."""
    return [api.start_of_changes(drive_id), api.shared_drive(drive_id)]


def _there(answer: dict[str, Any] | DiligenceError, kind: str) -> dict[str, Any]:
    if isinstance(answer, NotFound):
        raise _none_such(kind) from answer
    if isinstance(answer, DiligenceError):
        raise answer
    if answer.get("trashed"):
        raise NotFound(f"This {kind} is in the bin.")
    return answer


def _folder(file: dict[str, Any]) -> dict[str, Any]:
    if file.get("mimeType") != FOLDER:
        raise NotFound("This is the id of a document, not of a folder.")
    return file


def _none_such(kind: str) -> NotFound:
    return NotFound(f"No such {kind}, or it is not shared with this account.")
