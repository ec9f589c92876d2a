"""JSON as text (.json)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".json",),
    mime_types=("application/json",),
    version="json-2",
    reader="tasks.documents.extract.json_text.reader",
)
