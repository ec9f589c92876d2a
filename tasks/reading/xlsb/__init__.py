"""Binary workbooks of Excel 2007 and later (.xlsb)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xlsb",),
    mime_types=("application/vnd.ms-excel.sheet.binary.macroenabled.12",),
    version="xlsb-3",
    reader="tasks.reading.xlsb.reader",
)
