"""`drives.list`, `drives.get` and `about.get`."""

from typing import Any

from tests.google.answers import Answer, json_answer
from tests.google.items import Drive
from tests.google.natives import EXPORTS
from tests.google.parameters import Parameters
from tests.google.refusals import Refused, drive_not_found, invalid
from tests.google.resources import View, person
from tests.google.selection import select, take


def shown_drive(drive: Drive) -> dict[str, Any]:
    return {"kind": "drive#drive", "id": drive.id, "name": drive.name, "createdTime": drive.created, "hidden": False}


def drives(view: View, parameters: Parameters) -> Answer:
    """The shared drives that the user is a member of; 10 a page unless told otherwise, 100 at most."""
    world = view.world
    found = [one for one in world.drives.values() if world.role(view.email, world.items[one.id])]
    token = parameters.text("pageToken") or "~!!~0"
    if not token.startswith("~!!~") or not token[4:].isdigit() or int(token[4:]) > len(found):
        raise invalid("pageToken")
    begin = int(token[4:])
    size = parameters.page_size(default=10, most=100)
    page = [shown_drive(one) for one in found[begin : begin + size]]
    body: dict[str, object] = {"kind": "drive#driveList"}
    if begin + size < len(found):
        body["nextPageToken"] = f"~!!~{begin + size}"
    body["drives"] = page
    fields = parameters.text("fields") or "kind,nextPageToken,drives(kind,id,name)"
    return json_answer(take(body, select(fields, "DriveList")))


def drive(view: View, drive_id: str, parameters: Parameters) -> Answer:
    """One shared drive.

    Raises:
        Refused: 404 where the user is no member.
    """
    world = view.world
    found = world.drives.get(drive_id)
    if found is None or not world.role(view.email, world.items[drive_id]):
        raise drive_not_found(drive_id)
    return json_answer(take(shown_drive(found), select(parameters.text("fields") or "kind,id,name", "Drive")))


def about(view: View, parameters: Parameters) -> Answer:
    """The user, and what can be exported.

    Raises:
        Refused: 400 without `fields`, which this method needs.
    """
    fields = parameters.text("fields")
    if not fields:
        raise Refused(400, "required", "The 'fields' parameter is required for this method.", location="fields")
    body = {
        "kind": "drive#about",
        "user": person(view.world, view.email, view.email),
        "storageQuota": {"limit": "16106127360", "usage": "0", "usageInDrive": "0", "usageInDriveTrash": "0"},
        "exportFormats": {native: list(formats) for native, formats in EXPORTS.items()},
        "canCreateDrives": False,
        "appInstalled": False,
    }
    return json_answer(take(body, select(fields, "About")))
