"""A shared drive listed from its root: all of it."""

import pytest

from tasks.documents.drive.drive import Listing
from tests.google.answers import Answer, Call
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.google.service import Route
from tests.google.tree import Tree, build_tree
from tests.tasks.documents.drive.google.rooms import ADA, BOB, listed, names

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def deals(emulator: DriveEmulator) -> Item:
    emulator.settings.parents_page_cap = 20
    return emulator.world.drive("Deals", {ADA: "reader"})


def test_it_comes_whole(emulator: DriveEmulator, deals: Item) -> None:
    tree = build_tree(emulator.world, deals, folders=120, files=1500)
    listing = listed(emulator, deals)
    assert {document.id for document in listing.documents} == {file.id for file in tree.files}
    assert len(listing.documents) == 1500
    assert {folder.id: folder.parent_id for folder in listing.folders} == {
        folder.id: folder.parent for folder in tree.folders
    }
    assert (listing.incomplete, listing.warnings) == (False, [])


def test_it_has_the_drives_name_and_its_log(emulator: DriveEmulator, deals: Item) -> None:
    listing = listed(emulator, deals)
    assert (listing.folder.name, listing.folder.id) == ("Deals", deals.id)
    assert (listing.mark or "").startswith(f"{deals.id}:")


def test_a_folder_of_it_is_listed_too(emulator: DriveEmulator, deals: Item) -> None:
    legal = emulator.world.folder("Legal", deals)
    emulator.world.file("a.txt", emulator.world.folder("Old", legal))
    listing = listed(emulator, legal)
    assert names(listing) == ["Old/a.txt"]
    assert (listing.mark or "").startswith(f"{deals.id}:")


def test_what_lies_in_nothing_that_is_seen_is_none_of_it(emulator: DriveEmulator, deals: Item) -> None:
    world = emulator.world
    closed = world.folder("Closed", deals)
    world.file("c.txt", world.folder("deeper", closed))
    own = world.file("own.txt", closed)
    hidden = world.folder(".hidden", deals)
    world.file("h.txt", world.folder("deeper", hidden))
    world.shortcut("s", hidden, world.folder("elsewhere", world.root(ADA)))
    world.restrict(closed)
    world.share(own, ADA)
    for number in range(50):
        world.file(f"{number:02}.txt", deals)
    listing = listed(emulator, deals)
    assert names(listing) == [f"/{number:02}.txt" for number in range(50)]
    assert (listing.folders, listing.warnings) == ([], [])


def test_shortcuts_in_it_lead_out_and_back(emulator: DriveEmulator, deals: Item) -> None:
    world = emulator.world
    legal = world.folder("Legal", deals)
    contract = world.file("contract.txt", legal)
    archive = world.folder("Archive", world.root(ADA))
    world.file("old.txt", archive)
    world.shortcut("out", deals, archive)
    world.shortcut("back", archive, legal)
    world.shortcut("again", legal, contract)
    world.shortcut("lease", legal, world.file("lease.pdf", world.root(ADA)))
    listing = listed(emulator, deals)
    assert names(listing) == ["Legal/contract.txt", "Legal/lease", "out/old.txt"]
    assert listing.mark is None  # no log tells of both drives


def test_an_account_that_is_no_member_sees_what_is_shared_with_it(emulator: DriveEmulator, deals: Item) -> None:
    world = emulator.world
    legal = world.folder("Legal", deals)
    world.file("a.txt", world.folder("Old", legal))
    world.share(legal, BOB)
    listing = listed(emulator, legal, user=BOB)
    assert names(listing) == ["Old/a.txt"]
    assert listing.mark is None  # the drive's log is not for it


def _ids(listing: Listing) -> set[str]:
    return {document.id for document in listing.documents}


@pytest.fixture
def tree(emulator: DriveEmulator, deals: Item) -> Tree:
    return build_tree(emulator.world, deals, folders=30, files=300)


@pytest.mark.parametrize("reason", ["invalid", "gone"])
@pytest.mark.parametrize("times", [1, 30])
def test_refused_page_tokens_lose_nothing(emulator: DriveEmulator, tree: Tree, reason: str, times: int) -> None:
    emulator.faults.set(Fault(given={"pageToken": "~"}, reason=reason, times=times))
    listing = listed(emulator, tree.root)
    assert emulator.counts.faults
    assert _ids(listing) == {file.id for file in tree.files}
    assert len(listing.documents) == 300


def test_a_file_that_is_edited_meanwhile_is_not_lost(
    emulator: DriveEmulator, tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, oldest = emulator.service, tree.files[0]
    answer, waiting = service.answer, [oldest]

    def editing(route: Route, call: Call, *, part: bool = False) -> Answer:
        found = answer(route, call, part=part)
        if route.method == "files.list" and waiting:
            emulator.world.write(waiting.pop(), b"new words")
        return found

    monkeypatch.setattr(service, "answer", editing)
    assert oldest.id in _ids(listed(emulator, tree.root))
