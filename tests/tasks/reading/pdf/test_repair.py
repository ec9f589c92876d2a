"""Damaged PDFs: what is whole is read, with a warning."""

import re
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas

from tasks.errors import Damaged
from tasks.reading.pdf import reader, repair
from tests.tasks.reading.pdf import pdfs

WORDS = [f"Clause {number}: the lessee pays the rent in advance." for number in range(1, 7)]


@pytest.fixture(scope="module")
def whole() -> bytes:
    """A PDF of six pages; its catalog and its tree of pages stand behind its pages."""
    out = BytesIO()
    canvas = Canvas(out, A4, pageCompression=1)
    for words in WORDS:
        canvas.drawString(72, 700, words)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def encrypted(whole: bytes, algorithm: str) -> bytes:
    writer = PdfWriter(clone_from=BytesIO(whole))
    writer.encrypt("", "owner", algorithm=algorithm)
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def lines(data: bytes) -> list[str]:
    return [line for line in reader.read(data).text.replace("\f", "").split("\n") if line]


def test_a_pdf_without_table_and_trailer_is_rebuilt(whole: bytes) -> None:
    data = whole[: whole.rindex(b"xref\n0")]
    assert lines(data) == WORDS
    assert reader.read(data).warnings == [repair.REBUILT]


def test_a_pdf_from_a_file_is_rebuilt_too(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(whole[: whole.rindex(b"xref\n0")])
    assert reader.read(tmp_path / "a.pdf") == reader.read(whole[: whole.rindex(b"xref\n0")])


def test_a_wrong_pointer_to_the_table_is_no_matter(whole: bytes) -> None:
    assert lines(re.sub(rb"startxref\s+\d+", b"startxref\n77", whole)) == WORDS


@pytest.mark.parametrize("before", [b"\0" * 100, b"MIME-Version: 1.0\r\n" * 500])
def test_something_before_the_header_is_no_matter(whole: bytes, before: bytes) -> None:
    assert lines(before + whole) == WORDS


def test_a_pdf_without_its_header_is_read(whole: bytes) -> None:
    assert lines(whole[8:]) == WORDS


def catalog_last() -> list[bytes]:
    """The objects of a PDF of six pages: tree, font, each page with its content, catalog."""
    numbers = range(3, 3 + 2 * len(WORDS), 2)
    tree = b"<< /Type /Pages /Count 6 /Kids [%s] >>" % b" ".join(b"%d 0 R" % number for number in reversed(numbers))
    pages = [
        content
        for number, words in zip(numbers, WORDS, strict=True)
        for content in (pdfs.page(number + 1, 2, parent=1), pdfs.shown(words.encode()))
    ]
    return [tree, pdfs.HELVETICA, *pages, b"<< /Type /Catalog /Pages 1 0 R >>"]


def test_pages_come_in_the_order_of_their_tree_when_the_catalog_is_lost() -> None:
    assert lines(pdfs.body(catalog_last()[:-1])) == WORDS[::-1]
    assert lines(pdfs.body(catalog_last())[:-30]) == WORDS[::-1]


def test_pages_are_found_when_their_tree_is_lost_too() -> None:
    data = pdfs.body([b"null", *catalog_last()[1:-1]])
    assert lines(data) == WORDS
    assert lines(data[: data.index(WORDS[4].encode()) + 12]) == WORDS[:4]


def test_the_last_of_several_catalogs_is_taken() -> None:
    objects = pdfs.one_page(b"Second edition")
    old = b"1 0 obj\n<< /Type /Catalog /Pages 9 0 R >>\nendobj\n9 0 obj\n<< /Type /Pages /Count 0 /Kids [] >>\nendobj\n"
    assert lines(pdfs.body(objects[:0]) + old + pdfs.body(objects)[9:]) == ["Second edition"]


def test_a_catalog_in_a_packed_stream_is_found() -> None:
    catalog, tree, page = pdfs.one_page(b"")[:3]
    head = b"1 0 2 %d 3 %d " % (len(catalog) + 1, len(catalog) + len(tree) + 2)
    packed = pdfs.stream(
        head + b" ".join((catalog, tree, page)), b"/Type /ObjStm /N 3 /First %d" % len(head), packed=True
    )
    data = b"%PDF-1.5\n" + b"".join(
        b"%d 0 obj\n%s\nendobj\n" % item for item in ((4, pdfs.shown(b"Packed")), (5, pdfs.HELVETICA), (8, packed))
    )
    assert lines(data) == ["Packed"]


def test_an_encrypted_pdf_without_its_trailer_is_rebuilt_where_its_key_is_left(whole: bytes) -> None:
    data = encrypted(whole, "AES-256")
    assert lines(data[: data.rindex(b"\nxref\n")]) == WORDS


@pytest.mark.parametrize("algorithm", ["RC4-128", "AES-128"])
def test_an_encrypted_pdf_that_lost_its_key_is_refused_in_plain_words(whole: bytes, algorithm: str) -> None:
    data = encrypted(whole, algorithm)
    with pytest.raises(Damaged, match="also encrypted"):
        reader.read(data[: data.rindex(b"\nxref\n")])
    trailer = data[data.rindex(b"trailer") :]
    assert lines(data[: data.rindex(b"\nxref\n")] + re.sub(rb"/Root \d+ 0 R", b"", trailer)) == WORDS


def test_a_file_of_types_without_objects_is_refused() -> None:
    with pytest.raises(Damaged):
        reader.read(b"%PDF-1.4\n1 0 obj\n" + b"/Type/Page " * 100_000)
    with pytest.raises(Damaged):
        reader.read(b"%PDF-1.4\n1 0 obj\n" + b"/Type/ObjStm /First 9 stream " * 100_000)
