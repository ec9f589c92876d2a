"""What a failure of an AI server means: use another request format, try again, or stop with an error for the user.

    UnsupportedRequestFormat  the server does not know this request format
    TryAgain                  it may work in a moment (of tasks.remote.retry)
    RefusedOption             a part of the request that can be left out is not taken here
    ContextWindowExceeded     the prompt is longer than the model accepts at once (a TooLarge)
    ModelRefused              a content filter stopped the prompt (of tasks.ai.answerer)
    ServerFailed              HTTP 500; a server may answer so to a protocol that it half knows (an Unavailable)

The server's own words never go into a message: they can hold the key, the question or a document.

What servers document:

- OpenRouter (https://openrouter.ai/docs/errors): 402 the account has too little credit, 403 the prompt was flagged.
- Azure OpenAI: 400 with the code `content_filter` for a prompt that its filter stops
  (https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter), which is billed
  (https://learn.microsoft.com/answers/questions/1632971); 404 with `DeploymentNotFound`.
- llama.cpp (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md): 503 "Loading model" until it is
  loaded. Ollama (https://docs.ollama.com/faq): 503 when too many requests wait.
- LM Studio: 404, in other versions 400, "No models loaded" (https://github.com/lmstudio-ai/lms/issues/107); "Model is
  unloaded." to a request that meets the end of a model's time to live
  (https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1492), the next of which loads it again.
- OpenAI and Groq: 429, or 413, for a request with more tokens than the account may send in a minute. It never goes
  through (https://github.com/continuedev/continue/issues/11717).

What they say of a part of a request that they do not take:

- OpenAI's reasoning models: "Unsupported parameter: 'temperature' is not supported with this model", "Unsupported
  value: 'temperature' does not support 0 with this model" (https://platform.openai.com/docs/guides/reasoning), and for
  accounts that are not verified "Your organization must be verified to stream this model".
- Mistral: 422 with `extra_forbidden` and the name of the field, such as `seed`
  (https://docs.mistral.ai/api: the field is `random_seed`).
- Prompt templates without a system role, as Gemma's (https://huggingface.co/google/gemma-2-2b-it): "System role not
  supported", passed on by vLLM with 400 and by llama.cpp with 500.
- OpenAI's strict schemas: "In context=(…), 'maxLength' is not permitted"
  (https://platform.openai.com/docs/guides/structured-outputs).
"""

import json
import re
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from functools import partial
from math import ceil
from pathlib import Path
from typing import Final, NamedTuple

