"""Documents whose names say another format than their content, or none."""

import zipfile
from pathlib import Path

import pytest

from tasks.errors import Damaged, PasswordProtected, UnsupportedFormat
from tasks.reading import formats, read_document
from tasks.reading.detect import detect_format
from tests.cases import cases
from tests.tasks.documents.drive.archives import zips
from tests.tasks.reading.ooxml.compounds import agile, compound
from tests.tasks.reading.test_embedded import docx, pdf, xlsx


def zipped(**members: str) -> bytes:
    named = {name.replace("__", "/").replace("_DOT_", "."): content for name, content in members.items()}
    return zips.zipped(named, zipfile.ZIP_STORED)


def open_document(kind: str) -> bytes:
    return zipped(mimetype=f"application/vnd.oasis.opendocument.{kind}", content_DOT_xml="<x/>")


@cases(
    ("named", "data", "expected"),
    [
        (".docx", pdf("Rent"), ".pdf"),
        (".txt", pdf("Rent"), ".pdf"),
        (".docx", xlsx("Rent"), ".xlsx"),
        (".xlsx", docx("Rent"), ".docx"),
        (".pdf", docx("Rent"), ".docx"),
        (".txt", docx("Rent"), ".docx"),
        ("", docx("Rent"), ".docx"),
        (".tmp", pdf("Rent"), ".pdf"),
        (".pdf", "Rent: 900 €\nDue monthly".encode(), ".txt"),
        (".xlsx", agile(xlsx("Rent"), "VelvetSweatshop"), ".xlsx"),
    ],
)
def test_content_overrules_the_name(named: str, data: bytes, expected: str) -> None:
    assert detect_format(data, named) == expected
    reading = read_document(data, named)
    assert "Rent" in reading.text
    misnamed = named in formats.list_supported() and named != expected
    assert reading.read_as == (expected if misnamed else None)
    assert [warning for warning in reading.warnings if "name" in warning] == (
        [f"The file has the name of a {named} file, but is a {expected} file: it was read as one."] if misnamed else []
    )


@cases(
    ("named", "data"),
    [
        (".docx", docx("Rent")),
        (".docm", docx("Rent")),
        (".xltx", xlsx("Rent")),
        (".docx", docx("Rent")[:-500]),
        (".txt", b"Rent"),
        (".txt", b""),
        (".txt", b"<html><body>Rent</body></html>"),
        (".txt", b"PK\x03\x04"),
        (".docx", b""),
        (".docx", b"PK\x03\x04"),
        (".docx", b"Rent is due"),
        (".docx", zipped(_rels__DOT_rels="x", readme="Rent")),
        (".xlsx", compound({"Unknown": b"x"})),
        (".docx", compound({"WordDocument": b"x"})[:600]),
        (".pdf", b"Rent\n%PDF-1.4"),
        (".pdf", b"12 0 obj\n<< /Title (Rent) >>\nendobj\n"),
        (".pdf", b"%!PS-Adobe-3.0\n(Rent) show"),
        (".pdf", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 132735\n"),
        (".pdf", b"Rent\n" * 2000 + b"\0\1\2"),
        (".pdf", b"Rent: 900 \x80\nDue monthly"),
        (".pdf", b"Rent not found\n"),
        (".docx", b"<!--" + b"x--><!--" * 500),
    ],
)
def test_content_that_fits_or_says_nothing_leaves_the_name_its_right(named: str, data: bytes) -> None:
    assert detect_format(data, named) == formats.find_format(f"a{named}")


def test_a_file_is_told_as_its_content_is(tmp_path: Path) -> None:
    for name, data in (("a.docx", pdf("Rent")), ("b", docx("Rent")), ("c.pdf", xlsx("Rent")), ("d.docx", docx("Rent"))):
        (tmp_path / name).write_bytes(data)
        assert detect_format(tmp_path / name, Path(name).suffix) == detect_format(data, Path(name).suffix)
        assert "Rent" in read_document(tmp_path / name).text


@cases("data", [b"", b"Rent", b"<html>Rent</html>", zipped(readme="Rent"), b"\0" * 100])
def test_neither_name_nor_content_tells(data: bytes) -> None:
    for named in ("", ".exe"):
        with pytest.raises(UnsupportedFormat, match=r"\.docx"):
            read_document(data, named)


def test_a_failure_tells_as_what_the_file_was_read() -> None:
    with pytest.raises(Damaged) as caught:
        read_document(b"%PDF-1.4 and nothing else", ".docx")
    assert caught.value.read_as == ".pdf"
    with pytest.raises(Damaged) as caught:
        read_document(b"PK and nothing else", ".docx")
    assert caught.value.read_as is None
    with pytest.raises(PasswordProtected):
        read_document(agile(docx("Rent"), "another"), ".pdf")


@cases("named", [".txt", ".csv", ".json"])
@cases(
    ("data", "kind"),
    [
        (zipped(a_DOT_txt="Rent"), ".zip"),
        (b"7z\xbc\xaf\x27\x1c\0\4", ".7z"),
        (b"Rar!\x1a\x07\x01\0", ".rar"),
        (b"\x1f\x8b\x08\0", ".gz"),
    ],
)
def test_an_archive_under_the_name_of_a_text_is_not_read_as_one(named: str, data: bytes, kind: str) -> None:
    with pytest.raises(UnsupportedFormat, match=rf"archive \({kind}\) under the name of a {named} file"):
        read_document(data, named)


@cases("words", ["PK is short for Phil Katz", "7z", "Rar!"])
def test_a_text_that_only_begins_like_an_archive_is_a_text(words: str) -> None:
    assert read_document(words.encode(), ".txt").text == words


_MAIL = b"From: a@b.example\nSubject: Rent\n\nRent is due\n"
_PAGE = b"MIME-Version: 1.0\nContent-Type: text/html\n\n<p>Rent</p>\n"


@cases(
    ("named", "data", "expected"),
    [
        (".msg", _MAIL, ".eml"), (".doc", _PAGE, ".eml"), (".docx", _PAGE, ".eml"), (".xls", _PAGE, ".eml"),
        (".xls", b"From: x\r\n" + _PAGE, ".eml"), (".xls", b"Date:\tRent:\n1\t2\n", ".csv"), (".txt", _MAIL, ".txt"),
    ],
)  # fmt: skip
def test_a_mail_or_a_page_in_its_form_is_read_as_one(named: str, data: bytes, expected: str) -> None:
    assert detect_format(data, named) == expected
    assert "Rent" in read_document(data, named).text
