"""Documents are read as the settings say."""

from pathlib import Path

import pytest

from tasks.reading import read_document
from tasks.reading.ocr import recognise
from tests.tasks.reading.ocr.scans import needs_tesseract, picture, scan


@needs_tesseract
def test_read_document_reads_scans_unless_recognition_is_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = scan(tmp_path / "a.pdf", [picture("The lender may terminate.\n")])
    assert "lender" in read_document(path, ".pdf").text
    assert recognise.active() is None, "the process is as it was before"
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    assert read_document(path, ".pdf").text == ""
