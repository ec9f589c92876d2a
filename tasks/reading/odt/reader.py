"""Text documents of OpenDocument: LibreOffice makes .docx of them, whose reader reads the rest."""

from tasks.reading.docx import reader as docx
from tasks.reading.legacy.libreoffice import FLAT_ODT, ODT, read_through
from tasks.reading.odf.package import OdfPackage, read_words
from tasks.reading.text_writer import Reading, Source


def read(source: Source) -> Reading:
    """The text of the text document in `source`.

    Raises:
        Damaged, PasswordProtected, TooLarge: it cannot be read.
    """
    with OdfPackage(source) as package:  # LibreOffice would open anything
        package.body("office:text", "text document")
        conversion = FLAT_ODT if package.is_flat else ODT
    data = source if isinstance(source, bytes) else source.read_bytes()
    return read_through(conversion, data, docx.read, _read_alone)


def _read_alone(data: bytes) -> Reading:
    return read_words(data, "office:text", "text document")
