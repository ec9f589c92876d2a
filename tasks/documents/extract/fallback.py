"""Second readers: asked where ours gives up on a file as damaged, and taken where they can read it.

They see less (no text boxes, charts or comments), so the reading carries a warning.
"""

import contextlib
import logging
import pickle
import warnings
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from typing import Final

from tasks.documents.extract import limits
from tasks.documents.extract.limits import made_apart
from tasks.documents.extract.text_writer import Reading, Source, Writer
from tasks.errors import Damaged, DiligenceError
from tasks.text.normalise import one_line

_SECONDS: Final = 8.0
"""For the second reader. Of 495 public documents it is asked for three, and done with the slowest in 0.5 s."""
_ZIP: Final = b"PK\x03\x04"
_LIBRARIES: Final = {
    "docx": ("docx", _ZIP),
    "pptx": ("pptx", _ZIP),
    "xlsx": ("openpyxl", _ZIP),
    "pdf": ("pypdf", b"obj"),
}
"""What each of the second readers imports, and the bytes without which it finds nothing."""

PARTIAL = "The file is damaged: it was read by a second reader, which may leave out comments, text boxes and charts."


def asked_after(first: Callable[[Source], Reading], other: Callable[[Source], Reading], source: Source) -> Reading:
    """What `first` reads, or where it finds the file damaged what `other` reads.

    Raises:
        DiligenceError: that of `first`, when `other` cannot read the file either.
    """
    try:
        return first(source)
    except MemoryError:
        raise
    except Exception as failure:
        if isinstance(failure, DiligenceError) and not isinstance(failure, Damaged):
            raise
        with contextlib.suppress(Exception):
            reading = _read_apart(other, source)
            if reading.text:
                return Reading(reading.text, reading.places, [*reading.warnings, PARTIAL])
        raise


def _read_apart(other: Callable[[Source], Reading], source: Source) -> Reading:
    """What `other` reads in a process of its own: those readers have no limits, and damaged files go on and on."""
    library, mark = _LIBRARIES.get(other.__name__, ("", b""))
    if mark not in (source if isinstance(source, bytes) else source.read_bytes()):
        raise Damaged("It has nothing of its format.")
    if library:
        import_module(library)  # here, where it stays, and not in a process that ends

    def packed() -> bytes:
        warnings.simplefilter("ignore")
        return pickle.dumps(other(source))

    reading: Reading = pickle.loads(made_apart(packed, min(_SECONDS, limits.left())))  # noqa: S301 - our own
    return reading


def docx(source: Source) -> Reading:
    """Paragraphs and tables by python-docx."""
    from docx import Document  # noqa: PLC0415 - seldom needed
    from docx.table import Table  # noqa: PLC0415 - seldom needed

    writer = Writer()
    for block in Document(_opened(source)).iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                writer.text("\t".join(one_line(cell.text) for cell in row.cells))
        else:
            writer.text(block.text)
    return writer.reading()


def pptx(source: Source) -> Reading:
    """Text frames and tables, slide by slide, by python-pptx."""
    from pptx import Presentation  # noqa: PLC0415 - seldom needed

    writer = Writer()
    for number, slide in enumerate(Presentation(_opened(source)).slides, 1):
        with writer.part("slide", str(number)):
            for shape in slide.shapes:
                if shape.has_text_frame:
                    writer.text(shape.text_frame.text)
                elif shape.has_table:
                    for row in shape.table.rows:
                        writer.text("\t".join(one_line(cell.text) for cell in row.cells))
    return writer.reading()


def xlsx(source: Source) -> Reading:
    """Cells, sheet by sheet, by openpyxl."""
    from openpyxl import load_workbook  # noqa: PLC0415 - seldom needed

    writer = Writer()
    workbook = load_workbook(_opened(source), read_only=True, data_only=True)
    for sheet in workbook.worksheets:
        with writer.part("sheet", sheet.title):
            writer.line(sheet.title)
            for row in sheet.iter_rows(values_only=True):
                writer.text("\t".join("" if value is None else one_line(str(value)) for value in row).rstrip("\t"))
    workbook.close()
    return writer.reading()


def pdf(source: Source) -> Reading:
    """Pages by pypdf, those left out that it cannot read."""
    from pypdf import PdfReader  # noqa: PLC0415 - seldom needed

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it complains of broken files in their own words
    writer = Writer()
    document = PdfReader(_opened(source))
    if document.is_encrypted:
        document.decrypt("")
    for number in range(1, len(document.pages) + 1):
        with writer.part("page", str(number)), contextlib.suppress(Exception):
            writer.text(document.pages[number - 1].extract_text())
    return writer.reading()


def _opened(source: Source) -> BytesIO | str:
    return BytesIO(source) if isinstance(source, bytes) else str(source)
