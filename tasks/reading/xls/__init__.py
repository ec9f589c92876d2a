"""Workbooks of Excel 97 to 2003 (.xls)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xls", ".xlt"),
    mime_types=("application/vnd.ms-excel",),
    version="xls-4",
    reader="tasks.reading.xls.reader",
)
