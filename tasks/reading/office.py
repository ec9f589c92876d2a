"""Word and PowerPoint documents from before 2007, and Rich Text Format, through LibreOffice into our own readers.

Without LibreOffice .rtf is read by striprtf (https://github.com/joshy/striprtf), which only returns the words of the
body. What it would wrongly take for the document's words (deleted text, hidden text) is removed first; table cells are
separated by tabs.
"""

import re
import struct
from typing import Final

from striprtf.striprtf import rtf_to_text

from tasks.errors import Damaged, PasswordProtected, TooLarge
from tasks.reading.docx import reader as docx
from tasks.reading.legacy.libreoffice import DOC, PPT, RTF, compound, convert, read_through
from tasks.reading.places import BODY, TABLE
from tasks.reading.pptx import reader as pptx
from tasks.reading.raised import raise_text
from tasks.reading.text_writer import Reading, Source, Writer

_DOC_ENCRYPTED: Final = 0x0100
_PPT_ENCRYPTED: Final = 0xF3D1C4DF


def read_doc(source: Source) -> Reading:
    """The text of the Word document in `source`.

    Raises:
        UnsupportedFormat: LibreOffice is not installed.
        Damaged, PasswordProtected, TooLarge, TookTooLong: it cannot be read.
    """
    data, file = compound(source, "WordDocument")
    (flags,) = struct.unpack_from("<H", file.stream("WordDocument").ljust(12, b"\0"), 10)  # [MS-DOC] 2.5.2, fEncrypted
    if flags & _DOC_ENCRYPTED:
        raise PasswordProtected("The document can only be opened with a password. Save it without one.")
    return DOC.told(docx.read(convert(data, DOC)))


def read_ppt(source: Source) -> Reading:
    """The text of the presentation in `source`; raises as `read_doc`."""
    data, file = compound(source, "PowerPoint Document")
    user = file.stream("Current User") if file.has_stream("Current User") else b""
    (token,) = struct.unpack_from("<I", user.ljust(16, b"\0"), 12)  # [MS-PPT] 2.3.2, headerToken
    if token == _PPT_ENCRYPTED:
        raise PasswordProtected("The presentation can only be opened with a password. Save it without one.")
    return PPT.told(pptx.read(convert(data, PPT)))


_START: Final = re.compile(rb"[\s\0\xef\xbb\xbf]*+\{\s*+\\rtf")
_LARGEST: Final = 64 << 20
_LONGEST: Final = 8 << 20
"""Bytes that striprtf is given, at half a microsecond each; a hundred pages take two million."""

_PICTURE: Final = re.compile(rb"[0-9a-fA-F\s]{2000,}+")
_TOO_LONG: Final = "The document is too long: only its beginning was read."
_CELL: Final = "\ue000"
_ROW: Final = "\ue001"
_SIGNS: Final = ((rb"(?:nest)?cell", _CELL), (rb"(?:nest)?row", _ROW))
"""Ends of cells and rows, which come out as characters for private use."""

_SWITCHES: Final = (b"deleted", b"v")
"""Words that begin what is not shown, as a rule to the end of their group."""

_LINK: Final = re.compile(rb"\\fldinst(?![a-z])")
_RAISED: Final = re.compile(rb"(\\super(?:\\[a-z]{1,32}-?\d{0,10}){0,20}+ ?)([0-9(][0-9(),*+-]{0,11})(?=[}\\])")
"""A mark that is raised: `{\\super 3}` (Rich Text Format 1.9.1, "Font (Character) Formatting Properties")."""

_BEYOND_ASCII: Final = re.compile(rb"[\x80-\xff]")


def read_rtf(source: Source) -> Reading:
    """The text of the document in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    data = source if isinstance(source, bytes) else source.read_bytes()
    if not data:
        raise Damaged("The file is empty (0 bytes). Ask for it again.")
    if _START.match(data) is None:
        raise Damaged("The file is not an RTF document. Ask for it again, or give it the ending of its format.")
    if len(data) > _LARGEST:
        raise TooLarge("The document is too large to be read (64 MB). Save it as .docx.")
    return read_through(RTF, data, docx.read, _read_alone)


def _read_alone(data: bytes) -> Reading:
    """The words of the body, one paragraph per line; table rows have their cells separated by tabs."""
    data = _PICTURE.sub(b" ", data)
    is_too_long, data = len(data) > _LONGEST, data[:_LONGEST]
    for word, sign in _SIGNS:
        data = re.sub(rb"\\" + word + rb"(?![a-z])", rb"\\u%d?" % (ord(sign) - 0x10000), data)
    for word in _SWITCHES:
        if re.search(rb"\\" + word + rb"0(?!\d)", data) is None:  # else they end within their group
            data = re.sub(rb"\\" + word + rb"(?![a-z\d])", rb"\\*", data)
    data = _RAISED.sub(lambda match: match[1] + _unicode(raise_text(match[2].decode("ascii"))), data)
    data = _LINK.sub(rb"\\datafield", data)  # the pattern for links takes quadratic time
    data = _BEYOND_ASCII.sub(lambda match: b"\\'%02x" % ord(match[0]), data)
    try:
        text: str = rtf_to_text(data.decode("ascii"), errors="replace")  # type: ignore[no-untyped-call]  # has no types
    except (ValueError, TypeError, LookupError, IndexError, OverflowError) as error:
        raise Damaged("The file is damaged: its text cannot be read. Ask for it again.") from error
    writer = Writer()
    with writer.place(BODY, ""):
        _write(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), writer)
    if is_too_long:
        writer.warn(_TOO_LONG)
    return writer.reading()


def _unicode(text: str) -> bytes:
    return b"".join(b"\\u%d?" % ord(character) for character in text)


def _write(text: str, writer: Writer) -> None:
    """Write the paragraphs, and consecutive rows as tables."""
    *rows, rest = text.split(_ROW)
    table: list[str] = []
    for row in rows:
        cells = row.split(_CELL)
        before, _, first = cells[0].rpartition("\n")  # paragraphs before the row end with a line
        if before.strip() and table:
            writer.placed(TABLE, "", "\n".join(table))
            table = []
        writer.text(before)
        table.append("\t".join(" ".join(cell.split()) for cell in (first, *cells[1:])).rstrip("\t"))
    writer.placed(TABLE, "", "\n".join(table))
    writer.text(rest.replace(_CELL, "\t"))
