"""Who sees what: permissions, shared drives, shortcuts, links and resource keys."""

import pytest

from tests.google.conftest import ADA, BOB, Connect
from tests.google.natives import FOLDER
from tests.google.server import DriveEmulator
from tests.google.test_listing import names, refusal


def test_what_is_not_shared_reads_as_what_does_not_exist(drive: DriveEmulator, connect: Connect) -> None:
    file = drive.world.file("a.txt", drive.world.root(ADA), b"x")
    files = connect(BOB).files()
    for call in (files.get(fileId=file.id), files.get_media(fileId=file.id), files.get(fileId="unknown")):
        assert refusal(call) == (404, "notFound", "fileId")


def test_a_folders_readers_see_what_lies_in_it(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    file = world.file("a.txt", world.folder("deep", room), b"x")
    files = connect(BOB).files()
    get = files.get(fileId=file.id, fields="name,parents,ownedByMe,shared")
    assert refusal(get)[0] == 404
    world.share(room, BOB)
    assert get.execute() == {"name": "a.txt", "parents": [file.parent], "ownedByMe": False, "shared": True}
    assert names(files.list(q="sharedWithMe = true").execute()) == {"room"}
    # the parent of what is shared alone is not the reader's to know
    assert "parents" not in files.get(fileId=room.id, fields="*").execute()
    world.restrict(file)
    assert refusal(get)[0] == 404
    world.unshare(room, BOB)
    assert refusal(files.get(fileId=room.id))[0] == 404


def test_root_is_each_users_own(drive: DriveEmulator, connect: Connect) -> None:
    for email in (ADA, BOB):
        shown = connect(email).files().get(fileId="root", fields="id,name,owners/emailAddress").execute()
        assert shown == {"id": drive.world.root(email).id, "name": "My Drive", "owners": [{"emailAddress": email}]}


def test_shared_drives(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    root = world.drive("Deals", {ADA: "organizer"})
    file = world.file("a.txt", root, b"x")
    service = connect()
    assert refusal(service.files().get(fileId=file.id)) == (404, "notFound", "fileId")
    shown = service.files().get(fileId=file.id, supportsAllDrives=True, fields="driveId,parents,owners").execute()
    assert shown == {"driveId": root.id, "parents": [root.id]}
    # its root is a folder named Drive; the drive's name stands in drives.get
    folder = service.files().get(fileId=root.id, supportsAllDrives=True, fields="name,mimeType").execute()
    assert folder == {"name": "Drive", "mimeType": FOLDER}
    assert service.drives().get(driveId=root.id).execute()["name"] == "Deals"
    assert [one["name"] for one in service.drives().list().execute()["drives"]] == ["Deals"]
    other = connect(BOB)
    assert other.drives().list().execute()["drives"] == []
    assert refusal(other.drives().get(driveId=root.id)) == (404, "notFound", "driveId")
    world.share(file, BOB)
    both = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}
    assert names(other.files().list(**both).execute()) == {"My Drive", "a.txt"}


def test_drives_come_in_pages(drive: DriveEmulator, connect: Connect) -> None:
    for number in range(12):
        drive.world.drive(f"{number}", {ADA: "reader"})
    drives = connect().drives()
    first = drives.list().execute()
    rest = drives.list(pageToken=first["nextPageToken"]).execute()
    assert (len(first["drives"]), len(rest["drives"]), "nextPageToken" in rest) == (10, 2, False)


def test_shortcuts(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    target = world.folder("elsewhere", world.root(ADA))
    link = world.shortcut("to it", room, target)
    world.share(room, BOB)
    files = connect(BOB).files()
    shown = files.get(fileId=link.id, fields="mimeType,shortcutDetails").execute()
    assert shown == {
        "mimeType": "application/vnd.google-apps.shortcut",
        "shortcutDetails": {"targetId": target.id, "targetMimeType": FOLDER},
    }
    assert refusal(files.get(fileId=target.id))[0] == 404
    world.share_by_link(target, "k3y")
    shown = files.get(fileId=link.id, fields="shortcutDetails/targetResourceKey").execute()
    assert shown == {"shortcutDetails": {"targetResourceKey": "k3y"}}


@pytest.mark.parametrize(("header", "seen"), [(None, False), ("{}/wrong", False), ("other/k,{}/k3y", True)])
def test_a_link_with_a_resource_key_needs_the_key(
    drive: DriveEmulator, connect: Connect, header: str | None, *, seen: bool
) -> None:
    world = drive.world
    room = world.folder("room", world.root(ADA))
    file = world.file("a.txt", room, b"x")
    world.share_by_link(room, "k3y")
    files = connect(BOB).files()
    calls = files.get(fileId=room.id), files.list(q=f"'{room.id}' in parents"), files.get_media(fileId=file.id)
    for call in calls:
        if header:
            call.headers["X-Goog-Drive-Resource-Keys"] = header.format(room.id)
        if seen:
            call.execute()
        else:
            assert refusal(call) == (404, "notFound", "fileId")
    # found by the link alone, never by a search; and those with a permission need no key
    assert names(files.list().execute()) == {"My Drive"}
    world.share(room, BOB)
    assert files.get(fileId=room.id, fields="resourceKey").execute() == {"resourceKey": "k3y"}


def test_what_a_domain_may_read(drive: DriveEmulator, connect: Connect) -> None:
    world = drive.world
    file = world.file("handbook.txt", world.root(ADA))
    world.file("own.txt", world.root(ADA))
    world.share(file, "domain:example.com")
    files = connect(BOB).files()
    assert names(files.list(corpora="domain").execute()) == {"handbook.txt"}
    assert files.get(fileId=file.id, fields="name").execute() == {"name": "handbook.txt"}
    assert refusal(connect("eve@elsewhere.example").files().get(fileId=file.id))[0] == 404


def test_about_says_who_asks_and_needs_fields(connect: Connect) -> None:
    about = connect().about()
    assert about.get(fields="user(emailAddress,me)").execute() == {"user": {"emailAddress": ADA, "me": True}}
    assert refusal(about.get()) == (400, "required", "fields")


def test_odd_and_duplicate_names(drive: DriveEmulator, connect: Connect) -> None:
    odd = ["a/b.txt", "line\nbreak.txt", "🙂.txt", "..", "same", "same", "  ", 'quote".txt', "Ünïcodé.txt"]
    for name in odd:
        drive.world.file(name, drive.world.root(ADA))
    found = connect().files().list(q="'root' in parents", orderBy="createdTime").execute()["files"]
    assert [file["name"] for file in found] == odd
