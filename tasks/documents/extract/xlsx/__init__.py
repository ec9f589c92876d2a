"""Excel workbooks (.xlsx)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xlsx",),
    mime_types=("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    version="xlsx-3",
    reader="tasks.documents.extract.xlsx.reader",
)
