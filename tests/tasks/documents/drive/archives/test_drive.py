"""Archives as folders of a drive: in the index, under ids, with the rights and versions of the archive."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks.documents.drive.archives.archive import OpenArchives
from tasks.documents.drive.archives.drive import ArchiveDrive
from tasks.documents.drive.drive import Bearer, Document, Drive, Listing
from tasks.documents.drive.google.drive import open_drive as open_google_drive
from tasks.documents.drive.local.drive import LocalDrive
from tasks.errors import NotFound, TooLarge
from tests.tasks.documents.drive.archives.zips import zipped
from tests.tasks.documents.drive.conftest import GoogleShelf, LocalShelf, MemoryShelf, Shelf
from tests.tasks.documents.drive.memory.drive import MemoryDrive
from tests.tasks.documents.drive.memory.store import Store

MEGABYTE = 1 << 20


@pytest.fixture(params=["local", "google", "memory"])
def opening(request: pytest.FixtureRequest) -> tuple[Shelf, Drive]:
    """Each drive, and the same with its archives as folders."""
    shelf: Shelf = request.getfixturevalue(f"{request.param}_shelf")
    return shelf, ArchiveDrive(shelf.drive, shown_here=request.param == "local")


def settled(shelf: Shelf, path: str, content: bytes) -> str:
    """An archive that was written a while ago; gives its id."""
    archive_id = shelf.file(path, content)
    if isinstance(shelf, LocalShelf):
        os.utime(shelf.path / path, (1_700_000_000, 1_700_000_000))
    return archive_id


def by_path(listing: Listing) -> dict[str, Document]:
    return {f"{document.path}/{document.name}": document for document in listing.documents}


def test_an_archive_is_a_folder_of_the_listing(opening: tuple[Shelf, Drive], tmp_path: Path) -> None:
    shelf, drive = opening
    shelf.file("notes.txt")
    inner = zipped({"old/2019.txt": "2019"})
    archive_id = shelf.file("Legal/Contracts.zip", zipped({"Lease.pdf": "%PDF", "inner.zip": inner, "no/": ""}))
    listing = drive.list_folder(shelf.top, recursive=True)
    documents = by_path(listing)
    assert set(documents) == {
        "/notes.txt",
        "Legal/Contracts.zip/Lease.pdf",
        "Legal/Contracts.zip/inner.zip/old/2019.txt",
    }
    folders = {folder.path: folder for folder in listing.folders}
    assert set(folders) == {
        "Legal",
        "Legal/Contracts.zip",
        "Legal/Contracts.zip/inner.zip",
        "Legal/Contracts.zip/inner.zip/old",
        "Legal/Contracts.zip/no",
    }
    assert folders["Legal/Contracts.zip"].id == archive_id
    assert folders["Legal/Contracts.zip"].parent_id == folders["Legal"].id
    lease = documents["Legal/Contracts.zip/Lease.pdf"]
    assert (lease.folder_id, lease.mime_type, lease.size) == (archive_id, "application/pdf", 4)
    assert (listing.warnings, listing.incomplete) == ([], False)
    spooled = drive.list_folder(shelf.top, recursive=True, spool=tmp_path)
    assert sorted(by_path(spooled)) == sorted(documents)
    assert len(spooled.documents) == 3


def test_members_are_found_and_fetched_by_id_and_by_url(opening: tuple[Shelf, Drive], tmp_path: Path) -> None:
    shelf, drive = opening
    settled(shelf, "Contracts.zip", zipped({"a/Lease.txt": "the lease", "inner.zip": zipped({"b.txt": "b"})}))
    for document in drive.list_folder(shelf.top, recursive=True).documents:
        again = drive.document(drive.find_document(document.url))
        assert (again.id, again.name, again.version, again.url, again.folder_id) == (
            document.id,
            document.name,
            document.version,
            document.url,
            document.folder_id,
        )
        with drive.fetch(document.id, tmp_path, MEGABYTE) as fetched, drive.open(document.id) as opened:
            assert fetched.path.read_bytes() == opened.read()
            assert fetched.version == document.version
        with pytest.raises(TooLarge):
            drive.fetch(document.id, tmp_path, 0)
    assert list(tmp_path.glob("*-*")) == []


def test_folders_in_archives_are_folders_by_their_ids(opening: tuple[Shelf, Drive]) -> None:
    shelf, drive = opening
    archive_id = shelf.file("Contracts.zip", zipped({"a/b/Lease.txt": "the lease", "c.txt": "c"}))
    folder = next(one for one in drive.list_folder(shelf.top, recursive=True).folders if one.name == "a")
    listing = drive.list_folder(folder.id, recursive=True)
    assert ([one.path for one in listing.folders], list(by_path(listing))) == (["b"], ["b/Lease.txt"])
    assert listing.folder.name == "a"
    whole = drive.list_folder(archive_id, recursive=False)
    assert (whole.folder.name, list(by_path(whole)), whole.folders) == ("Contracts.zip", ["/c.txt"], [])
    for reference in (folder.id, archive_id, f"https://drive.example/folders/{folder.id}"):
        assert drive.find_folder(reference) in (folder.id, archive_id)
    with pytest.raises(NotFound, match="folder"):
        drive.document(folder.id)
    with pytest.raises(NotFound, match="document"):
        drive.list_folder(by_path(whole)["/c.txt"].id, recursive=True)


def test_an_archive_is_found_by_its_path(local_shelf: Shelf) -> None:
    drive = ArchiveDrive(local_shelf.drive, shown_here=True)
    archive_id = local_shelf.file("rooms/Alpha.zip", zipped({"a.txt": "a"}))
    assert drive.find_folder("top/rooms/Alpha.zip") == archive_id
    with pytest.raises(NotFound):
        drive.find_folder("top/rooms/Beta.zip")


@pytest.mark.parametrize(
    "forged", ["{archive}~AAAAAAAAAAAAAAAAAAAAAA", "{archive}~x", "{archive}~{archive}", "{other}"]
)
def test_ids_that_are_forged_are_not_found(opening: tuple[Shelf, Drive], forged: str, tmp_path: Path) -> None:
    shelf, drive = opening
    archive_id, other = shelf.file("a.zip", zipped({"a.txt": "a"})), shelf.file("b.txt")
    member = next(iter(drive.list_folder(archive_id, recursive=True).documents)).id
    given = forged.format(archive=archive_id, other=member.replace(archive_id, other))
    for call in (
        drive.document,
        drive.open,
        lambda one: drive.fetch(one, tmp_path, MEGABYTE),
        lambda one: drive.list_folder(one, recursive=True),
    ):
        with pytest.raises(NotFound):
            call(given)


def test_without_recursion_an_archive_is_a_document_as_ever(opening: tuple[Shelf, Drive]) -> None:
    shelf, drive = opening
    shelf.file("a.zip", zipped({"a.txt": "a"}))
    listing = drive.list_folder(shelf.top, recursive=False)
    assert (list(by_path(listing)), listing.folders, listing.warnings) == (["/a.zip"], [], [])


@pytest.mark.parametrize("content", [b"", b"no archive", zipped({"a.txt": "a"})[:-8]])
def test_a_damaged_archive_is_a_document_and_a_warning(opening: tuple[Shelf, Drive], content: bytes) -> None:
    shelf, drive = opening
    shelf.file("Room/bad.zip", content)
    shelf.file("good.zip", zipped({"a.txt": "a"}))
    listing = drive.list_folder(shelf.top, recursive=True)
    assert set(by_path(listing)) == {"Room/bad.zip", "good.zip/a.txt"}
    (warning,) = listing.warnings
    assert warning.startswith("'Room/bad.zip' is an archive that was not opened: it is damaged")
    assert not listing.incomplete


def test_what_is_left_out_stands_in_the_warnings(opening: tuple[Shelf, Drive]) -> None:
    shelf, drive = opening
    shelf.file("Room/a.zip", zipped({"../../x.txt": "x", "a.txt": "a"}))
    (warning,) = drive.list_folder(shelf.top, recursive=True).warnings
    assert warning == "Left out of 'Room/a.zip': '../../x.txt' (its path leads outside the archive)."


def test_an_archive_above_the_limit_stays_shut(opening: tuple[Shelf, Drive], monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, drive = opening
    monkeypatch.setenv("DILIGENCE_DOCUMENT_MAX_MB", "1")
    shelf.file("large.zip", zipped({"x": os.urandom(MEGABYTE)}))
    listing = drive.list_folder(shelf.top, recursive=True)
    assert list(by_path(listing)) == ["/large.zip"]
    assert "DILIGENCE_DOCUMENT_MAX_MB" in listing.warnings[0]
    assert listing.mark is None, "it is listed again when the limit may be another one"


def test_a_changed_archive_is_opened_anew(opening: tuple[Shelf, Drive], tmp_path: Path) -> None:
    shelf, drive = opening
    shelf.file("a.zip", zipped({"a.txt": "one"}))
    (before,) = drive.list_folder(shelf.top, recursive=True).documents
    for words in (b"two", b"six"):
        shelf.file("a.zip", zipped({"a.txt": words}))
        with drive.fetch(before.id, tmp_path, MEGABYTE) as fetched:
            assert fetched.path.read_bytes() == words
        assert drive.document(before.id).version != before.version
    shelf.file("a.zip", zipped({"b.txt": "three"}))
    with pytest.raises(NotFound):
        drive.document(before.id)
    shelf.remove("a.zip")
    with pytest.raises(NotFound):
        drive.fetch(before.id, tmp_path, MEGABYTE)


def test_a_member_is_visible_exactly_where_its_archive_is(tmp_path: Path, home: Path) -> None:
    store = Store()
    archive = store.add("a.zip", store.root("ada"), zipped({"a.txt": "a"}))
    ada, ben = (ArchiveDrive(MemoryDrive(store, user), shown_here=False) for user in ("ada", "ben"))
    (member,) = ada.list_folder("root", recursive=True).documents
    calls: list[Callable[[Drive], object]] = [
        lambda drive: drive.document(member.id),
        lambda drive: drive.fetch(member.id, tmp_path, MEGABYTE),
        lambda drive: drive.open(member.id),
        lambda drive: drive.list_folder(archive.id, recursive=True),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            call(ben)
    archive.readers.add("ben")
    assert ben.document(member.id).id == member.id
    archive.readers.clear()
    archive.restricted = True
    for drive in (ada, ben):
        with pytest.raises(NotFound):
            drive.document(member.id)  # although it is open for somebody else


def test_an_archive_far_away_is_fetched_once_for_all_its_members(google_shelf: GoogleShelf, tmp_path: Path) -> None:
    drive = ArchiveDrive(open_google_drive(Bearer(google_shelf.emulator.token(google_shelf.USER))), shown_here=False)
    archive = zipped({f"{number}.txt": os.urandom(20_000) for number in range(40)})
    google_shelf.file("a.zip", archive)
    size = len(archive)
    members = list(drive.list_folder(google_shelf.top, recursive=True).documents)
    downloads = google_shelf.emulator.counts.sent
    assert downloads > size
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda member: drive.fetch(member.id, tmp_path, MEGABYTE).release(), members))
    drive.list_folder(google_shelf.top, recursive=True)
    assert google_shelf.emulator.counts.sent - downloads < size


def test_an_archive_far_away_that_has_not_changed_is_not_fetched_to_be_listed_again(
    google_shelf: GoogleShelf, home: Path, tmp_path: Path
) -> None:
    archive = zipped({"a.txt": os.urandom(200_000), "../b": "b", "in.zip": zipped({"c.txt": "c", "d.zip": "d"})})
    google_shelf.file("a.zip", archive)

    processes: list[OpenArchives] = []

    def by_another_process() -> Drive:
        processes.append(OpenArchives(1 << 30))
        return ArchiveDrive(google_shelf.again(), shown_here=False, archives=processes[-1])

    first = by_another_process().list_folder(google_shelf.top, recursive=True)
    sent = google_shelf.emulator.counts.sent
    again = by_another_process()
    second = again.list_folder(google_shelf.top, recursive=True)
    assert by_path(second) == by_path(first)
    assert (second.folders, second.warnings) == (first.folders, first.warnings)
    (member,) = (document for document in second.documents if document.name == "c.txt")
    assert again.document(member.id).name == "c.txt"
    assert google_shelf.emulator.counts.sent - sent < 100_000
    with again.fetch(member.id, tmp_path, MEGABYTE) as fetched:
        assert fetched.path.read_bytes() == b"c"
    google_shelf.file("a.zip", zipped({"e.txt": "e"}))
    assert set(by_path(by_another_process().list_folder(google_shelf.top, recursive=True))) == {"a.zip/e.txt"}
    for file in (home / "archives").iterdir():
        file.write_bytes(b"[]")  # what is kept may be lost
    assert set(by_path(by_another_process().list_folder(google_shelf.top, recursive=True))) == {"a.zip/e.txt"}
    for archives in processes:
        archives.close()


def test_many_who_want_an_archive_open_it_once(local_shelf: LocalShelf, tmp_path: Path) -> None:
    archive_id = settled(local_shelf, "a.zip", zipped({"a.txt": "a"}))
    opened = []

    class Counting(LocalDrive):
        def open(self, document_id: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
            opened.append(document_id)
            return super().open(document_id)

    archives = OpenArchives(MEGABYTE)
    drive = ArchiveDrive(Counting(local_shelf.path.parent, "https://x.example"), shown_here=True, archives=archives)
    (member,) = drive.list_folder(archive_id, recursive=True).documents
    threads = [threading.Thread(target=drive.document, args=(member.id,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert opened == [archive_id]
    archives.close()


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at /proc")
def test_archives_that_nobody_needs_are_closed(local_shelf: LocalShelf) -> None:
    archives = OpenArchives(1 << 30)
    drive = ArchiveDrive(local_shelf.drive, shown_here=True, archives=archives)
    for number in range(40):
        settled(local_shelf, f"{number}.zip", zipped({"a.txt": "a"}))
    before = open_files()
    drive.list_folder(local_shelf.top, recursive=True)
    assert open_files() <= before + 16
    archives.close()
    assert open_files() <= before


def test_no_archive_leaves_anything_on_the_disk(memory_shelf: MemoryShelf, home: Path) -> None:
    archives = OpenArchives(1 << 30)
    drive = ArchiveDrive(memory_shelf.drive, shown_here=False, archives=archives)
    memory_shelf.file("a.zip", zipped({"b.zip": zipped({"c.txt": "c"}), "a.txt": "a"}))
    for document in drive.list_folder(memory_shelf.top, recursive=True).documents:
        drive.open(document.id).close()
    archives.close()
    assert list((home / "spool").iterdir()) == []


def test_a_member_has_an_address_of_its_own_where_the_service_shows_documents(
    opening: tuple[Shelf, Drive],
) -> None:
    shelf, drive = opening
    archive_id = shelf.file("Contracts.zip", zipped({"Lease.pdf": "%PDF"}))
    archive = shelf.drive.document(archive_id)
    (lease,) = drive.list_folder(shelf.top, recursive=True).documents
    if isinstance(shelf, LocalShelf):
        assert lease.url == archive.url.replace(archive_id, lease.id)
    else:
        assert lease.url == f"{archive.url}#member={lease.id.partition('~')[2]}"
