"""Logging in with a drive account in the browser: the login pages, and the cookies and sessions behind them.

The routes come first: to the drive's login page, back from it, who is logged in, and log out. Below them stand the
cookies, the sessions, and the check that a request comes from our own pages. Programs use none of this: they send
`Authorization: Bearer`.

A session is known by a cookie, and browsers send a cookie with every request, even one that another site's page makes.
So the cookie grants access to document operations only, and a request other than GET must come from our own pages.
"""

import re
import secrets
from collections.abc import Callable, Mapping
from html import escape
from typing import Annotated, Any, Literal, TypeVar
from urllib.parse import quote, urlsplit

from anyio import to_thread
from litestar import Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie, State
from litestar.params import QueryParameter
from litestar.response import Redirect
from sqlmodel import Session

from api.problems import page
from storage import database, logins
from storage.logins import LONGEST_LOGIN, LONGEST_SESSION, BrowserSession, StoredLogin, User, Whose
from tasks.documents.drive.drive import AccountAccess, DocumentSettings, Login, LoginResult, LoginStart, base_path
from tasks.documents.drive.registry import account_access, choose_drive, descriptions, load_login_flow
from tasks.errors import BadRequest, NotAllowed, NotFound, NotLoggedIn

Connection = ASGIConnection[Any, Any, Any, Any]
Name = Literal["session", "login", "form"]
Owner = TypeVar("Owner", StoredLogin, User)

_LASTS = {"session": LONGEST_SESSION, "login": LONGEST_LOGIN, "form": LONGEST_SESSION}
_SAFE = {"GET", "HEAD", "OPTIONS"}
HERE = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]{0,1000}")  # "//host" and "/\host" lead to other sites
_YOU = "/login/you"


@get("/login", include_in_schema=False)
async def login(then: Annotated[str | None, QueryParameter(name="next")] = None) -> Redirect:
    """Redirect to the drive's login page; a cookie ties the answer to this browser."""
    if choose_drive().accounts is None:
        return Redirect(f"{base_path()}/login/password" + (f"?next={quote(then)}" if then else ""), status_code=303)
    accounts = _accounts()
    if then is not None and HERE.fullmatch(then) is None:
        raise BadRequest("next must be a path of this service.", {"next": "must be a path that begins with one /"})
    start = await to_thread.run_sync(_begin, accounts, then or _YOU)
    return Redirect(start.url, status_code=302, cookies=[cookie("login", start.note)])


@get("/login/callback", include_in_schema=False)
async def callback(request: Request[None, None, State]) -> Response[Any]:
    """Take the answer of the drive's login page, start a session, and redirect to the page that the user wanted."""
    accounts = _accounts()
    granted = dict(request.query_params.items())
    try:
        result = await to_thread.run_sync(_finish, accounts, read_cookie(request, "login"), granted)
    except (BadRequest, NotAllowed) as error:
        answer = page("Not logged in", f'<p>{escape(error.message)}</p><p><a href="{base_path()}/login">Log in</a></p>')
        answer.status_code = error.status
        answer.cookies = [cookie("login", None)]
        return answer
    await end_session(request)
    secret = await begin_session(result.login)
    return Redirect(
        base_path() + result.then, status_code=303, cookies=[cookie("session", secret), cookie("login", None)]
    )


@get(_YOU, include_in_schema=False)
async def you(request: Request[None, None, State]) -> Response[str]:
    """Show who is logged in."""
    if choose_drive().accounts is None:
        user = await user_of(request)
        name = None if user is None else user.name
    else:
        stored = await find_login(request)
        name = None if stored is None else stored.account or ""
    if name is None:
        where = "/login" if choose_drive().accounts is not None else "/login/password"
        return page("Not logged in", f'<p><a href="{base_path()}{where}">Log in</a></p>')
    who = f" as {escape(name)}" if name else ""
    return page(
        "Logged in",
        f'<p>You are logged in{who}.</p><p><a href="{base_path()}/">The runs</a></p>'
        f'<form method="post" action="{base_path()}/logout"><button>Log out</button></form>',
    )


@post("/logout", status_code=200, include_in_schema=False)
async def logout(request: Request[None, None, State]) -> Response[str]:
    """End the session; a login that no other session uses is deleted with its token."""
    check_site(request)
    await end_session(request)
    answer = page("Logged out", f'<p>You are logged out.</p><p><a href="{base_path()}/login">Log in</a></p>')
    answer.cookies = [cookie("session", None)]
    return answer


def _accounts() -> AccountAccess:
    """The accounts that the configured drive has.

    Raises:
        NotFound: the drive has no accounts to log in with.
    """
    drive = choose_drive()
    if drive.accounts is None:
        titles = " and ".join(description.title for description in descriptions() if description.accounts)
        raise NotFound(f"Only {titles} has logins; this service reads the {drive.name} drive (DILIGENCE_DRIVE).")
    return drive.accounts


