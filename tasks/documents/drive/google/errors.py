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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from http.client import HTTPException
from typing import Any

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
_LASTING: Mapping[str, Callable[[], DiligenceError]] = {
    "cannotDownloadFile": lambda: NotAllowed(
        "The document's owner does not let this account download it. Ask for the right to download."
    ),
    "cannotDownloadAbusiveFile": lambda: NotAllowed(
        "Google considers this document malware or spam and does not release it. Ask its owner about it."
    ),
    "fileNotDownloadable": lambda: make_unsupported_error("This kind of Google file has no content to download."),
    "fileNotExportable": lambda: make_unsupported_error("Google does not export this kind of file."),
    "exportSizeLimitExceeded": lambda: ExportTooLarge(
        "The document is larger than Google exports. Split it, or store it as a file in the drive."
    ),
    "downloadQuotaExceeded": lambda: TooManyRequests(
        "Google has stopped downloads of this document for now, since it was fetched too often. "
        "Try again tomorrow, or make a copy of it in the drive.",
        86_400,
    ),
    "insufficientFilePermissions": lambda: NotAllowed(
        "This account may not read the document's content. Ask its owner to share it."
    ),
    "appNotAuthorizedToFile": lambda: NotAllowed(
        "This application has no access to the document. Log in again and allow it to read the drive."
    ),
    "insufficientPermissions": lambda: NotAllowed(
        "The login does not include reading Google Drive. Log in again and agree to it (scope drive.readonly)."
    ),
    "accessNotConfigured": lambda: NotConfigured(
        "The Google Drive API is not switched on. Enable it in the Google project of DILIGENCE_GOOGLE_CLIENT_ID "
        "or DILIGENCE_GOOGLE_CREDENTIALS."
    ),
    "USER_PROJECT_DENIED": lambda: NotConfigured(
        "This account may not use the Google project that quotas are counted for (quota_project_id in the file that "
        "DILIGENCE_GOOGLE_CREDENTIALS names). Give it the role Service Usage Consumer there, or remove the line."
    ),
    "domainPolicy": lambda: NotAllowed("Your organisation's administrator does not allow this application on Drive."),
    "dailyLimitExceeded": lambda: TooManyRequests(
        "The Google project's quota for today is used up. Try again tomorrow, or raise it.", 86_400
    ),
}


def make_unsupported_error(what: str) -> UnsupportedFormat:
    """The error for content that cannot be obtained as a document."""
    others = ", ".join(formats.names())
    return UnsupportedFormat(
        f"{what} Google's documents, spreadsheets, presentations and drawings are read, and {others}."
    )


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
    # A batch that lacks parts is a KeyError or IndexError in the library; a body that is no JSON is a ValueError.
    if isinstance(
        error, HTTPException | httpcore.ProtocolError | httpcore.ProxyError | BatchError | ValueError | LookupError
    ):
        return Fault(
            FaultKind.PASSING, SourceFailed("Google Drive's answer was cut off or is not well formed. Try again.")
        )
    return None


def _of_login(error: google.auth.exceptions.GoogleAuthError) -> Fault:
    if isinstance(error, google.auth.exceptions.TransportError):
        cause = error.args[0] if error.args else None
        fault = find_fault(cause) if isinstance(cause, Exception) else None
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
        return Fault(FaultKind.LASTING, _LASTING[reason]())
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
