"""Extract Document Text and Document Index over HTTP."""

from litestar import MediaType, Response, post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from litestar.response import Stream
from pydantic import Field

from api.answers import answered
from api.openapi import failures
from api.requests import LONGEST_NAME, Body, Calls, NotBlank, required_text
from tasks.documents.index import indexed_folder
from tasks.documents.index_answer import DocumentIndex
from tasks.documents.texts import DocumentText, document_text
from tasks.reading import formats


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


@post(
    "/document-text",
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
