"""The titles of a PDF's outline, which readers show as bookmarks."""

import ctypes
from collections.abc import Iterator
from typing import Any, Final

import pypdfium2.raw as pdfium

from tasks.documents.extract.pdf.pdfium import Document, string, written
from tasks.documents.extract.reading import one_line

_MOST: Final = 20_000
_DEEPEST: Final = 64
_MOST_BYTES: Final = 8 << 20


def titles(document: Document) -> Iterator[str]:
    """The titles in order, at most 20,000 of 8 MB, 64 levels deep; an outline that runs in a circle ends."""
    end = written() + _MOST_BYTES
    seen: set[int] = set()
    above: list[Any] = []
    bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, None)
    while bookmark or above:
        if not bookmark:
            bookmark = pdfium.FPDFBookmark_GetNextSibling(document.handle, above.pop())
            continue
        address = ctypes.addressof(bookmark.contents)
        if address in seen or len(seen) == _MOST or written() > end:
            bookmark = None
            continue
        seen.add(address)
        yield one_line(string(pdfium.FPDFBookmark_GetTitle, bookmark))
        above.append(bookmark)
        deeper = len(above) <= _DEEPEST
        bookmark = pdfium.FPDFBookmark_GetFirstChild(document.handle, bookmark) if deeper else None
