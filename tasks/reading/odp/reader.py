"""Presentations of OpenDocument: LibreOffice makes .pptx of them, whose reader reads the rest."""

from tasks.reading.legacy.libreoffice import FLAT_ODP, ODP, read_through
from tasks.reading.odf.package import OdfPackage, read_words
from tasks.reading.pptx import reader as pptx
from tasks.reading.text_writer import Reading, Source


def read(source: Source) -> Reading:
    """The text of the presentation in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:  # LibreOffice would open anything
        package.body("office:presentation", "presentation")
        conversion = FLAT_ODP if package.is_flat else ODP
    data = source if isinstance(source, bytes) else source.read_bytes()
    return read_through(conversion, data, pptx.read, _read_alone)


def _read_alone(data: bytes) -> Reading:
    return read_words(data, "office:presentation", "presentation")
