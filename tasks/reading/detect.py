"""Detects a document's format by its content, for names that say something else, or nothing.

It is asked once, before a document is handed to a reader. It is cheap if the name is right: a file's first bytes and,
for a zip, the end of its directory (10 µs). Content only overrules a name if it is certain: by a signature or, if the
format that the name says has markup, by that. A text file may contain any text: if the name says text, HTML stays text.

Drives that store no MIME types guess them here, by the name or else the content: the same on every machine.
"""

import mimetypes
import os
import re
from functools import cache
from pathlib import Path
from typing import Final

from tasks.errors import Damaged, DiligenceError, UnsupportedFormat
from tasks.reading import formats
from tasks.reading.ooxml import ole
from tasks.reading.ooxml.package import LOCAL_HEADER, ZipMembers
from tasks.reading.text_writer import Source

_SIGNATURES: Final = (
    (b"%PDF-", ".pdf"),
    (b"{\\rtf", ".rtf"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"\xff\xd8\xff", ".png"),  # JPEG: one reader reads all kinds of pictures
    (b"II*\0", ".png"),
    (b"MM\0*", ".png"),
    (b"II+\0", ".png"),  # with files above 4 GB in mind
    (b"MM\0+", ".png"),
)
_SIGNED: Final = re.compile(
    rb"(?s)0[\x80-\x84].{0,4}\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07(?:\x03|\x02.{1,100}?"
    rb"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0(?:[\0-\x80]|[\x81-\x84].{1,4}?)[\x04\x24])"
)
"""What a signature (CMS, RFC 5652) begins with that contains what it signs, or what is encrypted for a receiver."""

_ARCHIVES: Final = ((b"7z\xbc\xaf'\x1c", ".7z"), (b"Rar!\x1a\x07", ".rar"), (b"\x1f\x8b\x08", ".gz"))
_ARCHIVE: Final = (
    "The file is an archive ({}) under the name of a {} file: unpack it, or give it the ending of its format."
)
_OFFICE_FOLDERS: Final = {".docx": b"word/", ".xlsx": b"xl/", ".pptx": b"ppt/"}
_BINARY_WORKBOOK: Final = "xl/workbook.bin"
_OPEN_DOCUMENTS: Final = (
    (b"application/vnd.oasis.opendocument.text", ".odt"),
    (b"application/vnd.oasis.opendocument.spreadsheet", ".ods"),
    (b"application/vnd.oasis.opendocument.presentation", ".odp"),
)
_LONGEST_TYPE: Final = 200
_ENCRYPTED: Final = {".doc": ".docx", ".xls": ".xlsx", ".ppt": ".pptx"}
_TEXTS: Final = {".txt", ".csv", ".tsv", ".md", ".json", ".xml", ".html", ".eml", ".mhtml", ".mbox"}
"""Formats without a signature."""

_PLAIN: Final = {".doc": ".txt", ".pdf": ".txt", ".xls": ".csv", "": ".txt"}
"""The formats under whose names plain text is found, and what it is then; "": a name says nothing."""

_NOT_PLAIN: Final = re.compile(
    r"\s*+(?:%|\d+ \d+ obj\b|version https://git-lfs|[^\r\n]*+\s*+\Z)|.*?(?:%PDF-|\bendobj\b|\bstartxref\b)",
    re.DOTALL,
)
"""A damaged PDF, PostScript, what a repository keeps in place of a large file, or one line, as a server's message."""

_OFFICE: Final = {".doc", ".docx", ".xls", ".xlsx"}
_COLUMNS: Final = re.compile(r"[^\n,;\t]{0,200}[,;\t]")
"""How a table begins whose cells are split by commas; programs write some under the name .xlsx."""

_HTML: Final = re.compile(
    r"\s*+(?:<\?xml[^>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+<(?:!doctype html|html|head|body|table|meta|style|div)\b",
    re.DOTALL | re.IGNORECASE,
)
_WORKBOOK: Final = re.compile(
    r"\s*+(?:<\?[^<>]*+>\s*+|<!--(?:(?!-->).)*+-->\s*+)*+"
    r"<(?:[\w.-]++:)?Workbook(?=\s)[^<>]*?urn:schemas-microsoft-com:office:spreadsheet",
    re.DOTALL,
)
"""A workbook in one XML file, which bears the name .xls as a rule."""

