"""What a server answered, and what its failures mean to whoever asked."""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpcore

from tasks.errors import DiligenceError, NotFound, SourceFailed, TookTooLong, TooManyRequests, Unavailable

REDIRECTS = frozenset({301, 302, 303, 307, 308})
BUSY = frozenset({429, 500, 502, 503, 504})
"""Statuses after which the same request may have another answer."""


@dataclass(frozen=True)
class Answer:
    """An answer. `url` is where it was found, after redirects; the headers' names are in lower case.

    `whole` is False where it was cut at the limit, which is done only for those who ask for it; `name` is what
    sentences call the server.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    whole: bool = True
    name: str = "The server"

    @property
    def content_type(self) -> str:
        """As the server gave it: `text/html; charset=utf-8`; empty where it gave none."""
        return self.headers.get("content-type", "")

    def json(self) -> Any:
        """The content as JSON.

        Raises:
            SourceFailed: it is none.
        """
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            raise SourceFailed(f"{self.name} sent something else than the JSON that it should have.") from None

    @property
    def retry_after(self) -> float | None:
        """Seconds that the server wants to be left alone for, which it may give as a date; None: it says nothing."""
        given = self.headers.get("retry-after", "").strip()
        if given.isascii() and given.isdigit():
            return float(given[:9])
        try:
            when = parsedate_to_datetime(given)
        except (ValueError, TypeError, OverflowError):
            return None
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (when - datetime.now(UTC)).total_seconds())


def refused(answer: Answer) -> DiligenceError:
    """What an answer with an error's status means."""
    status, name = answer.status, answer.name
    if status in {404, 410}:
        return NotFound(f"{name} has nothing at that address (HTTP {status}).")
    if status == 429:
        after = round(answer.retry_after or 1)
        return TooManyRequests(f"{name} has had enough requests for now. Ask again in {after} s.", max(1, after))
    if status >= 500:
        return Unavailable(f"{name} is out of order (HTTP {status}). Try again later.")
    if status in {401, 403}:
        return SourceFailed(f"{name} refuses the request (HTTP {status}).")
    return SourceFailed(f"{name} answered in a way that cannot be used (HTTP {status}).")


def failed(error: Exception, name: str) -> tuple[DiligenceError, bool]:
    """What a failure of the connection means, and whether it may go better another time."""
    if isinstance(error, httpcore.TimeoutException):
        return TookTooLong(f"{name} took too long to answer."), True
    if isinstance(error, httpcore.LocalProtocolError | httpcore.UnsupportedProtocol):
        return SourceFailed(f"{name} cannot be asked: the request is not one that can be sent."), False
    if isinstance(_root(error), ssl.SSLCertVerificationError):
        return SourceFailed(f"{name} has no valid certificate, and is not trusted."), False
    if isinstance(error, httpcore.ConnectError):
        return Unavailable(f"{name} cannot be reached."), True
    return SourceFailed(f"{name} broke off its answer, or gave one that is no HTTP."), True


def _root(error: BaseException) -> BaseException:
    for _ in range(10):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error
