"""PowerPoint presentations from before 2007: LibreOffice converts them to .pptx, which our own reader then reads."""

import struct
from typing import Final

from tasks.errors import PasswordProtected
from tasks.reading.legacy.libreoffice import PPT, compound, convert
from tasks.reading.pptx import reader as pptx
from tasks.reading.text_writer import Reading, Source

_ENCRYPTED: Final = 0xF3D1C4DF


def read(source: Source) -> Reading:
    """The text of the presentation in `source`.

    Raises:
        UnsupportedFormat: LibreOffice is not installed.
        Damaged, PasswordProtected, TooLarge, TookTooLong: it cannot be read.
    """
    data, file = compound(source, "PowerPoint Document")
    user = file.stream("Current User") if file.has_stream("Current User") else b""
    (token,) = struct.unpack_from("<I", user.ljust(16, b"\0"), 12)  # [MS-PPT] 2.3.2, headerToken
    if token == _ENCRYPTED:
        raise PasswordProtected("The presentation opens with a password only. Save it without one.")
    return PPT.told(pptx.read(convert(data, PPT)))
