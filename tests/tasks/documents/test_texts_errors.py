"""Extract Document Text: every way in which there is no text, and what is kept of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas

from tasks.documents.drive.local import drive as local
from tasks.documents.texts import document_text
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
from tests.tasks.documents.conftest import CountingPool

Write = Callable[..., str]


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
