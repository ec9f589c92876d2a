"""Who may call: API keys, and the caution that replaces them on a machine of one's own.

`X-API-Key` is the place of the service's own keys; `Authorization: Bearer` is the Drive token's.
"""

import hmac
from collections.abc import Iterable, Sequence
from hashlib import sha256
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler
from litestar.types import Guard

from api.settings import ApiSettings
from tasks.errors import BadRequest, NotAllowed, NotConfigured, NotLoggedIn

HEADER = "X-API-Key"
_CHALLENGE = "ApiKey"


def needs_key(keys: Sequence[bytes]) -> Guard:
    """A guard that lets in who sends one of `keys`.

    Digests are compared, all of them, in constant time: the time taken tells nothing about a key.
    """
    accepted = [sha256(key).digest() for key in keys]

    # A coroutine, though it waits for nothing: Litestar would run a plain function in a thread.
    async def guard(connection: ASGIConnection[Any, Any, Any, Any], _handler: BaseRouteHandler) -> None:
        given = connection.headers.get(HEADER)
        if given is None:
            raise NotLoggedIn(f"This operation needs an API key. Send it in the header {HEADER}.", _CHALLENGE)
        digest = sha256(given.encode("latin-1")).digest()
        if not any([hmac.compare_digest(digest, key) for key in accepted]):  # noqa: C419 - all, not up to the first
            raise NotLoggedIn(f"The API key in the header {HEADER} is not one of the service's keys.", _CHALLENGE)

    return guard


def check_binding(host: str) -> None:
    """Without API keys the service answers on this machine only.

    Raises:
        NotConfigured: no key is configured, and `host` is reached from other machines.
    """
    if not ApiSettings.current().keys and not _is_loopback(host):
        raise NotConfigured(
            "Without API keys the service binds to this machine only (127.0.0.1). "
            "Set DILIGENCE_API_KEYS to open it to others."
        )


def check_origin(headers: Iterable[tuple[bytes, bytes]], trusted: Sequence[str]) -> None:
    """Where no key protects the service, its caller must mean it: no page of another site, no rebound name.

    `trusted` are host names and addresses without ports.

    Raises:
        BadRequest: no host is named.
        NotAllowed: the request is for, or from a page of, a host that is not trusted.
    """
    named = [value.decode("latin-1") for name, value in headers if name == b"host"]
    if len(named) != 1:
        raise BadRequest("The request must name one host.")
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
