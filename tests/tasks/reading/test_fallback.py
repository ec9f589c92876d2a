"""Second readers: asked where ours finds a file damaged, and only there."""

import os
import signal
import time
from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches
from pypdf import PageObject
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.reading import fallback
from tasks.reading.docx import reader as docx_reader
from tasks.reading.fallback import FallbackReader
from tasks.reading.pdf import reader as pdf_reader
from tasks.reading.pptx import reader as pptx_reader
from tasks.reading.text_writer import Reading, Source
from tasks.reading.xlsx import reader as xlsx_reader


def refuse(_: Source) -> Reading:
    raise Damaged("Ours gave up.")


def test_word_documents(tmp_path: Path) -> None:
    document = Document()
    document.add_paragraph("Clause one")
    document.add_table(1, 2).rows[0].cells[1].text = "cell"
    document.save(str(tmp_path / "a.docx"))
    reading = fallback.read_or_fall_back(refuse, docx_reader.FALLBACK, tmp_path / "a.docx")
    assert reading.text == "Clause one\n\tcell\n"
    assert reading.warnings == [fallback.PARTIAL]


def test_presentations(tmp_path: Path) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(Inches(1), Inches(1), Inches(1), Inches(1)).text_frame.text = "A word"
    deck.save(str(tmp_path / "a.pptx"))
    reading = fallback.read_or_fall_back(refuse, pptx_reader.FALLBACK, tmp_path / "a.pptx")
    assert (reading.text, [place.kind for place in reading.places]) == ("A word\n", ["slide"])


def test_workbooks(tmp_path: Path) -> None:
    workbook = Workbook()
    assert workbook.active is not None
    workbook.active.append(["a", 1, None])
    workbook.save(tmp_path / "a.xlsx")
    reading = fallback.read_or_fall_back(refuse, xlsx_reader.FALLBACK, tmp_path / "a.xlsx")
    assert reading.text == "Sheet\na\t1\n"


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
    reading = fallback.read_or_fall_back(refuse, pdf_reader.FALLBACK, tmp_path / "a.pdf")
    assert reading.text == "\fPage two\n"
    assert reading.warnings == [fallback.PARTIAL]


@pytest.mark.parametrize("error", [TooLarge("a bomb"), PasswordProtected("shut")])
def test_a_bomb_or_a_password_is_no_matter_for_a_second_reader(error: Exception) -> None:
    def first(_: Source) -> Reading:
        raise error

    def other(_: Source) -> Reading:
        return Reading("not asked for")

    with pytest.raises(type(error)):
        fallback.read_or_fall_back(first, FallbackReader(other, "json", b""), b"anything")


def test_a_second_reader_that_crashes_or_never_ends_costs_nothing_else() -> None:
    def crashes(_: Source) -> Reading:
        os.kill(os.getpid(), signal.SIGTRAP)
        return Reading("")

    def hangs(_: Source) -> Reading:
        time.sleep(3600)
        return Reading("")

    for other in (crashes, hangs):
        with pytest.raises(Damaged, match="Ours gave up"):
            fallback.read_or_fall_back(refuse, FallbackReader(other, "json", b"", seconds=0.05), b"anything")
    reading = fallback.read_or_fall_back(refuse, FallbackReader(lambda _: Reading("read"), "json", b""), b"anything")
    assert reading.text == "read"


def test_where_neither_can_read_the_first_one_s_error_stands(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"nothing")
    with pytest.raises(Damaged, match="Ours gave up"):
        fallback.read_or_fall_back(refuse, docx_reader.FALLBACK, tmp_path / "a.docx")
