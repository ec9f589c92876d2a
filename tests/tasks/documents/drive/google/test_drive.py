"""Google Drive asked for one document or one folder: ids, URLs and paths, shortcuts, and what is refused."""

from pathlib import Path

import pytest

from tasks.documents.drive.drive import Bearer, acting_as
from tasks.documents.drive.google.drive import open_drive as open_google_drive
from tasks.documents.drive.registry import open_drive
from tasks.errors import BadRequest, NotAllowed, NotFound, NotLoggedIn
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.tasks.documents.drive.google.rooms import ADA, BOB, drive_of, listed

MEGABYTE = 1024 * 1024


def test_the_drive_is_the_callers(emulator: DriveEmulator, mine: Item) -> None:
    document = emulator.world.file("a.txt", mine)
    with acting_as(Bearer(emulator.token(ADA))):
        assert open_drive().document(document.id).name == "a.txt"
    with acting_as(Bearer(emulator.token(BOB))), pytest.raises(NotFound):
        open_drive().document(document.id)
    with acting_as(None), pytest.raises(NotLoggedIn):
        open_drive()


def test_each_account_has_a_view_of_its_own_and_the_name_is_one(emulator: DriveEmulator) -> None:
    first, again, other = drive_of(emulator), drive_of(emulator), drive_of(emulator, BOB)
    assert first.view == again.view == f"google:{emulator.world.user(ADA).permission_id}"
    assert other.view != first.view
    assert other.name == first.name


def test_whose_view_it_is_is_asked_once(emulator: DriveEmulator, mine: Item) -> None:
    drive = drive_of(emulator)
    drive.list_folder(mine.id, recursive=True)
    assert drive.view == drive.view
    assert emulator.counts.by_method["about.get"] == 1


def test_where_google_does_not_tell_whose_token_it_is_the_view_is_the_tokens(emulator: DriveEmulator) -> None:
    emulator.faults.set(Fault(on="about.get", reason="domainPolicy"))
    token = emulator.token(ADA)
    first, other = open_google_drive(Bearer(token)).view, drive_of(emulator).view
    assert first.startswith("google:")
    assert first != other
    assert token not in first


def test_the_view_of_a_token_that_is_none_is_an_error(emulator: DriveEmulator) -> None:
    with pytest.raises(NotLoggedIn):
        open_google_drive(Bearer("none")).view.strip()


def test_a_shortcut_stands_for_its_document(emulator: DriveEmulator, mine: Item, tmp_path: Path) -> None:
    target = emulator.world.file("lease.txt", mine, b"the lease")
    shortcut = emulator.world.shortcut("our lease", mine, target)
    drive = drive_of(emulator)
    assert drive.document(shortcut.id) == drive.document(target.id)
    assert drive.fetch(shortcut.id, tmp_path, MEGABYTE).path.read_bytes() == b"the lease"


def test_a_shortcut_stands_for_its_folder(emulator: DriveEmulator, mine: Item) -> None:
    folder = emulator.world.folder("Room", mine)
    emulator.world.file("a.txt", folder)
    shortcut = emulator.world.shortcut("a way in", mine, folder)
    listing = listed(emulator, shortcut)
    assert (listing.folder.id, len(listing.documents)) == (folder.id, 1)
    with pytest.raises(NotFound, match="folder"):
        drive_of(emulator).document(shortcut.id)


def test_shortcuts_to_nothing_and_to_documents_are_no_folders(emulator: DriveEmulator, mine: Item) -> None:
    world = emulator.world
    gone = world.folder("gone", mine)
    dangling = world.shortcut("dangling", mine, gone)
    world.delete(gone)
    with pytest.raises(NotFound):
        listed(emulator, dangling)
    with pytest.raises(NotFound):
        drive_of(emulator).document(dangling.id)
    with pytest.raises(NotFound, match="document"):
        listed(emulator, world.shortcut("s", mine, world.file("a.txt", mine)))


def test_shortcuts_in_a_circle_lead_nowhere(emulator: DriveEmulator, mine: Item) -> None:
    world = emulator.world
    one = world.shortcut("one", mine, mine)
    two = world.shortcut("two", mine, one)
    one.target, one.target_mime = two.id, two.mime
    with pytest.raises(NotFound):
        drive_of(emulator).document(one.id)
    assert len(listed(emulator, mine).warnings) == 2


def test_a_document_that_may_not_be_downloaded_is_listed_and_not_allowed(
    emulator: DriveEmulator, mine: Item, tmp_path: Path
) -> None:
    room = emulator.world.folder("Room", mine)
    document = emulator.world.file("secret.pdf", room)
    emulator.world.share(room, BOB)
    emulator.world.forbid_download(document)
    assert len(listed(emulator, room, user=BOB).documents) == 1
    drive = drive_of(emulator, BOB)
    with pytest.raises(NotAllowed, match="download"):
        drive.document(document.id)
    with pytest.raises(NotAllowed):
        drive.fetch(document.id, tmp_path, MEGABYTE)
    assert drive_of(emulator).document(document.id).name == "secret.pdf"


def test_a_document_in_the_bin_is_not_found(emulator: DriveEmulator, mine: Item) -> None:
    document = emulator.world.file("a.txt", mine)
    emulator.world.trash(document)
    with pytest.raises(NotFound, match="bin"):
        drive_of(emulator).document(document.id)


def test_folders_are_found_by_their_path(emulator: DriveEmulator, mine: Item) -> None:
    world = emulator.world
    rooms = world.folder("Rooms", mine)
    alpha = world.folder("It's Alpha \\ 1", rooms)
    world.file("It's Alpha \\ 1", rooms)
    shared = world.drive("Deals", {ADA: "reader"})
    beta = world.folder("Beta", shared)
    world.shortcut("short", rooms, beta)
    drive = drive_of(emulator)
    for given, found in {
        "Rooms": rooms,
        "Rooms/It's Alpha \\ 1": alpha,
        "/Rooms/It's Alpha \\ 1/": alpha,
        "Deals": shared,
        "Deals/Beta": beta,
        "Rooms/short": beta,
        "root": mine,
    }.items():
        assert drive.find_folder(given) == found.id, given
    for given in ("rooms", "Rooms/Beta", "Beta", "Deals/Beta/Gamma", "/"):
        with pytest.raises(NotFound, match="path"):
            drive.find_folder(given)


def test_a_path_that_two_folders_have_is_told_apart_by_id_only(emulator: DriveEmulator, mine: Item) -> None:
    for _ in range(2):
        emulator.world.folder("Room", mine)
    with pytest.raises(BadRequest, match="2 folders"):
        drive_of(emulator).find_folder("Room")


def test_a_document_is_no_folder_to_be_found(emulator: DriveEmulator, mine: Item) -> None:
    with pytest.raises(NotFound, match="document"):
        drive_of(emulator).find_folder(emulator.world.file("a.txt", mine).id)


def test_many_shared_drives_are_gone_through(emulator: DriveEmulator) -> None:
    for number in range(150):
        last = emulator.world.drive(f"Deals {number}", {ADA: "reader"})
    assert drive_of(emulator).find_folder("Deals 149") == last.id
