"""Google's errors: the JSON envelope of the Drive API, with the reasons and sentences that its guide gives.

Source: "Resolve errors" in the Drive API's guides (400, 401, 403, 404, 429, 5xx with their JSON).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec


@dataclass
class Refused(Exception):
    """One answer that is not a success."""

    status: int
    reason: str
    message: str
    domain: str = "global"
    location: str | None = None
    location_type: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    info: str | None = None  # the reason in google.rpc.ErrorInfo (AIP-193), where Google's front refuses

    def body(self) -> bytes:
        detail = {"message": self.message, "domain": self.domain, "reason": self.reason}
        if self.location:
            detail |= {"location": self.location, "locationType": self.location_type or "parameter"}
        error: dict[str, object] = {"code": self.status, "message": self.message, "errors": [detail]}
        if self.info:
            kind = "type.googleapis.com/google.rpc.ErrorInfo"
            error["details"] = [{"@type": kind, "reason": self.info, "domain": "googleapis.com"}]
        return msgspec.json.encode({"error": error})


_USAGE, _ALL = "usageLimits", "global"
_USER_RATE = (
    "User Rate Limit Exceeded. Rate of requests for user exceed configured project quota, you may consider "
    "re-evaluating expected per-user traffic to the API and adjust project quota limits accordingly."
)
_NO_BINARY = "Only files with binary content can be downloaded. Use Export with Docs Editors files."
# reason → (status, domain, sentence): what a call or a file can be refused with on demand.
REASONS: dict[str, tuple[int, str, str]] = {
    "userRateLimitExceeded": (403, _USAGE, _USER_RATE),
    "rateLimitExceeded": (403, _USAGE, "Rate Limit Exceeded"),
    "dailyLimitExceeded": (403, _USAGE, "Daily Limit Exceeded"),
    "cannotDownloadFile": (403, _ALL, "This file cannot be downloaded by the user."),
    "cannotDownloadAbusiveFile": (
        403,
        _ALL,
        "This file has been identified as malware or spam and cannot be downloaded.",
    ),
    "downloadQuotaExceeded": (403, _ALL, "The download quota for this file has been exceeded."),
    "exportSizeLimitExceeded": (403, _ALL, "This file is too large to be exported."),
    "fileNotDownloadable": (403, _ALL, _NO_BINARY),
    "fileNotExportable": (403, _ALL, "Export only supports Docs Editors files."),
    "insufficientFilePermissions": (403, _ALL, "The user does not have sufficient permissions for this file."),
    "appNotAuthorizedToFile": (403, _ALL, "The user has not granted the app read access to the file."),
    "insufficientPermissions": (403, _ALL, "Request had insufficient authentication scopes."),
    "authError": (401, _ALL, "Invalid Credentials"),
    "domainPolicy": (403, _ALL, "The domain administrators have disabled Drive apps."),
    "invalid": (400, _ALL, "Invalid Value"),
    "gone": (410, _ALL, "The page token has expired."),
    "backendError": (500, _ALL, "Backend Error"),
    "internalError": (500, _ALL, "Internal Error"),
    "badGateway": (502, _ALL, "Bad Gateway"),
    "serviceUnavailable": (503, _ALL, "Service Unavailable"),
}


def refused(reason: str, status: int | None = None, headers: Mapping[str, str] | None = None) -> Refused:
    """The error of a reason; `status` replaces its usual one (429 rateLimitExceeded, 503 backendError)."""
    usual, domain, message = REASONS.get(reason, (status or 403, "global", reason))
    location = {"fileNotDownloadable": "alt", "invalid": "pageToken", "gone": "pageToken"}.get(reason)
    return Refused(status or usual, reason, message, domain, location, headers=headers or {})


def file_not_found(file_id: str) -> Refused:
    """Unknown, and not shared with this user: Drive does not tell the two apart."""
    return Refused(404, "notFound", f"File not found: {file_id}.", location="fileId")


def drive_not_found(drive_id: str) -> Refused:
    return Refused(404, "notFound", f"Shared drive not found: {drive_id}", location="driveId")


def invalid(location: str, message: str = "Invalid Value") -> Refused:
    return Refused(400, "invalid", message, location=location)


def invalid_parameter(location: str, message: str) -> Refused:
    return Refused(400, "invalidParameter", message, location=location)


def required(location: str) -> Refused:
    return Refused(400, "required", f"Required parameter: {location}", location=location)


_CHALLENGE = 'Bearer realm="https://accounts.google.com/"'


def project_denied() -> Refused:
    """The project in x-goog-user-project, which quotas are counted for, is none that the caller may use.

    Source: "Set the quota project" and "Troubleshoot your ADC setup" (cloud.google.com/docs/authentication).
    """
    message = (
        "Caller does not have required permission to use project. Grant the caller the "
        "roles/serviceusage.serviceUsageConsumer role."
    )
    return Refused(403, "forbidden", message, info="USER_PROJECT_DENIED")


def no_login() -> Refused:
    return Refused(
        401, "required", "Login Required.", location="Authorization", location_type="header",
        headers={"www-authenticate": _CHALLENGE},
    )  # fmt: skip


def bad_login() -> Refused:
    """An unknown, expired or revoked access token."""
    return Refused(
        401, "authError", "Invalid Credentials", location="Authorization", location_type="header",
        headers={"www-authenticate": _CHALLENGE + ', error="invalid_token"'},
    )  # fmt: skip
