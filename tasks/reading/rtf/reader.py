r"""Rich Text Format (.rtf): text as Word shows it, in reading order.

Headers come first and footers last; notes, text boxes and comments stand below the paragraph, or the table, that they
belong to. Numbers and bullets are those that the file spells out (`\listtext`). Hidden text (`\v`) stays out, with a
warning, and so does deleted text; embedded files are handed on.
"""

import mmap
from pathlib import Path
from typing import Final

from tasks.errors import Damaged
from tasks.reading.rtf.interpreter import Interpreter
from tasks.reading.text_writer import NO_TEXT, Reading, Source, Writer

_SIGNATURE: Final = b"{\\rtf"


def read(source: Source) -> Reading:
    """The text of the document in `source`.

    Raises:
        Damaged: it is no RTF.
    """
    if isinstance(source, Path) and source.stat().st_size:
        with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _read(data)
    return _read(source if isinstance(source, bytes) else b"")


def _read(data: bytes | mmap.mmap) -> Reading:
    start = data.find(_SIGNATURE, 0, 1024)
    if start < 0:
        raise Damaged("The file holds no RTF document. Ask for it again, or give it the ending of its format.")
    writer = Writer()
    Interpreter(data, writer).run(start)
    if not writer.written:
        writer.warn(NO_TEXT)
    return writer.reading()