def _begin(accounts: AccountAccess, then: str) -> LoginStart:
    return load_login_flow(accounts).begin(f"{_base_url().rstrip('/')}/login/callback", then)


def _finish(accounts: AccountAccess, note: str | None, answer: Mapping[str, str]) -> LoginResult:
    return load_login_flow(accounts).finish(note, answer, Whose.WEB)


def cookie_name(name: Name) -> str:
    """What the cookie is called here. With the prefix browsers take it from this very host and over HTTPS only.

    It then goes to every path of the host (RFC 6265bis, 4.1.3.2), so the service's own path is in the name: another
    service beside it has other cookies.
    """
    own = "diligence" + re.sub(r"\W+", "-", base_path())
    return f"__Host-{own}-{name}" if _is_https() else f"{own}-{name}"


def cookie(name: Name, value: str | None) -> Cookie:
    """The cookie to set: for this host only, hidden from scripts, and over HTTPS only where the service uses HTTPS.
    With None the browser deletes it.

    SameSite is Lax: it is sent when the drive's login page sends the browser back, but not with requests that another
    site's page makes.
    """
    age = int(_LASTS[name].total_seconds()) if value is not None else 0
    return Cookie(
        key=cookie_name(name),
        value=value or "",
        max_age=age,
        path="/",
        httponly=True,
        samesite="lax",
        secure=_is_https(),
    )


def read_cookie(connection: Connection, name: Name) -> str | None:
    """The value that the browser sent for that cookie."""
    return connection.cookies.get(cookie_name(name)) or None


async def begin_session(login: StoredLogin | User) -> str:
    """Store the login or the person, and return the secret of a new session; a secret from the
    browser is never reused.
    """
    secret = secrets.token_urlsafe(32)

    def keep() -> None:
        with database.writing() as session:
            if isinstance(login, StoredLogin):
                logins.start_session(session, secret, login)
            else:
                logins.start_user_session(session, secret, login.id or 0)

    await to_thread.run_sync(keep)
    return secret


async def end_session(connection: Connection) -> None:
    """End the browser's session, if it has one."""
    secret = read_cookie(connection, "session")

    def end(secret: str) -> None:
        with database.writing() as session:
            logins.end_session(session, secret)

    if secret:
        await to_thread.run_sync(end, secret)


async def find_login(connection: Connection) -> StoredLogin | None:
    """The login behind the browser's session cookie; None without a cookie.

    Raises:
        NotLoggedIn: the session has ended, or the login was revoked.
        NotAllowed: a page of another site sends the request.
    """
    secret = read_cookie(connection, "session")
    if secret is None:
        return None
    check_site(connection)
    login = await to_thread.run_sync(_find, secret, logins.find_session)
    if login is None:
        raise NotLoggedIn("Your session has ended. Log in again at /login.")
    if login.revoked_at is not None:
        accounts = account_access()
        raise NotLoggedIn(f"Your {accounts.provider} login has expired or was revoked. Log in again at /login.")
    return login


async def user_of(connection: Connection) -> User | None:
    """The person behind the browser's session cookie; None if there is none.

    Raises:
        NotAllowed: a page of another site sends the request.
    """
    secret = read_cookie(connection, "session")
    if secret is None:
        return None
    check_site(connection)
    return await to_thread.run_sync(_find, secret, logins.find_user_session)


async def find_identity(connection: Connection) -> Login | None:
    """The account that the browser's session acts for; None without a session cookie. Raises as `find_login`."""
    login = await find_login(connection)
    return None if login is None or login.id is None else Login(login.id)


def check_site(connection: Connection) -> None:
    """Refuse a request that relies on a cookie unless it comes from one of our pages, or from no page at all.

    Raises:
        NotAllowed: the browser says that another site's page sends it.
    """
    if connection.scope["method"] in _SAFE:  # type: ignore[typeddict-item] # a WebSocket has none; there are none
        return
    site, origin = connection.headers.get("sec-fetch-site"), connection.headers.get("origin")
    ours = {connection.headers.get("host", "").lower(), urlsplit(_base_url()).netloc.lower()}
    # Ports and subdomains of the same host are "same-site", and somebody else's all the same.
    if site not in (None, "same-origin", "none") or (origin is not None and _host(origin) not in ours):
        raise NotAllowed("Pages of other sites may not use your login.")


def _find(secret: str, find: Callable[[Session, str], tuple[BrowserSession, Owner] | None]) -> Owner | None:
    """Whose session has this secret; that it is in use is noted."""
    with database.reading() as session:
        found = find(session, secret)
    if found is None:
        return None
    web_session, owner = found
    if logins.wants_noting(web_session):
        with database.writing() as session:
            logins.note_use(session, secret, type(web_session))
    return owner


def _host(origin: str) -> str | None:
    """Host and port of an origin; None for an opaque origin ("null") or no origin."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _base_url() -> str:
    return DocumentSettings.current().base_url


def _is_https() -> bool:
    return _base_url().lower().startswith("https://")
