"""Documents are read as the settings say."""

from pathlib import Path

import pytest

from tasks.reading import read_document
from tasks.reading.configuration import ReadingSettings, engine_name, engines
from tasks.reading.ocr import rapidocr
from tests.tasks.reading.ocr.scans import picture, program, scan


def test_read_document_reads_scans_unless_recognition_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scan(tmp_path / "a.pdf", [picture("The lender may terminate.\n")])
    assert "lender" in read_document(path, ".pdf").text
    assert "lender" in read_document(path.read_bytes(), ".pdf").text
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    reading = read_document(path, ".pdf")
    assert reading.text == ""
    assert reading.warnings == [
        "0 of 1 pages were read. Pages that were not recognised (OCR): page 1. DILIGENCE_OCR is off."
    ]


@pytest.mark.parametrize(
    ("engine", "languages", "room", "name"),
    [
        ("auto", None, (), "auto-2 rapidocr"),
        ("auto", None, ("English",), "auto-2 rapidocr"),  # for texts, whatever they lie beside
        ("auto", "eng", (), "auto-2 tesseract-2 eng+rapidocr"),
        ("auto", "eng+deu", (), "auto-2 rapidocr"),  # German is not there
        ("tesseract", None, (), "tesseract-2 eng"),
        ("tesseract", "deu", (), None),
        ("rapidocr", "eng", (), "rapidocr"),
    ],
)
def test_tesseract_reads_first_where_it_was_told_the_language(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    engine: str,
    languages: str | None,
    room: tuple[str, ...],
    name: str | None,
) -> None:
    monkeypatch.setenv("PATH", str(program(tmp_path)))
    monkeypatch.setenv("DILIGENCE_OCR_ENGINE", engine)
    if languages:
        monkeypatch.setenv("DILIGENCE_OCR_LANGUAGES", languages)
    settings = ReadingSettings.current()
    assert engine_name(settings) == name
    found = engines(settings, room)
    assert (found and found.tesseract) == ("eng" if "tesseract" in (name or "") or room else None)


def test_without_rapidocr_tesseract_reads_all(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rapidocr, "missing", lambda: "cv2")
    monkeypatch.setenv("PATH", str(program(tmp_path)))
    assert engine_name(ReadingSettings.current()) == "tesseract-2 eng"
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert engines(ReadingSettings.current()) is None
