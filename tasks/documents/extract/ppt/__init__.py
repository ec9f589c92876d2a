"""PowerPoint presentations, shows and templates from before 2007 (.ppt, .pps, .pot)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat
from tasks.documents.extract.pptx import FORMAT as PPTX

FORMAT: Final = DocumentFormat(
    extensions=(".ppt", ".pps", ".pot"),
    mime_types=("application/vnd.ms-powerpoint",),
    version=f"ppt-1 by {PPTX.version}",  # whose reader reads what LibreOffice makes of it
    reader="tasks.documents.extract.ppt.reader",
)
