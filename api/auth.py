"""Authentication: API keys and their limits, accounts of the drive, and the checks that replace keys on loopback.

Here are the keys in force, the rate limit of each caller, and the audit log of calls.
"""

import hmac
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from anyio import to_thread
from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from api import login as login_module
from api.problems import LOGIN_PAGE
from api.settings import ApiSettings, CallRate
from storage import database, logins
from storage.logins import AuditedCall, Role
from storage.settings import is_loopback
from tasks.documents.drive.drive import AccountAccess, Bearer, Identity, Login
from tasks.documents.drive.registry import choose_drive
from tasks.errors import BadRequest, NotAllowed, NotConfigured, NotFound, NotLoggedIn

logger = logging.getLogger(__name__)

KEY: Final = "api_key"
KEY_SCOPES: Final = "api_key_scopes"
"""The name of the key that a request came with, and what it is good for, in the request's state."""
_FRESH: Final = 2.0


class KnownKey(NamedTuple):
    """A key that is in use: its SHA-256 in hex, its name and what it is good for."""

    digest: str
    name: str
    scopes: frozenset[str]


class Keyring:
    """The keys of one service."""

    def __init__(self, configured: Sequence[bytes]) -> None:
        """`configured` are the keys of DILIGENCE_API_KEYS."""
        self._configured = [
            KnownKey(sha256(key).hexdigest(), f"DILIGENCE_API_KEYS {number}", frozenset(logins.SCOPES))
            for number, key in enumerate(configured, 1)
        ]
        self._stored: dict[str, tuple[float, bool, list[KnownKey]]] = {}

    async def is_open(self) -> bool:
        """Whether anybody may call: no key was ever configured or stored, and there are no people with a password.

        Raises:
            DatabaseUnavailable: nobody knows.
        """
        return not self._configured and not (await self._read())[0]

    async def find(self, key: str) -> KnownKey | None:
        """The key with this secret, if it is in use.

        Digests are compared, all of them, in constant time: the time taken tells nothing about a key.

        Raises:
            DatabaseUnavailable: it is none of the configured ones, and the others cannot be read.
        """
        digest = sha256(key.encode("latin-1")).hexdigest()
        found = _find(self._configured, digest)
        return found or _find((await self._read())[1], digest)

    async def _read(self) -> tuple[bool, list[KnownKey]]:
        address, now = database.url(), time.monotonic()
        read_at, has_any, stored = self._stored.get(address, (-_FRESH, False, []))
        if now - read_at >= _FRESH:
            has_any, stored = await to_thread.run_sync(load_keys)
            self._stored = {address: (now, has_any, stored)}
        return has_any, stored


def load_keys() -> tuple[bool, list[KnownKey]]:
    """Whether any key or person has ever been stored (revoked keys count), and the keys in use.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    with database.reading() as session:
        rows = logins.all_keys(session)
        closed = bool(rows) or logins.had_users(session)
        return closed, [KnownKey(row.digest, row.name, frozenset(row.scopes)) for row in rows if not row.revoked_at]


def _find(known: Sequence[KnownKey], digest: str) -> KnownKey | None:
    matches = [key for key in known if hmac.compare_digest(key.digest, digest)]  # all, not up to the first
    return matches[0] if matches else None


async def audit(key: str, operation: str, status: int) -> None:
    """Record in the audit log who called `operation`, with which key, and how it ended; never what was sent."""

    def write() -> None:
        with database.writing() as session:
            logins.add_audited_call(session, AuditedCall(key=key, operation=operation, status=status))

    try:
        await to_thread.run_sync(write)
    except Exception as error:  # noqa: BLE001 - the answer stands all the same
        logger.error("a call is missing in audit_calls: %s", type(error).__qualname__)  # noqa: TRY400 - no values


HEADER = "X-API-Key"
_HEADER = HEADER.lower().encode()
VIEWER = "viewer"
"""The `Viewer` who looks at a page, in a request's state."""
CALLER = "caller"
"""The identity that a document operation acts as, in a request's state."""
_CHALLENGE = "ApiKey"
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]{1,4096}=*)", re.IGNORECASE)  # RFC 6750


