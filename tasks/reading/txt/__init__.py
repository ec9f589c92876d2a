"""Plain text (.txt)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".txt",),
    mime_types=("text/plain",),
    version="txt-3",
    reader="tasks.reading.txt.reader",
)
