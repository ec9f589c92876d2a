"""What every drive keeps to. The suite runs on each drive that `shelf` (conftest) gives.

What every drive keeps to when a document is fetched. Runs on each drive that `shelf` (conftest) gives.
"""

import hashlib
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tasks.documents.drive.drive import Document, Fetched, Listing
from tasks.errors import NotFound, TooLarge
from tests.tasks.documents.drive.conftest import Shelf

MEGABYTE = 1024 * 1024


def listed(shelf: Shelf, folder: str | None = None, *, recursive: bool = True) -> Listing:
    return shelf.drive.list_folder(folder or shelf.top, recursive=recursive)


def names(listing: Listing) -> set[str]:
    """Each document with its folder's path."""
    return {f"{document.path}/{document.name}" for document in listing.documents}


def only(listing: Listing) -> Document:
    (document,) = listing.documents
    return document


def test_the_same_drive_has_the_same_name(shelf: Shelf) -> None:
    assert shelf.again().name == shelf.drive.name


def test_a_listing_holds_every_document_and_folder_with_its_path(shelf: Shelf) -> None:
    shelf.file("notes.txt")
    shelf.file("Legal/contract.pdf")
    shelf.file("Legal/Old/2019/lease.docx")
    shelf.folder("Empty")
    listing = listed(shelf)
    assert names(listing) == {"/notes.txt", "Legal/contract.pdf", "Legal/Old/2019/lease.docx"}
    assert {folder.path for folder in listing.folders} == {"Empty", "Legal", "Legal/Old", "Legal/Old/2019"}
    assert (listing.folder.id, listing.folder.name, listing.folder.path) == (shelf.top, "top", "")
    assert (listing.warnings, listing.incomplete) == ([], False)


def test_a_listing_on_disk_holds_the_same(shelf: Shelf, tmp_path: Path) -> None:
    for number in range(12):
        shelf.file(f"Legal/{number % 3}/contract {number}.pdf", b"x" * number)
    shelf.elsewhere("lease.pdf")
    shelf.shortcut("our lease", "../lease.pdf")
    shelf.shortcut("again", "Legal/0/contract 0.pdf")
    in_memory, on_disk = listed(shelf), shelf.drive.list_folder(shelf.top, recursive=True, spool=tmp_path)
    for _ in range(2):  # it can be gone through more than once
        assert sorted(on_disk.documents, key=lambda document: document.id) == sorted(
            in_memory.documents, key=lambda document: document.id
        )
    assert (len(on_disk.documents), on_disk.folders) == (13, in_memory.folders)
    assert list(tmp_path.iterdir())


def test_folders_name_the_folder_that_they_lie_in(shelf: Shelf) -> None:
    shelf.file("Legal/Old/lease.docx")
    listing = listed(shelf)
    legal, old = sorted(listing.folders, key=lambda folder: folder.path)
    assert (legal.parent_id, old.parent_id) == (shelf.top, legal.id)
    assert only(listing).folder_id == old.id
    assert (legal.name, old.name) == ("Legal", "Old")


def test_without_recursion_only_the_folder_itself_is_listed(shelf: Shelf) -> None:
    shelf.file("notes.txt")
    shelf.file("Legal/contract.pdf")
    shelf.shortcut("more", "Legal")
    listing = listed(shelf, recursive=False)
    assert (names(listing), listing.folders) == ({"/notes.txt"}, [])


def test_a_subfolder_can_be_listed_by_its_id(shelf: Shelf) -> None:
    shelf.file("Legal/Old/lease.docx")
    legal = next(folder for folder in listed(shelf).folders if folder.name == "Legal")
    assert names(listed(shelf, legal.id)) == {"Old/lease.docx"}


def test_an_empty_folder_is_an_empty_listing(shelf: Shelf) -> None:
    listing = listed(shelf)
    assert (list(listing.documents), listing.folders, listing.warnings) == ([], [], [])


def test_files_of_every_type_are_listed(shelf: Shelf) -> None:
    for name in ("photo.jpeg", "archive.zip", "no extension", "model.xlsm"):
        shelf.file(name)
    assert {document.name for document in listed(shelf).documents} == {
        "photo.jpeg",
        "archive.zip",
        "no extension",
        "model.xlsm",
    }


def test_a_document_carries_its_metadata(shelf: Shelf) -> None:
    document_id = shelf.file("report.pdf", b"x" * 2048)
    document = only(listed(shelf))
    assert (document.id, document.name, document.size, document.mime_type) == (
        document_id,
        "report.pdf",
        2048,
        "application/pdf",
    )
    assert document_id in document.url
    assert document.url.startswith("https://")
    now = datetime.now(UTC)
    for moment in (document.created, document.updated):
        assert moment is not None
        assert now - timedelta(minutes=5) < moment < now + timedelta(minutes=5)


