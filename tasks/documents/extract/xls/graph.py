"""Charts of Microsoft Graph, which presentations and documents up to 2003 hold as objects: their data sheet and titles.

The stream is called Workbook as that of Excel is, and has records like it ([MS-OGRAPH] 2.4), but no sheets.
"""

import struct
from typing import Final

from tasks.documents.extract.ooxml.package import CUT_OFF
from tasks.documents.extract.text_writer import Reading, Writer
from tasks.documents.extract.xls.records import BOF, EOF, records, text_at
from tasks.documents.extract.xlsx.binary import MOST_WORDS, CellsFullError, CellWriter, NumberStyles
from tasks.text.normalise import one_line

_VERSION: Final = 0x0680
_NUMBER: Final = 0x0003
_LABEL: Final = 0x0004
_FORMAT: Final = 0x041E
_SERIES_TEXT: Final = 0x100D


def is_graph(stream: bytes) -> bool:
    """Whether this is the stream of such a chart."""
    return len(stream) > 6 and struct.unpack_from("<HHH", stream)[::2] == (BOF, _VERSION)


def read(stream: bytes) -> Reading:
    """The rows of the chart's data sheet, cells split by tabs, then titles that are not among them."""
    writer = Writer()
    cells = CellWriter(writer)
    graph = _Graph(cells)
    parts = 0
    cells.begin()
    try:
        for record in records(stream, 0):
            cells.count_record()
            parts += record.number == EOF
            try:
                graph.take(record.number, record.data)
            except (struct.error, IndexError):
                continue
    except CellsFullError:
        pass
    cells.end()
    for title in graph.titles:
        writer.text(title)
    if cells.cut or parts < 1 + 1:  # what all share, and the chart
        writer.warn(cells.cut or CUT_OFF)
    return writer.reading()


class _Graph:
    """Writes the data sheet record by record; `titles` are the texts beside it."""

    def __init__(self, cells: CellWriter) -> None:
        self.titles: dict[str, None] = {}
        self._cells = cells
        self._styles = NumberStyles()
        self._words: set[str] = set()
        self._room = MOST_WORDS

    def take(self, number: int, data: bytes) -> None:
        if number == _FORMAT:
            self._styles.codes[struct.unpack_from("<H", data)[0]] = self._text(data, 2, short=False)
        elif number == _LABEL:
            row, column = struct.unpack_from("<HH", data)
            words = self._text(data, 7)
            self._words.add(words)
            self._cells.add(row, column, words)
        elif number == _NUMBER:
            row, column, format_, value = struct.unpack_from("<HHxHd", data)
            self._styles.formats = [format_]
            self._cells.add(row, column, self._styles.shown(value, 0))
        elif number == _SERIES_TEXT:
            words = self._text(data, 2)
            if words and words not in self._words:
                self.titles[words] = None

    def _text(self, data: bytes, at: int, *, short: bool = True) -> str:
        words = one_line(text_at(data, at, wide=True, code_page="cp1252", short=short).words)
        self._room -= len(words)
        return words if self._room > 0 else ""
