"""What every drive keeps to when a document is fetched. Runs on each drive that `shelf` (conftest) gives."""

import hashlib
import time
from pathlib import Path

import pytest

from tasks.documents.drive.drive import Fetched
from tasks.errors import NotFound, TooLarge
from tests.tasks.documents.drive.conftest import Shelf

MEGABYTE = 1024 * 1024


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
    assert shelf.drive.list_folder(shelf.top, recursive=True).documents == []


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
