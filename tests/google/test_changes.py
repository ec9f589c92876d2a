"""The changes API through Google's own Python client."""

from typing import Any

import pytest

from tests.google.conftest import ADA, BOB, Connect
from tests.google.server import DriveEmulator
from tests.google.test_listing import refusal


class Follower:
    """One who reads the changes since the last look."""

    def __init__(self, service: Any, **parameters: Any) -> None:
        self.changes, self.parameters = service.changes(), parameters
        drive = {name: parameters[name] for name in ("driveId", "supportsAllDrives") if name in parameters}
        self.token = self.changes.getStartPageToken(**drive).execute()["startPageToken"]

    def look(self) -> list[tuple[str, bool, bool | None]]:
        """(name or id, removed, trashed) of each change, in order."""
        found: list[tuple[str, bool, bool | None]] = []
        token = self.token
        while token:
            fields = "nextPageToken,newStartPageToken,changes(fileId,removed,file(name,trashed))"
            page = self.changes.list(pageToken=token, fields=fields, **self.parameters).execute()
            assert ("nextPageToken" in page) != ("newStartPageToken" in page)
            for change in page["changes"]:
                assert ("file" in change) != change["removed"]
                file = change.get("file", {})
                found.append((file.get("name", change["fileId"]), change["removed"], file.get("trashed")))
            self.token = page.get("newStartPageToken", self.token)
            token = page.get("nextPageToken")
        return found


def test_nothing_changed_is_an_empty_page_with_a_new_start(drive: DriveEmulator, connect: Connect) -> None:
    drive.world.file("a.txt", drive.world.root(ADA))
    follower = Follower(connect())
    assert follower.look() == []
    assert follower.look() == []


def test_a_file_comes_once_with_its_latest_state(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    follower = Follower(connect())
    one, two = world.file("1.txt", world.root(ADA)), world.file("2.txt", world.root(ADA))
    world.rename(one, "first.txt")
    world.trash(two)
    assert follower.look() == [("first.txt", False, False), ("2.txt", False, True)]
    world.trash(two, trashed=False)
    world.delete(one)
    assert follower.look() == [("2.txt", False, False), (one.id, True, None)]


def test_changes_come_in_pages(drive: DriveEmulator, connect: Connect) -> None:
    follower = Follower(connect(), pageSize=2)
    made = [drive.world.file(f"{number}.txt", drive.world.root(ADA)) for number in range(5)]
    drive.world.rename(made[0], "last.txt")
    assert [name for name, _, _ in follower.look()] == ["1.txt", "2.txt", "3.txt", "4.txt", "last.txt"]
    assert drive.counts.by_method["changes.list"] == 3


def test_access_lost_is_a_removal_and_access_won_a_change(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    file = world.file("a.txt", room)
    follower, owner = Follower(connect(BOB)), Follower(connect(ADA))
    world.share(room, BOB)
    assert follower.look() == [("room", False, False), ("a.txt", False, False)]
    world.unshare(room, BOB)
    assert follower.look() == [(room.id, True, None), (file.id, True, None)]
    assert owner.look() == [("room", False, False)]


def test_moving_out_of_a_shared_folder_is_a_removal(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room, private = world.folder("room", world.root(ADA)), world.folder("private", world.root(ADA))
    file = world.file("a.txt", room)
    world.share(room, BOB)
    follower = Follower(connect(BOB))
    world.move(file, private)
    assert follower.look() == [(file.id, True, None)]


def test_what_happens_in_a_folder_of_somebody_else_is_told_to_its_owner(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    inner, given = world.folder("inner", room), world.file("given.txt", world.root(ADA))
    world.share(room, BOB)
    world.share(given, BOB)
    owner, other = Follower(connect(ADA)), Follower(connect(BOB))
    file = world.file("a.txt", inner)
    world.write(file, b"new")
    world.write(given, b"new")
    assert other.look() == [("given.txt", False, False)]
    assert owner.look() == [("a.txt", False, False), ("given.txt", False, False)]


EVERYWHERE = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}


def test_a_shared_drive_has_a_log_of_its_own(drive: DriveEmulator, connect: Connect) -> None:
    """What a member is told of its files stands there, not in the member's own log."""
    world = drive.world
    root = world.drive("Deals", {ADA: "organizer"})
    inside = Follower(connect(), driveId=root.id, **EVERYWHERE)
    own = Follower(connect(), **EVERYWHERE)
    file = world.file("deal.txt", root)
    world.file("own.txt", world.root(ADA))
    assert inside.look() == [("deal.txt", False, False)]
    assert own.look() == [("own.txt", False, False)]
    world.move(file, world.root(ADA))
    assert inside.look() == [(file.id, True, None)]
    assert own.look() == [("deal.txt", False, False)]
    stranger = connect(BOB).changes().getStartPageToken(driveId=root.id, supportsAllDrives=True)
    assert refusal(stranger) == (404, "notFound", "driveId")


def test_a_file_of_a_shared_drive_is_told_to_one_who_is_no_member(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root = world.drive("Deals", {ADA: "organizer"})
    file = world.file("deal.txt", root)
    follower, narrow = Follower(connect(BOB), **EVERYWHERE), Follower(connect(BOB))
    world.share(file, BOB)
    assert follower.look() == [("deal.txt", False, False)]
    world.unshare(file, BOB)
    assert follower.look() == [(file.id, True, None)]
    assert narrow.look() == []


def test_joining_and_leaving_a_shared_drive_is_one_change_of_the_drive(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root = world.drive("Deals", {ADA: "organizer"})
    world.file("deal.txt", root)
    changes = connect(BOB).changes()
    start = changes.getStartPageToken().execute()["startPageToken"]

    def told() -> list[dict[str, Any]]:
        fields = "changes(changeType,removed,driveId,fileId,drive/name)"
        found: list[dict[str, Any]] = changes.list(pageToken=start, fields=fields, **EVERYWHERE).execute()["changes"]
        return found

    world.share(root, BOB)
    expected = {"changeType": "drive", "removed": False, "driveId": root.id, "drive": {"name": "Deals"}}
    assert told() == [expected]
    world.unshare(root, BOB)
    assert told() == [{"changeType": "drive", "removed": True, "driveId": root.id}]


def test_removals_can_be_left_out(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA))
    follower = Follower(connect(), includeRemoved=False)
    drive.world.delete(file)
    assert follower.look() == []


@pytest.mark.parametrize("token", ["", "abc", "1", "999999", "²"])
def test_a_foreign_token_is_400(connect: Connect, token: str) -> None:
    assert refusal(connect().changes().list(pageToken=token)) == (400, "invalid", "pageToken")
