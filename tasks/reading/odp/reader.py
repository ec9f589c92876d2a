"""OpenDocument presentations: LibreOffice converts them to .pptx, which our own reader then reads."""

from tasks.reading.legacy.libreoffice import FLAT_ODP, ODP
from tasks.reading.odf.package import read_through_office
from tasks.reading.pptx import reader as pptx
from tasks.reading.text_writer import Reading, Source


def read(source: Source) -> Reading:
    """The text of the presentation in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return read_through_office(source, "office:presentation", "presentation", (ODP, FLAT_ODP), pptx.read)
