"""Files inside a PDF: embedded in the document or pinned to a page. They are handed on unread."""

import ctypes
import re
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf.packed import holds_bomb
from tasks.documents.extract.pdf.pdfium import Document, string
from tasks.documents.extract.reading import Writer

_MOST: Final = 1_000
_LARGEST: Final = 64 << 20
_ALL_TOGETHER: Final = 128 << 20
"""Bytes that are unpacked; what comes after is named alone."""


class Enclosed:
    """Hands the files inside a PDF to `writer`, each once: at most 1,000, of at most 64 MB each and 128 MB together."""

    def __init__(self, document: Document, writer: Writer) -> None:
        self._document = document
        self._writer = writer
        self._seen: set[tuple[str, int]] = set()
        self._room: int | None = None

    def add_embedded(self) -> None:
        """Hand on those that the document's table of embedded files names."""
        document = self._document.handle
        for index in range(min(pdfium.FPDFDoc_GetAttachmentCount(document), _MOST)):
            self.add(pdfium.FPDFDoc_GetAttachment(document, index))

    def add(self, attachment: Any) -> None:
        """Hand on one; a mere link to a file that is not in the document is left out."""
        if not attachment or len(self._seen) == _MOST:
            return
        name = re.split(r"[\\/]", string(pdfium.FPDFAttachment_GetName, attachment).strip())[-1] or "attachment"
        size = ctypes.c_ulong()
        data: bytes | None = None
        if self._room is None:  # PDFium ends the process when it unpacks more than memory holds
            self._room = 0 if self._document.bombed or holds_bomb(self._document.data, _LARGEST) else _ALL_TOGETHER
        if self._room > 0:
            if not pdfium.FPDFAttachment_GetFile(attachment, None, 0, size):
                return
            if size.value <= min(_LARGEST, self._room):
                buffer = ctypes.create_string_buffer(size.value)
                pdfium.FPDFAttachment_GetFile(attachment, buffer, size.value, size)
                data = buffer.raw
            self._room -= max(1, size.value)
        key = name, size.value if data is None else hash(data)
        if key not in self._seen:
            self._seen.add(key)
            self._writer.attach(name, data)
