"""Scans in the drive: what is recognised is kept as such, and read again when more can be recognised."""

import re
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from sqlmodel import select

from storage import database, texts
from storage.texts import Outcome, StoredText
from tasks.documents import texts as texts_module
from tasks.documents.texts import document_text
from tasks.reading.configuration import recognised_languages
from tasks.reading.pool.pool import ExtractionPool
from tasks.reading.settings import ReadingSettings
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
    return texts_module.warning_of(stored()[-1]) or ""


def words(text: str) -> list[str]:
    return re.findall(r"[\w.]+", text)


@needs_tesseract
def test_a_scan_is_read_page_by_page_and_marked_as_recognised(scanned: str) -> None:
    first, second = document_text(scanned).text.split("\f")
    assert words(first) == words(CLAUSE)
    assert words(second) == words("Signed in Aarhus for the bank.")
    (kept,) = stored()
    assert [(kind, label) for _, _, kind, label in kept.places if kind != "file_dates"] == [
        ("page", "1"),
        ("ocr", "eng"),
        ("page", "2"),
        ("ocr", "eng"),
    ]
    assert "OCR" in warning()


@needs_tesseract
def test_scans_are_read_again_when_recognition_comes_and_nothing_else_is(
    scanned: str, typed: str, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    assert "minutes" in document_text(typed).text
    assert document_text(scanned).text == ""
    assert "tesseract-ocr" in warning()
    assert len(read) == 2
    monkeypatch.delenv("DILIGENCE_OCR")
    for _ in range(2):
        assert "lender" in document_text(scanned).text
        assert "minutes" in document_text(typed).text
    assert len(read) == 3
    assert [text.outcome for text in stored()] == [Outcome.READ, Outcome.EMPTY, Outcome.READ]


def test_a_scan_for_which_time_was_short_is_read_again_when_there_is_more(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin")))

    def keep(text: str, recognised: bool | None) -> None:
        with database.writing() as session:
            texts.save_text(session, texts_module.new_text("c0", ".pdf", lambda: Reading(text, recognised=recognised)))

    def known() -> str | None:
        with database.reading() as session:
            found = texts.find_text(session, "c0", *texts_module.readers(".pdf"))
        summary = texts_module.known_contents([("c0", ".pdf")]).get(("c0", ".pdf"))
        assert (found and found.id) == (summary and summary.id), "one text, whoever asks"
        return found.text if found else None

    keep("first pages", recognised=False)
    assert known() == "first pages"
    monkeypatch.setenv("DILIGENCE_DOCUMENT_TIMEOUT", "300")
    assert known() is None
    keep("all pages", recognised=True)
    assert known() == "all pages"
    monkeypatch.delenv("DILIGENCE_DOCUMENT_TIMEOUT")
    assert known() == "all pages", "the better text is taken"
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    assert known() is None
    keep("typed pages", recognised=False)
    assert known() == "typed pages"


def test_without_tesseract_the_warning_names_its_package(
    scanned: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert document_text(scanned).text == ""
    assert "tesseract-ocr" in warning()
    (kept,) = stored()
    assert (kept.outcome, kept.places) == (Outcome.EMPTY, [])


@pytest.mark.parametrize("given", ["eng", "eng+deu", "eng,deu", "eng, chi_sim", "ENG2"])
def test_languages_are_given_as_tesseract_names_them(
    given: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path / "bin")))
    monkeypatch.setenv("DILIGENCE_OCR_LANGUAGES", given)
    assert recognised_languages(ReadingSettings.current()) == ("eng" if given != "ENG2" else None)


@pytest.mark.parametrize("given", ["-c", "eng -c x=y", "eng;ls", "../eng", "eng+", "$(ls)", "eng\n-c", "script/Latin"])
def test_nothing_but_names_of_languages_is_taken(given: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_OCR_LANGUAGES", given)
    with pytest.raises(ValueError, match="ocr_languages"):
        ReadingSettings.current()
