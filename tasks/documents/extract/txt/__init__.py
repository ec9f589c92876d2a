"""Plain text (.txt)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".txt",),
    mime_types=("text/plain",),
    version="txt-3",
    reader="tasks.documents.extract.txt.reader",
)
