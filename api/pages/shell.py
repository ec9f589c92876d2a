"""What every page shares: who is looking at it, and the token that its forms send back.

The token proves that a form came from one of our pages, opened in the viewer's own browser. It is derived from a cookie
that no other site can read or set and, where there is one, from the session. (`login.check_site` also checks where a
request comes from.)
"""

import hmac
import secrets
from hashlib import sha256
from typing import Any

from litestar import Request, Response
from litestar.datastructures import FormMultiDict
from litestar.response import Redirect

from api import login
from api.auth import VIEWER
from api.html import render
from tasks.documents.settings import base_path
from tasks.errors import NotAllowed

PageRequest = Request[Any, Any, Any]
_FIELD = "token"


def show(request: PageRequest, template: str, **shown: Any) -> Response[str]:
    """A page for this viewer, made from a template. Its forms include the field `token`."""
    secret = login.read_cookie(request, "form") or secrets.token_urlsafe(24)
    viewer = request.scope["state"].get(VIEWER)
    answer = render(template, **{"viewer": viewer, "token": _token(request, secret), "path": request.url.path} | shown)
    if login.read_cookie(request, "form") is None:
        answer.cookies = [login.cookie("form", secret)]
    return answer


async def read_form(request: PageRequest) -> FormMultiDict:
    """The fields of a form from one of our pages.

    Raises:
        NotAllowed: it comes from elsewhere, or from a page that is too old.
    """
    login.check_site(request)
    fields = await request.form()
    secret, sent = login.read_cookie(request, "form"), str(fields.get(_FIELD, ""))
    if secret is None or not hmac.compare_digest(sent.encode(), _token(request, secret).encode()):
        raise NotAllowed("This form is too old, or was not sent by a page of this service. Load the page again.")
    return fields


def to(path: str) -> Redirect:
    """A redirect to a path of the service, after a form was handled."""
    return Redirect(base_path() + path, status_code=303)


def is_partial(request: PageRequest) -> bool:
    """Whether htmx is asking for a part of a page."""
    return request.headers.get("hx-request") == "true"


def _token(request: PageRequest, secret: str) -> str:
    return sha256(f"{secret}.{login.read_cookie(request, 'session') or ''}".encode()).hexdigest()
