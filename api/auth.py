"""Authentication: API keys, accounts of the drive, and the checks that replace keys on loopback.

`X-API-Key` is the place of the service's own keys; `Authorization: Bearer` is that of the drive's tokens. A
drive without accounts (the local folder) is the service's own, and a key opens it. A drive with accounts
shows each caller that account's own view: there the account is needed, and no key.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import lru_cache
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from api import login as login_module
from api.keyring import KEY, Keyring, stored_keys
from api.settings import ApiSettings, CallRate
from tasks.documents.drive.description import AccountAccess
from tasks.documents.drive.identity import Bearer, Identity
from tasks.documents.drive.registry import configured_drive
from tasks.errors import BadRequest, NotAllowed, NotConfigured, NotFound, NotLoggedIn

HEADER = "X-API-Key"
_HEADER = HEADER.lower().encode()
CALLER = "caller"
"""The identity that a document operation acts as, in a request's state."""
_CHALLENGE = "ApiKey"
_BEARER = re.compile(r"bearer +([A-Za-z0-9._~+/-]{1,4096}=*)", re.IGNORECASE)  # RFC 6750

Connection = ASGIConnection[Any, Any, Any, Any]
Guard = Callable[[Connection, BaseRouteHandler], Awaitable[None]]
"""A coroutine, even where it waits for nothing: Litestar would run a plain function in a thread."""


def needs_key(keyring: Keyring, scope: str | None, rate: CallRate | None) -> Guard:
    """A guard that lets in who sends a key that is good for `scope`, and not too often.

    Where `scope` is None any key is good. A service that has no keys at all lets everybody in: it answers this machine
    only.
    """

    async def guard(connection: Connection, _handler: BaseRouteHandler) -> None:
        key = _first(connection.scope["headers"], _HEADER)
        known = await keyring.find(key) if key is not None else None
        if known is not None:
            connection.scope["state"][KEY] = known.name
            check_rate(rate, f"key {known.name}")
            if scope is not None and scope not in known.scopes:
                raise NotAllowed(f"This API key is not good for {scope}. Ask for one with that scope.")
            return
        check_rate(rate, _address_of(connection))
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


def _address_of(connection: Connection) -> str:
    return f"address {connection.client.host if connection.client else ''}"


def needs_account(local: Guard, rate: CallRate | None) -> Guard:
    """A guard for what acts on the drive: the caller's account where it has accounts, else the guard `local`."""

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        accounts = configured_drive().accounts
        if accounts is not None:
            check_rate(rate, _address_of(connection))
            connection.scope["state"][CALLER] = await _account(connection, accounts)
        else:
            await local(connection, handler)

    return guard


def needs_local(local: Guard) -> Guard:
    """A guard for documents' files, which a `document_url` leads to where the drive does not show them itself."""

    async def guard(connection: Connection, handler: BaseRouteHandler) -> None:
        drive = configured_drive()
        if drive.accounts is not None:
            raise NotFound(f"{drive.title} shows its documents itself: use the document_url from the index.")
        await local(connection, handler)

    return guard


def _first(headers: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    """The first header of that name."""
    return next((value.decode("latin-1") for name, value in headers if name == wanted), None)


async def _account(connection: Connection, accounts: AccountAccess) -> Identity:
    """Whom the request acts as: by its token, else by its session.

    Raises:
        NotLoggedIn: neither was sent, or what was sent is none. A wrong token is not made good by a session.
    """
    headers = connection.headers.getall("authorization", [])
    if headers:
        match = _BEARER.fullmatch(headers[0].strip()) if len(headers) == 1 else None
        if match is None:
            raise NotLoggedIn("The Authorization header cannot be read. Send `Authorization: Bearer …` once.")
        return Bearer(match.group(1))
    login = await login_module.identity_of(connection)
    if login is None:
        raise NotLoggedIn(accounts.login_needed)
    return login


def has_keys() -> bool:
    """Whether the service has keys: configured or stored ones, revoked ones too.

    Raises:
        DatabaseUnavailable: none is configured, and the database cannot be opened.
    """
    return bool(ApiSettings.current().keys) or stored_keys()[0]


def check_binding(host: str) -> None:
    """Without API keys the service answers on this machine only.

    Raises:
        NotConfigured: there is no key, and `host` is reached from other machines.
    """
    if not _is_loopback(host) and not has_keys():
        raise NotConfigured(
            "Without API keys the service binds to this machine only (127.0.0.1). "
            "Add one (`diligence keys add NAME`) or set DILIGENCE_API_KEYS to let other machines in."
        )


def check_origin(headers: Iterable[tuple[bytes, bytes]], trusted: Sequence[str]) -> None:
    """Where no key protects the service, its caller must mean it: no page of another site, no rebound name.

    `trusted` are host names and addresses without ports.

    Raises:
        BadRequest: there is not exactly one Host header.
        NotAllowed: the request is for, or from a page of, a host that is not trusted.
    """
    named = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(named) != 1:
        raise BadRequest("The request must have exactly one Host header.")
    if _host_of(f"//{named[0]}") not in trusted:
        raise NotAllowed(
            "Without API keys the service answers to the names of this machine only. "
            "Use http://127.0.0.1 or http://localhost, or set DILIGENCE_API_KEYS."
        )
    for name, value in headers:
        if name == b"origin" and _host_of(value.decode("latin-1")) not in trusted:
            raise NotAllowed("Pages of other sites may not call this service.")


def trusted_names(host: str, base_url: str) -> tuple[str, ...]:
    """The names that a service without keys answers to when it is bound to `host`."""
    names = {"localhost", "127.0.0.1", "::1", host.strip("[]").lower(), _host_of(base_url)}
    return tuple(sorted(name for name in names if name))


@lru_cache(maxsize=256)
def _host_of(address: str) -> str:
    """The host within a URL, lower case, without port, brackets and trailing dot; "" where there is none."""
    try:
        return (urlsplit(address).hostname or "").removesuffix(".")
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
