"""Scans in the drive: what is recognised is kept as such, and read again when more can be recognised."""

import re
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from sqlmodel import select

from storage import database
from storage.documents import room_documents
from storage.texts import Outcome, StoredText
from tasks.documents import texts as texts_module
from tasks.documents.batch import read_documents, recognise_scans
from tasks.documents.index import index_room
from tasks.documents.texts import document_text
from tasks.reading.configuration import ReadingSettings, engine_name
from tasks.reading.ocr.recognise import Engines
from tasks.reading.pool.pool import ExtractionPool
from tasks.reading.text_writer import Reading
from tests.tasks.reading.ocr.scans import CLAUSE, needs_tesseract, picture, program, scan

Write = Callable[..., str]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that were handed to a pool."""
    names: list[str] = []
    submit = ExtractionPool.submit

    def noted(pool: ExtractionPool, path: Path, format: str) -> "Future[Reading]":  # noqa: A002 - the field's word
        names.append(format)
        return submit(pool, path, format)

    monkeypatch.setattr(ExtractionPool, "submit", noted)
    return names


@pytest.fixture
def scanned(write: Write, tmp_path: Path) -> str:
    """The id of a scan of two pages in the drive."""
    pages = [picture(CLAUSE), picture("Signed in Aarhus for the bank.\n")]
    return write("Contracts/loan.pdf", scan(tmp_path / "loan.pdf", pages).read_bytes())


@pytest.fixture
def typed(write: Write, tmp_path: Path) -> str:
    """The id of a PDF that has its text as text."""
    canvas = Canvas(str(tmp_path / "typed.pdf"))
    canvas.drawString(72, 700, "The minutes were approved.")
    canvas.save()
    return write("Minutes/typed.pdf", (tmp_path / "typed.pdf").read_bytes())


def stored() -> list[StoredText]:
    with database.reading() as session:
        return list(session.exec(select(StoredText).order_by(StoredText.id)))  # type: ignore[arg-type]


def warning() -> str:
    """What is told of the text that was read last."""
    return texts_module.text_warning(stored()[-1]) or ""


def words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text)


@pytest.fixture
def tesseract(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "240")  # of a call, on a busy machine


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_a_scan_is_read_page_by_page_and_marked_as_recognised(scanned: str, read: list[str]) -> None:
    text = document_text(scanned).text
    assert text, warning()
    first, second = text.split("\f")
    assert words(first) == words(CLAUSE)
    assert words(second) == words("Signed in Aarhus for the bank.")
    kept = stored()[-1]
    assert [kind for _, _, kind, _ in kept.places if kind != "file_dates"] == ["page", "ocr", "page", "ocr"]
    assert (kept.pages, kept.pages_read, kept.scanned_pages) == (2, 2, 2)
    assert "OCR" in warning()
    assert len(read) == 3, "the document and each of its pages"
    document_text(scanned)
    assert len(read) == 3


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_scans_are_read_when_recognition_comes_and_nothing_else_is(
    scanned: str, typed: str, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    assert "minutes" in document_text(typed).text
    assert document_text(scanned).text == ""
    assert "DILIGENCE_OCR is off" in warning()
    assert read == [".pdf", ".pdf"]
    monkeypatch.delenv("DILIGENCE_OCR")
    for _ in range(2):
        assert "lender" in document_text(scanned).text
        assert "minutes" in document_text(typed).text
    assert len(read) == 4, "both pages"
    assert [text.outcome for text in stored()] == [*[Outcome.READ] * 2, *[Outcome.EMPTY] * 2, Outcome.READ]


def test_a_page_that_took_too_long_is_read_again_when_there_is_more_time(
    scanned: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "exec sleep 60")), prepend=":")
    monkeypatch.setenv("DILIGENCE_OCR_PAGE_TIMEOUT", "1")
    assert document_text(scanned).text == ""
    assert "0 of 2 pages were read" in warning()
    late = stored()[-1].reader
    assert late.endswith("within 1 s")
    engines = Engines("eng", rapidocr=False)
    (content_hash,) = {text.content_hash for text in stored()}
    assert len(texts_module.stored_pages(content_hash, engines)) == 2
    monkeypatch.setenv("DILIGENCE_OCR_PAGE_TIMEOUT", "2")
    assert texts_module.stored_pages(content_hash, engines) == {}
    assert late not in texts_module.readers(".pdf")


def test_two_runs_side_by_side_recognise_each_page_once(
    write: Write, read: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin", "sleep 0.1; exit 1")), prepend=":")
    for number in range(6):
        pages = [picture(f"Page {number}.{page}") for page in range(2)]
        write(f"Contracts/{number}.pdf", scan(tmp_path / "scan.pdf", pages).read_bytes())
    whole, folder = index_room("root"), index_room("Contracts")
    for room in (whole, folder):
        with database.reading() as session:
            read_documents(room, [row.document_id for row in room_documents(session, room)])
    assert len(read) == 6
    with ThreadPoolExecutor(2) as threads:
        outcomes = list(threads.map(recognise_scans, (whole, folder)))
    assert len(read) == 6 + 12
    assert [len(found) for found in outcomes] == [6, 6]


@needs_tesseract
@pytest.mark.usefixtures("tesseract")
def test_a_run_compares_the_hidden_layer_of_a_scan_with_what_its_pages_show(write: Write, tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "hidden.pdf"), A4)
    canvas.drawImage(ImageReader(picture(CLAUSE)), 0, 0, *A4)
    hidden = canvas.beginText(72, 700)
    hidden.setTextRenderMode(3)
    for number in range(4):
        hidden.textLine(f"Tlie tenant rnay never be asked for anytliing at all, and owes 99{number} euros.")
    canvas.drawText(hidden)
    canvas.save()
    write("Contracts/hidden.pdf", (tmp_path / "hidden.pdf").read_bytes())
    time.sleep(0.1)  # what was written a moment ago is read again in the next run
    folder = index_room("Contracts")
    with database.reading() as session:
        read_documents(folder, [row.document_id for row in room_documents(session, folder)])
    assert stored()[-1].pages_read == 0, "what a page shows is not known yet"
    recognise_scans(folder)
    kept = stored()[-1]
    assert (kept.pages, kept.pages_read) == (1, 1)
    assert words(kept.text) == words(CLAUSE)
    assert "hidden text that is not what they show" in warning()


@pytest.mark.parametrize("given", ["eng", "eng+deu", "eng,deu", "eng, chi_sim", "ENG2"])
def test_languages_are_given_as_tesseract_names_them(
    given: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin")))
    monkeypatch.setenv("DILIGENCE_OCR_LANGUAGES", given)
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", "tesseract")
    assert engine_name(ReadingSettings.current()) == ("tesseract-2 eng" if given != "ENG2" else None)


@pytest.mark.parametrize("given", ["-c", "eng -c x=y", "eng;ls", "../eng", "eng+", "$(ls)", "eng\n-c", "script/Latin"])
def test_nothing_but_names_of_languages_is_taken(given: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_LANGUAGES", given)
    with pytest.raises(ValueError, match="ocr_languages"):
        ReadingSettings.current()
