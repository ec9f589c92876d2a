"""Word documents (.docx)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".docx",),
    mime_types=("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    version="docx-3",
    reader="tasks.documents.extract.docx.reader",
)
