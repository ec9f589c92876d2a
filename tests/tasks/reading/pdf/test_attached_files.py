"""Files inside a PDF are handed on, each once."""

import zlib
from io import BytesIO
from pathlib import Path

import pytest
from pypdf import PdfWriter

from tasks.reading.pdf import annotations, reader
from tasks.reading.text_writer import Attachment
from tests.tasks.reading.pdf import pdfs


def with_files(files: dict[bytes, bytes], entries: bytes = b"", catalog: bytes = b"") -> bytes:
    """A PDF with these streams as embedded files, from object 6 on: a file's entry, then its stream."""
    others = []
    for number, (name, content) in enumerate(files.items()):
        others.append(b"<< /Type /Filespec /F (%s) /UF (%s) /EF << /F %d 0 R >> >>" % (name, name, 7 + 2 * number))
        others.append(content)
    names = b" ".join(b"(%s) %d 0 R" % (name, 6 + 2 * number) for number, name in enumerate(files))
    catalog += b"/Names << /EmbeddedFiles << /Names [%s] >> >>" % names
    return pdfs.pdf(pdfs.one_page(b"Cover", *others, catalog=catalog, entries=entries))


def test_embedded_files_are_handed_on_and_the_cover_of_a_portfolio_is_read(tmp_path: Path) -> None:
    writer = PdfWriter(clone_from=BytesIO(with_files({}, catalog=b"/Collection << /View /D >> ")))
    writer.add_attachment("lease.txt", b"The lease")
    writer.add_attachment("übersicht.txt", b"Die \xc3\x9cbersicht")
    writer.write(tmp_path / "a.pdf")
    reading = reader.read(tmp_path / "a.pdf")
    assert reading.text == "Cover\n"
    assert reading.attachments == [
        Attachment("lease.txt", b"The lease"),
        Attachment("übersicht.txt", b"Die \xc3\x9cbersicht"),
    ]


def test_a_file_pinned_to_a_page_is_handed_on_once() -> None:
    pinned = b"/Annots [<< /Type /Annot /Subtype /FileAttachment /Rect [0 0 9 9] /Contents (See here) /FS 6 0 R >>]"
    reading = reader.read(with_files({rb"C:\\work\\rent.txt": pdfs.stream(b"12 000")}, entries=pinned))
    assert reading.attachments == [Attachment("rent.txt", b"12 000")]
    assert reading.text == "Cover\nSee here\n"


def test_of_a_file_that_is_too_large_the_name_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annotations, "LARGEST_ATTACHMENT", 10)
    files = {b"small.txt": pdfs.stream(b"0123456789"), b"large.txt": pdfs.stream(b"0123456789a")}
    reading = reader.read(with_files(files))
    assert reading.attachments == [Attachment("small.txt", b"0123456789"), Attachment("large.txt", None)]


def test_a_bomb_among_the_files_costs_their_contents_not_the_text() -> None:
    zeros = zlib.compressobj(9)
    bomb = b"".join(zeros.compress(bytes(1 << 20)) for _ in range(100)) + zeros.flush()
    files = {b"good.txt": pdfs.stream(b"good"), b"bomb.txt": pdfs.stream(bomb, b"/Filter /FlateDecode")}
    reading = reader.read(with_files(files))
    assert reading.text == "Cover\n"
    assert reading.attachments == [Attachment("good.txt", None), Attachment("bomb.txt", None)]


def test_a_table_of_files_in_a_circle_ends() -> None:
    objects = pdfs.one_page(b"Cover", b"<< /Kids [6 0 R 6 0 R] >>", catalog=b"/Names << /EmbeddedFiles 6 0 R >>")
    assert reader.read(pdfs.pdf(objects)).attachments == []
