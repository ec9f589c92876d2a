"""Pages of HTML (.html)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".html", ".htm", ".xhtml"),
    mime_types=("text/html",),
    version="html-3",
    reader="tasks.reading.html.reader",
    own_mime_types={".xhtml": "application/xhtml+xml"},
)
