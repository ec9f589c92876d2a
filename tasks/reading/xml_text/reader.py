"""XML (.xml) as text: its lines stay as they are in the file.

A workbook in XML is read as a workbook, a Word document in XML as a document, an XBRL instance as its facts. Other XML
is not parsed: nothing is expanded, nothing is downloaded, and it need not be well formed.
"""

import re
from typing import Final

from tasks.reading.text_writer import Reading, Source
from tasks.reading.txt import reader as plain_text
from tasks.reading.xml_text import instance, spreadsheet, word

_DECLARATION: Final = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']""")


def read(source: Source) -> Reading:
    """The text of the file in `source`, in its declared encoding; of a file above 64 MB the first 64 MB.

    A declaration that the bytes contradict is ignored.
    """
    data, complete = plain_text.read_beginning(source)
    if spreadsheet.is_spreadsheet(data):
        return spreadsheet.read(data, complete=complete)
    if complete and word.is_word(data):
        return word.read(data)
    if instance.is_instance(data):
        return instance.read(data, complete=complete)
    return plain_text.read(data if complete else source, _read_declaration)


def _read_declaration(data: bytes) -> str | None:
    match = _DECLARATION.match(data[:1000])
    return match[1].decode() if match else None
