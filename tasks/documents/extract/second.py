"""Second readers: asked where ours gives up on a file as damaged, and taken where they can read it.

They see less (no text boxes, charts or comments), so the reading carries a warning.
"""

import contextlib
import logging
import warnings
from collections.abc import Callable
from io import BytesIO

from tasks.documents.extract.reading import Reading, Source, Writer, one_line
from tasks.errors import Damaged, DiligenceError

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
        with contextlib.suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reading = other(source)
            if reading.text:
                return Reading(reading.text, reading.places, [*reading.warnings, PARTIAL])
        raise


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
