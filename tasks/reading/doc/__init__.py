"""Word documents and templates from before 2007 (.doc, .dot)."""

from typing import Final

from tasks.reading.docx import FORMAT as DOCX
from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".doc", ".dot"),
    mime_types=("application/msword",),
    version=f"doc-1 by {DOCX.version}",  # whose reader reads what LibreOffice makes of it
    reader="tasks.reading.doc.reader",
    has_second_try=True,
)
