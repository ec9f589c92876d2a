"""What Google's refusals mean for whoever asked."""

import pickle
import socket
import ssl
from email.utils import formatdate
from http.client import IncompleteRead
from time import time
from typing import Any

import httpcore
import httplib2
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from googleapiclient.errors import HttpError

from tasks.documents.drive.google.errors import ExportTooLarge, Fault, FaultKind, Refused, find_fault, read_reason
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
from tests.cases import cases
from tests.google.refusals import REASONS, bad_login, file_not_found, invalid, refused


def refusal(status: int, body: bytes, **headers: str) -> Fault:
    response = httplib2.Response({"status": str(status), **{name.replace("_", "-"): v for name, v in headers.items()}})
    found = find_fault(HttpError(response, body, uri="https://www.googleapis.com/drive/v3/files/secret-id"))
    assert found is not None
    return found


@cases(
    ("reason", "kind", "error"),
    [
        ("userRateLimitExceeded", FaultKind.RATE, TooManyRequests),
        ("rateLimitExceeded", FaultKind.RATE, TooManyRequests),
        ("dailyLimitExceeded", FaultKind.LASTING, TooManyRequests),
        ("cannotDownloadFile", FaultKind.LASTING, NotAllowed),
        ("cannotDownloadAbusiveFile", FaultKind.LASTING, NotAllowed),
        ("downloadQuotaExceeded", FaultKind.LASTING, TooManyRequests),
        ("exportSizeLimitExceeded", FaultKind.LASTING, ExportTooLarge),
        ("fileNotDownloadable", FaultKind.LASTING, UnsupportedFormat),
        ("fileNotExportable", FaultKind.LASTING, UnsupportedFormat),
        ("insufficientFilePermissions", FaultKind.LASTING, NotAllowed),
        ("appNotAuthorizedToFile", FaultKind.LASTING, NotAllowed),
        ("insufficientPermissions", FaultKind.LASTING, NotAllowed),
        ("domainPolicy", FaultKind.LASTING, NotAllowed),
        ("backendError", FaultKind.PASSING, Unavailable),
        ("internalError", FaultKind.PASSING, Unavailable),
        ("badGateway", FaultKind.PASSING, Unavailable),
        ("serviceUnavailable", FaultKind.PASSING, Unavailable),
    ],
)
def test_each_reason_of_google_has_its_meaning(reason: str, kind: FaultKind, error: type[DiligenceError]) -> None:
    found = refusal(REASONS[reason][0], refused(reason).body())
    assert (found.kind, type(found.error)) == (kind, error)


@cases(
    ("status", "body", "kind", "error"),
    [
        (429, refused("rateLimitExceeded").body(), FaultKind.RATE, TooManyRequests),
        (429, b"<html>Too many</html>", FaultKind.RATE, TooManyRequests),
        (401, bad_login().body(), FaultKind.EXPIRED, NotLoggedIn),
        (404, file_not_found("x").body(), FaultKind.LASTING, NotFound),
        (404, b"<html>404</html>", FaultKind.LASTING, NotFound),
        (400, invalid("q").body(), FaultKind.LASTING, Refused),
        (403, b'{"error": {"errors": [{"reason": "forbidden"}]}}', FaultKind.LASTING, NotAllowed),
        (403, b"", FaultKind.PASSING, NotAllowed),
        (403, b"<html>We're sorry</html>", FaultKind.PASSING, NotAllowed),
        (403, b'{"error": {"errors": [{"reason": "accessNotConfigured"}]}}', FaultKind.LASTING, NotConfigured),
        (503, b"", FaultKind.PASSING, Unavailable),
        (502, b"\xff\xfe<html>", FaultKind.PASSING, Unavailable),
        (408, b"{}", FaultKind.PASSING, Unavailable),
    ],
)
def test_status_decides_where_google_gives_no_reason(
    status: int, body: bytes, kind: FaultKind, error: type[DiligenceError]
) -> None:
    found = refusal(status, body)
    assert (found.kind, type(found.error)) == (kind, error)


@cases("body", [b"", b"[]", b'"x"', b"null", b'{"error": "x"}', b'{"error": {"errors": []}}', b"\xff"])
def test_body_that_is_no_envelope_has_no_reason(body: bytes) -> None:
    assert read_reason(body) == ""


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert refusal(429, b"", retry_after="17").retry_after == 17
    dated = refusal(503, b"", retry_after=formatdate(time() + 60, usegmt=True)).retry_after
    assert dated is not None
    assert 55 < dated <= 60
    assert refusal(429, b"", retry_after=formatdate(time() - 60, usegmt=True)).retry_after == 0


@cases("given", ["soon", "nan", "inf", "-5", "Fri, 99 Foo 2026", ""])
def test_retry_after_that_says_nothing_is_passed_over(given: str) -> None:
    assert not refusal(429, b"", retry_after=given).retry_after


def auth(kind: type[GoogleAuthError], *args: Any, **options: Any) -> GoogleAuthError:
    made: GoogleAuthError = kind(*args, **options)
    return made


@cases(
    ("error", "kind", "meaning"),
    [
        (ConnectionRefusedError(), FaultKind.AWAY, Unavailable),
        (socket.gaierror("no such host"), FaultKind.AWAY, Unavailable),
        (ConnectionResetError(), FaultKind.PASSING, Unavailable),
        (BrokenPipeError(), FaultKind.PASSING, Unavailable),
        (TimeoutError(), FaultKind.PASSING, Unavailable),
        (IncompleteRead(b"half"), FaultKind.PASSING, SourceFailed),
        (KeyError("3"), FaultKind.PASSING, SourceFailed),
        (httpcore.ProxyError("407 Proxy Authentication Required"), FaultKind.LASTING, Unavailable),
        (httpcore.ProxyError("429 Too Many Requests"), FaultKind.AWAY, Unavailable),
        (httpcore.ProxyError("503 Service Unavailable"), FaultKind.AWAY, Unavailable),
        (ssl.SSLCertVerificationError(), FaultKind.LASTING, Unavailable),
        (auth(TransportError, ConnectionRefusedError()), FaultKind.AWAY, Unavailable),
        (auth(TransportError, "nothing answers"), FaultKind.PASSING, Unavailable),
        (auth(RefreshError, "invalid_grant: Token has been expired or revoked."), FaultKind.EXPIRED, NotLoggedIn),
        (auth(RefreshError, "down", retryable=True), FaultKind.PASSING, Unavailable),
    ],
)
def test_what_breaks_on_the_way_has_its_meaning(
    error: Exception, kind: FaultKind, meaning: type[DiligenceError]
) -> None:
    found = find_fault(error)
    assert found is not None
    assert (found.kind, type(found.error)) == (kind, meaning)


def test_mistake_of_ours_is_no_fault_of_google() -> None:
    assert find_fault(TypeError("a mistake")) is None


def test_errors_hold_neither_address_nor_googles_own_words() -> None:
    for reason, (status, _, message) in REASONS.items():
        said = str(refusal(status, refused(reason).body()).error)
        assert "secret-id" not in said
        assert message not in said


def test_errors_survive_the_way_between_processes() -> None:
    found = refusal(400, invalid("q").body()).error
    again = pickle.loads(pickle.dumps(found))
    assert (type(again), str(again), again.reason) == (Refused, str(found), "invalid")
    assert isinstance(refusal(403, refused("exportSizeLimitExceeded").body()).error, TooLarge)
