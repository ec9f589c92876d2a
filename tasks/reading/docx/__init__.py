"""Word documents and templates, with and without macros (.docx, .docm, .dotx, .dotm)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".docx", ".docm", ".dotx", ".dotm"),
    mime_types=("application/vnd.openxmlformats-officedocument.wordprocessingml.document",),
    version="docx-12",
    reader="tasks.reading.docx.reader",
    own_mime_types={
        ".docm": "application/vnd.ms-word.document.macroEnabled.12",
        ".dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template",
        ".dotm": "application/vnd.ms-word.template.macroEnabled.12",
    },
)
