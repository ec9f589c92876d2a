"""XML (.xml) as the text that it is: its lines stand as the file has them.

A workbook in XML is read as a workbook, a Word document in XML as a document, an instance of XBRL as its facts. Other
XML is not parsed: nothing is expanded, nothing is fetched, and it need not be well formed.
"""

import re
from typing import Final

from tasks.reading.text_writer import Reading, Source
from tasks.reading.txt import reader as plain_text
from tasks.reading.xml_text import instance, spreadsheet, word

_DECLARATION: Final = re.compile(rb"""\s*<\?xml\b[^>]{0,200}?\bencoding\s*=\s*["']([A-Za-z][\w.-]{0,40})["']""")


def read(source: Source) -> Reading:
    """The text of the file in `source`, in the encoding that it declares; of more than 64 MB the first ones.

    A declaration that the bytes contradict does not count.
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
