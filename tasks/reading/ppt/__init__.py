"""PowerPoint presentations, shows and templates from before 2007 (.ppt, .pps, .pot)."""

from typing import Final

from tasks.reading.formats import DocumentFormat
from tasks.reading.pptx import FORMAT as PPTX

FORMAT: Final = DocumentFormat(
    extensions=(".ppt", ".pps", ".pot"),
    mime_types=("application/vnd.ms-powerpoint",),
    version=f"ppt-1 by {PPTX.version}",  # whose reader reads what LibreOffice makes of it
    reader="tasks.reading.ppt.reader",
    has_second_try=True,
)