@pytest.mark.parametrize(
    "name",
    [
        "Umsätze 2024.pdf",
        "🙂.txt",
        "a\nb.txt",
        "a'b\"c&d<e>.txt",
        "100% #1?.txt",
        " spaces .txt",
        "契約書.docx",
        "e\u0301.txt",
    ],
)
def test_names_come_as_they_are(shelf: Shelf, name: str) -> None:
    document_id = shelf.file(f"Folder {name}/{name}")
    listing = listed(shelf)
    assert only(listing).name == name
    assert listing.folders[0].name == f"Folder {name}"
    assert shelf.drive.document(document_id).name == name


def test_a_document_by_its_id_is_as_it_is_listed(shelf: Shelf) -> None:
    document_id = shelf.file("Legal/contract.pdf", b"x" * 100)
    document, entry = shelf.drive.document(document_id), only(listed(shelf))
    assert document.path == ""
    for field in ("id", "name", "folder_id", "url", "mime_type", "size", "created", "updated", "version"):
        assert getattr(document, field) == getattr(entry, field), field


def test_an_id_stays_while_the_content_changes(shelf: Shelf) -> None:
    before = shelf.file("notes.txt", b"one")
    version = shelf.drive.document(before).version
    assert shelf.file("notes.txt", b"three") == before
    assert shelf.drive.document(before).version != version
    assert shelf.drive.document(before).size == 5


def test_the_version_stays_while_nothing_changes(shelf: Shelf) -> None:
    document_id = shelf.file("notes.txt")
    version = shelf.drive.document(document_id).version
    shelf.file("another.txt")
    assert shelf.again().document(document_id).version == version


def test_a_shortcut_to_a_document_elsewhere_has_its_own_name_and_the_targets_metadata(shelf: Shelf) -> None:
    target = shelf.elsewhere("2019/lease.pdf", b"x" * 300)
    shelf.shortcut("Legal/our lease", "../2019/lease.pdf")
    document = only(listed(shelf))
    assert (document.id, document.name, document.path) == (target, "our lease", "Legal")
    assert (document.size, document.mime_type) == (300, "application/pdf")


def test_a_shortcut_to_a_document_in_the_tree_is_not_listed_besides(shelf: Shelf) -> None:
    shelf.file("Legal/contract.pdf")
    shelf.shortcut("A first look", "Legal/contract.pdf")
    assert names(listed(shelf)) == {"Legal/contract.pdf"}


def test_a_document_is_listed_once_however_many_shortcuts_lead_to_it(shelf: Shelf) -> None:
    shelf.elsewhere("lease.pdf")
    for name in ("a.pdf", "b.pdf", "Legal/c.pdf"):
        shelf.shortcut(name, "../lease.pdf")
    assert len(listed(shelf).documents) == 1


def test_a_shortcut_to_a_folder_is_followed_like_a_subfolder(shelf: Shelf) -> None:
    shelf.elsewhere("Archive/2019/lease.pdf")
    shelf.shortcut("Old", "../Archive")
    listing = listed(shelf)
    assert names(listing) == {"Old/2019/lease.pdf"}
    assert {folder.path for folder in listing.folders} == {"Old", "Old/2019"}
    parents = {folder.id: folder.parent_id for folder in listing.folders}
    assert list(parents.values()).count(shelf.top) == 1


def test_shortcuts_in_a_circle_do_no_harm(shelf: Shelf) -> None:
    shelf.file("Legal/contract.pdf")
    shelf.shortcut("Legal/back", "")
    shelf.shortcut("Legal/self", "Legal")
    listing = listed(shelf)
    assert names(listing) == {"Legal/contract.pdf"}
    assert [folder.path for folder in listing.folders] == ["Legal"]


def test_a_shortcut_to_nothing_is_a_warning(shelf: Shelf) -> None:
    shelf.file("notes.txt")
    shelf.shortcut("gone.pdf", "../never was.pdf")
    listing = listed(shelf)
    assert names(listing) == {"/notes.txt"}
    (warning,) = listing.warnings
    assert "'gone.pdf'" in warning


