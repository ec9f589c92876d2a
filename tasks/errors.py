"""Everything that can go wrong, as one tree.

    DiligenceError                 500  our mistake
    ├── BadRequest                 400  what was asked is not well formed; every bad field named
    ├── NotLoggedIn                401  no or expired login or key
    ├── NotAllowed                 403  known caller, operation not allowed
    ├── NotFound                   404  unknown, or not shared with this account
    ├── Conflict                   409  something else is at work on it
    ├── TooLarge                   413
    ├── UnsupportedFormat          415
    ├── Unreadable                 422  the document cannot be read
    │   ├── Damaged
    │   └── PasswordProtected
    ├── TooManyRequests            429
    ├── SourceFailed               502  a drive, a model or a fact source answered wrongly
    ├── NotConfigured              503  a setting is missing
    ├── Unavailable                503  something needed is out of reach
    └── TookTooLong                504

Each class carries its HTTP status and the stable end of its problem type. The message is what the
user sees: it says what to do, and holds no token, no absolute path and no text of a document.
"""

from collections.abc import Iterable
from typing import ClassVar


class DiligenceError(Exception):
    """The root: something went wrong inside."""

    status: ClassVar[int] = 500
    slug: ClassVar[str] = "internal-error"
    title: ClassVar[str] = "Internal error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def __reduce__(self) -> tuple[object, ...]:
        """An error passes from process to process with all its attributes, whatever made it."""
        return _restore, (type(self), self.args, self.__dict__)

    @property
    def headers(self) -> dict[str, str]:
        """The HTTP headers of an answer with this error."""
        return {}


def _restore(kind: type[DiligenceError], args: tuple[object, ...], attributes: dict[str, object]) -> DiligenceError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class BadRequest(DiligenceError):
    """The request is not well formed. `fields` maps each bad field to what is wrong with it."""

    status, slug, title = 400, "bad-request", "Bad request"

    def __init__(self, message: str, fields: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.fields = fields or {}


def check_question(question: str, field: str = "question") -> None:
    """Raises:
    BadRequest: the question is blank; `field` is what the caller named it.
    """
    if not question.strip():
        raise BadRequest("The question is empty. Send the question as text.", {field: "must not be empty"})


class NotLoggedIn(DiligenceError):
    """No login or key, or an expired one. `challenge` is the scheme to answer with: `Bearer` or `ApiKey`."""

    status, slug, title = 401, "not-logged-in", "Not logged in"

    def __init__(self, message: str, challenge: str = "Bearer") -> None:
        super().__init__(message)
        self.challenge = challenge

    @property
    def headers(self) -> dict[str, str]:
        return {"WWW-Authenticate": self.challenge}


class NotAllowed(DiligenceError):
    """The caller is known, but the operation is not allowed."""

    status, slug, title = 403, "not-allowed", "Not allowed"


class NotFound(DiligenceError):
    """Unknown, or not shared with this account: the answer is the same for both."""

    status, slug, title = 404, "not-found", "Not found"


class Conflict(DiligenceError):
    """Something else is working on it."""

    status, slug, title = 409, "conflict", "Conflict"


class TooLarge(DiligenceError):
    """Above a size limit; the message names the limit and its setting. `read_as` is as in `Unreadable`."""

    status, slug, title = 413, "too-large", "Too large"
    read_as: str | None = None


def document_too_large(max_bytes: int) -> TooLarge:
    """The error for a document above the limit, which is in bytes."""
    return TooLarge(f"The document is larger than {max_bytes >> 20} MB. DILIGENCE_DOCUMENT_MAX_MB sets the limit.")


class UnsupportedFormat(DiligenceError):
    """There is no reader for this format; the message names the formats that can be read, `reason` does not."""

    status, slug, title = 415, "unsupported-format", "Unsupported format"

    def __init__(self, reason: str, readable: Iterable[str] = ()) -> None:
        names = ", ".join(readable)
        super().__init__(f"{reason} Supported are {names}." if names else reason)
        self.reason = reason


class Unreadable(DiligenceError):
    """The document cannot be read. `read_as` is the format of its content if its name says another."""

    status, slug, title = 422, "unreadable", "The document cannot be read"
    read_as: str | None = None


class Damaged(Unreadable):
    """The file is not a complete document of its format, and nothing could be recovered."""

    slug, title = "damaged", "The document is damaged"


class PasswordProtected(Unreadable):
    """The file only opens with a password."""

    slug, title = "password-protected", "The document is password-protected"


class TooManyRequests(DiligenceError):
    """Too many requests. `retry_after` is in seconds."""

    status, slug, title = 429, "too-many-requests", "Too many requests"

    def __init__(self, message: str, retry_after: int = 1) -> None:
        super().__init__(message)
        self.retry_after = retry_after

    @property
    def headers(self) -> dict[str, str]:
        return {"Retry-After": str(self.retry_after)}


class SourceFailed(DiligenceError):
    """A drive, a model or a source of facts failed, or gave a wrong answer."""

    status, slug, title = 502, "source-failed", "The source failed"


class NotConfigured(DiligenceError):
    """A setting is missing or wrong; the message names it."""

    status, slug, title = 503, "not-configured", "Not configured"


class Unavailable(DiligenceError):
    """Something that is needed cannot be reached."""

    status, slug, title = 503, "unavailable", "Unavailable"


class TookTooLong(DiligenceError):
    """A time limit was reached; the message names the limit and its setting."""

    status, slug, title = 504, "took-too-long", "Took too long"
