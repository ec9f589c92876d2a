"""Logging in with a Google account in the browser: there, back, who it is, out again.

Small pages for people; programs send `Authorization: Bearer` instead.
"""

import re
from html import escape
from typing import Annotated, Any

from anyio import to_thread
from litestar import MediaType, Request, Response, get, post
from litestar.datastructures import State
from litestar.params import QueryParameter
from litestar.response import Redirect

from api import sessions
from storage.logins import Whose
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest, NotAllowed, NotFound

_HERE = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]{0,1000}")  # "//host" and "/\host" lead to other sites
_YOU = "/login/you"


@get("/login", include_in_schema=False)
async def login(then: Annotated[str | None, QueryParameter(name="next")] = None) -> Redirect:
    """To Google, with a note in a cookie that binds the answer to this browser."""
    _check_drive()
    if then is not None and _HERE.fullmatch(then) is None:
        raise BadRequest("next must be a path of this service.", {"next": "must be a path that begins with one /"})
    from tasks.documents.drive.google import oauth  # noqa: PLC0415 - 0.3 s, for services on Google Drive

    begun = await to_thread.run_sync(oauth.begin, _redirect_uri(), then or _YOU)
    return Redirect(begun.url, status_code=302, cookies=[sessions.cookie("login", begun.note)])


@get("/login/callback", include_in_schema=False)
async def callback(request: Request[None, None, State]) -> Response[Any]:
    """Back from Google: a new session, and on to where the user wanted to go."""
    _check_drive()
    from tasks.documents.drive.google import oauth  # noqa: PLC0415 - see above

    answer = dict(request.query_params.items())
    try:
        finished = await to_thread.run_sync(oauth.finish, sessions.value_of(request, "login"), answer, Whose.WEB)
    except (BadRequest, NotAllowed) as error:
        page = _page("Not logged in", f'<p>{escape(error.message)}</p><p><a href="/login">Log in</a></p>')
        page.status_code = error.status
        page.cookies = [sessions.gone("login")]
        return page
    await sessions.end_session(request)
    secret = await sessions.begin_session(finished.login)
    return Redirect(
        finished.then, status_code=303, cookies=[sessions.cookie("session", secret), sessions.gone("login")]
    )


@get(_YOU, include_in_schema=False)
async def you(request: Request[None, None, State]) -> Response[str]:
    """Who is logged in."""
    _check_drive()
    found = await sessions.login_of(request)
    if found is None:
        return _page("Not logged in", '<p><a href="/login">Log in</a></p>')
    who = f" as {escape(found.account)}" if found.account else ""
    return _page(
        "Logged in",
        f'<p>You are logged in{who}.</p><p><a href="/schema">The operations</a></p>'
        '<form method="post" action="/logout"><button>Log out</button></form>',
    )


@post("/logout", status_code=200, include_in_schema=False)
async def logout(request: Request[None, None, State]) -> Response[str]:
    """The session ends; a login that no other session uses is forgotten with its token."""
    _check_drive()
    sessions.check_site(request)
    await sessions.end_session(request)
    page = _page("Logged out", '<p>You are logged out.</p><p><a href="/login">Log in</a></p>')
    page.cookies = [sessions.gone("session")]
    return page


def _check_drive() -> None:
    if DocumentSettings.current().drive != "google":
        raise NotFound("Logins are for Google Drive; this service's documents are local (DILIGENCE_DRIVE).")


def _redirect_uri() -> str:
    return DocumentSettings.current().base_url.rstrip("/") + "/login/callback"


def _page(title: str, body: str) -> Response[str]:
    """A page of the service; what stands in `body` is escaped already."""
    return Response(
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f'<title>{title}</title><link rel="icon" href="/static/icon.svg"><link rel="stylesheet" '
        f'href="/static/pages.css"><main><h1>{title}</h1>{body}</main></html>',
        media_type=MediaType.HTML,
        headers={"Referrer-Policy": "same-origin"},  # without one browsers hide where its form comes from, too
    )