class Viewer(NamedTuple):
    """Who is looking at a page: the name that signs their decisions, and what they may do."""

    name: str
    role: Role


Connection = ASGIConnection[Any, Any, Any, Any]
Guard = Callable[[Connection, BaseRouteHandler], Awaitable[None]]
"""A coroutine, even where it waits for nothing: Litestar would run a plain function in a thread."""


def needs_key(keyring: Keyring, scope: str | None, rate: CallRate | None) -> Guard:
    """A guard that admits callers with a key for `scope`, within the rate limit.

    Where `scope` is None any key will do. A service without keys admits everybody, because it answers this machine
    only.
    """

    async def guard(connection: Connection, _handler: BaseRouteHandler) -> None:
        key = _first(connection.scope["headers"], _HEADER)
        known = await keyring.find(key) if key is not None else None
        if known is not None:
            connection.scope["state"] |= {KEY: known.name, KEY_SCOPES: known.scopes}
            check_rate(rate, f"key {known.name}")
            if scope is not None and scope not in known.scopes:
                raise NotAllowed(f"This API key does not allow {scope}. Ask for one with that scope.")
            return
        check_rate(rate, _format_address(connection))
        if await keyring.is_open():
            return
        if key is None:
            raise NotLoggedIn(f"This operation needs an API key. Send it in the header {HEADER}.", _CHALLENGE)
        raise NotLoggedIn(f"The API key in the header {HEADER} is not one of the service's keys.", _CHALLENGE)

    return guard


def check_rate(rate: CallRate | None, caller: str) -> None:
    """Count a call of that caller, where DILIGENCE_RATE_LIMIT is set.

    Raises:
        TooManyRequests: the caller has no call left.
    """
    if rate is not None:
        rate.check(caller)


def _format_address(connection: Connection) -> str:
    return f"address {connection.client.host if connection.client else ''}"


def needs_account(local: Guard, rate: CallRate | None) -> Guard:
    """A guard for operations on the drive: the caller's own account where the drive has accounts, otherwise `local`."""

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        accounts = choose_drive().accounts
        if accounts is not None:
            check_rate(rate, _format_address(connection))
            connection.scope["state"][CALLER] = await _account(connection, accounts)
        elif not await _is_person(connection):
            try:
                await local(connection, handler)
            except NotLoggedIn:
                connection.scope["state"][LOGIN_PAGE] = await to_thread.run_sync(_has_people)
                raise

    return guard


def _has_people() -> bool:
    with database.reading() as session:
        return logins.had_users(session)


async def _is_person(connection: Connection) -> bool:
    """Whether the browser's session belongs to a person with a password; if so, they become the viewer."""
    user = await login_module.user_of(connection)
    if user is not None:
        connection.scope["state"][VIEWER] = Viewer(user.name, user.role)
    return user is not None


def needs_viewer(account: Guard) -> Guard:
    """A guard for the pages where people make decisions: as `account`, and it also says who is looking.

    An account of the drive has the role that `diligence users` gave its address, otherwise that of a reviewer; so does
    a key. On a service without keys and people, the caller is at the machine itself and may do everything.
    """

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        await account(connection, handler)
        state = connection.scope["state"]
        if VIEWER in state:
            return
        if CALLER not in state:
            key = state.get(KEY)
            state[VIEWER] = Viewer(f"key {key}", Role.REVIEWER) if key else Viewer("this machine", Role.ADMIN)
            return
        login = await login_module.find_login(connection) if isinstance(state[CALLER], Login) else None
        if login is None or login.account is None:
            state[VIEWER] = Viewer("an account that is not named", Role.READER)
            return
        state[VIEWER] = Viewer(login.account, await to_thread.run_sync(_role_of, login.account))

    return guard


def _role_of(account: str) -> Role:
    with database.reading() as session:
        user = logins.find_user(session, account)
    return Role.REVIEWER if user is None else user.role


def check_role(connection: Connection, needed: Role) -> Viewer:
    """The viewer, provided that their role includes the one that is needed.

    Raises:
        NotAllowed: the role does not include it.
    """
    viewer: Viewer = connection.scope["state"][VIEWER]
    if not viewer.role.includes(needed):
        raise NotAllowed(
            f"Your role here is {viewer.role}, and this needs the role {needed}. Ask the person who runs the service."
        )
    return viewer


