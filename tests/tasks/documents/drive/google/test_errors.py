"""What Google's refusals mean for whoever asked."""

import pickle
import ssl
from email.utils import formatdate
from http.client import IncompleteRead
from time import time
from typing import Any

import httplib2
import pytest
from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
from googleapiclient.errors import HttpError

from tasks.documents.drive.google.errors import ExportTooLarge, Fault, Kind, Refused, fault_of, reason_of
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
from tests.google.refusals import REASONS, bad_login, file_not_found, invalid, refused


def refusal(status: int, body: bytes, **headers: str) -> Fault:
    response = httplib2.Response({"status": str(status), **{name.replace("_", "-"): v for name, v in headers.items()}})
    found = fault_of(HttpError(response, body, uri="https://www.googleapis.com/drive/v3/files/secret-id"))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("reason", "kind", "error"),
    [
        ("userRateLimitExceeded", Kind.RATE, TooManyRequests),
        ("rateLimitExceeded", Kind.RATE, TooManyRequests),
        ("dailyLimitExceeded", Kind.LASTING, TooManyRequests),
        ("cannotDownloadFile", Kind.LASTING, NotAllowed),
        ("cannotDownloadAbusiveFile", Kind.LASTING, NotAllowed),
        ("downloadQuotaExceeded", Kind.LASTING, TooManyRequests),
        ("exportSizeLimitExceeded", Kind.LASTING, ExportTooLarge),
        ("fileNotDownloadable", Kind.LASTING, UnsupportedFormat),
        ("fileNotExportable", Kind.LASTING, UnsupportedFormat),
        ("insufficientFilePermissions", Kind.LASTING, NotAllowed),
        ("appNotAuthorizedToFile", Kind.LASTING, NotAllowed),
        ("insufficientPermissions", Kind.LASTING, NotAllowed),
        ("domainPolicy", Kind.LASTING, NotAllowed),
        ("backendError", Kind.PASSING, Unavailable),
        ("internalError", Kind.PASSING, Unavailable),
        ("badGateway", Kind.PASSING, Unavailable),
        ("serviceUnavailable", Kind.PASSING, Unavailable),
    ],
)
def test_each_reason_of_google_has_its_meaning(reason: str, kind: Kind, error: type[DiligenceError]) -> None:
    found = refusal(REASONS[reason][0], refused(reason).body())
    assert (found.kind, type(found.error)) == (kind, error)


@pytest.mark.parametrize(
    ("status", "body", "kind", "error"),
    [
        (429, refused("rateLimitExceeded").body(), Kind.RATE, TooManyRequests),
        (429, b"<html>Too many</html>", Kind.RATE, TooManyRequests),
        (401, bad_login().body(), Kind.EXPIRED, NotLoggedIn),
        (404, file_not_found("x").body(), Kind.LASTING, NotFound),
        (404, b"<html>404</html>", Kind.LASTING, NotFound),
        (400, invalid("q").body(), Kind.LASTING, Refused),
        (403, b'{"error": {"errors": [{"reason": "forbidden"}]}}', Kind.LASTING, NotAllowed),
        (403, b"", Kind.PASSING, NotAllowed),
        (403, b"<html>We're sorry</html>", Kind.PASSING, NotAllowed),
        (403, b'{"error": {"errors": [{"reason": "accessNotConfigured"}]}}', Kind.LASTING, NotConfigured),
        (503, b"", Kind.PASSING, Unavailable),
        (502, b"\xff\xfe<html>", Kind.PASSING, Unavailable),
        (408, b"{}", Kind.PASSING, Unavailable),
    ],
)
def test_status_decides_where_google_gives_no_reason(
    status: int, body: bytes, kind: Kind, error: type[DiligenceError]
) -> None:
    found = refusal(status, body)
    assert (found.kind, type(found.error)) == (kind, error)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"x"', b"null", b'{"error": "x"}', b'{"error": {"errors": []}}', b"\xff"]
)
def test_body_that_is_no_envelope_has_no_reason(body: bytes) -> None:
    assert reason_of(body) == ""


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert refusal(429, b"", retry_after="17").retry_after == 17
    dated = refusal(503, b"", retry_after=formatdate(time() + 60, usegmt=True)).retry_after
    assert dated is not None
    assert 55 < dated <= 60
    assert refusal(429, b"", retry_after=formatdate(time() - 60, usegmt=True)).retry_after == 0


@pytest.mark.parametrize("given", ["soon", "nan", "inf", "-5", "Fri, 99 Foo 2026", ""])
def test_retry_after_that_says_nothing_is_passed_over(given: str) -> None:
    assert not refusal(429, b"", retry_after=given).retry_after


def auth(kind: type[GoogleAuthError], *args: Any, **options: Any) -> GoogleAuthError:
    made: GoogleAuthError = kind(*args, **options)
    return made


@pytest.mark.parametrize(
    ("error", "kind", "meaning"),
    [
        (ConnectionRefusedError(), Kind.AWAY, Unavailable),
        (httplib2.ServerNotFoundError("no such host"), Kind.AWAY, Unavailable),
        (ConnectionResetError(), Kind.PASSING, Unavailable),
        (BrokenPipeError(), Kind.PASSING, Unavailable),
        (TimeoutError(), Kind.PASSING, Unavailable),
        (IncompleteRead(b"half"), Kind.PASSING, SourceFailed),
        (KeyError("3"), Kind.PASSING, SourceFailed),
        (ssl.SSLCertVerificationError(), Kind.LASTING, Unavailable),
        (auth(TransportError, ConnectionRefusedError()), Kind.AWAY, Unavailable),
        (auth(TransportError, "nothing answers"), Kind.PASSING, Unavailable),
        (auth(RefreshError, "invalid_grant: Token has been expired or revoked."), Kind.EXPIRED, NotLoggedIn),
        (auth(RefreshError, "down", retryable=True), Kind.PASSING, Unavailable),
    ],
)
def test_what_breaks_on_the_way_has_its_meaning(error: Exception, kind: Kind, meaning: type[DiligenceError]) -> None:
    found = fault_of(error)
    assert found is not None
    assert (found.kind, type(found.error)) == (kind, meaning)


def test_mistake_of_ours_is_no_fault_of_google() -> None:
    assert fault_of(TypeError("a mistake")) is None


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