_MAIL: Final = re.compile(r"\s*(?:MIME-Version|From|Received|Return-Path|Date|Subject):\s", re.IGNORECASE)
_ARCHIVED_PAGE: Final = re.compile(r"(?:[\w-]+:[^\n]*\n)*?MIME-Version:\s", re.IGNORECASE)
"""A page of the web with its pictures, as programs write it under the names of Office's formats."""

_MAILBOX: Final = re.compile(rb"From [^\r\n]{1,1000}\r?\n[!-9;-~]{1,100}:")
_CUT_OFF: Final = 4
"""Bytes at the end of what was read of a text that may be a part of a character."""

_CONTROL: Final = re.compile(r"[\0-\x08\x0e-\x1f]")
_MARKS: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))
_HEAD: Final = 4096
_TAIL: Final = 16_384


def detect_format(source: Source, named: str) -> str:
    """The format whose reader should read a document, as its first extension.

    Args:
        source: its file, or what is in it.
        named: the extension that it has by its name (".docx"); "" or an unknown one where that does not tell.

    Raises:
        UnsupportedFormat: neither the content nor the name is of a known format, and the message names those; or it
            is an archive under the name of a text.
    """
    known = named in formats.list_supported()
    by_name = formats.find_format(f"a{named}") if known else ""
    by_content = _read_magic(source, by_name)
    if by_content is not None and (by_content := _as_supported(by_content)) is not None:
        return by_content
    return by_name or formats.find_format(f"a{named}")


def is_known(source: Source) -> str | None:
    """The format of the content, whatever its name; None if it cannot be told, or no reader reads it."""
    try:
        return detect_format(source, "")
    except UnsupportedFormat:
        return None


def sniff_format(path: Path) -> str | None:
    """The format of a file whose name says nothing, including text; None if its content does not tell."""
    if (known := is_known(path)) is not None:
        return known
    head = _part(path, 0, _HEAD)
    if not _is_utf8(head):
        return None
    told = ".mbox" if _MAILBOX.match(head) else _in_text(head, "")
    return None if told is None else _as_supported(told)


def _is_utf8(head: bytes) -> bool:
    """Whether the beginning of a file is in UTF-8, but for a character that is cut off at its end."""
    try:
        head.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(head) - _CUT_OFF
    return True


def _as_supported(extension: str) -> str | None:
    return formats.find_format(f"a{extension}") if extension in formats.list_supported() else None


def _read_magic(source: Source, by_name: str) -> str | None:
    """The format according to the content, if that tells; `by_name` is the format according to the document's name."""
    head = _part(source, 0, 8)
    if head.startswith(LOCAL_HEADER):
        folder = _OFFICE_FOLDERS.get(by_name)
        tail = _part(source, -_TAIL, _TAIL) if folder is not None else b""
        if folder is not None and folder in tail and _BINARY_WORKBOOK.encode() not in tail:
            return None
        return _in_zip(source, by_name)
    if head.startswith(ole.MAGIC):
        return _in_compound(source, by_name)
    for signature, extension in _SIGNATURES:
        if head.startswith(signature):
            return extension
    if head.startswith(b"0") and _SIGNED.match(_part(source, 0, _HEAD)):
        return ".p7m"
    if by_name in _TEXTS:
        for signature, extension in _ARCHIVES:
            if head.startswith(signature):
                raise UnsupportedFormat(_ARCHIVE.format(extension, by_name))
    if by_name in _TEXTS or not by_name:
        return None
    head = _part(source, 0, _HEAD)
    if by_name == ".pdf" and len(head) == _HEAD:  # what is not text may begin farther behind
        head += _part(source, -_TAIL, _TAIL)
    return _in_text(head, by_name)


