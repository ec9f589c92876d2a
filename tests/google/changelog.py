"""`changes.getStartPageToken` and `changes.list`: what a user is told since a token.

Each user and each shared drive has a log ("Track changes for users and shared drives"). What lies in a
shared drive stands in the drive's log; a member's own log tells of joining and leaving it only, and of
its files those that are shared with somebody who is no member.

A user's log is of that user's My Drive ("Changes and revisions overview", user change log), and "even if several
users can access the same file, not all changes to that file are reflected in every users' change log": what happens
to files that a user has by way of a folder of somebody else is not told here, except that access is won or lost.
"""

from typing import Any

from tests.google.answers import Answer, json_answer
from tests.google.catalogue import shown_drive
from tests.google.items import Change
from tests.google.parameters import Parameters
from tests.google.refusals import Refused, drive_not_found, invalid, required
from tests.google.resources import View, shown
from tests.google.selection import select, take

_DEFAULT = (
    "kind,nextPageToken,newStartPageToken,"
    "changes(kind,type,changeType,time,removed,fileId,driveId,file(kind,id,name,mimeType,resourceKey))"
)


def start(view: View, parameters: Parameters) -> Answer:
    """The token from which the next change will be told."""
    _drive(view, parameters)
    token = str(view.world.first_change + len(view.world.changes))
    body = {"kind": "drive#startPageToken", "startPageToken": token}
    return json_answer(take(body, select(parameters.text("fields") or "*", "StartPageToken")))


def changes(view: View, parameters: Parameters) -> Answer:
    """One page of changes, each file once with its latest; the last page has the next start.

    Raises:
        Refused: 400 for a missing or foreign token.
    """
    world = view.world
    selection = select(parameters.text("fields") or _DEFAULT, "ChangeList")
    inner = (selection or {}).get("changes")
    token = parameters.text("pageToken")
    if token is None:
        raise required("pageToken")
    end = world.first_change + len(world.changes)
    if not token.isascii() or not token.isdigit() or not world.first_change <= int(token) <= end:
        raise invalid("pageToken")
    drive = _drive(view, parameters)
    supports = parameters.flag("supportsAllDrives", "supportsTeamDrives")
    everywhere = supports and parameters.flag("includeItemsFromAllDrives", "includeTeamDriveItems")
    mine = parameters.flag("restrictToMyDrive")
    latest: dict[str, Change] = {}
    for change in world.changes[int(token) - world.first_change :]:
        if view.email not in change.users or (mine and change.drive):
            continue
        if drive:
            in_scope = change.drive == drive and not change.of_drive
        elif change.of_drive:
            in_scope = supports
        else:
            in_scope = change.drive is None or (everywhere and view.email not in change.members)
        if in_scope:
            latest.pop(change.about, None)
            latest[change.about] = change
    told = list(latest.values())
    with_removed = parameters.flag("includeRemoved", default=True)
    size = parameters.page_size()
    page, rest = told[:size], told[size:]
    rows = [_row(view, change, inner) for change in page]
    body: dict[str, Any] = {"kind": "drive#changeList"}
    # A page ends where its last change stands: the token is a number in the log, as Google's is.
    body |= {"nextPageToken": str(page[-1].number + 1)} if rest else {"newStartPageToken": str(end)}
    body["changes"] = [row for row in rows if with_removed or not row["removed"]]
    if selection is None:
        return json_answer(body)
    body["changes"] = take(body["changes"], inner)
    return json_answer({name: body[name] for name in selection if name in body})


def _row(view: View, change: Change, inner: Any) -> dict[str, Any]:
    item = view.world.items.get(change.about)
    # What has left a shared drive is removed for that drive's own log.
    removed = item is None or not view.world.role(view.email, item) or bool(change.drive and item.drive != change.drive)
    kind = "drive" if change.of_drive else "file"
    row: dict[str, Any] = {"kind": "drive#change", "type": kind, "changeType": kind}
    row |= {"time": change.time, "removed": removed}
    if change.drive:
        row["driveId"] = row["teamDriveId"] = change.drive
    if change.of_drive:
        if not removed:
            row["drive"] = shown_drive(view.world.drives[change.about])
        return row
    row["fileId"] = change.about
    if item is not None and not removed:
        row["file"] = shown(view, item, None if inner is None else inner.get("file"))
    return row


def _drive(view: View, parameters: Parameters) -> str | None:
    drive = parameters.text("driveId") or parameters.text("teamDriveId")
    if drive is None:
        return None
    if not parameters.flag("supportsAllDrives", "supportsTeamDrives"):
        message = "The supportsAllDrives parameter must be set to true if driveId is given."
        raise Refused(403, "teamDriveItemsRequireSupport", message)
    if drive not in view.world.drives or not view.world.role(view.email, view.world.items[drive]):
        raise drive_not_found(drive)
    return drive
