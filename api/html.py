"""HTML for people, in the look of the reports; failures become pages where a browser asks for one.

The pages that people work in are in `api.pages`; what the login and the errors also need is here.
"""

import re
from functools import lru_cache
from html import escape, unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, FileSystemLoader
from litestar import MediaType, Request, Response
from litestar.response import Redirect
from litestar.status_codes import HTTP_404_NOT_FOUND
from markupsafe import Markup

from api.problems import ours, respond
from tasks.documents.drive.registry import choose_drive
from tasks.documents.settings import base_path
from tasks.errors import NotLoggedIn
from tasks.reports import html, live

TEMPLATES: Final = Path(__file__).parent / "pages" / "templates"
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
