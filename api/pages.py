"""Pages for people: in the look of the service, and failures as pages where a browser asks for one."""

import re
from html import escape, unescape
from typing import Any, Final
from urllib.parse import quote

from litestar import MediaType, Request, Response
from litestar.response import Redirect
from litestar.status_codes import HTTP_404_NOT_FOUND

from api.problems import ours, respond
from tasks.documents.drive.registry import configured_drive
from tasks.errors import NotLoggedIn

_OWN_POLICY: Final = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')


def page(title: str, body: str) -> Response[str]:
    """A page of the service; what stands in `body` is escaped already."""
    return Response(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title}</title><link rel="icon" href="/static/icon.svg"><link rel="stylesheet" '
        f'href="/static/pages.css"><main><h1>{title}</h1>{body}</main></html>',
        media_type=MediaType.HTML,
        headers={"Referrer-Policy": "same-origin"},  # without one browsers hide where its form comes from, too
    )


def with_own_policy(content: str) -> Response[str]:
    """A page of a report as an answer. The policy that stands in it is sent ahead too, and no other site frames it."""
    policy = _OWN_POLICY.search(content)
    assert policy is not None
    headers = {"Content-Security-Policy": f"{unescape(policy[1])}; frame-ancestors 'none'"}
    return Response(content, media_type=MediaType.HTML, headers=headers)


def respond_with_page(request: Request[Any, Any, Any], raised: Exception) -> Response[Any]:
    """The answer to a request that ended in `raised`: as `respond`, but a page, or the login, for a browser."""
    problem = respond(request, raised)
    if "text/html" not in request.headers.get("accept", ""):
        return problem
    error = ours(raised)
    if isinstance(error, NotLoggedIn) and configured_drive().accounts is not None:
        here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return Redirect(f"/login?next={quote(here)}", status_code=303)
    answer = page(error.title, f"<p>{escape(error.message)}</p>{_ways_on(request)}")
    answer.status_code = error.status
    answer.headers.update(error.headers)
    return answer


def respond_outside_of_operations(request: Request[Any, Any, Any], raised: Exception) -> Response[Any]:
    """As `respond`, but a page for a browser that asks for what is nowhere; in `/v1` it is always a problem."""
    if ours(raised).status == HTTP_404_NOT_FOUND and not request.url.path.startswith("/v1/"):
        return respond_with_page(request, raised)
    return respond(request, raised)


def _ways_on(request: Request[Any, Any, Any]) -> str:
    """Links from a page of a run that cannot be shown to its report, unless it is that, and to the first page."""
    run = request.scope.get("path_params", {}).get("run")
    report = f"/runs/{quote(str(run), safe='')}/report.html"
    has_report = run and request.url.path not in {report, f"/runs/{run}"}
    to_report = f'<a href="{escape(report)}">Back to the report</a>' if has_report else ""
    return f'<p class="ways">{to_report}<a href="/">To the first page</a></p>'
