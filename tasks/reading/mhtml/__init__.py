"""Pages of the web saved as one file with their pictures (.mhtml)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".mhtml", ".mht"),
    mime_types=("multipart/related", "application/x-mimearchive"),
    version="mhtml-1",
    reader="tasks.reading.mhtml.reader",
)
