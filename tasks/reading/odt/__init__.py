"""Text documents of OpenDocument and their templates, also as one XML file (.odt, .ott, .fodt)."""

from typing import Final

from tasks.reading.odf import document_format

FORMAT: Final = document_format("text", (".odt", ".ott", ".fodt"), version="odt-3")