from tasks.ai.answerer import AnswerCut, AnswererFailed, ModelRefused
from tasks.errors import (
    DiligenceError,
    NotConfigured,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from tasks.language.normalise import join_first
from tasks.remote.retry import TryAgain, read_retry_after
from tasks.spending.money import Usage

_PIECE = re.compile(r"[^\s!-@\[-`{-~]+|[0-9]{1,3}|[!-/:-@\[-`{-~]+")
_UNSPACED = re.compile(  # scripts that write without spaces; a token holds 1 to 3 of their letters
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_FEWEST_TOKENS = 0.5  # tokens for each piece, with a margin: some servers count roughly, as words
_MOST_BYTES = 8  # in a token; a count that gives a token no more than these is not far too small
_SHORT, _LONG = 2_000, 40_000  # bytes of a prompt: none is cut below the first, any may be cut above the second
_USUAL = (2_048, 4_096, 8_192, 16_384, 32_768)  # tokens; windows that servers have by default
_NEARLY = 0.01  # of these: a server that cuts there counts little more or less
_NEVER = 0.9  # tokens for each piece; no vocabulary measured needs fewer
_SMALLEST_CUT = 1_500  # tokens; no server's window is smaller, so that a smaller count of a middling prompt is an error

_KNOWN: Final = tomllib.loads(Path(__file__).with_name("meanings.toml").read_text("utf-8"))
_NAMED: Final = [re.compile(pattern) for pattern in _KNOWN["window"]]
_ALL_MODELS = 20_000_000  # tokens; what is above is not a window


def was_cut(prompt: str, counted: int, *, window: int | None = None) -> bool:
    """Whether a server that counted this many tokens cannot have read all of `prompt`.

    `window` is the length, in tokens, to which the server is known to cut.
    """
    size = len(prompt.encode(errors="replace"))
    if size < _SHORT or counted <= 0:
        return False
    if window is not None and counted >= 0.98 * window and size / 2.3 > window:
        return True
    if any(abs(counted - usual) <= _NEARLY * usual for usual in _USUAL) and counted < _NEVER * pieces(prompt):
        return True
    if counted < _SMALLEST_CUT and size < _LONG:
        return False
    return counted * _MOST_BYTES < size and counted < fewest(prompt)


def read_window(message: str) -> int | None:
    """The most tokens that a prompt may have, as stated in a server's error about a long prompt (in lower case)."""
    numbers = [int(number.replace(",", "")) for pattern in _NAMED for number in pattern.findall(message)]
    return min((number for number in numbers if 256 <= number <= _ALL_MODELS), default=None)


def fewest(text: str) -> int:
    """A lower bound for the number of tokens in `text`."""
    return int(pieces(text) * _FEWEST_TOKENS)


def pieces(text: str) -> int:
    """How many words, figures and marks a text has; its tokens are nearly proportional to that."""
    return sum(1 for _ in _PIECE.finditer(text)) + len(_UNSPACED.findall(text)) // 4


_MOST_NAMED, _LONGEST_NAME = 8, 100  # models that a message names, and characters of a name
GATEWAY_GAVE_UP = {504, 524}
"""Statuses of a gateway whose own time limit passed: the model may have answered, and may be billed."""


_REFUSED = (
    r"(?:unsupported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:permitted|allowed|supported|implemented|a valid)"
    r"|not support|invalid|verified)"
)


def _about(name: str) -> re.Pattern[str]:
    return re.compile(rf"{_REFUSED}.{{0,200}}\b{name}|\b{name}\b.{{0,200}}{_REFUSED}", re.DOTALL)


class Option(Enum):
    """A part of a request that can be left out. The values are what an error about it says, in lower case."""

    COMPLETION_LIMIT = _about("max_(?:completion_|output_)?tokens")
    """The limit on an answer under the newer of its two names in chats; without it, `max_tokens`."""
    LIMIT = re.compile(r"(?!)")  # refused where the older name is refused too
    """Any limit on an answer's length."""
    SYSTEM_ROLE = re.compile(r"system (?:role|messages?)|role.{0,20}\bsystem\b|roles must alternate")
    """Instructions in a message of their own; without it they stand in the user's message."""
    STREAM_USAGE = _about("(?:stream_options|include_usage)")
    """Counts of tokens at the end of a stream."""
    STREAM = _about("stream(?:ing)?")
    """An answer that comes piece by piece."""
    SEED = _about("seed")
    TEMPERATURE = _about("temperature")
    BOUNDS = _about("(?:maxlength|maxitems|repetitions?)")
    """The most characters and items that the schema of an answer allows."""


class RefusedOption(Exception):
    """The server does not accept that part of the request."""

    def __init__(self, option: Option) -> None:
        super().__init__(option.name)
        self.option = option


def find_refused(message: str) -> Option | None:
    """The part of a request that a server's error (in lower case) objects to; None if it names none."""
    return next((option for option in Option if option.value.search(message)), None)


class UnsupportedRequestFormat(Exception):
    """The server does not know this request format; `error` is for the user if it knows no other.

    `path_missing`: the path does not exist either, so other formats on the same path are useless.
    """

    def __init__(self, error: DiligenceError, *, path_missing: bool) -> None:
        super().__init__(error.message)
        self.error = error
        self.path_missing = path_missing


class ContextWindowExceeded(TooLarge):
    """The prompt is longer than the model accepts at once.

    `window` is how many tokens it takes, if the server has shown that; `usage` is what the attempt cost.
    """

    def __init__(self, message: str, window: int | None = None, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.window = window
        self.usage = usage or Usage()


@contextmanager
def adding_to_failures(usage: Usage) -> Iterator[None]:
    """Add what was used before to the usage of a failure in the block."""
    try:
        yield
    except (AnswererFailed, ContextWindowExceeded) as failure:
        failure.usage += usage
        raise


class UnknownModel(NotConfigured):
    """The server does not know the model, or has not loaded it."""


class ServerFailed(Unavailable):
    """HTTP 500. Some servers that know only a part of a protocol answer with it."""


class _Refusal(NamedTuple):
    """A response that is not an answer: `after` is the seconds it asks us to wait, `body` its text in lower case."""

    status: int
    after: float | None
    body: str


def error_for_status(status: int, headers: Mapping[str, str], body: str) -> Exception:
    """What an HTTP status means; `body` is the response's text, or its start, in lower case."""
    answer = _Refusal(status, read_retry_after(headers.get("retry-after")), body)
    for meaning in _MEANINGS:
        if meaning.fits(answer) and (error := meaning.make(answer)) is not None:
            return error
    return not_taken(status)


def _refused_option(answer: _Refusal) -> RefusedOption | None:
    option = find_refused(answer.body)
    if option is None or (answer.status == 500 and option is not Option.SYSTEM_ROLE):
        return None
    return RefusedOption(option)


def _trouble(answer: _Refusal) -> TryAgain:
    kind = ServerFailed if answer.status == 500 else Unavailable
    why = kind(f"The AI server failed (HTTP {answer.status}). Try again later, or check its log.")
    return TryAgain(why, attempts=5, after=answer.after)


def _not_ready(answer: _Refusal) -> TryAgain:  # only time decides
    why = Unavailable(
        f"The AI server is not ready (HTTP {answer.status}): it is loading its model, or is overloaded. Try again "
        "later, or raise DILIGENCE_AI_TIMEOUT, which is also how long it is waited for."
    )
    return TryAgain(why, attempts=None, after=answer.after)


_ERRORS: Final = {kind.__name__: kind for kind in (NotConfigured, Unavailable)}
_DOES: Final[dict[str, Callable[[_Refusal], Exception | None]]] = {
    "filtered": lambda _: content_filtered(Usage(1)),
    "proxy": lambda _: make_proxy_error(),
    "more_than_a_minute_takes": lambda answer: ContextWindowExceeded(
        "The question with its texts has more tokens than the AI server's account may send in a minute. Have that "
        "limit raised, shorten the context, or name another model in DILIGENCE_AI_MODEL.",
        read_window(answer.body),
    ),
    "too_many": lambda answer: TryAgain(too_many_requests(answer.after), attempts=None, after=answer.after),
    "too_long": lambda answer: window_exceeded(answer.body),
    "option": _refused_option,
    "not_ready": _not_ready,
    "no_model": lambda _: unknown_model(),
    "no_path": lambda _: UnsupportedRequestFormat(
        NotConfigured(
            "The AI server has nothing at this address. Check OPENAI_BASE_URL; it usually ends in /v1. "
            "On Azure, check the api-version in it too."
        ),
        path_missing=True,
    ),
    "trouble": _trouble,
}


class _Meaning:
    """An entry of the table; one that is misspelt fails when the program starts."""

    def __init__(
        self,
        *,
        statuses: Container[int] = range(1000),
        above: int = -1,
        below: int = 1000,
        words: Sequence[str] = (),
        does: str = "",
        error: str = "",
        says: str = "",
    ) -> None:
        self.words = re.compile("|".join(words))
        self.make = _DOES[does] if does else partial(_says, _ERRORS[error], says)
        self._statuses, self._above, self._below = statuses, above, below

    def fits(self, answer: _Refusal) -> bool:
        is_status = answer.status in self._statuses and self._above < answer.status < self._below
        return is_status and self.words.search(answer.body) is not None


def _says(kind: type[DiligenceError], sentence: str, _: _Refusal) -> DiligenceError:
    return kind(sentence)


_MEANINGS: Final = [_Meaning(**meaning) for meaning in _KNOWN["meanings"]]


def not_taken(status: int) -> UnsupportedRequestFormat:
    """The error for a request that the server refuses in words that are not known here."""
    return UnsupportedRequestFormat(
        SourceFailed(
            f"The AI server does not accept the request (HTTP {status}). Check DILIGENCE_AI_MODEL and _AI_API."
        ),
        path_missing=False,
    )


def unknown_model(models: Sequence[str] = ()) -> UnknownModel:
    """The error for a model that the server does not know; `models` are those that it lists."""
    names = [name[:_LONGEST_NAME] for name in models if name.isprintable()]
    has = f" It has: {join_first(names, _MOST_NAMED)}." if names else ""
    return UnknownModel(f"The AI server does not know the model, or has not loaded it.{has} Check DILIGENCE_AI_MODEL.")


def content_filtered(usage: Usage) -> ModelRefused:
    """The error for a content filter that stopped the prompt or the answer."""
    return ModelRefused(
        "The AI server's content filter stopped the question or its answer. Name another model in DILIGENCE_AI_MODEL, "
        "or have the filter changed where the model is deployed.",
        usage,
    )


def too_many_requests(seconds: float | None = None) -> TooManyRequests:
    """The error for a server that wants fewer requests; `seconds` is how long it wants none."""
    return TooManyRequests("The AI server receives too many requests. Try again later.", ceil(seconds or 1))


def window_exceeded(message: str) -> ContextWindowExceeded:
    """The error for a prompt that does not fit, according to the server's message (in lower case)."""
    return ContextWindowExceeded(
        "The question with its texts is longer than the model accepts. Shorten the context, or name a model with a "
        "larger window in DILIGENCE_AI_MODEL.",
        read_window(message),
    )


def prompt_truncated(counted: int, usage: Usage) -> ContextWindowExceeded:
    """The error for a server that read only `counted` tokens of the prompt and answered all the same."""
    return ContextWindowExceeded(
        f"The AI server cuts prompts at about {counted} tokens without saying so, so its answer rests on part of the "
        "text. Raise the server's context size, or shorten the text.",
        counted,
        usage,
    )


def make_time_out(silence: float) -> TookTooLong:
    """The error for a server that sent nothing for that many seconds, or no whole answer that is not streamed."""
    return TookTooLong(
        f"The AI server gave no answer within {silence:.3g} s. Check whether it still works, use a smaller model, or "
        "raise DILIGENCE_AI_TIMEOUT."
    )


def too_slow(seconds: float, tokens: int) -> TookTooLong:
    """The error for a server that was still writing after that many seconds, with about that many tokens written."""
    return TookTooLong(
        f"The AI server was still writing its answer after {seconds:.3g} s, at {tokens / seconds:.2g} tokens a second. "
        "Use a smaller model or a faster machine, or raise DILIGENCE_AI_TIMEOUT."
    )


class EndlessAnswer(AnswerCut):
    """The model repeated itself, or wrote far more than it may, and was stopped. Another attempt would be as long."""

    says = (
        "The model's answer does not end: it repeats itself, or the server ignores the limit on its length. It was "
        "stopped. Name another model in DILIGENCE_AI_MODEL."
    )


def make_proxy_error() -> NotConfigured:
    """The error for a proxy between us and the server that did not let the request through."""
    return NotConfigured(
        "A proxy or gateway before the AI server did not let the request through. Check OPENAI_BASE_URL, HTTPS_PROXY, "
        "HTTP_PROXY and NO_PROXY."
    )


_BROKEN_OFF: Final = (
    "The AI server's answer ended in the middle: the connection was cut, or the answer is broken. Try again later, or "
    "look into its log."
)


class Lost(Enum):
    """How an answer may fail to arrive, with the error and its sentence."""

    UNREACHABLE = (
        Unavailable,
        "The AI server cannot be reached. Check that it runs and that OPENAI_BASE_URL is its address.",
    )
    CUT = SourceFailed, _BROKEN_OFF
    EMPTY = SourceFailed, "The AI server's answer was empty. Try again later, or check its log."
    """Status 200 without a body, seen with servers that are starting or stopping."""

    def try_again(self) -> TryAgain:
        """The failure, which may not happen again."""
        kind, sentence = self.value
        return TryAgain(kind(sentence), attempts=3)


def unreadable_response(body: bytes) -> UnsupportedRequestFormat | TryAgain:
    """The error for status 200 with a body that is not an answer in this protocol."""
    start = body.lstrip()[:6]
    if start[:1] == b"<":
        error = SourceFailed("The AI server answered with a web page. Check OPENAI_BASE_URL; it usually ends in /v1.")
    elif start[:1] == b"{" and not _is_json(body):
        return Lost.CUT.try_again()
    else:
        error = SourceFailed("The AI server's answer is broken, or not one of an OpenAI-compatible server.")
    return UnsupportedRequestFormat(error, path_missing=True)


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except (ValueError, RecursionError):
        return False
    return True
