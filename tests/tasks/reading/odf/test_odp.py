"""Presentations of OpenDocument: by LibreOffice where it is installed, else their words by slide."""

from pathlib import Path

import pytest

from tasks.reading import formats, read_document
from tests.tasks.reading.odf.packages import package, paragraph

DOCUMENTS = Path(__file__).parents[3] / "documents"
SLIDES = (
    f'<draw:page draw:name="one"><draw:frame><draw:text-box>{paragraph("Revenue")}'
    f"<text:list><text:list-item>{paragraph('up 12%')}</text:list-item></text:list></draw:text-box></draw:frame>"
    f"<presentation:notes><draw:frame><draw:text-box>{paragraph('Say why.')}</draw:text-box></draw:frame>"
    "</presentation:notes></draw:page>"
    f'<draw:page draw:name="two"><draw:frame><table:table><table:table-row><table:table-cell>{paragraph("FY24")}'
    f"</table:table-cell><table:table-cell>{paragraph('150')}</table:table-cell></table:table-row></table:table>"
    "</draw:frame></draw:page>"
)


def test_the_words_of_slides_are_read_without_libreoffice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    reading = read_document(package("presentation", SLIDES), ".odp")
    assert reading.text == "Revenue\nup 12%\nSay why.\n\fFY24\t150\n"
    kinds = [(place.kind, place.label) for place in reading.places if place.kind != "cell"]
    assert kinds == [("slide", "1"), ("speaker_note", ""), ("slide", "2"), ("table", "")]
    assert "package libreoffice-impress" in reading.warnings[0]


@pytest.mark.skipif(formats.program("libsdlo.so") is None, reason="needs LibreOffice (libreoffice-impress)")
def test_libreoffice_reads_slides() -> None:
    reading = read_document((DOCUMENTS / "table-and-lists.odp").read_bytes(), ".odp")
    assert reading.warnings == []
    assert "speaker_note" in [place.kind for place in reading.places]
