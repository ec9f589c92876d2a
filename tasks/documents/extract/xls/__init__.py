"""Workbooks of Excel 97 to 2003 (.xls)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xls", ".xlt"),
    mime_types=("application/vnd.ms-excel",),
    version="xls-3",
    reader="tasks.documents.extract.xls.reader",
)
