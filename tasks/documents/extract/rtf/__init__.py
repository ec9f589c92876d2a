"""Rich Text Format (.rtf)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".rtf",),
    mime_types=("application/rtf", "text/rtf"),
    version="rtf-3",
    reader="tasks.documents.extract.rtf.reader",
)
