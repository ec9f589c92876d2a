"""What a listing of Google Drive holds, beyond the contract of every drive: its kinds of file, pages and refusals."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tasks.documents.drive.drive import Bearer
from tasks.documents.drive.google.drive import open_drive as open_google_drive
from tasks.errors import NotFound, NotLoggedIn
from tests.google.answers import Answer, Call
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.natives import DOCUMENT, DRAWING, FORM, MAP, PRESENTATION, SITE, SPREADSHEET
from tests.google.server import DriveEmulator
from tests.google.service import Route
from tests.google.tree import build_tree
from tests.matrices import quick_cases
from tests.tasks.documents.drive.google.rooms import ADA, BOB, drive_of, listed, names

pytestmark = pytest.mark.usefixtures("short_pauses")


@pytest.fixture
def top(emulator: DriveEmulator) -> Item:
    return emulator.world.folder("top", emulator.world.root(ADA))


@pytest.mark.parametrize(
    ("mime", "name", "place"),
    [
        (DOCUMENT, "Plan.docx", "docs.google.com/document/d/"),
        (SPREADSHEET, "Plan.xlsx", "docs.google.com/spreadsheets/d/"),
        (PRESENTATION, "Plan.pptx", "docs.google.com/presentation/d/"),
        (DRAWING, "Plan.pdf", "docs.google.com/drawings/d/"),
        (FORM, "Plan", "docs.google.com/forms/d/"),
        (MAP, "Plan", "drive.google.com/file/d/"),
        (SITE, "Plan", "drive.google.com/file/d/"),
    ],
)
def test_native_documents_have_their_exports_extension_and_no_size(
    emulator: DriveEmulator, top: Item, mime: str, name: str, place: str
) -> None:
    item = emulator.world.native("Plan", top, mime)
    (document,) = listed(emulator, top).documents
    assert (document.name, document.size, document.mime_type) == (name, None, mime)
    assert f"{place}{item.id}" in document.url


def test_a_name_that_has_the_extension_does_not_get_it_twice(emulator: DriveEmulator, top: Item) -> None:
    emulator.world.native("Plan.DOCX", top)
    assert names(listed(emulator, top)) == ["/Plan.DOCX"]


def test_versions_tell_of_content_and_of_edits(emulator: DriveEmulator, top: Item) -> None:
    native, file = emulator.world.native("Plan", top), emulator.world.file("a.txt", top, b"one")
    before = {document.id: document.version for document in listed(emulator, top).documents}
    emulator.world.rename(file, "b.txt")
    emulator.world.write(native, "new words")
    after = {document.id: document.version for document in listed(emulator, top).documents}
    assert before[file.id] == after[file.id]
    assert before[native.id] != after[native.id]


def test_same_names_and_odd_names_stay_apart(emulator: DriveEmulator, top: Item) -> None:
    world = emulator.world
    for _ in range(2):
        folder = world.folder("Legal/Old", top)
        for name in ("a.txt", "a.txt", "x/y.txt", "it's \\ odd\n.txt"):
            world.file(name, folder)
    listing = listed(emulator, top)
    assert len(listing.documents) == len({document.id for document in listing.documents}) == 8
    assert [folder.path for folder in listing.folders] == ["Legal/Old"] * 2


def test_what_is_in_the_bin_is_left_out(emulator: DriveEmulator, top: Item) -> None:
    world = emulator.world
    binned = world.folder("Binned", top)
    world.file("in it.txt", binned)
    world.trash(binned)
    world.trash(world.file("a.txt", top))
    target = world.file("target.txt", world.root(ADA))
    world.shortcut("to the bin", top, target)
    world.trash(target)
    listing = listed(emulator, top)
    assert (names(listing), listing.folders) == ([], [])
    assert listing.warnings == ["Left out: 'to the bin' is a shortcut to something that is not there."]
    with pytest.raises(NotFound, match="bin"):
        listed(emulator, binned)


def test_hidden_and_lock_files_are_left_out_without_a_word(emulator: DriveEmulator, top: Item) -> None:
    world = emulator.world
    hidden = world.folder(".git", top)
    world.file("config.txt", hidden)
    world.file("in deeper.txt", world.folder("deeper", hidden))
    for name in (".DS_Store", "~$plan.docx", "Thumbs.db", "desktop.ini", "plan.docx"):
        world.file(name, top)
    world.shortcut("a way in", top, world.file(".secret.txt", world.root(ADA)))
    listing = listed(emulator, top)
    assert (names(listing), listing.folders) == (["/plan.docx"], [])
    assert listing.warnings == ["Left out: 'a way in' is a shortcut to something hidden."]


def test_a_drive_that_says_that_its_search_is_incomplete_is_believed(emulator: DriveEmulator, top: Item) -> None:
    emulator.world.file("a.txt", top)
    assert not listed(emulator, top).incomplete
    emulator.settings.incomplete_search = True
    listing = listed(emulator, top)
    assert (listing.incomplete, names(listing), listing.mark) == (True, ["/a.txt"], None)


@pytest.mark.parametrize("recursive", [True, False])
def test_every_page_is_asked_for(emulator: DriveEmulator, top: Item, *, recursive: bool) -> None:
    emulator.settings.parents_page_cap = 7
    emulator.settings.empty_first_page = True
    for number in range(2100):
        emulator.world.file(f"{number}.txt", top)
    assert len(listed(emulator, top, recursive=recursive).documents) == 2100


def test_a_tree_comes_whole_whatever_the_pages_hold(emulator: DriveEmulator, top: Item) -> None:
    emulator.settings.parents_page_cap = 23
    tree = build_tree(emulator.world, top, folders=120, files=600)
    listing = listed(emulator, top)
    assert {document.id for document in listing.documents} == {file.id for file in tree.files}
    assert {folder.id: folder.parent_id for folder in listing.folders} == {
        folder.id: folder.parent for folder in tree.folders
    }
    assert not listing.warnings


def test_folders_of_a_hundred_levels(emulator: DriveEmulator, top: Item) -> None:
    at = top
    for _ in range(100):
        at = emulator.world.folder("deeper", at)
    emulator.world.file("a.txt", at)
    (document,) = listed(emulator, top).documents
    assert document.path.count("/") == 99


@pytest.mark.parametrize("on_disk", [True, False])
def test_a_folder_that_closes_meanwhile_is_a_warning_and_the_rest_is_listed(
    emulator: DriveEmulator, top: Item, tmp_path: Path, *, on_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = emulator.world
    rooms = {name: world.folder(name, top) for name in ("Closed", "Legal", "Tax")}
    for room in rooms.values():
        world.file("a.txt", room)
    _before_parents_are_asked(emulator, monkeypatch, lambda: world.delete(rooms["Closed"]))
    listing = drive_of(emulator).list_folder(top.id, recursive=True, spool=tmp_path if on_disk else None)
    assert names(listing) == ["Legal/a.txt", "Tax/a.txt"]
    assert listing.warnings == ["The folder 'Closed' cannot be opened: its contents are left out."]
    assert (listing.incomplete, listing.mark) == (True, None)


def test_access_lost_in_the_middle_of_it_is_told(
    emulator: DriveEmulator, top: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = emulator.world
    world.share(top, BOB)
    world.file("a.txt", world.folder("Legal", top))
    drive = drive_of(emulator, BOB)
    _before_parents_are_asked(emulator, monkeypatch, lambda: world.unshare(top, BOB))
    listing = drive.list_folder(top.id, recursive=True)
    assert listing.incomplete
    with pytest.raises(NotFound):
        drive.list_folder(top.id, recursive=True)


def test_a_login_that_ends_in_the_middle_of_it_is_an_error(
    emulator: DriveEmulator, top: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    emulator.world.file("a.txt", emulator.world.folder("Legal", top))
    token = emulator.token(ADA)
    _before_parents_are_asked(emulator, monkeypatch, lambda: emulator.accounts.revoke(token))
    with pytest.raises(NotLoggedIn):
        open_google_drive(Bearer(token)).list_folder(top.id, recursive=True)


@pytest.mark.parametrize(
    "fault",
    [
        Fault(reason="userRateLimitExceeded", every=5),
        Fault(reason="rateLimitExceeded", status=429, retry_after=0.01, every=5),
        Fault(reason="backendError", status=503, every=5),
        Fault(do="reset", every=5),
        Fault(do="truncate", every=5),
    ],
    ids=lambda fault: f"{fault.do} {fault.reason}",
)
@pytest.mark.parametrize("shared", quick_cases([True, False], quick=(0,)))
def test_a_fault_at_every_fifth_call_changes_nothing(
    emulator: DriveEmulator, top: Item, fault: Fault, *, shared: bool
) -> None:
    emulator.settings.parents_page_cap = 40
    root = emulator.world.drive("Deals", {ADA: "reader"}) if shared else top
    tree = build_tree(emulator.world, root, folders=60, files=500)
    drive = drive_of(emulator)
    emulator.faults.set(fault)
    listing = drive.list_folder(root.id, recursive=True)
    assert emulator.counts.faults
    assert {document.id for document in listing.documents} == {file.id for file in tree.files}
    assert not listing.incomplete


@pytest.mark.parametrize("reason", ["invalid", "gone"])
@pytest.mark.parametrize("folders", [0, 40])
def test_a_refused_page_token_begins_its_listing_again(
    emulator: DriveEmulator, top: Item, reason: str, folders: int
) -> None:
    emulator.settings.parents_page_cap = 40
    tree = build_tree(emulator.world, top, folders=folders, files=600 if folders else 2500, depth=2)
    emulator.faults.set(Fault(given={"pageToken": "~"}, reason=reason, times=3 if folders else 1))
    listing = listed(emulator, top)
    assert emulator.counts.faults
    assert {document.id for document in listing.documents} == {file.id for file in tree.files}
    assert (len(listing.documents), listing.incomplete) == (len(tree.files), False)


@pytest.mark.parametrize("reason", ["invalid", "gone"])
def test_page_tokens_refused_for_ever_make_an_incomplete_listing(
    emulator: DriveEmulator, top: Item, reason: str
) -> None:
    emulator.settings.parents_page_cap = 40
    long, short = emulator.world.folder("Long", top), emulator.world.folder("Short", top)
    for number in range(1200):
        emulator.world.file(f"{number}.txt", long)
    for number in range(60):
        emulator.world.file(f"{number}.txt", short)
    emulator.faults.set(Fault(given={"pageToken": "~"}, reason=reason))
    listing = listed(emulator, top)
    assert len(listing.documents) == 1060  # the first page of the long one, all of the short one
    assert (listing.incomplete, listing.mark) == (True, None)
    assert listing.warnings == [
        "The folder 'Long' is not listed completely: Google Drive refused to continue each time. Index it again later."
    ]
    assert emulator.counts.requests < 20


def test_resource_keys_are_passed_on(emulator: DriveEmulator, tmp_path: Path) -> None:
    world = emulator.world
    room = world.folder("Room", world.root(ADA))
    inner = world.folder("Inner", room)
    file = world.file("a.txt", inner, b"words")
    for item, key in ((room, "0-room"), (inner, "0-inner"), (file, "0-file")):
        world.share_by_link(item, key)
    drive = drive_of(emulator, BOB)
    with pytest.raises(NotFound):
        drive.list_folder(room.id, recursive=True)
    assert drive.find_folder(f"https://drive.google.com/drive/folders/{room.id}?resourcekey=0-room") == room.id
    listing = drive.list_folder(room.id, recursive=True)
    (document,) = listing.documents
    assert (document.name, document.path) == ("a.txt", "Inner")
    assert document.url.endswith("?resourcekey=0-file")
    assert drive.fetch(file.id, tmp_path, 100).path.read_bytes() == b"words"
    with pytest.raises(NotFound):
        drive_of(emulator, "eve@example.com").document(file.id)


def test_the_key_of_a_shortcuts_target_is_passed_on(emulator: DriveEmulator) -> None:
    world = emulator.world
    target = world.folder("Old", world.root(ADA))
    world.file("a.txt", target)
    world.share_by_link(target, "0-old")
    top = world.folder("top", world.root(BOB))
    world.shortcut("Archive", top, target, key="0-old")
    assert names(listed(emulator, top, user=BOB)) == ["Archive/a.txt"]


def test_a_shortcut_into_a_shared_drive_is_followed_and_nothing_tells_of_both(emulator: DriveEmulator) -> None:
    world = emulator.world
    shared = world.drive("Deals", {ADA: "reader"})
    world.file("a.txt", world.folder("Inner", shared))
    top = world.folder("top", world.root(ADA))
    world.shortcut("Deals", top, shared)
    listing = listed(emulator, top)
    assert names(listing) == ["Deals/Inner/a.txt"]
    assert listing.mark is None


def _before_parents_are_asked(
    emulator: DriveEmulator, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]
) -> None:
    """Do something right after the folder itself was listed."""
    service = emulator.service
    answer, waiting = service.answer, [act]

    def acting(route: Route, call: Call, *, part: bool = False) -> Answer:
        found = answer(route, call, part=part)
        if route.method == "files.list" and waiting:
            waiting.pop()()
        return found

    monkeypatch.setattr(service, "answer", acting)
