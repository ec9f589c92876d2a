"""Extract Document Text: the text, what is read again and what not, and every error."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from storage import database
from storage.columns import DatabaseUnavailable
from tasks.documents.texts import document_text
from tasks.errors import (
    Damaged,
    NotFound,
)
from tasks.reading import formats
from tests.homes import make_home
from tests.tasks.documents.conftest import CountingPool

Write = Callable[..., str]


def test_all_of_the_text_comes_with_the_id_as_it_was_given(write: Write, pool: CountingPool) -> None:
    document_id = write("Legal/notes.txt", "Umsätze wuchsen.\n🙂\n")
    for given in (document_id, f"https://x.example/file/d/{document_id}/view", f" {document_id} "):
        answer = document_text(given)
        assert (answer.document_id, answer.text) == (given, "Umsätze wuchsen.\n🙂\n")


def test_a_text_is_read_once(write: Write, pool: CountingPool) -> None:
    document_id = write("notes.txt")
    for _ in range(3):
        assert document_text(document_id).text == "words\n"
    assert pool.count == 1


def test_a_text_is_read_once_for_all_processes(write: Write, pool: CountingPool, forget: Callable[[], None]) -> None:
    document_id = write("notes.txt")
    document_text(document_id)
    forget()
    assert document_text(document_id).text == "words\n"
    assert pool.count == 1


def test_a_text_asked_for_lately_needs_no_database(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = _settled(write, "notes.txt")

    def closed() -> None:
        raise DatabaseUnavailable

    monkeypatch.setattr(database, "reading", closed)
    monkeypatch.setattr(database, "writing", closed)
    assert document_text(document_id).text == "words\n"


def test_a_text_of_another_database_is_not_taken_for_this_ones(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    document_id = _settled(write, "notes.txt")
    monkeypatch.setenv("DILIGENCE_HOME", str(make_home(tmp_path / "another")))
    document_text(document_id)
    assert pool.count == 2


def test_the_same_content_under_two_names_is_read_once(write: Write, pool: CountingPool) -> None:
    first, second = write("a.txt", "the same\n"), write("Legal/b.txt", "the same\n")
    assert document_text(first).text == document_text(second).text == "the same\n"
    assert pool.count == 1


def test_the_same_content_in_another_format_is_read_for_itself(write: Write, pool: CountingPool) -> None:
    assert document_text(write("a.txt", "no pdf\n")).text == "no pdf\n"
    with pytest.raises(Damaged):
        document_text(write("a.pdf", "no pdf\n"))
    assert pool.count == 2


def test_changed_content_is_read_again(write: Write, pool: CountingPool) -> None:
    document_id = write("notes.txt", "one\n")
    assert document_text(document_id).text == "one\n"
    write("notes.txt", "two\n")  # of the same length
    assert document_text(document_id).text == "two\n"
    write("notes.txt", "one\n")
    assert document_text(document_id).text == "one\n"
    assert pool.count == 2, "the first content is known still"


def test_a_touched_file_is_not_read_again(write: Write, pool: CountingPool, drive_root: Path) -> None:
    document_id = write("notes.txt")
    document_text(document_id)
    (drive_root / "notes.txt").touch()
    document_text(document_id)
    assert pool.count == 1


def test_a_new_version_of_the_reader_reads_again(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = write("notes.txt")
    document_text(document_id)
    monkeypatch.setattr(formats, "version", lambda _extension: "txt-of-tomorrow")
    document_text(document_id)
    document_text(document_id)
    assert pool.count == 2


def test_an_empty_text_file_is_an_empty_text(write: Write, pool: CountingPool) -> None:
    assert document_text(write("a.txt", b"")).text == ""


def test_a_document_that_was_deleted_is_not_found_though_its_text_is_known(
    write: Write, pool: CountingPool, drive_root: Path
) -> None:
    document_id = _settled(write, "notes.txt")
    (drive_root / "notes.txt").unlink()
    with pytest.raises(NotFound):
        document_text(document_id)


def _settled(write: Write, name: str) -> str:
    """A document whose text is known, and whose last change is long enough ago for that to be certain."""
    document_id = write(name)
    time.sleep(0.06)
    document_text(document_id)
    return document_id
