"""JSON as text (.json)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".json",),
    mime_types=("application/json",),
    version="json-2",
    reader="tasks.reading.json_text.reader",
)
