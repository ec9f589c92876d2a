"""Documents that a test writes with a library, as the files that they are."""

from collections.abc import Iterable
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openpyxl import Workbook


def saved(document: Any) -> bytes:
    """What a document of openpyxl, python-docx, python-pptx, pypdfium2 or ReportLab is when it is saved."""
    if hasattr(document, "getpdfdata"):
        return bytes(document.getpdfdata())
    file = BytesIO()
    document.save(file)
    return file.getvalue()


def workbook_of(*rows: Iterable[Any], title: str = "Sheet") -> "tuple[Workbook, Any]":
    """A workbook and its one sheet, which has these rows."""
    from openpyxl import Workbook  # what writes no workbook does not load it

    workbook = Workbook()
    sheet: Any = workbook.active
    sheet.title = title
    for row in rows:
        sheet.append(row)
    return workbook, sheet
