"""Pages of HTML that are shown as a piece of a Word document (`w:altChunk`), alone or in a web archive (.mht).

Programs in JavaScript write whole documents that way: one chunk, and nothing round it.
"""

import re
from pathlib import PurePath
from typing import Final

from tasks.documents.extract.eml.parts import Part, PartAllowance
from tasks.documents.extract.mail.decoding import text_of

_PAGES: Final = (".htm", ".html", ".xhtml")
_ARCHIVES: Final = (".mht", ".mhtml", ".eml")
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!doctype html|<html)\b", re.IGNORECASE)
_ARCHIVE: Final = re.compile(rb"(?:MIME-Version|From|Content-Type):\s", re.IGNORECASE)


def page_in(name: str, data: bytes) -> bytes | None:
    """The page of HTML that a part of that name holds; None where it is a document of another kind."""
    extension = PurePath(name).suffix.lower()
    if extension in _PAGES or _PAGE.match(data) is not None:
        return data
    if extension in _ARCHIVES or _ARCHIVE.match(data) is not None:
        return _page_of_archive(Part(data, 0, len(data), PartAllowance()))
    return None


def _page_of_archive(message: Part) -> bytes | None:
    """The first page in a message, with a mark where its encoding is known."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if part.content_type in _PAGE_TYPES:
            charset = part.parameter("charset")
            return text_of(part.content, charset).encode("utf-8-sig", "replace") if charset else part.content
        if part.content_type.startswith("multipart/"):
            waiting.extend(reversed(part.parts()))
    return None
