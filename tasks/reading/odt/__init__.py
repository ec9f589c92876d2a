"""Text documents of OpenDocument and their templates, also as one XML file (.odt, .ott, .fodt)."""

from typing import Final

from tasks.reading.docx import FORMAT as DOCX
from tasks.reading.odf import document_format

FORMAT: Final = document_format(
    "text", (".odt", ".ott", ".fodt"), version=f"odt-5 by {DOCX.version}", better_with="libswlo.so"
)
