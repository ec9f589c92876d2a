"""The API keys in force, the rate limit of each caller, and the audit log of calls.

Keys come from DILIGENCE_API_KEYS (good for everything) and from `diligence keys` (each with its scopes). The stored
ones are read again every two seconds, so that one that was added or revoked while the service runs is soon known.
"""

import hmac
import logging
import time
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from anyio import to_thread

from storage import database, logins
from storage.logins import AuditedCall

logger = logging.getLogger(__name__)

KEY: Final = "api_key"
"""The name of the key that a request came with, in the request's state."""
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
        """Whether the service has no keys at all, neither configured nor stored nor revoked.

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
            has_any, stored = await to_thread.run_sync(stored_keys)
            self._stored = {address: (now, has_any, stored)}
        return has_any, stored


def stored_keys() -> tuple[bool, list[KnownKey]]:
    """Whether there is any stored key, revoked ones too, and those that are in use.

    Raises:
        DatabaseUnavailable: the database cannot be opened.
    """
    with database.reading() as session:
        rows = logins.all_keys(session)
        return bool(rows), [KnownKey(row.digest, row.name, frozenset(row.scopes)) for row in rows if not row.revoked_at]


def _find(known: Sequence[KnownKey], digest: str) -> KnownKey | None:
    matches = [key for key in known if hmac.compare_digest(key.digest, digest)]  # all, not up to the first
    return matches[0] if matches else None


async def audit(key: str, operation: str, status: int) -> None:
    """Write down that `operation` was called with the key of that name, and how it ended; never what was sent."""

    def write() -> None:
        with database.writing() as session:
            logins.add_audited_call(session, AuditedCall(key=key, operation=operation, status=status))

    try:
        await to_thread.run_sync(write)
    except Exception as error:  # noqa: BLE001 - the answer stands all the same
        logger.error("a call is missing in audit_calls: %s", type(error).__qualname__)  # noqa: TRY400 - no values
