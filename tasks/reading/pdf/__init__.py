"""PDF files (.pdf)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".pdf",),
    mime_types=("application/pdf",),
    version="pdf-17",
    reader="tasks.reading.pdf.reader",
    has_second_try=True,
)
