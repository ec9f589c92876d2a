"""XML as text, and workbooks that are one XML file (.xml)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xml",),
    mime_types=("application/xml", "text/xml"),
    version="xml-5",
    reader="tasks.reading.xml_text.reader",
)
