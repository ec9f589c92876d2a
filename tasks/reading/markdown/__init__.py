"""Markdown (.md)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".md", ".markdown"),
    mime_types=("text/markdown", "text/x-markdown"),
    version="md-2",
    reader="tasks.reading.markdown.reader",
)
