"""What a failure of an AI server means: use another request format, try again, or stop with an error for the user.

    UnsupportedRequestFormat  the server does not know this request format
    TryAgain                  it may work in a moment (of tasks.remote.retry)
    LegacyTokenLimit          the limit on an answer's length has an older name here
    ContextWindowExceeded     the prompt is longer than the model takes at once (a TooLarge)

The server's own words never go into a message: they can hold the key, the question or a document.
"""

import json
import re
from collections.abc import Mapping
from math import ceil

from tasks.ai.money import Usage
from tasks.ai.openai.window import named_window
from tasks.errors import (
    DiligenceError,
    NotConfigured,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from tasks.remote.retry import TryAgain, read_retry_after

_TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window|size)|maximum context|too many (?:input )?tokens|(?:prompt|input) is too long"
    r"|exceeds? the (?:available )?context|max_model_len|reduce the length|token limit|max_new_tokens` must be"
    r"|exceeds? (?:the )?maximum (?:number of tokens|input length|model length)|maximum model length|n_ctx"
)
_NO_MODEL = re.compile(r"model_not_found|model\b.{0,120}(?:not found|not exist|unknown|not available)")
_OUT_OF_CREDIT = re.compile(r"insufficient_quota|billing_|out of credit")
_NO_LIMIT = re.compile(
    r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed|supported|a valid))"
    r".{0,200}\bmax_(?:completion_)?tokens|\bmax_(?:completion_)?tokens\b.{0,200}"
    r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed|supported|a valid))",
    re.DOTALL,
)


class UnsupportedRequestFormat(Exception):
    """The server does not know this request format; `error` is for the user if it knows no other format.

    `path_missing`: not even the path exists, so that other formats on the same path are no use.
    """

    def __init__(self, error: DiligenceError, *, path_missing: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.path_missing = path_missing


class ContextWindowExceeded(TooLarge):
    """The prompt is longer than the model takes at once.

    `window` is how many tokens it takes, where the server has shown it; `usage` is what the attempt cost all the same.
    """

    def __init__(self, message: str, window: int | None = None, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.window = window
        self.usage = usage or Usage()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.window, self.usage)


class LegacyTokenLimit(Exception):
    """The server does not know that name of the limit on an answer's length; older servers know `max_tokens` only."""


def error_for_status(status: int, headers: Mapping[str, str], body: str) -> Exception:
    """What an HTTP status means; `body` is the response's text, or its start, in lower case."""
    if status in {401, 403}:
        return NotConfigured(
            "The AI server does not accept the key, or not for this model. Check OPENAI_API_KEY and DILIGENCE_AI_MODEL."
        )
    if status == 429:
        if _OUT_OF_CREDIT.search(body):
            return Unavailable("The AI server's account has no credit left. Top it up, or set another OPENAI_API_KEY.")
        after = read_retry_after(headers.get("retry-after"))
        return TryAgain(too_many_requests(after), attempts=None, after=after)
    if status in {400, 422} and _NO_LIMIT.search(body):
        return LegacyTokenLimit()
    if status == 413 or says_too_long(body):
        return window_exceeded(body)
    if status < 500 and _NO_MODEL.search(body):
        return NotConfigured("The AI server does not know the model. Check DILIGENCE_AI_MODEL.")
    if status in {404, 405, 501}:
        return UnsupportedRequestFormat(
            NotConfigured("The AI server has nothing at this address. Check OPENAI_BASE_URL; it usually ends in /v1."),
            path_missing=True,
        )
    if 300 <= status < 400:
        return NotConfigured(
            "The AI server sends elsewhere, which is not followed: it would take texts to another address. "
            "Set OPENAI_BASE_URL to the final one."
        )
    if status >= 500 or status in {408, 409, 425}:
        return TryAgain(
            Unavailable(f"The AI server is in trouble (HTTP {status}). Try again later, or look into its log."),
            attempts=5,
            after=read_retry_after(headers.get("retry-after")),
        )
    return UnsupportedRequestFormat(
        SourceFailed(f"The AI server does not take the request (HTTP {status}). Check DILIGENCE_AI_MODEL and _AI_API."),
        path_missing=False,
    )


def too_many_requests(seconds: float | None = None) -> TooManyRequests:
    """The server wants fewer requests; `seconds` is how long it wants none."""
    return TooManyRequests("The AI server is asked too often. Try again later.", ceil(seconds or 1))


def says_too_long(message: str) -> bool:
    """Whether a server's message says that the prompt does not fit into the model's context window."""
    return bool(_TOO_LONG.search(message.lower()))


def window_exceeded(message: str) -> ContextWindowExceeded:
    """The prompt does not fit, as the server's message says (in lower case)."""
    return ContextWindowExceeded(
        "The question with its texts is longer than the model takes. Shorten the context, or name a model with a "
        "larger window in DILIGENCE_AI_MODEL.",
        named_window(message),
    )


def prompt_truncated(counted: int, usage: Usage) -> ContextWindowExceeded:
    """The server read no more than `counted` tokens of the prompt, and answered all the same."""
    return ContextWindowExceeded(
        f"The AI server cuts prompts at about {counted} tokens without a word, so its answer rests on a part of the "
        "text. Raise the server's context size, or shorten the text.",
        counted,
        usage,
    )


def timed_out(timeout: float) -> TookTooLong:
    """The answer was not complete in time; `timeout` is in seconds."""
    return TookTooLong(
        f"The AI server gave no answer within {timeout:g} s. Ask for less, or raise DILIGENCE_AI_TIMEOUT."
    )


def unreachable() -> TryAgain:
    """No connection could be opened."""
    return TryAgain(
        Unavailable("The AI server cannot be reached. Check that it runs and that OPENAI_BASE_URL is its address."),
        attempts=3,
    )


def connection_cut() -> TryAgain:
    """The connection or the body ended before the answer was complete."""
    return TryAgain(
        SourceFailed(
            "The AI server's answer ended in the middle: the connection was cut, or the answer is broken. Try again "
            "later, or look into its log."
        ),
        attempts=3,
    )


def empty_response() -> TryAgain:
    """Status 200 without a body: seen with servers that are starting or stopping."""
    return TryAgain(
        SourceFailed("The AI server answered with nothing. Try again later, or look into its log."), attempts=3
    )


def unreadable_response(body: bytes) -> UnsupportedRequestFormat | TryAgain:
    """Status 200 with a body that is no answer of this protocol."""
    start = body.lstrip()[:6]
    if start[:1] == b"<":
        error = SourceFailed("The AI server answered with a web page. Check OPENAI_BASE_URL; it usually ends in /v1.")
    elif start[:1] == b"{" and not _is_json(body):
        return connection_cut()
    elif start in {b"data: ", b"event:"}:
        error = SourceFailed("The AI server answered with a stream, which was not asked for. Check OPENAI_BASE_URL.")
    else:
        error = SourceFailed("The AI server's answer is broken or no answer of an OpenAI-compatible server.")
    return UnsupportedRequestFormat(error, path_missing=True)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
