"""Every failure as `application/problem+json` (RFC 9457), and as a page where a browser asks for one.

Every exception is first turned into a class of tasks/errors.py, which knows its status, its title and the sentence for
the user. Of an exception that is not ours, only its class and the places that it passed reach an answer or the log: its
message may contain what was sent.

Pages have the look of the reports. Those that people work in are in `api.pages`; what the login and the errors also
need is here.
"""

import logging
import re
from functools import lru_cache, singledispatch
from html import escape, unescape
from pathlib import Path
from traceback import clear_frames
from typing import Any, Final
from urllib.parse import quote

import pydantic
from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from litestar import MediaType, Request, Response
from litestar.exceptions import HTTPException, MethodNotAllowedException, ValidationException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge
from litestar.response import Redirect
from litestar.status_codes import HTTP_404_NOT_FOUND
from markupsafe import Markup
from pydantic import BaseModel, Field
from pydantic_settings import SettingsError

from api.settings import ApiSettings
from storage.errors import DatabaseUnavailable
from storage.logs import trace_places
from storage.settings import Settings
from tasks.documents.drive.drive import base_path
from tasks.documents.drive.registry import choose_drive
from tasks.errors import BadRequest, DiligenceError, NotConfigured, NotFound, NotLoggedIn, TooLarge, Unavailable
from tasks.reports import html, live

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:diligence:problem:"
_EXPECTED = re.compile(r"Expected `(\w+)(?: \| null)?`(?: >= (\S+)| <= (\S+)|, got `.*`)?")
_KINDS = {"int": "a whole number", "float": "a number", "bool": "true or false", "str": "a string"}
NOTHING_HERE = "There is nothing at this path. /schema lists the operations."


class MethodNotAllowed(DiligenceError):
    """The path exists but does not take this method. `allow` lists the methods that it takes."""

    status, slug, title = 405, "method-not-allowed", "Method not allowed"

    def __init__(self, allow: str) -> None:
        super().__init__(f"This path allows {allow} only.")
        self.allow = allow

    @property
    def headers(self) -> dict[str, str]:
        return {"Allow": self.allow}


class FieldProblem(BaseModel):
    """What is wrong with one field of the request."""

    field: str = Field(description="The field's name.", examples=["document_id"])
    message: str = Field(description="What is wrong with it.", examples=["Field required"])


class Problem(BaseModel):
    """Why a request failed, and what to do about it (RFC 9457)."""

    type: str = Field(
        description=f"A stable name of the kind of problem: `{TYPE_PREFIX}` and its last part.",
        examples=[f"{TYPE_PREFIX}bad-request"],
    )
    title: str = Field(description="The kind of problem in words.", examples=["Bad request"])
    status: int = Field(description="The HTTP status.", examples=[400])
    detail: str = Field(
        description="What happened this time, and what to do.", examples=["document_id: Field required."]
    )
    errors: list[FieldProblem] | None = Field(
        None, description="Each bad field of the request; present when there are any."
    )


def problem(error: DiligenceError) -> dict[str, Any]:
    """The body of the answer for an error, as JSON values."""
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + error.slug,
        "title": error.title,
        "status": error.status,
        "detail": error.message,
    }
    if isinstance(error, BadRequest) and error.fields:
        body["errors"] = [{"field": name, "message": message} for name, message in error.fields.items()]
    return body


def respond(request: Request[Any, Any, Any], raised: Exception) -> Response[dict[str, Any]]:
    """The answer to a request that failed with `raised`; failures on our side are also logged."""
    error = ours(raised)
    if error.status >= 500:
        where = request.scope.get("path_template", "")
        places = " < ".join(trace_places(raised)) if error.status == 500 else ""
        logger.log(
            logging.ERROR if error.status == 500 else logging.WARNING,
            "%s %s: %d, %s%s",
            *(request.method, where, error.status, type(raised).__qualname__, places and f" at {places}"),
        )
    _let_go(raised)
    return Response(problem(error), status_code=error.status, headers=error.headers, media_type=MEDIA_TYPE)


def _let_go(raised: BaseException | None) -> None:
    """Release what the frames that an error passed hold: reference cycles keep it alive, with a text of up to 57 MB."""
    seen: list[BaseException] = []
    while raised is not None and raised not in seen:
        clear_frames(raised.__traceback__)
        seen.append(raised)
        raised = raised.__cause__ or raised.__context__


@singledispatch
def ours(raised: Exception) -> DiligenceError:  # noqa: ARG001 - a foreign exception's text stays inside
    """The error of our own tree that stands for what was raised."""
    return DiligenceError("Something went wrong inside the service. Its log has details. Trying again may help.")


@ours.register
def _(raised: DiligenceError) -> DiligenceError:
    return raised


@ours.register
def _(raised: DatabaseUnavailable) -> DiligenceError:
    return Unavailable(str(raised))


@ours.register
def _(raised: pydantic.ValidationError) -> DiligenceError:
    """A setting with a wrong value; any other failed validation is a mistake of ours."""
    settings = {room.__name__: room for room in Settings.__subclasses__()}.get(raised.title)
    if settings is None:
        return ours.dispatch(Exception)(raised)
    prefix = settings.model_config.get("env_prefix", "")
    sentences = []
    for error in raised.errors(include_input=False, include_url=False, include_context=False):
        name = str(error["loc"][0]) if error["loc"] else ""
        sentences.append(f"{(prefix if name in settings.model_fields else '') + name.upper()}: {error['msg']}")
    return NotConfigured(f"A setting has a wrong value. {'; '.join(sentences)}.")


