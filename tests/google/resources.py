"""A file as Drive shows it to one user: each field of the resource, worked out only when it is asked for."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tests.google.items import Item
from tests.google.natives import EXPORTS, EXTENSIONS, FOLDER, PLACES, SHORTCUT
from tests.google.selection import Selection, take
from tests.google.world import World


class View(NamedTuple):
    """Who looks, with which resource keys, and where the emulator stands (for links)."""

    world: World
    email: str
    keys: Mapping[str, str]
    base: str


def shown(view: View, item: Item, selection: Selection | None) -> dict[str, Any]:
    """The part of the file resource that was asked for; absent fields are left out."""
    if selection is None:
        selection = dict.fromkeys(_FIELDS)
    found: dict[str, Any] = {}
    for name, inner in selection.items():
        field = _FIELDS.get(name)
        value = field(view, item) if field else None
        if value is not None:
            found[name] = value if inner is None else take(value, inner)
    return found


def person(world: World, email: str, me: str) -> dict[str, Any]:
    user = world.user(email)
    return {
        "kind": "drive#user",
        "displayName": user.name,
        "me": email == me,
        "permissionId": user.permission_id,
        "emailAddress": email,
    }


def _parents(view: View, item: Item) -> list[str] | None:
    # A parent is named only to those who may see it.
    above = view.world.items.get(item.parent or "")
    return [above.id] if above and view.world.can_read(view.email, above, view.keys) else None


def _owner(world: World, item: Item) -> str | None:
    at: Item | None = item
    while at:
        for email, role in at.permissions.items():
            if role == "owner":
                return email
        at = world.items.get(at.parent or "")
    return None


def _owners(view: View, item: Item) -> list[dict[str, Any]] | None:
    owner = None if item.drive else _owner(view.world, item)
    return [person(view.world, owner, view.email)] if owner else None


def _link(view: View, item: Item) -> str:
    key = f"&resourcekey={item.resource_key}" if item.resource_key else ""
    if item.is_folder:
        return f"https://drive.google.com/drive/folders/{item.id}" + key.replace("&", "?", 1)
    if item.mime in PLACES:
        return f"https://docs.google.com/{PLACES[item.mime][0]}/d/{item.id}/edit?usp=drivesdk{key}"
    return f"https://drive.google.com/file/d/{item.id}/view?usp=drivesdk{key}"


def _export_links(view: View, item: Item) -> dict[str, str] | None:
    if item.mime not in EXPORTS or not can_download(view, item):
        return None
    place = PLACES[item.mime][1]
    return {
        mime: f"{view.base}/feeds/download/{place}/Export?id={item.id}&exportFormat={EXTENSIONS[mime]}"
        for mime in EXPORTS[item.mime]
    }


def can_download(view: View, item: Item) -> bool:
    """Readers of a file whose owner forbids downloads may only look; writers may still download."""
    if item.mime in {FOLDER, SHORTCUT}:
        return False
    return item.can_download or view.world.role(view.email, item) in {"owner", "organizer", "writer", "fileOrganizer"}


def _capabilities(view: View, item: Item) -> dict[str, bool]:
    writes = view.world.role(view.email, item) in {"owner", "organizer", "fileOrganizer", "writer"}
    return {
        "canDownload": can_download(view, item),
        "canCopy": can_download(view, item),
        "canEdit": writes,
        "canRename": writes,
        "canTrash": writes,
        "canListChildren": item.is_folder,
        "canAddChildren": item.is_folder and writes,
        "canReadRevisions": not item.is_folder,
    }


def _shortcut(view: View, item: Item) -> dict[str, str] | None:
    if not item.target or not item.target_mime:
        return None
    details = {"targetId": item.target, "targetMimeType": item.target_mime}
    target = view.world.items.get(item.target)
    key = item.target_key or (target.resource_key if target else None)
    return details | ({"targetResourceKey": key} if key else {})


def _extension(_: View, item: Item) -> str | None:
    return item.name.rpartition(".")[2] if item.blob and "." in item.name else ("" if item.blob else None)


def _shared(view: View, item: Item) -> bool:
    return bool(item.drive or item.link or len(view.world.readers(item)) > 1)


def _web_content(_: View, item: Item) -> str | None:
    return f"https://drive.google.com/uc?id={item.id}&export=download" if item.blob else None


_FIELDS: dict[str, Callable[[View, Item], Any]] = {
    "kind": lambda _, item: "drive#file",
    "id": lambda _, item: item.id,
    "name": lambda _, item: item.name,
    "mimeType": lambda _, item: item.mime,
    "parents": _parents,
    "size": lambda _, item: str(item.blob.size) if item.blob else None,
    "quotaBytesUsed": lambda _, item: str(item.blob.size) if item.blob else "0",
    "md5Checksum": lambda _, item: item.blob.checksums[0] if item.blob else None,
    "sha1Checksum": lambda _, item: item.blob.checksums[1] if item.blob else None,
    "sha256Checksum": lambda _, item: item.blob.checksums[2] if item.blob else None,
    "headRevisionId": lambda _, item: f"0B{item.id[1:12]}{item.revision:06d}" if item.blob else None,
    "version": lambda _, item: str(item.version),
    "createdTime": lambda _, item: item.created,
    "modifiedTime": lambda _, item: item.modified,
    "trashed": lambda view, item: view.world.in_trash(item),
    "explicitlyTrashed": lambda _, item: item.trashed,
    "starred": lambda _, item: False,
    "driveId": lambda _, item: item.drive,
    "teamDriveId": lambda _, item: item.drive,
    "spaces": lambda _, item: ["drive"],
    "owners": _owners,
    "ownedByMe": lambda view, item: None if item.drive else _owner(view.world, item) == view.email,
    "shared": _shared,
    "capabilities": _capabilities,
    "shortcutDetails": _shortcut,
    "resourceKey": lambda _, item: item.resource_key,
    "webViewLink": _link,
    "webContentLink": _web_content,
    "exportLinks": _export_links,
    "originalFilename": lambda _, item: item.name if item.blob else None,
    "fileExtension": _extension,
    "fullFileExtension": _extension,
    "inheritedPermissionsDisabled": lambda _, item: not item.inherits,
    "isAppAuthorized": lambda _, item: False,
}