def _part(source: Source, start: int, length: int) -> bytes:
    """`length` bytes from `start`; a negative `start` counts from the end."""
    if isinstance(source, bytes):
        return source[start:][:length]
    file = os.open(source, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        if start < 0:
            start = max(0, os.fstat(file).st_size + start)
        os.lseek(file, start, os.SEEK_SET)
        return os.read(file, length)
    finally:
        os.close(file)


def _in_zip(source: Source, by_name: str) -> str | None:
    """The format of a package: OpenDocument by its declared type, Office by its folders."""
    archive = ZipMembers(source)
    try:
        entries = archive.entries()
        names = {entry.name.lower() for entry in entries}
        mime_type = next((entry for entry in entries[:10] if entry.name == "mimetype"), None)
        if mime_type is not None:
            kind = archive.read(mime_type, _LONGEST_TYPE)
            found = next((extension for name, extension in _OPEN_DOCUMENTS if kind.startswith(name)), None)
            if found is not None or by_name not in _TEXTS:
                return found
    except DiligenceError:  # a type that is not a name: a bomb
        return None
    finally:
        archive.close()
    if "_rels/.rels" not in names:
        if names and by_name in _TEXTS:
            raise UnsupportedFormat(_ARCHIVE.format(".zip", by_name))
        return None
    if _BINARY_WORKBOOK in names:
        return ".xlsb"
    folders = {name.partition("/")[0].encode() + b"/" for name in names}
    return next((extension for extension, folder in _OFFICE_FOLDERS.items() if folder in folders), None)


def _in_compound(source: Source, by_name: str) -> str | None:
    """The format of a compound file: Office before 2007, an Outlook message, or an encrypted package."""
    try:
        file = ole.Compound(source if isinstance(source, bytes) else source.read_bytes())
    except Damaged:
        return None
    if file.has_stream(ole.ENCRYPTED):
        return by_name if by_name in _OFFICE_FOLDERS else _ENCRYPTED.get(by_name, ".docx")
    return next((extension for stream, extension in ole.DOCUMENTS.items() if file.has_stream(stream)), None)


def _in_text(head: bytes, by_name: str) -> str | None:
    """The format of markup or text in a file whose name claims a format that is neither."""
    encoding = next((name for mark, name in _MARKS if head.startswith(mark)), "latin-1")
    text = head.decode(encoding, "replace").lstrip("\ufeff")
    if _CONTROL.search(text) is not None or not text.strip():
        return None
    if _HTML.match(text) is not None:
        return ".html"
    if _WORKBOOK.match(text) is not None:
        return ".xml"
    if text.startswith("<?xml"):
        return ".xml" if by_name in _OFFICE or not by_name else None
    if _MAIL.match(text) is not None and (by_name != ".xls" or _ARCHIVED_PAGE.match(text) is not None):
        return ".eml"
    if by_name == ".xlsx" and _COLUMNS.match(text) is not None:
        return ".csv"
    if by_name == ".pdf" and (_NOT_PLAIN.match(text) or (encoding == "latin-1" and not _is_utf8(head[:_HEAD]))):
        return None
    return _PLAIN.get(by_name)


_UNKNOWN: Final = "application/octet-stream"


@cache
def _mime_types() -> mimetypes.MimeTypes:
    types = mimetypes.MimeTypes(filenames=())
    for extension in formats.list_supported():
        types.add_type(formats.mime_type(extension), extension)
    return types


def guess_mime_type(name: str) -> str:
    """The MIME type for a file's name; `application/octet-stream` if the extension is unknown."""
    mime_type, encoding = _mime_types().guess_type(f"./{name}")  # without the dot, "data:…" would be read as a URL
    if encoding:
        return f"application/{encoding}" if encoding == "gzip" else _UNKNOWN
    return mime_type or _UNKNOWN


def guess_file_mime_type(path: Path) -> str:
    """The MIME type of a file, by its content if its name has no known extension."""
    by_name = guess_mime_type(path.name)
    if by_name != _UNKNOWN or not path.is_file():
        return by_name
    try:
        found = sniff_format(path)
    except OSError:  # not ours to read
        return by_name
    if found is None or (found == ".txt" and path.suffix):  # of another program, which writes text
        return by_name
    return formats.mime_type(found)