@pytest.mark.parametrize("given", ["unknown", "", " ", "root/..", "../root", "/etc/passwd", "a\0b", "ü", "x" * 5000])
def test_an_id_that_is_none_is_not_found(shelf: Shelf, given: str, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        shelf.drive.document(given)
    with pytest.raises(NotFound):
        shelf.drive.list_folder(given, recursive=True)
    with pytest.raises(NotFound):
        shelf.drive.fetch(given, tmp_path, MEGABYTE)
    with pytest.raises(NotFound):
        shelf.drive.open(given)


def test_a_folder_is_no_document_and_a_document_no_folder(shelf: Shelf, tmp_path: Path) -> None:
    folder, document = shelf.folder("Legal"), shelf.file("notes.txt")
    with pytest.raises(NotFound, match="folder"):
        shelf.drive.document(folder)
    with pytest.raises(NotFound):
        shelf.drive.fetch(folder, tmp_path, MEGABYTE)
    with pytest.raises(NotFound, match="document"):
        shelf.drive.list_folder(document, recursive=True)


def test_a_folder_is_found_by_id_and_by_url(shelf: Shelf) -> None:
    legal = shelf.folder("Legal")
    assert shelf.drive.find_folder(legal) == legal
    assert shelf.drive.find_folder(f" {legal}\n") == legal
    assert shelf.drive.find_folder(f"https://drive.example/drive/folders/{legal}?usp=sharing") == legal
    assert shelf.drive.find_folder(f"https://drive.example/open?id={legal}") == legal


@pytest.mark.parametrize(
    "given", ["unknown", "no/such/path", "..", "../..", "/etc", "a\0b", "https://x.example/folders/no"]
)
def test_a_folder_that_is_not_there_is_not_found(shelf: Shelf, given: str) -> None:
    with pytest.raises(NotFound):
        shelf.drive.find_folder(given)


@pytest.mark.parametrize("content", [b"", b"words", bytes(range(256)) * 12_345])
def test_fetching_brings_the_content_with_its_hash(shelf: Shelf, content: bytes, tmp_path: Path) -> None:
    document_id = shelf.file("notes.txt", content)
    spool = tmp_path / "spool"
    spool.mkdir()
    with shelf.drive.fetch(document_id, spool, 8 * MEGABYTE) as fetched:
        assert fetched.path.read_bytes() == content
        assert fetched.content_hash == hashlib.sha256(content).hexdigest()
        assert fetched.is_unchanged()
    assert list(spool.iterdir()) == []


def test_what_was_fetched_is_of_the_version_that_the_drive_tells(shelf: Shelf, tmp_path: Path) -> None:
    document_id = shelf.file("notes.txt")
    assert _settled(shelf, document_id, tmp_path).version == shelf.drive.document(document_id).version


def test_a_change_of_the_same_length_right_after_fetching_is_noticed(shelf: Shelf, tmp_path: Path) -> None:
    for turn in range(40):
        document_id = shelf.file("notes.txt", b"one %3d" % turn)
        with shelf.drive.fetch(document_id, tmp_path, MEGABYTE) as fetched:
            shelf.file("notes.txt", b"two %3d" % turn)
            assert not fetched.is_unchanged() or fetched.path.read_bytes() == b"one %3d" % turn
            assert fetched.version != shelf.drive.document(document_id).version


def test_fetching_twice_gives_two_files(shelf: Shelf, tmp_path: Path) -> None:
    document_id = shelf.file("notes.txt")
    with (
        shelf.drive.fetch(document_id, tmp_path, MEGABYTE) as first,
        shelf.drive.fetch(document_id, tmp_path, MEGABYTE) as second,
    ):
        assert first.path != second.path


def test_a_document_above_the_limit_is_refused_and_leaves_nothing(shelf: Shelf, tmp_path: Path) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    exact, above = shelf.file("a.txt", b"x" * MEGABYTE), shelf.file("b.txt", b"x" * (MEGABYTE + 1))
    with pytest.raises(TooLarge, match="DILIGENCE_DOCUMENT_MAX_MB"):
        shelf.drive.fetch(above, spool, MEGABYTE)
    assert list(spool.iterdir()) == []
    with shelf.drive.fetch(exact, spool, MEGABYTE) as fetched:
        assert fetched.path.stat().st_size == MEGABYTE


def test_a_document_that_is_gone_is_not_found(shelf: Shelf, tmp_path: Path) -> None:
    document_id = shelf.file("notes.txt")
    shelf.remove("notes.txt")
    with pytest.raises(NotFound):
        shelf.drive.document(document_id)
    with pytest.raises(NotFound):
        shelf.drive.fetch(document_id, tmp_path, MEGABYTE)
    assert not shelf.drive.list_folder(shelf.top, recursive=True).documents


def test_a_document_opens_for_reading(shelf: Shelf) -> None:
    with shelf.drive.open(shelf.file("notes.txt", b"all of it")) as content:
        assert content.read() == b"all of it"


def _settled(shelf: Shelf, document_id: str, spool: Path) -> Fetched:
    """A drive may tell another version while the last change is only just over."""
    for _ in range(50):
        with shelf.drive.fetch(document_id, spool, MEGABYTE) as fetched:
            pass
        if fetched.version == shelf.drive.document(document_id).version:
            break
        time.sleep(0.05)
    return fetched
