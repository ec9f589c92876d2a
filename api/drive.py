"""Extract Document Text and Document Index over HTTP."""

from functools import lru_cache, partial
from typing import Any, Final

from litestar import HttpMethod, MediaType, Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from litestar.response import Stream
from pydantic import Field

from api.answers import LONG, KeptBodies, answered
from api.auth import CALLER, GuardedHandler
from api.openapi import failures
from api.requests import LONGEST_NAME, Body, Calls, NotBlank, read_json, required_text
from api.settings import ApiSettings
from tasks.documents.extract import formats
from tasks.documents.index import indexed_folder
from tasks.documents.index_answer import DocumentIndex
from tasks.documents.texts import DocumentText, document_text, recent_text


class TextOfDocument(Body):
    """Which document to read."""

    document_id: NotBlank = required_text(
        "The drive's id of the document, or a URL with `/file/d/ID` or `?id=ID` in it.",
        "LYWNjb3VudHMvMjAyNS5wZGY",
        max_length=LONGEST_NAME,
    )


class IndexOfFolder(Body):
    """Which folder to index, and how deep."""

    cloud_drive_folder: NotBlank = required_text(
        "The folder's id, or a URL with `/folders/ID` in it. `root` is the local drive's root.",
        "root",
        max_length=LONGEST_NAME,
    )
    recursive: bool | None = Field(
        default=True, description="Whether subfolders are indexed too; true when not given.", examples=[True]
    )


_BODIES: Final = KeptBodies(32 * 1024 * 1024)


async def remembered(body: bytes, state: dict[str, Any]) -> bytes | None:
    """The answer for a document on a disk whose text is in memory; None where it has to be asked for as any other is.

    What Litestar and pydantic would do with a request's body is known from an earlier one of the same bytes.

    Raises:
        DiligenceError: as `document_text`.
    """
    if state.get(CALLER) or ApiSettings.current().track_calls != "off":
        return None
    document_id = _document_in(body)
    recent = recent_text(document_id) if document_id is not None else None
    if recent is None or len(recent.text) > LONG:
        return None
    return _BODIES.body(document_id, recent.text, partial(recent.__pydantic_serializer__.to_json, recent))


@lru_cache(maxsize=1024)
def _document_in(body: bytes) -> str | None:
    """The document that a body asks for; None where it is wrong, which is told where it is read as any other."""
    try:
        return TextOfDocument.model_validate(read_json(body)).document_id
    except ValueError:
        return None


@GuardedHandler(
    "/document-text",
    http_method=HttpMethod.POST,
    status_code=200,
    operation_id="document_text",
    tags=["Documents"],
    summary="Extract Document Text",
    description=f"The entire text of one document ({', '.join(formats.names())} and their variants) in reading order.",
    response_description="The document's text. That of a scan is recognised where Tesseract is installed, else empty.",
    responses=failures(400, 401, 403, 404, 413, 415, 422, 429, 500, 502, 503, 504),
)
async def text(data: JSONBody[TextOfDocument], calls: NamedDependency[Calls]) -> Response[DocumentText]:
    answer = await calls(document_text, data.document_id)
    return answered(answer)


@post(
    "/document-index",
    status_code=200,
    operation_id="document_index",
    tags=["Documents"],
    summary="Document Index",
    description="The documents and folders below a folder, with their metadata, grouped by first-level subfolder.",
    response_description="The index. `incomplete` and `warnings` stand in it only where there are any.",
    responses=failures(400, 401, 403, 404, 413, 415, 429, 500, 502, 503, 504),
)
async def index(data: JSONBody[IndexOfFolder], calls: NamedDependency[Calls]) -> Response[DocumentIndex]:
    indexed = await calls(indexed_folder, data.cloud_drive_folder, recursive=data.recursive is not False)
    # The declared type is that of what is streamed.
    return Stream(indexed.pieces(), media_type=MediaType.JSON)  # type: ignore[return-value]
