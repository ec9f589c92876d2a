"""OpenDocument text documents: LibreOffice converts them to .docx, which our own reader then reads."""

from tasks.reading.docx import reader as docx
from tasks.reading.legacy.libreoffice import FLAT_ODT, ODT
from tasks.reading.odf.package import read_through_office
from tasks.reading.text_writer import Reading, Source


def read(source: Source) -> Reading:
    """The text of the text document in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    return read_through_office(source, "office:text", "text document", (ODT, FLAT_ODT), docx.read)
