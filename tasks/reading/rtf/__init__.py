"""Rich Text Format (.rtf)."""

from typing import Final

from tasks.reading.docx import FORMAT as DOCX
from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".rtf",),
    mime_types=("application/rtf", "text/rtf"),
    version=f"rtf-5 by {DOCX.version}",
    reader="tasks.reading.rtf.reader",
    better_with="libswlo.so",
)
