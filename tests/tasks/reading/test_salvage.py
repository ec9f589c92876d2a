"""What is whole in a damaged file is read, with a warning: real documents cut off, without tables, under a lock."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from msoffcrypto.format.ooxml import OOXMLFile
from pypdf import PdfReader
from pypdfium2 import PdfDocument, PdfiumError

from tasks.errors import Damaged, DiligenceError, PasswordProtected
from tasks.language.normalise import one_line
from tasks.reading import embedded
from tasks.reading.embedded import read_with_embedded
from tasks.reading.text_writer import Reading
from tests.cases import cases
from tests.tasks.reading import hostile_files, hostile_pdfs
from tests.tasks.reading.hostile_files import MARKER

SAMPLE = Path(__file__).parents[3] / "deployments" / "sample" / "rooms"
DOCUMENTS = sorted(path for path in SAMPLE.rglob("*") if path.suffix in (".docx", ".pptx", ".xlsx"))
PORTABLE = [path for path in sorted(SAMPLE.rglob("*.pdf")) if b"startxref" in path.read_bytes()]  # one is damaged

_PARTS = re.compile(r"word/document\.xml|ppt/slides/slide\d+\.xml|xl/worksheets/sheet\d+\.xml|xl/sharedStrings\.xml")
_RUN = re.compile(rb"<(?:w|a):t(?: [^>]*)?>([^<&]+)</(?:w|a):t>")
_CELL = re.compile(rb'<c [^>]*t="s"[^>]*><v>(\d+)</v></c>')
_STRING = re.compile(rb"<si><t(?: [^>]*)?>([^<]*)</t></si>")


def name_of(path: Path) -> str:
    return path.name


def left(whole: bytes, length: int) -> dict[str, bytes]:
    """What can be inflated of the parts with text when only the first `length` bytes of a package are left."""
    found = {}
    with zipfile.ZipFile(BytesIO(whole)) as archive:
        for info in archive.infolist():
            start = info.header_offset + 30 + len(info.filename.encode()) + len(info.extra)
            if _PARTS.fullmatch(info.filename) and start < length:
                packed = whole[start : min(length, start + info.compress_size)]
                found[info.filename] = zlib.decompressobj(-15).decompress(packed)
    return found


def words(parts: dict[str, bytes]) -> Iterator[str]:
    """The texts of whole runs, and of the strings that whole cells refer to."""
    strings = [string.decode() for string in _STRING.findall(parts.get("xl/sharedStrings.xml", b""))]
    for part in parts.values():
        yield from (run.decode() for run in _RUN.findall(part))
        numbers = [int(number) for number in _CELL.findall(part)]
        yield from (strings[number] for number in numbers if number < len(strings))


@cases("share", [0.5, 0.7, 0.9])
@cases("path", DOCUMENTS)
def test_a_document_that_is_cut_off_gives_what_is_whole(path: Path, share: float) -> None:
    whole = path.read_bytes()
    length = int(len(whole) * share)
    expected = [one_line(word) for word in words(left(whole, length)) if "&" not in word]
    reading = read_with_embedded(whole[:length], path.suffix)
    text = one_line(reading.text)
    assert expected or path.suffix == ".xlsx"  # a workbook's strings stand at its end
    assert text
    assert [each for each in expected if each not in text] == []
    assert "cut off or damaged" in " ".join(reading.warnings)


@cases("path", [each for each in DOCUMENTS if each.suffix == ".docx"])
def test_a_document_that_is_cut_off_in_its_main_part_gives_the_beginning(path: Path) -> None:
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("word/document.xml")
    length = info.header_offset + 30 + len(info.filename) + info.compress_size * 3 // 4
    expected = [one_line(word) for word in words(left(whole, length))]
    reading = read_with_embedded(whole[:length], ".docx")
    text = one_line(reading.text)
    assert expected
    assert [each for each in expected if each not in text] == []
    assert reading.warnings


@cases("path", [path for path in DOCUMENTS if path.suffix == ".docx"])
def test_a_wrong_byte_in_one_part_costs_no_other(path: Path) -> None:
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("word/styles.xml")
    data[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 0xFF
    expected = [one_line(word) for word in words(left(path.read_bytes(), len(data)))]
    text = one_line(read_with_embedded(bytes(data), ".docx").text)
    assert [each for each in expected if each not in text] == []


# PDF


def pages(reading: Reading) -> list[str]:
    return [one_line(page) for page in reading.text.split("\f")]


@cases("path", PORTABLE)
def test_a_pdf_without_its_table_and_trailer_gives_all_its_pages(path: Path) -> None:
    data = path.read_bytes()
    whole = read_with_embedded(path)
    cut = data[: data.rindex(b"xref", 0, data.rindex(b"startxref"))]
    reading = read_with_embedded(cut, ".pdf")
    assert pages(reading) == pages(whole)
    assert "damaged" in reading.warnings[0]


@cases("share", [0.5, 0.7, 0.9])
@cases("path", PORTABLE)
def test_a_pdf_that_is_cut_off_gives_the_pages_that_are_whole(path: Path, share: float) -> None:
    data = path.read_bytes()
    length = int(len(data) * share)
    expected = list(pages_left(path, data[:length]))
    try:
        reading = read_with_embedded(data[:length], ".pdf")
    except Damaged:
        assert expected == []
    else:
        text = one_line(reading.text)
        assert [page for page in expected if page not in text] == []
        assert reading.warnings


def pages_left(path: Path, data: bytes) -> Iterator[str]:
    """The texts of the pages of which nothing is missing: themselves, their content, their fonts."""
    there = {int(number) for number in re.findall(rb"(?:^|[\r\n])(\d+) 0 obj\b(?:(?!endobj).)*endobj", data, re.DOTALL)}
    document = PdfReader(path)
    texts = pages(read_with_embedded(path))
    root = document.trailer.raw_get("/Root").idnum
    for page, text in zip(document.pages, texts, strict=False):
        needed = {page.indirect_reference.idnum, page.raw_get("/Contents").idnum, root}  # type: ignore[union-attr]
        fonts = page["/Resources"].get("/Font", {})  # type: ignore[attr-defined]
        needed |= {font.idnum for font in fonts.values() if hasattr(font, "idnum")}
        if needed <= there:
            yield text


# Passwords


def locked(data: bytes, password: str) -> bytes:
    out = BytesIO()
    OOXMLFile(BytesIO(data)).encrypt(password, out)
    return out.getvalue()


@pytest.mark.parametrize("path", [each for each in DOCUMENTS if each.suffix == ".xlsx"][:2], ids=name_of)
def test_a_workbook_with_excel_s_default_password_opens(path: Path) -> None:
    reading = read_with_embedded(locked(path.read_bytes(), "VelvetSweatshop"), ".xlsx")
    assert reading == read_with_embedded(path)


@cases("extension", [".docx", ".pptx", ".xlsx"])
def test_any_other_password_is_named_as_what_is_in_the_way(extension: str) -> None:
    path = next(each for each in DOCUMENTS if each.suffix == extension)
    with pytest.raises(PasswordProtected, match="password"):
        read_with_embedded(locked(path.read_bytes(), "something else"), extension)


# Second readers


def test_a_pdf_that_pdfium_refuses_is_read_by_pypdf() -> None:
    path = PORTABLE[1]
    data = path.read_bytes().replace(b"endobj", b"endobj\n" + b"(" * 500, 1)
    with pytest.raises(PdfiumError):
        PdfDocument(data)
    reading = read_with_embedded(data, ".pdf")
    assert one_line(read_with_embedded(path).text)[:200] in one_line(reading.text)
    assert embedded.PARTIAL in reading.warnings


@cases("extension", [".docx", ".pptx", ".xlsx", ".pdf"])
def test_what_no_reader_can_read_is_our_error(extension: str) -> None:
    data = hostile_pdfs.page() if extension != ".pdf" else hostile_files.word()
    with pytest.raises(DiligenceError, match="Ask for it again") as caught:
        read_with_embedded(data[:100] + bytes(5000), extension)
    assert MARKER not in caught.value.message
