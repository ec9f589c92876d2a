"""A folder by its path: from My Drive's root, or from the name of a shared drive."""

from typing import Any

from tasks.documents.drive.google import queries
from tasks.documents.drive.google.client import Client
from tasks.documents.drive.google.entries import FOLDER, SHORTCUT, target_of
from tasks.errors import BadRequest

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
        f"name = {queries.quoted(name)} and {queries.quoted(parent)} in parents and trashed = false and "
        f"(mimeType = {queries.quoted(FOLDER)} or mimeType = {queries.quoted(SHORTCUT)})"
    )
    found: dict[str, None] = {}
    token = None
    while True:
        page = client.call(queries.page(q, fields=_FIELDS, token=token))
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
        page = client.call(queries.shared_drives(token))
        found += [drive["id"] for drive in page.get("drives", ()) if drive.get("name") == name]
        token = page.get("nextPageToken")
        if not token:
            return found
