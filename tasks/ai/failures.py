"""What an AI server's failure means: try another way, try again, or tell the user.

The server's own words never go into a message: they can hold the key, the question or a document.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import ceil, isfinite
from typing import TYPE_CHECKING

from tasks.errors import (
    DiligenceError,
    NotConfigured,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)

if TYPE_CHECKING:
    from openai import OpenAIError

_TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window|size)|maximum context|too many (?:input )?tokens|(?:prompt|input) is too long"
    r"|exceeds? the (?:available )?context|max_model_len|reduce the length|token limit"
)
_NO_MODEL = re.compile(r"model_not_found|model\b.{0,120}(?:not found|not exist|unknown|not available)")
_OUT_OF_CREDIT = re.compile(r"insufficient_quota|billing_|out of credit")
_LOOKED_AT = 4000  # characters of an error's body; a server that echoes the prompt puts its own words first


class NotSpoken(Exception):
    """The server does not know this way of asking; `error` is what to tell the user if it knows no other.

    `path_missing`: not even the path is there, so that another way on the same path is no use.
    """

    def __init__(self, error: DiligenceError, *, path_missing: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.path_missing = path_missing


class Again(Exception):
    """It may work in a moment: after `after` seconds if the server says so; `error` once patience ends."""

    def __init__(self, error: DiligenceError, attempts: int, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.attempts = attempts
        self.after = after


def what_failed(error: "OpenAIError", timeout: float) -> NotSpoken | Again | DiligenceError:
    """What an exception of the `openai` client means; `timeout` is the limit in force, in seconds."""
    from openai import APIConnectionError, APIStatusError, APITimeoutError  # noqa: PLC0415 - 0.8 s

    if isinstance(error, APITimeoutError):
        return TookTooLong(
            f"The AI server gave no answer within {timeout:g} s. Ask for less, or raise DILIGENCE_AI_TIMEOUT."
        )
    if isinstance(error, APIConnectionError):
        return Again(
            Unavailable("The AI server cannot be reached. Check that it runs and that OPENAI_BASE_URL is its address."),
            attempts=3,
        )
    if isinstance(error, APIStatusError):
        return _by_status(error.status_code, error.response.headers, error.response.text[:_LOOKED_AT].lower())
    return SourceFailed("The AI server's answer could not be read. Check OPENAI_BASE_URL.")


def _by_status(status: int, headers: Mapping[str, str], said: str) -> NotSpoken | Again | DiligenceError:
    if status in {401, 403}:
        return NotConfigured(
            "The AI server does not accept the key, or not for this model. Check OPENAI_API_KEY and DILIGENCE_AI_MODEL."
        )
    if status == 429:
        return _too_often(headers, said)
    if status == 413 or is_too_long(said):
        return too_long()
    if status < 500 and _NO_MODEL.search(said):
        return NotConfigured("The AI server does not know the model. Check DILIGENCE_AI_MODEL.")
    if status in {404, 405, 501}:
        return NotSpoken(
            NotConfigured("The AI server has nothing at this address. Check OPENAI_BASE_URL; it usually ends in /v1."),
            path_missing=True,
        )
    if 300 <= status < 400:
        return NotConfigured(
            "The AI server sends elsewhere, which is not followed: it would take texts to another address. "
            "Set OPENAI_BASE_URL to the final one."
        )
    if status >= 500 or status in {408, 409, 425}:
        return Again(
            Unavailable(f"The AI server is in trouble (HTTP {status}). Try again later, or look into its log."),
            attempts=5,
            after=_retry_after(headers),
        )
    return NotSpoken(
        SourceFailed(f"The AI server does not take the request (HTTP {status}). Check DILIGENCE_AI_MODEL and _AI_API."),
        path_missing=False,
    )


def _too_often(headers: Mapping[str, str], said: str) -> Again | DiligenceError:
    if _OUT_OF_CREDIT.search(said):
        return Unavailable("The AI server's account has no credit left. Top it up, or set another OPENAI_API_KEY.")
    after = _retry_after(headers)
    return Again(
        TooManyRequests("The AI server is asked too often. Try again later.", ceil(after or 1)), attempts=6, after=after
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the server says, in either form of the header; None when it says nothing usable."""
    said = headers.get("retry-after", "")
    try:
        seconds = float(said)
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(said) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):  # no date, or one without a zone
            return None
    return max(seconds, 0.0) if isfinite(seconds) else None


def is_too_long(said: str) -> bool:
    """Whether a server's words say that the prompt does not fit into the model's window."""
    return bool(_TOO_LONG.search(said.lower()))


def too_long() -> TooLarge:
    """The prompt does not fit."""
    return TooLarge(
        "The question with its texts is longer than the model takes. Shorten the context, or name a model with a "
        "larger window in DILIGENCE_AI_MODEL."
    )


def empty() -> Again:
    """Status 200 and nothing else: seen with servers that are starting or stopping."""
    return Again(
        SourceFailed("The AI server answered with nothing. Try again later, or look into its log."), attempts=3
    )


def not_the_protocol(body: bytes) -> NotSpoken:
    """Status 200 with something that is no answer of this protocol."""
    if body.lstrip()[:1] == b"<":
        error = SourceFailed("The AI server answered with a web page. Check OPENAI_BASE_URL; it usually ends in /v1.")
    else:
        error = SourceFailed("The AI server's answer is broken or no answer of an OpenAI-compatible server.")
    return NotSpoken(error, path_missing=True)
