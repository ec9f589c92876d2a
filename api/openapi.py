"""The OpenAPI document of the service and the page that shows it, both served from our own files."""

import json
import tomllib
from pathlib import Path
from typing import Any, Final

from litestar import MediaType, Request, Response, Router
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig, ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme, Server, Tag

from api import login
from api.auth import HEADER
from api.problems import MEDIA_TYPE, TYPE_PREFIX, Problem
from tasks.documents.drive.registry import account_access
from tasks.documents.settings import base_path
from tasks.reading import formats

STATIC = Path(__file__).parent / "static"
KEY_SCHEME = "ApiKey"
ACCOUNT_SCHEMES = ("Bearer", "Session")
"""What document operations take on a drive with accounts, either of them."""

_DESCRIPTION = f"""\
Five operations on data rooms and companies, each an HTTP POST with a JSON body.

Types are strict (`"false"` is not a boolean), unknown fields are ignored, and `null` stands for a field
that was not given. Every failure is `{MEDIA_TYPE}` (RFC 9457): `type` is `{TYPE_PREFIX}` and a stable
last part, `detail` says what to do, and `errors` names each bad field.
"""
_FAILURES: Final[dict[str, str]] = json.loads(Path(__file__).with_name("failures.json").read_text("utf-8"))


_OPERATIONS: Final[dict[str, dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("operations.toml").read_text("utf-8")
)


def describe(operation_id: str) -> dict[str, Any]:
    """What the OpenAPI document says of an operation, in the form in which its handler takes it."""
    said = dict(_OPERATIONS[operation_id])
    if "description" in said:
        said["description"] = said["description"].format(formats=", ".join(formats.names()))
    responses = {
        status: ResponseSpec(
            data_container=Problem, description=_FAILURES[str(status)], media_type=MEDIA_TYPE, generate_examples=False
        )
        for status in said.pop("failures", ())
    }
    return {"operation_id": operation_id, "responses": responses or None, **said}


_EXAMPLES: Final[dict[str, dict[str, Any]]] = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))
"""By the id of an operation its request and its answer."""


_SECOND_NAMES: Final[dict[str, Any]] = json.loads(Path(__file__).with_name("second_names.json").read_text("utf-8"))
"""What is said of the second names of a question's fields, which Litestar takes no notice of.

One of two names is required; a client's generator makes no type of a body with `anyOf`.
"""


class _Document(JsonRenderPlugin):
    """The OpenAPI document as JSON, with examples and what was written by hand."""

    def __init__(self) -> None:
        super().__init__(media_type=MediaType.JSON)

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        question = openapi_schema["components"]["schemas"]["QuestionAboutCompany"]
        question["properties"].update(_SECOND_NAMES["properties"])
        question.update({key: value for key, value in _SECOND_NAMES.items() if key != "properties"})
        operations = {one["operationId"]: one for path in openapi_schema["paths"].values() for one in path.values()}
        for name, example in _EXAMPLES.items():
            answered = operations[name]["responses"]["200"]
            operations[name]["requestBody"]["content"]["application/json"]["example"] = example["request"]
            answered["content"]["application/json"]["example"] = example["answer"]
        for operation in operations.values():
            for file in operation["responses"]["200"]["content"].keys() & {"application/octet-stream"}:
                operation["responses"]["200"]["content"][file]["schema"] = {"type": "string", "format": "binary"}
        return super().render(request, openapi_schema)


class _Page(OpenAPIRenderPlugin):
    """Our own Swagger UI page, which loads nothing from elsewhere."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:  # noqa: ARG002
        return (STATIC / "schema.html").read_bytes().replace(b'"/', b'"%s/' % base_path().encode())


async def _unknown_is_a_problem(response: Response[Any]) -> Response[Any]:
    """Litestar 2.25 answers unknown paths below /schema with a page of its own."""
    if response.status_code == 404:
        raise NotFoundException
    return response


def openapi() -> OpenAPIConfig:
    """What the OpenAPI document says about the service as a whole, and where it is served."""
    accounts = account_access()
    return OpenAPIConfig(
        title="diligence",
        version="1",  # of the contract, whose paths begin with /v1
        description=_DESCRIPTION,
        tags=[
            Tag("Documents", "What lies in the drive, and its text."),
            Tag("AI", "Questions to a model, or to the context itself where no model is configured."),
            Tag("Companies", "Facts and answers about a company from public sources."),
            Tag("Service", "Whether the service is up and has what it needs."),
        ],
        servers=[Server(base_path() or "/")],
        components=Components(
            security_schemes={
                KEY_SCHEME: SecurityScheme(
                    type="apiKey",
                    name=HEADER,
                    security_scheme_in="header",
                    description="One of DILIGENCE_API_KEYS. Without configured keys none is needed.",
                ),
                "Bearer": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description=accounts.token,
                ),
                "Session": SecurityScheme(
                    type="apiKey",
                    name=login.cookie_name("session"),
                    security_scheme_in="cookie",
                    description="The session of a browser that logged in at /login.",
                ),
            }
        ),
        openapi_router=Router(
            path="/schema", route_handlers=[], after_request=_unknown_is_a_problem, include_in_schema=False
        ),
        render_plugins=[_Document(), _Page(path="/")],
    )
