"""Which formats there are, and that one folder is enough to add one."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfWriter

from tasks.errors import UnsupportedFormat
from tasks.reading import formats
from tasks.reading.embedded import read_with_embedded
from tests.cases import cases

ROOT = Path(__file__).parents[3]


VERSIONS = {
    ".rtf": "rtf-6 by docx-16",
    ".xml": "xml-8",
    ".md": "md-3",
    ".json": "json-2",
    ".csv": "csv-3",
    ".docx": "docx-16",
    ".eml": "eml-7",
    ".msg": "msg-6",
    ".mbox": "mbox-1",
    ".p7m": "p7m-1",
    ".mhtml": "mhtml-1",
    ".odp": "odp-6 by pptx-12",
    ".png": "image-2",
    ".ods": "ods-4",
    ".odt": "odt-6 by docx-16",
    ".html": "html-4",
    ".pdf": "pdf-37",
    ".pptx": "pptx-12",
    ".txt": "txt-3",
    ".xls": "xls-8",
    ".xlsb": "xlsb-8 by xlsx-12",
    ".xlsx": "xlsx-12",
}
VERSIONS[".doc"] = f"doc-1 by {VERSIONS['.docx']}"
VERSIONS[".ppt"] = f"ppt-1 by {VERSIONS['.pptx']}"
"""Every stored text is read again when its format's version changes: change one only when its texts change."""

OTHER_NAMES = {
    ".docx": (".docm", ".dotx", ".dotm"),
    ".doc": (".dot",),
    ".mhtml": (".mht",),
    ".ppt": (".pps", ".pot"),
    ".png": (".jpg", ".jpeg", ".tif", ".tiff"),
    ".odp": (".otp", ".fodp"),
    ".ods": (".ots", ".fods"),
    ".odt": (".ott", ".fodt"),
    ".pptx": (".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
    ".xls": (".xlt",),
    ".xlsx": (".xlsm", ".xltx", ".xltm"),
}


def test_formats_are_found_by_their_folders() -> None:
    assert {known.extensions[0] for known in formats.all_formats()} == set(VERSIONS)
    assert formats.list_supported() == tuple(
        sorted(extension for known in formats.all_formats() for extension in known.extensions)
    )


def test_the_page_on_formats_lists_what_is_read() -> None:
    page = (ROOT / "docs" / "formats.md").read_text("utf-8")
    table = page.partition("| kind | file names |\n")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"\.[a-z]\w+", table)) == sorted(formats.list_supported())


@cases(
    ("extension", "document_format"),
    [(extension, first) for first, others in OTHER_NAMES.items() for extension in others],
)
def test_the_same_package_under_another_name_is_of_the_same_format(extension: str, document_format: str) -> None:
    assert formats.find_format(f"Plan{extension.upper()}") == document_format
    assert formats.version(extension) == formats.version(document_format)
    assert formats.find_format_by_mime_type(formats.mime_type(extension)) == document_format


@cases(("name", "extension"), [("Deck.PPTX", ".pptx"), ("a.b/c.d.pdf", ".pdf"), ("läse\nmich.txt", ".txt")])
def test_the_extension_gives_the_format(name: str, extension: str) -> None:
    assert formats.find_format(name) == extension


@cases("name", ["program.exe", "archive.tar.gz", "README", "..", ".docx", "", "x.__init__"])
def test_another_format_is_refused_and_the_supported_ones_named(name: str) -> None:
    with pytest.raises(UnsupportedFormat, match=r"\.docx, .*\.pdf, .*\.xlsx"):
        formats.find_format(name)
    with pytest.raises(UnsupportedFormat):
        formats.reader("os")


def test_mime_types_and_formats_lead_to_each_other() -> None:
    assert formats.mime_type(".pdf") == "application/pdf"
    for extension in formats.list_supported():
        assert formats.find_format_by_mime_type(formats.mime_type(extension)) == formats.find_format(f"a{extension}")
    assert formats.find_format_by_mime_type("video/mp4") is None
    with pytest.raises(UnsupportedFormat):
        formats.mime_type(".mp4")


def test_the_versions_under_which_texts_are_stored() -> None:
    assert {known.extensions[0]: known.version for known in formats.all_formats()} == VERSIONS


def test_a_document_is_read_with_what_is_inside_it_from_its_path_or_from_memory(tmp_path: Path) -> None:
    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.add_attachment("Terms.txt", b"Thirty days")
    writer.write(tmp_path / "offer.PDF")
    reading = read_with_embedded(tmp_path / "offer.PDF")
    assert (reading.text, reading.attachments) == ("Embedded document: Terms.txt\nThirty days", [])
    assert read_with_embedded((tmp_path / "offer.PDF").read_bytes(), ".pdf") == reading
    assert read_with_embedded((tmp_path / "offer.PDF").read_bytes()) == reading


def test_formats_are_known_without_loading_their_readers() -> None:
    program = (
        "import sys; from tasks.reading import formats;"
        "print(*(known.version for known in formats.all_formats()), sep='\\n');"
        "assert not sys.modules.keys() & {'lxml', 'pypdfium2', 'olefile', 'pydantic'};"
        "assert sys.modules.keys().isdisjoint(known.reader.partition(':')[0] for known in formats.all_formats())"
    )
    assert sorted(run(program).splitlines()) == sorted(VERSIONS.values())


FORMAT = """
from tasks.reading.formats import DocumentFormat

FORMAT = DocumentFormat(
    extensions=(".log", ".trace"), mime_types=("text/x-log",), version="log-1", reader=__name__ + ".reader"
)
"""
READER = """
from tasks.reading.text_writer import Writer

def read(source):
    writer = Writer()
    writer.text((source if isinstance(source, bytes) else source.read_bytes()).decode().upper())
    return writer.reading()
"""
LOAD = """
from tasks import reading

def add_format():
    reading.__path__.append({folder!r})

add_format()
"""
PROGRAM = """
from pathlib import Path
import more_formats
from tasks.reading import formats, read_document
from tasks.reading.pool.pool import ExtractionPool

document = Path("today.trace")
document.write_text("the valve closed")
print({".log", ".trace"} <= set(formats.list_supported()))
print(formats.find_format(document.name), formats.find_format_by_mime_type("text/x-log"))
print(formats.version(".log"), read_document(document).text.strip())
with ExtractionPool(1, load=more_formats.add_format) as pool:
    print(pool.read(document, ".log").text.strip())
"""


def test_a_folder_adds_a_format(tmp_path: Path) -> None:
    folder = tmp_path / "formats"
    (folder / "log").mkdir(parents=True)
    (folder / "log/__init__.py").write_text(FORMAT)
    (folder / "log/reader.py").write_text(READER)
    (tmp_path / "more_formats.py").write_text(LOAD.format(folder=str(folder)))
    assert run(PROGRAM, tmp_path).splitlines() == [
        "True",
        ".log .log",
        "log-1 THE VALVE CLOSED",
        "THE VALVE CLOSED",
    ]


def run(program: str, folder: Path = ROOT) -> str:
    """What a fresh interpreter prints that runs `program` in `folder`."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": f"{ROOT}:{folder}", "PATH": ""},
    )
    return done.stdout.strip()
