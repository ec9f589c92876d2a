"""The API keys in force, the rate limit of each caller, and the audit log of calls.

Keys come from DILIGENCE_API_KEYS (good for everything) and from `diligence keys` (each with its scopes). The stored
ones are read again every two seconds, so that one that was added or revoked while the service runs is soon known.
"""

import hmac
import logging
import time
from collections import deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from anyio import to_thread

from storage import database, logins
from storage.logins import AuditedCall
from storage.rate_limits import CallCounts
from tasks.errors import TooManyRequests

logger = logging.getLogger(__name__)

KEY: Final = "api_key"
"""The name of the key that a request came with, in the request's state."""
_FRESH: Final = 2.0
_UNITS: Final = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


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


class CallRate:
    """At most `count` calls in `seconds` for each caller.

    They are counted in this process, or with those of all processes of the service where there is a `counts`.
    """

    def __init__(self, count: int, seconds: float) -> None:
        self.counts: CallCounts | None = None
        self._count, self._seconds = count, seconds
        self._calls: dict[str, deque[float]] = {}

    @classmethod
    def parsed(cls, text: str) -> "CallRate":
        """The rate that a text such as `60/minute` says.

        Raises:
            ValueError: it says none.
        """
        count, _, unit = text.strip().partition("/")
        seconds = _UNITS.get(unit.strip().removesuffix("s"))
        if seconds is None or not count.strip().isdecimal() or int(count) < 1:
            raise ValueError("must be a number of calls in a second, minute, hour or day, such as 60/minute")
        return cls(int(count), seconds)

    def check(self, caller: str) -> None:
        """Count a call.

        Raises:
            TooManyRequests: the caller has no call left; it says when the next one is.
        """
        wait = self._count_here(caller) if self.counts is None else self.counts.add(caller, self._count, self._seconds)
        if wait:
            seconds = max(1, int(wait) + 1)
            raise TooManyRequests(f"More than {self._count} calls in {self._seconds:g} s. Wait {seconds} s.", seconds)

    def _count_here(self, caller: str) -> float:
        """Count a call; where none is left, gives the seconds until the next."""
        now = time.monotonic()
        if len(self._calls) > 10_000:
            self._calls = {name: calls for name, calls in self._calls.items() if calls[-1] > now - self._seconds}
        calls = self._calls.setdefault(caller, deque())
        while calls and calls[0] <= now - self._seconds:
            calls.popleft()
        if len(calls) >= self._count:
            return calls[0] + self._seconds - now
        calls.append(now)
        return 0.0


async def audit(key: str, operation: str, status: int) -> None:
    """Write down that `operation` was called with the key of that name, and how it ended; never what was sent."""

    def write() -> None:
        with database.writing() as session:
            logins.add_audited_call(session, AuditedCall(key=key, operation=operation, status=status))

    try:
        await to_thread.run_sync(write)
    except Exception as error:  # noqa: BLE001 - the answer stands all the same
        logger.error("a call is missing in audit_calls: %s", type(error).__qualname__)  # noqa: TRY400 - no values