def needs_key_or_account(by_key: Guard) -> Guard:
    """A guard for paths that serve both kinds of operation: it uses the drive's token if one was sent, else `by_key`.

    A session does not count, since programs have none. A caller who sends only a token, which the drive has yet to
    check, gets the scopes of no key.
    """

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        accounts = choose_drive().accounts
        if accounts is not None and "authorization" in connection.headers:
            connection.scope["state"][CALLER] = await _account(connection, accounts)
        try:
            await by_key(connection, handler)
        except NotLoggedIn:
            if CALLER not in connection.scope["state"] or HEADER in connection.headers:
                raise
            connection.scope["state"][KEY_SCOPES] = frozenset()

    return guard


def needs_local(local: Guard) -> Guard:
    """A guard for the files behind a `document_url`, for drives that do not show documents themselves."""

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        drive = choose_drive()
        if drive.accounts is not None:
            raise NotFound(f"{drive.title} shows its documents itself: use the document_url from the index.")
        if not await _is_person(connection):
            await local(connection, handler)

    return guard


def _first(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    """The first header of that name."""
    return next((value.decode("latin-1") for name, value in headers if name == wanted), None)


async def _account(connection: Connection, accounts: AccountAccess) -> Identity:
    """The account that the request acts for: by its token, otherwise by its session.

    Raises:
        NotLoggedIn: neither was sent, or what was sent is none. A wrong token is not made good by a session.
    """
    headers = connection.headers.getall("authorization", [])
    if headers:
        match = _BEARER.fullmatch(headers[0].strip()) if len(headers) == 1 else None
        if match is None:
            raise NotLoggedIn("The Authorization header cannot be read. Send `Authorization: Bearer …` once.")
        return Bearer(match.group(1))
    login = await login_module.find_identity(connection)
    if login is None:
        raise NotLoggedIn(accounts.login_needed)
    return login


def has_keys() -> bool:
    """Whether the service asks callers who they are: it has, or has had, keys or people.

    Raises:
        DatabaseUnavailable: none is configured, and the database cannot be opened.
    """
    return bool(ApiSettings.current().keys) or load_keys()[0]


def check_binding(host: str) -> None:
    """Refuse to listen beyond this machine while there are no API keys.

    Raises:
        NotConfigured: there is no key, and `host` is reached from other machines.
    """
    if not is_loopback(host) and not has_keys():
        raise NotConfigured(
            "Without API keys the service binds to this machine only (127.0.0.1). "
            "Add one (`diligence keys add NAME`) or set DILIGENCE_API_KEYS to let other machines in."
        )


def check_origin(headers: Iterable[tuple[bytes, bytes]], trusted: Sequence[str]) -> None:
    """Without keys, refuse requests that another site's page or a rebound host name may have caused.

    `trusted` are host names and addresses without ports.

    Raises:
        BadRequest: there is not exactly one Host header.
        NotAllowed: the request is for, or from a page of, a host that is not trusted.
    """
    named = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(named) != 1:
        raise BadRequest("The request must have exactly one Host header.")
    if _read_host(f"//{named[0]}") not in trusted:
        raise NotAllowed(
            "Without API keys the service answers to the names of this machine only. "
            "Use http://127.0.0.1 or http://localhost, or set DILIGENCE_API_KEYS."
        )
    for name, value in headers:
        if name == b"origin" and _read_host(value.decode("latin-1")) not in trusted:
            raise NotAllowed("Pages of other sites may not call this service.")


def list_trusted_names(host: str, base_url: str) -> tuple[str, ...]:
    """The names that a service without keys answers to when it is bound to `host`."""
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower(), _read_host(base_url)}
    return tuple(sorted(name for name in names if name))


@lru_cache(maxsize=256)
def _read_host(address: str) -> str:
    """The host in a URL, in lower case, without port, brackets and trailing dot; "" if there is none."""
    try:
        return (urlsplit(address).hostname or "").removesuffix(".")
    except ValueError:
        return ""
