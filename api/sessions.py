"""Sessions of browsers: the cookie that stands for a login at Google, and what it may be used for.

A cookie is sent by the browser whether the user meant it or not. So it opens document operations only,
and a request that changes or asks something must come from a page of this service.
"""

import secrets
from typing import Any, Literal
from urllib.parse import urlsplit

from anyio import to_thread
from litestar.connection import ASGIConnection
from litestar.datastructures import Cookie

from storage import database, logins
from storage.logins import LONGEST_LOGIN, LONGEST_SESSION, StoredLogin
from tasks.documents.drive.identity import Login
from tasks.documents.settings import DocumentSettings
from tasks.errors import NotAllowed, NotLoggedIn

Connection = ASGIConnection[Any, Any, Any, Any]
Name = Literal["session", "login"]

_LASTS = {"session": LONGEST_SESSION, "login": LONGEST_LOGIN}
_SAFE = {"GET", "HEAD", "OPTIONS"}


def name_of(name: Name) -> str:
    """What the cookie is called here. With the prefix browsers take it from this very host and over HTTPS only."""
    return f"__Host-diligence-{name}" if _is_https() else f"diligence-{name}"


def cookie(name: Name, value: str) -> Cookie:
    """The cookie that is set: for this host alone, out of scripts' reach, over HTTPS only where there is HTTPS.

    Lax: it comes along when Google sends the browser back, and with no request that another site's page makes.
    """
    age = int(_LASTS[name].total_seconds())
    return Cookie(
        key=name_of(name), value=value, max_age=age, path="/", httponly=True, samesite="lax", secure=_is_https()
    )


def gone(name: Name) -> Cookie:
    """The cookie that removes the cookie."""
    return Cookie(key=name_of(name), value="", max_age=0, path="/", httponly=True, samesite="lax", secure=_is_https())


def value_of(connection: Connection, name: Name) -> str | None:
    """What the browser sent as that cookie."""
    return connection.cookies.get(name_of(name)) or None


async def begin_session(login: StoredLogin) -> str:
    """Keep the login and give the secret of a new session: never one that the browser brought along."""
    secret = secrets.token_urlsafe(32)

    def keep() -> None:
        with database.writing() as session:
            logins.start_session(session, secret, login)

    await to_thread.run_sync(keep)
    return secret


async def end_session(connection: Connection) -> None:
    """End the browser's session, if it has one."""
    secret = value_of(connection, "session")

    def end(secret: str) -> None:
        with database.writing() as session:
            logins.end_session(session, secret)

    if secret:
        await to_thread.run_sync(end, secret)


async def login_of(connection: Connection) -> StoredLogin | None:
    """The login whose session the browser's cookie stands for; None without a cookie.

    Raises:
        NotLoggedIn: the session has ended, or the login was revoked.
        NotAllowed: a page of another site sends the request.
    """
    secret = value_of(connection, "session")
    if secret is None:
        return None
    check_site(connection)
    login = await to_thread.run_sync(_find, secret)
    if login is None:
        raise NotLoggedIn("Your session has ended. Log in again at /login.")
    if login.revoked_at is not None:
        raise NotLoggedIn("Your Google login has expired or was revoked. Log in again at /login.")
    return login


async def identity_of(connection: Connection) -> Login | None:
    """Whom the browser's session acts as; None without a session cookie. Raises as `login_of`."""
    login = await login_of(connection)
    return None if login is None or login.id is None else Login(login.id)


def check_site(connection: Connection) -> None:
    """What acts by a cookie must come from a page of this service, or from no page at all.

    Raises:
        NotAllowed: the browser says that another site's page sends it.
    """
    if connection.scope["method"] in _SAFE:  # type: ignore[typeddict-item] # a WebSocket has none; there are none
        return
    site, origin = connection.headers.get("sec-fetch-site"), connection.headers.get("origin")
    ours = {connection.headers.get("host", "").lower(), urlsplit(DocumentSettings.current().base_url).netloc.lower()}
    # Ports and subdomains of the same host are "same-site", and somebody else's all the same.
    if site not in (None, "same-origin", "none") or (origin is not None and _host(origin) not in ours):
        raise NotAllowed("Pages of other sites may not act with your login.")


def _find(secret: str) -> StoredLogin | None:
    with database.reading() as session:
        found = logins.find_session(session, secret)
    if found is None:
        return None
    if logins.wants_noting(found[0]):
        with database.writing() as session:
            logins.note_use(session, secret)
    return found[1]


def _host(origin: str) -> str | None:
    """Host and port of an origin; None of one that is opaque ("null") or no origin."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _is_https() -> bool:
    return DocumentSettings.current().base_url.lower().startswith("https://")
