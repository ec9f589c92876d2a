"""Rich Text Format (.rtf)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".rtf",),
    mime_types=("application/rtf", "text/rtf"),
    version="rtf-3",
    reader="tasks.reading.rtf.reader",
)
