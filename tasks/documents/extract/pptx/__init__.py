"""PowerPoint presentations (.pptx)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".pptx",),
    mime_types=("application/vnd.openxmlformats-officedocument.presentationml.presentation",),
    version="pptx-3",
    reader="tasks.documents.extract.pptx.reader",
)
