"""The index of a folder of Google Drive the second time: kept as long as nothing changes, never for other eyes."""

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from storage import database, documents
from storage.columns import now
from tasks.documents.drive import registry
from tasks.documents.drive.drive import Bearer, acting_as
from tasks.documents.index import document_index, index_room
from tasks.errors import NotFound, NotLoggedIn, Unavailable
from tests.google import service
from tests.google.answers import json_answer
from tests.google.faults import Fault
from tests.google.items import Item
from tests.google.server import DriveEmulator
from tests.google.world import World
from tests.tasks.documents.drive.google.rooms import ADA, BOB


@pytest.fixture
def room(emulator: DriveEmulator, mine: Item) -> Item:
    """A room with a document, a subfolder with one, a shortcut and what it leads to."""
    world = emulator.world
    room = world.folder("Room", mine)
    world.file("a.txt", room)
    world.file("contract.txt", world.folder("Legal", room))
    world.shortcut("lease", room, world.file("lease.pdf", world.folder("Archive", mine)))
    return room


@pytest.fixture
def ada(emulator: DriveEmulator, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Her access token; she asks, and runs are hers."""
    token = emulator.token(ADA)
    monkeypatch.setattr(registry, "run_identity", lambda: Bearer(token))
    with acting_as(Bearer(token)):
        yield token


def indexed(folder: Item, *, recursive: bool = True) -> set[str]:
    """The names of all documents in the index of a folder."""
    answer = document_index(folder.id, recursive).answer()
    return set(_names(answer["document_index"]))


def requests(emulator: DriveEmulator, act: Callable[[], Any]) -> int:
    before = emulator.counts.requests
    act()
    return emulator.counts.requests - before


def found(world: World, name: str) -> Item:
    return next(item for item in world.items.values() if item.name == name)


def test_an_unchanged_folder_is_not_listed_again(emulator: DriveEmulator, room: Item, ada: str) -> None:
    first = document_index(room.id).answer()
    emulator.reset()
    assert document_index(room.id).answer() == first
    assert emulator.counts.requests == 1
    assert "files.list" not in emulator.counts.by_method


def test_another_process_needs_one_request_more(emulator: DriveEmulator, room: Item, ada: str) -> None:
    document_index(room.id)
    with acting_as(Bearer(emulator.token(ADA))):  # whose token it is is not known yet
        assert requests(emulator, lambda: document_index(room.id)) == 2
        assert "files.list" in emulator.counts.by_method


@pytest.mark.parametrize("given", ["{id}", "https://drive.google.com/drive/folders/{id}?usp=sharing", "Room", "root"])
def test_a_room_that_is_indexed_by_any_name_takes_few_requests(
    emulator: DriveEmulator, room: Item, ada: str, given: str
) -> None:
    given = given.format(id=room.id)
    first = index_room(given)
    assert requests(emulator, lambda: index_room(given)) <= (5 if given == "Room" else 2)
    assert index_room(given) == first
    if given != "Room":
        document_index(given)
        assert requests(emulator, lambda: document_index(given)) <= 3


def test_a_shared_drive_has_a_log_of_its_own(emulator: DriveEmulator, ada: str) -> None:
    deals = emulator.world.drive("Deals", {ADA: "reader"})
    inner = emulator.world.folder("Inner", deals)
    emulator.world.file("a.txt", inner)
    for folder in (deals, inner):
        assert indexed(folder) == {"a.txt"}
        assert requests(emulator, lambda folder=folder: document_index(folder.id)) == 1  # type: ignore[misc]
    emulator.world.file("b.txt", inner)
    for folder in (deals, inner):
        assert indexed(folder) == {"a.txt", "b.txt"}


_CHANGES: dict[str, tuple[Callable[[Any, Item], object], set[str]]] = {
    "a new document": (lambda world, room: world.file("new.txt", room), {"a.txt", "contract.txt", "lease", "new.txt"}),
    "a new document deep down": (
        lambda world, room: world.file("new.txt", found(world, "Legal")),
        {"a.txt", "contract.txt", "lease", "new.txt"},
    ),
    "a name": (lambda world, room: world.rename(found(world, "a.txt"), "b.txt"), {"b.txt", "contract.txt", "lease"}),
    "a folder in the bin": (lambda world, room: world.trash(found(world, "Legal")), {"a.txt", "lease"}),
    "a document deleted": (lambda world, room: world.delete(found(world, "a.txt")), {"contract.txt", "lease"}),
    "a document moved out": (
        lambda world, room: world.move(found(world, "a.txt"), found(world, "Archive")),
        {"contract.txt", "lease"},
    ),
    "a folder moved in": (
        lambda world, room: world.move(found(world, "Archive"), room),
        {"a.txt", "contract.txt", "lease.pdf"},
    ),
    "a shortcut's name": (
        lambda world, room: world.rename(found(world, "lease"), "rent"),
        {"a.txt", "contract.txt", "rent"},
    ),
    "a shortcut's target deleted": (
        lambda world, room: world.delete(found(world, "lease.pdf")),
        {"a.txt", "contract.txt"},
    ),
    "content": (lambda world, room: world.write(found(world, "a.txt"), b"new"), {"a.txt", "contract.txt", "lease"}),
}


@pytest.mark.parametrize("change", _CHANGES)
def test_what_changes_is_in_the_next_index(emulator: DriveEmulator, room: Item, ada: str, change: str) -> None:
    act, names = _CHANGES[change]
    assert indexed(room) == {"a.txt", "contract.txt", "lease"}
    act(emulator.world, room)
    emulator.reset()
    assert indexed(room) == names
    assert "files.list" in emulator.counts.by_method


def test_changes_elsewhere_are_none_of_it_and_are_read_once(emulator: DriveEmulator, room: Item, ada: str) -> None:
    document_index(room.id)
    for number in range(30):
        emulator.world.file(f"{number}.txt", found(emulator.world, "Archive"))
    emulator.reset()
    document_index(room.id)
    assert "files.list" not in emulator.counts.by_method
    with database.reading() as session:
        (kept,) = documents.list_marked_rooms(session, room.id, recursive=True)
    assert kept.mark == f"archives-1 own:{emulator.world.first_change + len(emulator.world.changes)}"


def test_what_comes_to_lie_behind_a_dangling_shortcut_is_seen(emulator: DriveEmulator, ada: str) -> None:
    world = emulator.world
    bobs = world.file("plan.txt", world.root(BOB))
    room = world.folder("Room", world.root(ADA))
    world.shortcut("the plan", room, bobs)
    assert indexed(room) == set()
    world.share(bobs, ADA)
    assert indexed(room) == {"the plan"}


def test_one_who_lost_access_gets_nothing_of_what_is_kept(emulator: DriveEmulator, room: Item, ada: str) -> None:
    emulator.world.share(room, BOB)
    with acting_as(Bearer(emulator.token(BOB))):
        assert "contract.txt" in indexed(room)
        emulator.world.restrict(found(emulator.world, "Legal"))
        assert "contract.txt" not in indexed(room)
        emulator.world.unshare(room, BOB)
        with pytest.raises(NotFound):
            document_index(room.id)
    assert "a.txt" in indexed(room)


def test_nobody_is_served_what_another_account_saw(emulator: DriveEmulator, room: Item, ada: str) -> None:
    emulator.world.share(room, BOB)
    emulator.world.restrict(found(emulator.world, "Legal"))
    emulator.world.share(found(emulator.world, "Legal"), ADA)
    assert "contract.txt" in indexed(room)
    with acting_as(Bearer(emulator.token(BOB))):
        assert indexed(room) == {"a.txt"}
    with acting_as(Bearer(emulator.token("eve@example.com"))), pytest.raises(NotFound):
        document_index(room.id)
    with acting_as(None), pytest.raises(NotLoggedIn):
        document_index(room.id)


def test_with_drive_out_of_reach_there_is_no_answer(
    emulator: DriveEmulator, room: Item, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_index(room.id)
    emulator.faults.set(Fault(do="refuse", reason="serviceUnavailable"))
    monkeypatch.setattr("tasks.documents.drive.google.client.TRIES", 2)
    with pytest.raises(Unavailable):
        document_index(room.id)


def test_a_mark_that_drive_no_longer_knows_is_no_harm(emulator: DriveEmulator, room: Item, ada: str) -> None:
    first = document_index(room.id).answer()
    with database.writing() as session:
        (kept,) = documents.list_marked_rooms(session, room.id, recursive=True)
        documents.move_mark(session, kept.id or 0, ":expired")
    emulator.reset()
    assert document_index(room.id).answer() == first
    assert "files.list" in emulator.counts.by_method


def test_a_folder_moved_to_another_drive_is_listed_again(emulator: DriveEmulator, room: Item, ada: str) -> None:
    deals = emulator.world.drive("Deals", {ADA: "organizer"})
    before = indexed(room)
    emulator.world.move(room, deals)
    emulator.world.file("new.txt", room)
    assert indexed(room) == before | {"new.txt"}


def test_an_incomplete_index_is_made_anew_each_time(emulator: DriveEmulator, room: Item, ada: str) -> None:
    emulator.settings.incomplete_search = True
    assert document_index(room.id).answer()["incomplete"]
    emulator.settings.incomplete_search = False
    assert "incomplete" not in document_index(room.id).answer()


def test_recursive_and_not_are_two(emulator: DriveEmulator, room: Item, ada: str) -> None:
    assert indexed(room, recursive=False) == {"a.txt", "lease"}
    assert indexed(room) == {"a.txt", "contract.txt", "lease"}
    assert indexed(room, recursive=False) == {"a.txt", "lease"}
    emulator.world.file("deep.txt", found(emulator.world, "Legal"))
    assert requests(emulator, lambda: indexed(room, recursive=False)) == 1


def test_a_file_that_comes_twice_is_kept_once(emulator: DriveEmulator, ada: str) -> None:
    """Pages shift while people work: here each repeats the end of the one before."""
    room = emulator.world.folder("Room", emulator.world.root(ADA))
    folders = [emulator.world.folder(name, room) for name in ("Legal", "Tax")]
    for number in range(40):
        emulator.world.file(f"{number}.txt", folders[number % 2])
    listing = emulator.service.listing
    whole_page = listing.page_of

    def overlapping(view: Any, parameters: Any) -> Any:
        page = whole_page(view, parameters)
        return page._replace(start=max(0, page.start - 3))

    listing.page_of = overlapping  # type: ignore[method-assign]
    emulator.settings.parents_page_cap = 10
    assert len(indexed(room)) == 40
    assert emulator.counts.by_method["files.list"] > 5
    emulator.world.file("another.txt", room)
    room_id = index_room(room.id)
    with database.reading() as session:
        assert len(documents.room_documents(session, room_id)) == 41


def _of_another(emulator: DriveEmulator, ada: str) -> tuple[Item, Item]:
    """A folder that Bob shares with Ada, who asks, and a folder in it."""
    room = emulator.world.folder("Room", emulator.world.root(BOB))
    inner = emulator.world.folder("Inner", room)
    emulator.world.file("old.txt", inner)
    emulator.world.share(room, ADA)
    assert ada
    return room, inner


def test_a_folder_of_another_is_kept_for_a_while_and_says_as_of_when(
    emulator: DriveEmulator, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, inner = _of_another(emulator, ada)
    assert "warnings" not in document_index(room.id).answer()
    emulator.world.file("new.txt", inner)  # Ada's log of changes does not tell her
    emulator.reset()
    answer = document_index(room.id).answer()
    assert set(_names(answer["document_index"])) == {"old.txt"}
    (warning,) = answer["warnings"]
    assert re.match(r"As of 20\d\d-\d\d-\d\d \d\d:\d\d UTC; may be old", warning)
    assert "files.list" not in emulator.counts.by_method
    for hours in (1.01, -0.5):  # a clock may be put back
        later = now() + timedelta(hours=hours)
        monkeypatch.setattr("tasks.documents.index.now", lambda later=later: later)
        assert indexed(room) == {"old.txt", "new.txt"}
        assert "files.list" in emulator.counts.by_method
        emulator.reset()


def test_a_run_never_rests_on_an_index_that_may_be_old(emulator: DriveEmulator, ada: str) -> None:
    room, inner = _of_another(emulator, ada)
    index_room(room.id)
    emulator.world.file("new.txt", inner)
    room_id = index_room(room.id)
    with database.reading() as session:
        assert {each.name for each in documents.room_documents(session, room_id)} == {"old.txt", "new.txt"}


def test_no_age_is_too_young_where_the_setting_is_0(
    emulator: DriveEmulator, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_INDEX_MAX_AGE", "0")
    room, inner = _of_another(emulator, ada)
    assert indexed(room) == {"old.txt"}
    emulator.world.file("new.txt", inner)
    assert indexed(room) == {"old.txt", "new.txt"}


def test_what_others_put_into_ones_own_folder_is_seen_at_once(emulator: DriveEmulator, room: Item, ada: str) -> None:
    emulator.world.share(room, BOB, "writer")
    assert indexed(room) == {"a.txt", "contract.txt", "lease"}
    emulator.world.file("bobs.txt", found(emulator.world, "Legal"))
    assert indexed(room) == {"a.txt", "bobs.txt", "contract.txt", "lease"}


def test_a_shortcut_to_what_another_shares_may_be_old(emulator: DriveEmulator, ada: str) -> None:
    theirs, _ = _of_another(emulator, ada)
    mine = emulator.world.folder("Mine", emulator.world.root(ADA))
    emulator.world.shortcut("theirs", mine, theirs)
    document_index(mine.id)
    assert "may be old" in document_index(mine.id).answer()["warnings"][0]


@pytest.mark.parametrize(
    "answer", [{"nextPageToken": "1001"}, {}, {"newStartPageToken": ""}], ids=["in circles", "no end", "an empty mark"]
)
def test_a_log_that_comes_to_no_end_is_not_believed(
    emulator: DriveEmulator, room: Item, ada: str, monkeypatch: pytest.MonkeyPatch, answer: dict[str, str]
) -> None:
    assert indexed(room) == {"a.txt", "contract.txt", "lease"}
    emulator.world.file("new.txt", room)
    monkeypatch.setattr(service, "changes", lambda view, parameters: json_answer({"changes": [], **answer}))
    assert indexed(room) == {"a.txt", "contract.txt", "lease", "new.txt"}


def test_runs_see_what_their_own_account_sees(emulator: DriveEmulator, room: Item, ada: str) -> None:
    with acting_as(Bearer(emulator.token(BOB))):
        room_id = index_room(room.id)
    with database.reading() as session:
        assert documents.get_room(session, room_id).drive == f"google:{emulator.world.user(ADA).permission_id}"


def _names(entries: Any) -> Iterator[str]:
    for entry in entries:
        yield from (each["document_name"] for each in entry["documents"])
        yield from _names(entry.get("subfolders") or ())
