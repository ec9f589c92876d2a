"""Logging in with a name and a password, where the drive has no accounts of its own."""

from typing import Annotated, Any

from anyio import to_thread
from litestar import Response, get, post
from litestar.params import QueryParameter

from api import login
from api.pages.shell import PageRequest, read_form, show, to
from api.settings import CallRate
from storage import database, logins
from storage.logins import User

_TRIES = CallRate(10, 60)
"""Wrong passwords for one name and address; a right one is then refused as well, until the window has passed."""


@get("/login/password", include_in_schema=False)
async def ask(request: PageRequest, then: Annotated[str | None, QueryParameter(name="next")] = None) -> Response[Any]:
    people = await to_thread.run_sync(_people)
    return show(request, "login.html", then=then or "/", has_people=bool(people), wrong=False)


@post("/login/password", include_in_schema=False, status_code=200)
async def check(request: PageRequest) -> Response[Any]:
    fields = await read_form(request)
    name, then = str(fields.get("name", ""))[:200], str(fields.get("next", "/"))
    _TRIES.check(f"{name} from {request.client.host if request.client else ''}")
    user = await to_thread.run_sync(_user, name, str(fields.get("password", ""))[:1000])
    if user is None:
        answer = show(request, "login.html", then=then, has_people=True, wrong=True)
        answer.status_code = 401
        return answer
    await login.end_session(request)
    redirect = to(then if login.HERE.fullmatch(then) else "/")
    redirect.cookies = [login.cookie("session", await login.begin_session(user))]
    return redirect


def _people() -> int:
    with database.reading() as session:
        return sum(user.password is not None for user in logins.all_users(session))


def _user(name: str, password: str) -> User | None:
    with database.reading() as session:
        return logins.check_password(session, name, password)


HANDLERS = [ask, check]
