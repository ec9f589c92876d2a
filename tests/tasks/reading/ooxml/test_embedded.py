"""Documents inside Office files: handed on, and judged by themselves."""

import random
import zipfile
from pathlib import Path

import pytest

from tasks.reading.embedded import read_with_embedded
from tasks.reading.ooxml.package import CUT_OFF, Package
from tests.tasks.reading.ooxml import packages
from tests.tasks.reading.ooxml.packages import relationships
from tests.tasks.reading.pptx import decks

WORDS = " ".join(random.Random(1).choices("abcdefghijklmnopqrstuvwxyz", k=4000))


def host(path: Path, inner: bytes) -> Path:
    """An Office file of any of the formats that says "The host", with `inner` as Letter.docx inside it."""
    around = relationships(("package", "Letter.docx"))
    if path.suffix == ".docx":
        body = packages.p("The host")
        return packages.docx(path, body, {"word/_rels/document.xml.rels": around, "word/Letter.docx": inner})
    if path.suffix == ".pptx":
        slide = decks.slide(decks.shape("The host"))
        return decks.pptx(path, [slide], {"ppt/slides/Letter.docx": inner}, slide1=[("package", "Letter.docx")])
    row = '<row r="1"><c r="A1" t="inlineStr"><is><t>The host</t></is></c></row>'
    return packages.xlsx(path, row, {"xl/worksheets/_rels/sheet1.xml.rels": around, "xl/worksheets/Letter.docx": inner})


@pytest.mark.parametrize("extension", [".docx", ".pptx", ".xlsx"])
def test_a_host_is_whole_though_a_document_inside_it_is_not(tmp_path: Path, extension: str) -> None:
    inner = packages.docx(tmp_path / "inner.docx", packages.p(WORDS)).read_bytes()
    path = host(tmp_path / f"a{extension}", inner)
    with zipfile.ZipFile(path) as archive:
        letter = next(each for each in archive.infolist() if each.filename.endswith("Letter.docx"))
    data = path.read_bytes()
    middle = letter.header_offset + letter.compress_size // 2
    path.write_bytes(data[:middle] + b"\xff" * 400 + data[middle + 400 :])

    reading = read_with_embedded(path)

    assert "The host\n" in reading.text
    assert CUT_OFF not in reading.warnings
    assert any("Letter.docx" in warning for warning in reading.warnings)


def test_what_is_damaged_already_stays_so(tmp_path: Path) -> None:
    path = host(tmp_path / "a.docx", b"inner")
    path.write_bytes(path.read_bytes()[:-30])
    with Package(path) as package:
        assert package.attachment("word/Letter.docx", 100) == b"inner"
        assert package.attachment("word/Letter.docx", 4) is None
        assert package.damaged
