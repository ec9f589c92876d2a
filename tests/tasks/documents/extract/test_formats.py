"""Which formats there are, and that a document is read with what is inside it."""

import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfWriter

from tasks.documents.extract import formats
from tasks.errors import UnsupportedFormat


def test_the_five_formats_are_found_by_their_modules() -> None:
    assert formats.supported() == (".docx", ".pdf", ".pptx", ".txt", ".xlsx")


@pytest.mark.parametrize(
    ("name", "extension"), [("Deck.PPTX", ".pptx"), ("a.b/c.d.pdf", ".pdf"), ("läse\nmich.txt", ".txt")]
)
def test_the_extension_tells_the_format(name: str, extension: str) -> None:
    assert formats.format_of(name) == extension


@pytest.mark.parametrize("name", ["old.doc", "archive.tar.gz", "README", "..", ".docx", "", "x.__init__"])
def test_another_format_is_refused_and_the_supported_ones_named(name: str) -> None:
    with pytest.raises(UnsupportedFormat, match=r"\.docx, \.pdf, \.pptx, \.txt, \.xlsx"):
        formats.format_of(name)
    with pytest.raises(UnsupportedFormat):
        formats.reader("os")


def test_each_reader_names_its_version() -> None:
    assert {formats.version(extension).partition("-")[0] for extension in formats.supported()} == {
        "docx", "pdf", "pptx", "txt", "xlsx",
    }  # fmt: skip


def test_a_document_is_read_with_what_is_inside_it_from_its_path_or_from_memory(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.add_attachment("Terms.txt", b"Thirty days")
    writer.write(tmp_path / "offer.PDF")
    reading = formats.read_document(tmp_path / "offer.PDF")
    assert (reading.text, reading.attachments) == ("Embedded document: Terms.txt\nThirty days", [])
    assert formats.read_document((tmp_path / "offer.PDF").read_bytes(), ".pdf") == reading
    with pytest.raises(UnsupportedFormat):
        formats.read_document(b"%PDF-")


def test_a_version_is_the_readers_own_and_known_without_loading_it() -> None:
    program = (
        "import sys; from tasks.documents.extract import formats;"
        "print(*map(formats.version, formats.supported()));"
        "assert not [name for name in sys.modules if name.startswith('tasks.documents.extract.readers.')]"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.split()
    assert told == [formats.reader(extension).VERSION for extension in formats.supported()]
