"""Excel workbooks and templates, with and without macros (.xlsx, .xlsm, .xltx, .xltm)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xlsx", ".xlsm", ".xltx", ".xltm"),
    mime_types=("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    version="xlsx-10",
    reader="tasks.reading.xlsx.reader",
    own_mime_types={
        ".xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        ".xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.template",
        ".xltm": "application/vnd.ms-excel.template.macroEnabled.12",
    },
)
