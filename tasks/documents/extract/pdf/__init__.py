"""PDF files (.pdf)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".pdf",),
    mime_types=("application/pdf",),
    version="pdf-12",
    reader="tasks.documents.extract.pdf.reader",
)
