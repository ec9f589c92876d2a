"""XML as text, workbooks that are one XML file (.xml), and instances of XBRL (.xbrl)."""

from typing import Final

from tasks.reading.formats import DocumentFormat

FORMAT: Final = DocumentFormat(
    extensions=(".xml", ".xbrl"),
    mime_types=("application/xml", "text/xml"),
    version="xml-5",
    reader="tasks.reading.xml_text.reader",
)
