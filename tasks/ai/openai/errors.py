"""What an AI server's failure means: try another way, try again, or tell the user.

The server's own words never go into a message: they can hold the key, the question or a document.
"""

import json
import re
from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from tasks.ai.answerer import Usage
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

if TYPE_CHECKING:
    from httpx2 import HTTPError
    from openai import OpenAIError

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
_LOOKED_AT = 4000  # characters of an error's body; a server that echoes the prompt puts its own words first


class NotSpoken(Exception):
    """The server does not know this way of asking; `error` is what to tell the user if it knows no other.

    `path_missing`: not even the path is there, so that another way on the same path is no use.
    """

    def __init__(self, error: DiligenceError, *, path_missing: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.path_missing = path_missing


class BeyondWindow(TooLarge):
    """The prompt is more than the model takes at once.

    `window` is how many tokens it takes, where the server has shown it; `usage` what the attempt cost all the same.
    """

    def __init__(self, message: str, window: int | None = None, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.window = window
        self.usage = usage or Usage()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.window, self.usage)


class OldLimit(Exception):
    """The server does not take that name of the limit on an answer's length; older ones know `max_tokens` alone."""


def what_failed(error: "OpenAIError", timeout: float) -> Exception:
    """What an exception of the `openai` client means; `timeout` is the limit in force, in seconds."""
    from httpx2 import ConnectTimeout, HTTPError  # noqa: PLC0415 - 0.1 s
    from openai import APIConnectionError, APIStatusError  # noqa: PLC0415 - 0.8 s

    if isinstance(error, APIConnectionError):  # a time limit is one too
        cause = error.__cause__
        if isinstance(cause, HTTPError) and not isinstance(cause, ConnectTimeout):
            return what_broke(cause, timeout)
        return _out_of_reach()
    if isinstance(error, APIStatusError):
        return by_status(error.status_code, error.response.headers, error.response.text[:_LOOKED_AT].lower())
    return SourceFailed("The AI server's answer could not be read. Check OPENAI_BASE_URL.")


def what_broke(error: "HTTPError", timeout: float) -> DiligenceError | TryAgain:
    """What it means that a connection failed, before the answer or in the middle of it."""
    from httpx2 import ConnectError, TimeoutException, TransportError  # noqa: PLC0415 - 0.1 s

    if isinstance(error, TimeoutException):
        return too_slow(timeout)
    if isinstance(error, ConnectError) or not isinstance(error, TransportError):
        return _out_of_reach()
    return cut_off()


def by_status(status: int, headers: Mapping[str, str], said: str) -> Exception:
    """What an error with that HTTP status means; `said` is its body, or the start of it, in lower case."""
    if status in {401, 403}:
        return NotConfigured(
            "The AI server does not accept the key, or not for this model. Check OPENAI_API_KEY and DILIGENCE_AI_MODEL."
        )
    if status == 429:
        if _OUT_OF_CREDIT.search(said):
            return Unavailable("The AI server's account has no credit left. Top it up, or set another OPENAI_API_KEY.")
        after = read_retry_after(headers.get("retry-after"))
        return TryAgain(too_often(after), attempts=None, after=after)
    if status in {400, 422} and _NO_LIMIT.search(said):
        return OldLimit()
    if status == 413 or is_too_long(said):
        return too_long(said)
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
        return TryAgain(
            Unavailable(f"The AI server is in trouble (HTTP {status}). Try again later, or look into its log."),
            attempts=5,
            after=read_retry_after(headers.get("retry-after")),
        )
    return NotSpoken(
        SourceFailed(f"The AI server does not take the request (HTTP {status}). Check DILIGENCE_AI_MODEL and _AI_API."),
        path_missing=False,
    )


def too_often(seconds: float | None = None) -> TooManyRequests:
    """The server wants fewer calls; `seconds` is how long it wants none."""
    return TooManyRequests("The AI server is asked too often. Try again later.", ceil(seconds or 1))


def is_too_long(said: str) -> bool:
    """Whether a server's words say that the prompt does not fit into the model's window."""
    return bool(_TOO_LONG.search(said.lower()))


def too_long(said: str = "") -> BeyondWindow:
    """The prompt does not fit, as the server says (in lower case)."""
    return BeyondWindow(
        "The question with its texts is longer than the model takes. Shorten the context, or name a model with a "
        "larger window in DILIGENCE_AI_MODEL.",
        named_window(said),
    )


def silently_cut(counted: int, usage: Usage) -> BeyondWindow:
    """The server read no more than `counted` tokens of the prompt and answered all the same."""
    return BeyondWindow(
        f"The AI server cuts prompts at about {counted} tokens without a word, so its answer rests on a part of the "
        "text. Raise the server's context size, or shorten the text.",
        counted,
        usage,
    )


def too_slow(timeout: float) -> TookTooLong:
    """The answer was not whole in time."""
    return TookTooLong(
        f"The AI server gave no answer within {timeout:g} s. Ask for less, or raise DILIGENCE_AI_TIMEOUT."
    )


def _out_of_reach() -> TryAgain:
    return TryAgain(
        Unavailable("The AI server cannot be reached. Check that it runs and that OPENAI_BASE_URL is its address."),
        attempts=3,
    )


def cut_off() -> TryAgain:
    """The connection ended, or the body did, before the answer was whole."""
    return TryAgain(
        SourceFailed(
            "The AI server's answer ended in the middle: the connection was cut, or the answer is broken. Try again "
            "later, or look into its log."
        ),
        attempts=3,
    )


def empty() -> TryAgain:
    """Status 200 and nothing else: seen with servers that are starting or stopping."""
    return TryAgain(
        SourceFailed("The AI server answered with nothing. Try again later, or look into its log."), attempts=3
    )


def not_the_protocol(body: bytes) -> NotSpoken | TryAgain:
    """Status 200 with something that is no answer of this protocol."""
    start = body.lstrip()[:6]
    if start[:1] == b"<":
        error = SourceFailed("The AI server answered with a web page. Check OPENAI_BASE_URL; it usually ends in /v1.")
    elif start[:1] == b"{" and not _is_json(body):
        return cut_off()
    elif start in {b"data: ", b"event:"}:
        error = SourceFailed("The AI server answered with a stream, which was not asked for. Check OPENAI_BASE_URL.")
    else:
        error = SourceFailed("The AI server's answer is broken or no answer of an OpenAI-compatible server.")
    return NotSpoken(error, path_missing=True)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
