"""What Google's refusals and broken answers mean: which are tried again, and what the others mean for the user.

    RATE       the quota is used up for now: all calls hold back, then this one is made again
    PASSING    Google or the line had a fault: this call is made again
    AWAY       nothing answers there: made again a few times
    EXPIRED    the access token is not valid (any longer): renewed, where it can be
    LASTING    made again it would end the same way: one document's outcome

The envelope of an error is `error.{code,message,errors[].{domain,reason}}`; proxies and overloaded servers answer in
HTML or not at all.
"""

import json
import socket
import ssl
import tomllib
from dataclasses import dataclass
from enum import Enum, auto
from http.client import HTTPException
from pathlib import Path
from typing import Any, Final

import google.auth.exceptions
import httpcore
from googleapiclient.errors import BatchError, HttpError

from tasks.errors import (
    DiligenceError,
    NotAllowed,
    NotConfigured,
    NotFound,
    NotLoggedIn,
    SourceFailed,
    TooLarge,
    TooManyRequests,
    Unavailable,
    UnsupportedFormat,
)
from tasks.reading import formats
from tasks.remote.retry import read_http_date, read_retry_after

_LOG_IN_AGAIN = (
    "Google does not accept this login: it has expired or was revoked. "
    "Log in again (`diligence login`, or /login of the service), or send a new access token."
)


class FaultKind(Enum):
    """What to do about a fault."""

    RATE = auto()
    PASSING = auto()
    AWAY = auto()
    EXPIRED = auto()
    LASTING = auto()


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with one call. `error` is for the user, if another attempt does not help."""

    kind: FaultKind
    error: DiligenceError
    retry_after: float | None = None
    """Seconds that Google asks to wait."""


class Refused(SourceFailed):
    """Google Drive refuses the request as it was sent: `reason` is Google's word for why ("" if it gave none)."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class Gone(NotFound):
    """The resource no longer exists (410); for a page token this means that the listing has to begin again."""


class ExportTooLarge(TooLarge):
    """The export of a native document is larger than `files.export` allows: 10 MB."""


_RATE = {"userRateLimitExceeded", "rateLimitExceeded"}
_PASSING = {"backendError", "internalError", "transientError"}
_LASTING: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("refusals.toml").read_text("utf-8"))
_ERRORS: Final = {kind.__name__: kind for kind in (ExportTooLarge, NotAllowed, NotConfigured)}


def make_unsupported_error(what: str) -> UnsupportedFormat:
    """The error for content that cannot be obtained as a document."""
    others = ", ".join(formats.names())
    return UnsupportedFormat(
        f"{what} Google's documents, spreadsheets, presentations and drawings are read, and {others}."
    )


def _lasting_error(error: str, says: str, retry_after: int = 0) -> DiligenceError:
    if error == "UnsupportedFormat":
        return make_unsupported_error(says)
    return TooManyRequests(says, retry_after) if retry_after else _ERRORS[error](says)


def find_fault(error: Exception) -> Fault | None:
    """What an exception of the client library means; None if it is not the fault of a call."""
    if isinstance(error, HttpError):
        return _refusal(error)
    if isinstance(error, google.auth.exceptions.GoogleAuthError):
        return _of_login(error)
    if isinstance(error, httpcore.NetworkError | httpcore.TimeoutException):
        cause = error.__cause__ or error.__context__
        error = cause if isinstance(cause, OSError) else TimeoutError()
    if isinstance(error, socket.gaierror | ConnectionRefusedError):
        return Fault(FaultKind.AWAY, Unavailable("Google Drive is out of reach. Check the network, then try again."))
    if isinstance(error, ssl.SSLCertVerificationError):
        return Fault(
            FaultKind.LASTING,
            Unavailable("Google Drive's certificate cannot be verified. Check the clock and the network's proxy."),
        )
    if isinstance(error, TimeoutError):
        return Fault(FaultKind.PASSING, Unavailable("Google Drive does not answer in time. Try again."))
    if isinstance(error, OSError):
        return Fault(FaultKind.PASSING, Unavailable("The connection to Google Drive was lost. Try again."))
    if isinstance(error, httpcore.ProxyError):  # "407 …": trying a password again may lock its account
        kind = FaultKind.LASTING if str(error)[:3] in {"401", "403", "407"} else FaultKind.AWAY
        return Fault(kind, Unavailable("The proxy in https_proxy refused the connection to Google Drive."))
    # A batch that lacks parts is a KeyError or IndexError in the library; a body that is no JSON is a ValueError.
    if isinstance(error, HTTPException | httpcore.ProtocolError | BatchError | ValueError | KeyError | IndexError):
        return Fault(
            FaultKind.PASSING, SourceFailed("Google Drive's answer was cut off or is not well formed. Try again.")
        )
    return None


def _of_login(error: google.auth.exceptions.GoogleAuthError) -> Fault:
    if isinstance(error, google.auth.exceptions.TransportError):
        fault = find_fault(error.args[0]) if error.args else None  # what it holds may be words alone
        return fault or Fault(FaultKind.PASSING, Unavailable("Google's login service is out of reach. Try again."))
    if error.retryable:
        return Fault(FaultKind.PASSING, Unavailable("Google's login service fails at present. Try again."))
    return Fault(FaultKind.EXPIRED, NotLoggedIn(_LOG_IN_AGAIN))


def _refusal(error: HttpError) -> Fault:
    status, reason = int(error.resp.status), read_reason(error.content)
    # A date in Retry-After is by Google's clock, as Date is. Ours may be an hour off.
    wait = read_retry_after(error.resp.get("retry-after"), read_http_date(error.resp.get("date")))
    if status == 429 or (status == 403 and reason in _RATE):
        message = "Google Drive's quota is used up for now. Try again in a minute."
        return Fault(FaultKind.RATE, TooManyRequests(message, max(1, round(wait or 60))), wait)
    if status >= 500 or status == 408 or reason in _PASSING:
        return Fault(FaultKind.PASSING, Unavailable("Google Drive fails at present. Try again later."), wait)
    if status == 401:
        return Fault(FaultKind.EXPIRED, NotLoggedIn(_LOG_IN_AGAIN))
    if reason in _LASTING:
        return Fault(FaultKind.LASTING, _lasting_error(**_LASTING[reason]))
    if status == 403:
        # The API refuses in JSON. A page is of Google's front, which takes many calls for a robot's, or of a proxy.
        kind = FaultKind.LASTING if reason else FaultKind.PASSING
        return Fault(kind, NotAllowed("Google Drive does not allow this account to do that."))
    if status in {404, 410}:
        kind_of_loss = Gone if status == 410 else NotFound
        return Fault(FaultKind.LASTING, kind_of_loss("Unknown, or not shared with this account."))
    return Fault(FaultKind.LASTING, Refused(f"Google Drive does not accept this request (status {status}).", reason))


def read_reason(content: bytes) -> str:
    """Google's word for an error, from its envelope; "" if there is none (HTML, an empty body).

    For what Google's front end refuses before it reaches Drive, the reason is among the details (AIP-193).
    """
    try:
        error: Any = json.loads(content)["error"]
        reasons = [detail["reason"] for detail in error.get("details", ()) if detail.get("reason") in _LASTING]
        return str(reasons[0] if reasons else error["errors"][0]["reason"])
    except (ValueError, LookupError, TypeError, AttributeError):
        return ""
