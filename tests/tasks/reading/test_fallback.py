"""Second readers: asked where ours finds a file damaged, and only there."""

import os
import signal
import time
from pathlib import Path

import pytest
from pypdf import PageObject
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.reading import embedded
from tasks.reading.embedded import FallbackReader
from tasks.reading.pdf import reader as pdf_reader
from tasks.reading.text_writer import Reading, Source


def refuse(_: Source) -> Reading:
    raise Damaged("Ours gave up.")


def test_pdf_documents_without_the_pages_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"))
    for words in ("Page one", "Page two"):
        canvas.drawString(72, 700, words)
        canvas.showPage()
    canvas.save()
    whole = PageObject.extract_text

    def extract_text(page: PageObject) -> str:
        if "one" in whole(page):
            raise ValueError("a page that pypdf stumbles over")
        return whole(page)

    monkeypatch.setattr(PageObject, "extract_text", extract_text)
    reading = embedded.read_or_fall_back(refuse, pdf_reader.FALLBACK, tmp_path / "a.pdf")
    assert reading.text == "\fPage two\n"
    assert reading.warnings == [embedded.PARTIAL]


@pytest.mark.parametrize("error", [TooLarge("a bomb"), PasswordProtected("shut")])
def test_a_bomb_or_a_password_is_no_matter_for_a_second_reader(error: Exception) -> None:
    def first(_: Source) -> Reading:
        raise error

    def other(_: Source) -> Reading:
        return Reading("not asked for")

    with pytest.raises(type(error)):
        embedded.read_or_fall_back(first, FallbackReader(other, "json", b""), b"anything")


def test_a_second_reader_that_crashes_or_never_ends_costs_nothing_else() -> None:
    def crashes(_: Source) -> Reading:
        os.kill(os.getpid(), signal.SIGTRAP)
        return Reading("")

    def hangs(_: Source) -> Reading:
        time.sleep(3600)
        return Reading("")

    for other in (crashes, hangs):
        with pytest.raises(Damaged, match="Ours gave up"):
            embedded.read_or_fall_back(refuse, FallbackReader(other, "json", b"", seconds=0.05), b"anything")
    reading = embedded.read_or_fall_back(refuse, FallbackReader(lambda _: Reading("read"), "json", b""), b"anything")
    assert reading.text == "read"


def test_where_neither_can_read_the_first_one_s_error_stands(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"nothing")
    with pytest.raises(Damaged, match="Ours gave up"):
        embedded.read_or_fall_back(refuse, pdf_reader.FALLBACK, tmp_path / "a.pdf")
