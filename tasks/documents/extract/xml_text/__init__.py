"""XML as text, and workbooks that are one XML file (.xml)."""

from typing import Final

from tasks.documents.extract.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xml",),
    mime_types=("application/xml", "text/xml"),
    version="xml-4",
    reader="tasks.documents.extract.xml_text.reader",
)