@ours.register
def _(raised: SettingsError) -> DiligenceError:  # noqa: ARG001 - its message may hold the value
    return NotConfigured("A setting cannot be read. Run `diligence doctor` to see which one.")


@ours.register
def _(raised: HTTPException) -> DiligenceError:
    """What Litestar itself refuses."""
    if raised.status_code == 404:
        return NotFound(NOTHING_HERE)
    if 400 <= raised.status_code < 500:
        return BadRequest(f"{raised.detail.rstrip('.')}.")
    return ours.dispatch(Exception)(raised)


@ours.register
def _(raised: MethodNotAllowedException) -> DiligenceError:
    allowed = {name for name in (raised.headers or {}).get("allow", "").split(", ") if name}
    if "GET" in allowed:
        allowed.add("HEAD")
    return MethodNotAllowed(", ".join(sorted(allowed)))


@ours.register
def _(raised: RequestEntityTooLarge) -> DiligenceError:  # noqa: ARG001 - the message gives the limit only
    limit = ApiSettings.current().max_body_mb
    return TooLarge(f"The body is larger than {limit} MB. DILIGENCE_MAX_BODY_MB sets the limit.")


@ours.register
def _(raised: ValidationException) -> DiligenceError:
    """Fields of the body or the query that are missing or of the wrong type: each named."""
    wrong = [entry for entry in raised.extra or [] if isinstance(entry, dict)]
    fields = {str(entry["key"]): _in_words(str(entry["message"])) for entry in wrong if "key" in entry}
    if "data" in fields:  # Litestar's word for "no body at all"
        return BadRequest("The request has no body. Send a JSON object.")
    sentences = [f"{name}: {message}" for name, message in fields.items()]
    sentences += [str(entry["message"]) for entry in wrong if "key" not in entry]
    return BadRequest(f"{'; '.join(sentences) or raised.detail}.", fields)


def _in_words(message: str) -> str:
    """What msgspec says about a parameter, ``Expected `int | null` >= 1``, in the words that
    pydantic has for a field.
    """
    match = _EXPECTED.fullmatch(message)
    if match is None:
        return message
    kind, least, most = match.groups()
    bound = f" of at least {least}" if least else f" of at most {most}" if most else ""
    return f"Input should be {_KINDS.get(kind, 'something else')}{bound}"


TEMPLATES: Final = Path(__file__).parent / "templates"
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "same-origin",  # without one browsers hide where a form comes from, too
}
LOGIN_PAGE: Final = "login_page"
"""Set in a request's state where people log in with a password."""
_OWN_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the pages, with the filters, macros and wording of the reports."""
    of_reports = html.environment()
    pages = of_reports.overlay(loader=ChoiceLoader([FileSystemLoader(TEMPLATES), FileSystemLoader(html.TEMPLATES)]))
    pages.filters = of_reports.filters | {"same": lambda value: (value, value)}
    pages.globals = of_reports.globals | {"run_pages": live.PAGES}
    return pages


def render(template: str, **shown: Any) -> Response[str]:
    """A page, or a part of one, from a template in `api/pages/templates`; the template escapes all values.

    Every template has `root`, the path in front of the service's own paths.
    """
    shown = {"root": base_path(), "viewer": None, "token": ""} | shown
    content = environment().get_template(template).render(**shown)
    return Response(content, media_type=MediaType.HTML, headers=_HEADERS)


def page(title: str, body: str) -> Response[str]:
    """A short page of the service; `body` must be escaped already."""
    return render("message.html", title=title, body=Markup(body))  # noqa: S704 - see above


def with_own_policy(content: str) -> Response[str]:
    """A page of a report as an answer. Its own content policy is also sent as a header, and no
    other site may frame it.
    """
    policy = _OWN_POLICY.search(content)
    assert policy is not None
    headers = {"Content-Security-Policy": f"{unescape(policy[1])}; frame-ancestors 'none'"}
    return Response(content, media_type=MediaType.HTML, headers=headers)


def respond_with_page(request: Request[Any, Any, Any], raised: Exception) -> Response[Any]:
    """The answer to a request that failed with `raised`: as `respond`, but browsers get a page, or the login."""
    problem = respond(request, raised)
    if "text/html" not in request.headers.get("accept", ""):
        return problem
    error = ours(raised)
    has_login = choose_drive().accounts is not None or request.scope["state"].get(LOGIN_PAGE)
    if isinstance(error, NotLoggedIn) and has_login:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return Redirect(f"{base_path()}/login?next={quote(here)}", status_code=303)
    answer = page(error.title, f"<p>{escape(error.message)}</p>{_ways_on(request)}")
    answer.status_code = error.status
    answer.headers.update(error.headers)
    return answer


def respond_outside_of_operations(request: Request[Any, Any, Any], raised: Exception) -> Response[Any]:
    """As `respond`, but a browser that asks for an unknown path gets a page; in `/v1` it is always a problem."""
    if ours(raised).status == HTTP_404_NOT_FOUND and not request.url.path.startswith("/v1/"):
        return respond_with_page(request, raised)
    return respond(request, raised)


def _ways_on(request: Request[Any, Any, Any]) -> str:
    """Links from a page of a run that cannot be shown: to its report, unless it is the report, and to the home page."""
    run = request.scope.get("path_params", {}).get("run")
    report = f"/runs/{quote(str(run), safe='')}/report.html"
    has_report = run and request.url.path not in {report, f"/runs/{run}"}
    to_report = f'<a href="{base_path()}{escape(report)}">Back to the report</a>' if has_report else ""
    return f'<p class="ways">{to_report}<a href="{base_path()}/">To the first page</a></p>'
