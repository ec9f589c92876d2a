"""The parts of a MIME message (RFC 2045, 2046): where each stands, and what its headers say.

Python's parser goes through each line once for each level, ends where parts are nested too deep, and has no bound on
their number. Here the boundaries are looked for in the bytes; what is cut off ends with its message. A web archive is
such a message: what programs in JavaScript write as a Word document is often nothing but one (`w:altChunk`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from functools import cached_property
from pathlib import PurePath
from typing import Final

from tasks.reading.mail.decoding import content_of, header_of, text_of

MOST_PARTS: Final = 10_000
DEEPEST: Final = 30
_LONGEST_REST: Final = 200  # bytes after a boundary in its line: spaces alone
_MOST_HEADERS: Final = 1 << 20
"""Bytes of the headers of one part; servers refuse mails with more than some 100 KB."""

_PAGES: Final = (".htm", ".html", ".xhtml")
_ARCHIVES: Final = (".mht", ".mhtml", ".eml")
_PAGE_TYPES: Final = ("text/html", "application/xhtml+xml")
_PAGE: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:<\?xml[^>]*+>\s*+)?+(?:<!doctype html|<html)\b", re.IGNORECASE)
_ARCHIVE: Final = re.compile(rb"(?:MIME-Version|From|Content-Type):\s", re.IGNORECASE)


class PartAllowance:
    """How many parts may still be looked at."""

    def __init__(self) -> None:
        self.left = MOST_PARTS
        self.exceeded = False


@dataclass(eq=False)
class Part:
    """A message, or a part of one: `data[start:end]`, with its headers."""

    data: bytes
    start: int
    end: int
    budget: PartAllowance
    depth: int = 0

    def __post_init__(self) -> None:
        self.headers, self.body = _headers(self.data, self.start, self.end)

    def header(self, name: str) -> str:
        """The header of that name (in lower case), decoded; "" where there is none."""
        return header_of(self.headers.get(name, b""))

    @cached_property
    def _fields(self) -> Message:
        message = Message()
        for name in ("content-type", "content-disposition"):
            value = self.header(name)
            if value:
                message[name] = value
        return message

    @cached_property
    def content_type(self) -> str:
        """The MIME type, in lower case; `text/plain` where there is none."""
        return self._fields.get_content_type()

    def parameter(self, name: str, header: str = "content-type") -> str:
        """A parameter of a header, however it is encoded (RFC 2231)."""
        try:
            value = self._fields.get_param(name, "", header=header)
            if isinstance(value, tuple):
                charset, _, words = value
                value = header_of(words.encode("latin-1", "replace")) if not charset else _of_rfc2231(charset, words)
            return header_of(str(value).encode())
        except (ValueError, LookupError, TypeError):
            return ""

    @property
    def file_name(self) -> str:
        """The name of the file that the part is; "" where it has none."""
        return self.parameter("filename", "content-disposition") or self.parameter("name")

    @property
    def disposition(self) -> str:
        """`inline`, `attachment` or nothing."""
        return self.header("content-disposition").partition(";")[0].strip().lower()

    @property
    def raw(self) -> bytes:
        """The part's content as it was sent."""
        return self.data[self.body : self.end]

    @cached_property
    def content(self) -> bytes:
        """The part's content, its transfer encoding undone."""
        return content_of(self.raw, self.header("content-transfer-encoding"))

    def parts(self) -> "list[Part]":
        """The parts of a multipart message; none where there are no boundaries, or too many levels round it."""
        boundary = self.parameter("boundary").encode("utf-8", "replace")
        if not boundary or self.depth >= DEEPEST:
            self.budget.exceeded = self.budget.exceeded or bool(boundary)
            return []
        found = []
        for start, end in _spans(self.data, self.body, self.end, b"--" + boundary):
            if self.budget.left == 0:
                self.budget.exceeded = True
                break
            self.budget.left -= 1
            found.append(Part(self.data, start, end, self.budget, self.depth + 1))
        return found


def page_in(name: str, data: bytes) -> bytes | None:
    """The page of HTML that a file of that name is, or that a web archive (.mht) holds; None without one."""
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


def _of_rfc2231(charset: str, words: str) -> str:
    try:
        return words.encode("latin-1").decode(charset)
    except (LookupError, UnicodeError, ValueError):
        return words


def _headers(data: bytes, start: int, end: int) -> tuple[dict[str, bytes], int]:
    """The headers by name in lower case (the first of a name counts), and where the body begins."""
    headers: dict[str, bytearray] = {}
    name = ""
    at = start
    while at < end and at - start < _MOST_HEADERS:
        line_end = data.find(b"\n", at, end)
        following = end if line_end < 0 else line_end + 1
        line = data[at:following].rstrip(b"\r\n")
        if not line:
            at = following
            break
        key, colon, value = line.partition(b":")
        if line[:1] in b" \t":
            if name:
                headers[name] += b"\n" + line
        elif colon and key and b" " not in key.rstrip() and key.isascii():
            name = key.rstrip().decode().lower()
            name = "" if name in headers else name
            if name:
                headers[name] = bytearray(value.strip())
        elif headers or not line.startswith((b"From ", b">From ")):
            break  # a body without an empty line before it; not the line before a mail of a mailbox
        at = following
    return {name: bytes(value) for name, value in headers.items()}, at


def _spans(data: bytes, start: int, end: int, mark: bytes) -> Iterator[tuple[int, int]]:
    """Where the parts between the lines that begin with `mark` stand."""
    at, begun = start, -1
    while True:
        at = data.find(mark, at, end)
        if at < 0:
            break
        if at > start and data[at - 1 : at] != b"\n":
            at += len(mark)
            continue
        most = min(end, at + len(mark) + _LONGEST_REST)
        line_end = data.find(b"\n", at, most)
        rest = data[at + len(mark) : most if line_end < 0 else line_end].strip()
        if rest not in (b"", b"--"):
            at += len(mark)
            continue
        if begun >= 0:
            yield begun, max(begun, at - (2 if data[at - 2 : at] == b"\r\n" else 1))
        begun = -1 if rest == b"--" or line_end < 0 else line_end + 1
        if begun < 0:
            return
        at = begun
    if begun >= 0:
        yield begun, end
