"""Extract Document Text and Document Index over HTTP, and a local document as a file.

A file is what its `document_url` leads to, under the same rights as its text.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from os import SEEK_END
from typing import BinaryIO
from urllib.parse import quote

from anyio import to_thread
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.response import Stream
from pydantic import Field

from api.front import HEAD
from api.openapi import describe
from api.requests import LONGEST_NAME, Body, Calls, NotBlank, make_text_field, take_answered
from tasks.documents.drive.drive import Document
from tasks.documents.drive.registry import open_drive
from tasks.documents.index import DocumentIndex, index_folder_in_pieces
from tasks.documents.texts import DocumentText, document_text
from tasks.errors import DiligenceError


class TextOfDocument(Body):
    """The document to read."""

    document_id: NotBlank = make_text_field(
        "The drive's id of the document, or a URL with `/file/d/ID` or `?id=ID` in it.",
        "LYWNjb3VudHMvMjAyNS5wZGY",
        max_length=LONGEST_NAME,
    )


class IndexOfFolder(Body):
    """The folder to index, and how deep."""

    cloud_drive_folder: NotBlank = make_text_field(
        "The folder's id, or a URL with `/folders/ID` in it. `root` is the local drive's root.",
        "root",
        max_length=LONGEST_NAME,
    )
    recursive: bool | None = Field(
        default=True, description="Whether subfolders are included; true by default.", examples=[True]
    )


@post(
    "/document-text",
    status_code=200,
    **describe("document_text"),
)
async def text(data: JSONBody[TextOfDocument], calls: NamedDependency[Calls]) -> Response[DocumentText]:
    answer = await calls(document_text, data.document_id)
    return take_answered(answer)


@post(
    "/document-index",
    status_code=200,
    **describe("document_index"),
)
async def index(data: JSONBody[IndexOfFolder], calls: NamedDependency[Calls]) -> Response[DocumentIndex]:
    folder, recursive = data.cloud_drive_folder, data.recursive is not False

    async def answer() -> list[bytes]:
        indexed = await calls(index_folder_in_pieces, folder, recursive=recursive)
        return await calls.here(list, indexed.pieces())

    pieces = await calls.shared((folder, recursive), answer)
    # The declared type is that of what is streamed.
    return Stream(iter(pieces), media_type=MediaType.JSON)  # type: ignore[return-value]


_CHUNK = 256 * 1024
_SHOWN = {"application/pdf", "text/plain"}
_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'"
# A browser's own PDF viewer does not start in a sandbox; a PDF cannot run scripts of this origin.
_PDF_POLICY = "default-src 'none'; object-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'"


class RangeNotSatisfiable(DiligenceError):
    """The range that was asked for begins after the document's end. `size` is in bytes."""

    status, slug, title = 416, "range-not-satisfiable", "Range not satisfiable"

    def __init__(self, size: int) -> None:
        super().__init__("The range lies outside the document.")
        self.size = size

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Range": f"bytes */{self.size}"}


@get(
    "/{document_id:str}/view",
    media_type="application/octet-stream",
    **describe("view_document"),
)
async def view(request: Request[None, None, State], document_id: FromPath[str]) -> Stream:
    return await stream(request, *await to_thread.run_sync(_open, document_id))


async def stream(request: Request[None, None, State], document: Document, content: BinaryIO, size: int) -> Stream:
    """A document as an answer, whole or the range that was asked for; `size` is in bytes. Closes the file."""
    try:
        span = None if "If-Range" in request.headers else parse_range(request.headers.get("Range"), size)
        head = await to_thread.run_sync(content.read, _CHUNK)
        start, end = span or (0, size)
        await to_thread.run_sync(content.seek, start)
    except BaseException:
        content.close()
        raise
    headers = {**_headers(document, head), "Accept-Ranges": "bytes", "Content-Length": str(end - start)}
    if span:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    length = 0 if request.scope["state"].get(HEAD) else end - start
    return Stream(_pieces(content, length), headers=headers, status_code=206 if span else 200)


def parse_range(header: str | None, size: int) -> tuple[int, int] | None:
    """The range of a document of `size` bytes that a Range header asks for: start, and end (exclusive).

    None where there is no range, or more than one (a server may then send the whole, RFC 9110).

    Raises:
        RangeNotSatisfiable: it lies behind the end.
    """
    match = re.fullmatch(r"bytes=([0-9]{0,18})-([0-9]{0,18})", header.strip()) if header else None
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return None
    if start >= size:
        raise RangeNotSatisfiable(size)
    return start, end


def _open(document_id: str) -> tuple[Document, BinaryIO, int]:
    """The document, its open file, and the file's size in bytes."""
    drive = open_drive()
    document = drive.document(document_id)
    content = drive.open(document_id)
    return document, content, content.seek(0, SEEK_END) + content.seek(0)


async def _pieces(content: BinaryIO, length: int) -> AsyncIterator[bytes]:
    try:
        while length > 0 and (piece := await to_thread.run_sync(content.read, min(_CHUNK, length))):
            length -= len(piece)
            yield piece
    finally:
        content.close()


def _headers(document: Document, head: bytes) -> dict[str, str]:
    """The headers for the browser: the type, whether to show or save it, and to run nothing."""
    shown = document.mime_type in _SHOWN
    charset = "; charset=utf-8" if document.mime_type == "text/plain" and _is_utf8(head) else ""
    return {
        "Content-Type": (document.mime_type if shown else "application/octet-stream") + charset,
        "Content-Disposition": disposition("inline" if shown else "attachment", document.name),
        "Content-Security-Policy": _PDF_POLICY if document.mime_type == "application/pdf" else _POLICY,
    }


def disposition(kind: str, name: str) -> str:
    """A Content-Disposition header (RFC 6266): the name in ASCII, and the name as it is for clients that read it."""
    plain = re.sub(r"[^A-Za-z0-9 ._()+-]", "_", name)
    return f"{kind}; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def _is_utf8(head: bytes) -> bool:
    """Whether the beginning of the text is UTF-8; its last character may be truncated. If it is not, browsers guess
    better.
    """
    try:
        getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return b"\0" not in head
