"""The five operations over HTTP, and a local document as a file.

A file is what its `document_url` leads to, under the same rights as its text.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import AsyncIterator
from os import SEEK_END
from typing import Annotated, Any, BinaryIO, Final, Literal
from urllib.parse import quote

from anyio import to_thread
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, QueryParameter
from litestar.response import Stream
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from api.front import HEAD
from api.requests import LONGEST_NAME, Body, Calls, NotBlank, describe, make_text_field, take_answered
from tasks.answers import AiAnswer, ai_question
from tasks.companies.claims import Claim, ClaimConflict
from tasks.companies.facts import company_facts
from tasks.companies.profile import CompanyProfile
from tasks.companies.question import CompanyAnswer, company_question
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


DOMAIN_PATTERN: Final = r"^\s*[^\s/\\:@?#\[\]]+[.\u3002\uff0e\uff61][^\s/\\:@?#\[\]]+\s*$"
"""What the schema says of a domain: a name and an ending, parted by a dot. Which endings there are it cannot say."""


class FactsOfCompany(Body):
    """The company to look up."""

    domain: NotBlank = make_text_field(
        "The company's web domain: name and ending, no scheme, path, subdomain or port.",
        "alpha.example",
        max_length=LONGEST_NAME,
        pattern=DOMAIN_PATTERN,
    )


class FactsAnswer(BaseModel):
    """What is known about the company; claims, conflicts and warnings only if they were asked for."""

    profile: CompanyProfile
    claims: list[Claim] | None = None
    conflicts: list[ClaimConflict] | None = None
    warnings: list[str] | None = None


@post(
    "/get-core-fields",
    status_code=200,
    **describe("get_company_facts"),
)
async def facts(
    data: JSONBody[FactsOfCompany],
    calls: NamedDependency[Calls],
    include: Annotated[
        Literal["claims"] | None, QueryParameter(description="`claims` adds `claims`, `conflicts` and `warnings`.")
    ] = None,
) -> Response[FactsAnswer]:
    answer = await calls(company_facts, data.domain)
    # The declared type is that of the part of it which is written.
    return take_answered(answer, include=None if include else {"profile"})


class _TwoValues:
    """Stands for two different values of one thing; `also` is the second one's name."""

    def __init__(self, also: str) -> None:
        self.also = also


def _reject_two_values(value: object) -> object:
    if isinstance(value, _TwoValues):
        raise PydanticCustomError("two_values", "Differs from {also}, which means the same", {"also": value.also})
    return value


class QuestionAboutCompany(Body):
    """A question about a company. Two of its fields may also be sent under the names of the contract's sample."""

    question_prompt: Annotated[NotBlank, BeforeValidator(_reject_two_values)] = make_text_field(
        "The question. May be sent as `question` instead.",
        "Who are its main customers?",
        names=AliasChoices("question_prompt", "question"),
    )
    company_name: str | None = Field(
        None,
        max_length=LONGEST_NAME,
        description="The company's common name, rather than its full legal one.",
        examples=["Alpha"],
    )
    company_domain: Annotated[str | None, BeforeValidator(_reject_two_values)] = Field(
        None,
        max_length=LONGEST_NAME,
        validation_alias=AliasChoices("company_domain", "web_domain"),
        description="The company's web domain, which identifies it. May be sent as `web_domain` instead.",
        json_schema_extra={"pattern": DOMAIN_PATTERN, "examples": ["alpha.example"]},
    )

    @model_validator(mode="before")
    @classmethod
    def _merge_second_names(cls, body: Any) -> Any:
        if not isinstance(body, dict):
            return body
        merged = dict(body)
        for name, also in (("question_prompt", "question"), ("company_domain", "web_domain")):
            first, second = body.get(name), body.get(also)
            if first is not None and second is not None and first != second:
                merged[name] = _TwoValues(also)
        return merged


@post(
    "/get-answer",
    status_code=200,
    **describe("ask_company_question"),
)
async def ask_company(data: JSONBody[QuestionAboutCompany], calls: NamedDependency[Calls]) -> Response[CompanyAnswer]:
    answer = await calls(company_question, data.question_prompt, data.company_name, data.company_domain)
    return take_answered(answer)


class AiQuestion(Body):
    """A question, and the text to answer it from."""

    question: NotBlank = make_text_field("The question.", "Is the revenue mostly recurring?")
    context: str | None = Field(
        None,
        description="Background that makes the answer more precise; may be long.",
        examples=["Alpha sells subscriptions. In 2025 these were 91 % of its revenue."],
    )


@post(
    "/question",
    status_code=200,
    **describe("ai_question"),
)
async def ask_question(data: JSONBody[AiQuestion], calls: NamedDependency[Calls]) -> Response[AiAnswer]:
    answer = await calls(ai_question, data.question, data.context)
    return take_answered(answer)
