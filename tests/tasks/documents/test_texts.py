"""Extract Document Text: the text, what is read again and what not, and every error.

Extract Document Text: every way in which there is no text, and what is kept of it.

Texts in memory: bounded, the least used first to go.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from storage import database
from storage.errors import DatabaseUnavailable
from storage.texts import Outcome, StoredText
from tasks.documents.drive.local import drive as local
from tasks.documents.texts import RecentTexts, document_text, text_warning
from tasks.errors import (
    BadRequest,
    Damaged,
    DiligenceError,
    NotFound,
    PasswordProtected,
    TookTooLong,
    TooLarge,
    Unreadable,
    UnsupportedFormat,
)
from tasks.reading import formats
from tasks.reading.embedded import read_with_embedded
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


def test_what_was_read_inside_a_mail_is_no_warning_and_what_was_not_is() -> None:
    mail = EmailMessage()
    mail["From"] = "A <a@example.com>"
    mail.set_content("Both enclosed.")
    mail.add_attachment("The rent is 1,200 a month.", filename="rent.txt")
    mail.add_attachment(b"\0", "application", "octet-stream", filename="plan.dwg")
    reading = read_with_embedded(mail.as_bytes(), ".eml")
    assert "Embedded, and read after the text: rent.txt." in reading.warnings
    text = StoredText(content_hash="h", reader="eml-7", outcome=Outcome.READ, warnings=reading.warnings)
    assert text_warning(text) == "Embedded, in a format that no reader reads: plan.dwg."
    hidden = "Embedded, but damaged: Embedded, and read after the text: a.pdf."
    text = StoredText(content_hash="h", reader="eml-7", outcome=Outcome.READ, warnings=[hidden])
    assert text_warning(text) == hidden


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


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.txt", b"damaged", Damaged),
        ("a.txt", b"stumble", Damaged),
        ("a.txt", b"crash", Unreadable),
        ("a.txt", b"swell", Unreadable),
        ("a.pdf", b"no pdf at all", Damaged),
        ("a.pdf", b"", Damaged),
        ("a.docx", b"", Damaged),
        ("a.pptx", b"PK\x03\x04 cut off", Damaged),
    ],
)
def test_what_cannot_be_read_is_tried_once_and_fails_alike_ever_after(
    name: str,
    content: bytes,
    kind: type[DiligenceError],
    write: Write,
    pool: CountingPool,
    forget: Callable[[], None],
) -> None:
    document_id, said = write(name, content), []
    for _ in range(3):
        with pytest.raises(kind) as raised:
            document_text(document_id)
        assert type(raised.value) is kind
        said.append(raised.value.message)
        forget()
    assert pool.count == 1
    assert len(set(said)) == 1


def test_a_password_is_asked_for_every_time(write: Write, pool: CountingPool, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "closed.pdf"), encrypt=StandardEncryption("secret"))
    canvas.drawString(100, 100, "words")
    canvas.save()
    document_id = write("closed.pdf", (tmp_path / "closed.pdf").read_bytes())
    for _ in range(2):
        with pytest.raises(PasswordProtected):
            document_text(document_id)
    assert pool.count == 1


def test_a_failure_by_a_limit_holds_for_that_limit(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = write("a.txt", "swell")
    with pytest.raises(Unreadable, match="DILIGENCE_DOCUMENT_MEMORY_MB"):
        document_text(document_id)
    monkeypatch.setenv("DILIGENCE_DOCUMENT_MEMORY_MB", "2048")
    with pytest.raises(Unreadable):
        document_text(document_id)
    assert pool.count == 2


def test_what_took_too_long_may_be_quicker_next_time(write: Write, pool: CountingPool) -> None:
    document_id = write("a.txt", "hang")
    for _ in range(2):
        with pytest.raises(TookTooLong, match="DILIGENCE_DOCUMENT_TIMEOUT"):
            document_text(document_id)
    assert pool.count == 2


def test_a_document_above_the_limit_is_named_with_the_setting(
    write: Write, pool: CountingPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = write("a.txt", b"x" * (1024 * 1024) + b"\n")
    monkeypatch.setenv("DILIGENCE_DOCUMENT_MAX_MB", "1")
    with pytest.raises(TooLarge, match=r"1 MB.*DILIGENCE_DOCUMENT_MAX_MB"):
        document_text(document_id)
    assert pool.count == 0
    monkeypatch.setenv("DILIGENCE_DOCUMENT_MAX_MB", "2")
    assert len(document_text(document_id).text) == 1024 * 1024 + 1


@pytest.mark.parametrize("name", ["a.mp4", "a.dwg", "a.pdf.gz", "a.bat", ".txt.bak"[1:]])
def test_another_format_is_refused_and_the_supported_ones_are_named(
    name: str, write: Write, pool: CountingPool
) -> None:
    with pytest.raises(UnsupportedFormat, match=r"\.docx, .*\.pdf, .*\.pptx, .*\.txt, .*\.xlsx"):
        document_text(write(name))
    assert pool.count == 0


@pytest.mark.parametrize("given", ["unknown", "Li4", "a\0b", "https://x.example/file/d/unknown/view"])
def test_an_unknown_id_is_not_found(given: str, pool: CountingPool) -> None:
    with pytest.raises(NotFound):
        document_text(given)


@pytest.mark.parametrize("given", ["", "  ", "https://x.example/"])
def test_no_id_at_all_is_a_bad_request(given: str, pool: CountingPool) -> None:
    with pytest.raises(BadRequest) as raised:
        document_text(given)
    assert list(raised.value.fields) == ["document_id"]


def test_a_folders_id_is_none_of_a_document(write: Write, pool: CountingPool) -> None:
    write("Legal/a.txt")
    with pytest.raises(NotFound, match="folder"):
        document_text("root")


def test_a_document_that_vanishes_in_the_middle_is_not_found(
    write: Write, pool: CountingPool, drive_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document_id = write("notes.txt")
    fetch = local.LocalDrive.fetch

    def late(drive: local.LocalDrive, *given: str) -> object:
        (drive_root / "notes.txt").unlink()
        return fetch(drive, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(local.LocalDrive, "fetch", late)
    with pytest.raises(NotFound):
        document_text(document_id)


@pytest.mark.parametrize("content", ["words", "damaged", "hang"])
def test_nothing_is_left_in_the_spool(content: str, write: Write, pool: CountingPool, home: Path) -> None:
    document_id = write("a.txt", content)
    try:
        document_text(document_id)
    except DiligenceError:
        assert content != "words"
    assert list((home / "spool").iterdir()) == []


KILOBYTE = "x" * 1000  # and some bytes more in memory


def test_a_text_is_there_again() -> None:
    texts = RecentTexts(100_000)
    texts.put("a", "words")
    assert texts.get("a") == "words"
    assert texts.get("b") is None


def test_an_empty_text_is_a_text() -> None:
    texts = RecentTexts(100_000)
    texts.put("a", "")
    assert texts.get("a") == ""


def test_the_one_unused_for_longest_goes_first() -> None:
    texts = RecentTexts(10_000)
    for key in range(9):
        texts.put(key, KILOBYTE)
    assert texts.get(0)
    texts.put("new", KILOBYTE)
    assert (texts.get(0), texts.get(1), texts.get("new")) == (KILOBYTE, None, KILOBYTE)


def test_a_large_text_does_not_push_out_the_others() -> None:
    texts = RecentTexts(10_000)
    texts.put("small", KILOBYTE)
    texts.put("large", KILOBYTE * 2)
    assert (texts.get("small"), texts.get("large")) == (KILOBYTE, None)


def test_texts_outside_latin_count_by_what_they_take() -> None:
    texts = RecentTexts(10_000)
    texts.put("emoji", "🙂" * 500)  # four bytes each
    assert texts.get("emoji") is None


def test_many_threads_at_once_stay_within_the_bound() -> None:
    texts = RecentTexts(20_000)

    def work(thread: int) -> None:
        for turn in range(500):
            texts.put((thread, turn % 20), KILOBYTE)
            texts.get((thread, turn % 7))

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert sum(len(texts.get((thread, turn)) or "") for thread in range(8) for turn in range(20)) <= 20_000
