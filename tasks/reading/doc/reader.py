"""Word documents from before 2007: LibreOffice converts them to .docx, which our own reader then reads."""

import struct
from typing import Final

from tasks.errors import PasswordProtected
from tasks.reading.docx import reader as docx
from tasks.reading.legacy.libreoffice import DOC, compound, convert
from tasks.reading.text_writer import Reading, Source

_ENCRYPTED: Final = 0x0100


def read(source: Source) -> Reading:
    """The text of the document in `source`.

    Raises:
        UnsupportedFormat: LibreOffice is not installed.
        Damaged, PasswordProtected, TooLarge, TookTooLong: it cannot be read.
    """
    data, file = compound(source, "WordDocument")
    (flags,) = struct.unpack_from("<H", file.stream("WordDocument").ljust(12, b"\0"), 10)  # [MS-DOC] 2.5.2, fEncrypted
    if flags & _ENCRYPTED:
        raise PasswordProtected("The document opens with a password only. Save it without one.")
    return DOC.told(docx.read(convert(data, DOC)))
