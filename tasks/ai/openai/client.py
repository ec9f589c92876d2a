"""What an AI server is able to do, found out by asking and kept for as long as the process lives.

One record for each address and model, shared by all that ask there: whoever finds out first, finds out for all.

One address of an AI server: a prompt goes out one of four ways, an answer comes back, or one clear error.

The `openai` client carries the connection. The body is read in `replies.py`, because the client takes a
web page with status 200 for an answer and lets an empty one through as a raw exception (measured on
3.52). Waiting and trying again happen here: the client would also repeat what has timed out. How many
call at once is the limiter's matter (`tasks/remote/rate_limit.py`), what it costs the ledger's.

What is sent to an AI server: one request for each way of asking.
"""

import json
import logging
import re
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel

from tasks.ai.answerer import AnswererFailed, Usage
from tasks.ai.budget import counted, tells
from tasks.ai.openai.errors import (
    BeyondWindow,
    NotSpoken,
    OldLimit,
    cut_off,
    empty,
    not_the_protocol,
    silently_cut,
    too_often,
    too_slow,
    what_broke,
    what_failed,
)
from tasks.ai.openai.responses import Reply, read_completion, read_response
from tasks.ai.openai.window import was_cut
from tasks.ai.prompts import Messages
from tasks.ai.tls import tls_context
from tasks.errors import NotConfigured, SourceFailed, TookTooLong
from tasks.remote.rate_limit import HeldBack, RateLimit, RateLimiter, RateLimiters, Turn
from tasks.remote.retry import Backoff, TryAgain, retry
from tasks.text.tokens import most_model_tokens

if TYPE_CHECKING:
    from openai import OpenAI

    from tasks.ai.budget import Ledger


class Way(Enum):
    """How to ask. The first and the last are also for free text; the others are ways to ask for JSON."""

    RESPONSES = "the Responses protocol, with the schema"
    SCHEMA = "a chat completion with the schema"
    OBJECT = "a chat completion in JSON mode"
    CHAT = "a chat completion with the schema in words only"

    @property
    def path(self) -> str:
        return "responses" if self is Way.RESPONSES else "chat/completions"

    @property
    def json_only(self) -> bool:
        return self in {Way.SCHEMA, Way.OBJECT}


@dataclass
class Abilities:
    """What is known of a model at an address.

    Attributes:
        lacking: ways of asking that it does not know.
        old_limit: it takes `max_tokens` where newer servers take `max_completion_tokens`.
        window: tokens that it takes at once; None until it has shown them.
        cuts: it shortens a prompt beyond its window without a word.
        counts: it tells how many tokens a call took; False once it did not.
    """

    lacking: set[Way] = field(default_factory=set)
    old_limit: bool = False
    window: int | None = None
    cuts: bool = False
    counts: bool = True
    _lock: Lock = field(default_factory=Lock, repr=False)

    def lacks(self, ways: set[Way]) -> None:
        """Another way worked where these did not."""
        with self._lock:
            self.lacking = self.lacking | ways  # a new set: others may be reading the old one

    def start_anew(self) -> None:
        """No way works any more: the server may have become another one."""
        with self._lock:
            self.lacking = set()

    def narrow(self, window: int, *, cuts: bool = False) -> None:
        """It has shown that it takes no more than `window` tokens at once."""
        with self._lock:
            self.window = window if self.window is None else min(window, self.window)
            self.cuts = self.cuts or cuts

    def tells_no_counts(self) -> bool:
        """Note that it does not count; True for the first who says so."""
        with self._lock:
            first, self.counts = self.counts, False
            return first


SERVER_LIMIT: Final = RateLimit(at_once=16, start_at=4, longest_hold=600.0, spread=0.25)
"""How many calls a server gets at a time: as many as it answers without a refusal, 16 at most."""

_limiters = RateLimiters(SERVER_LIMIT)
_known: dict[tuple[str, str], Abilities] = {}
_lock = Lock()


def abilities_of(address: str, model: str) -> Abilities:
    """The record of that model at that address."""
    with _lock:
        return _known.setdefault((address, model), Abilities())


def forget(address: str) -> None:
    """Know nothing about an address any more, as when another server has taken it."""
    with _lock:
        for each in [each for each in _known if each[0].rstrip("/") == address.rstrip("/")]:
            del _known[each]
    _limiters.forget(address.rstrip("/"))


def limit_of(way: Way, *, old: bool) -> str:
    """The name that the limit on an answer's length has, in tokens; `old` servers have another one."""
    if way is Way.RESPONSES:
        return "max_output_tokens"
    return "max_tokens" if old else "max_completion_tokens"


def request_of(way: Way, model: str, messages: Messages, schema: type[BaseModel] | None) -> dict[str, Any]:
    """The request that asks `messages` that way; with `schema`, for JSON as far as that way can."""
    # A lone surrogate, from a broken file name or escape, would fail deep inside the client.
    messages = [{**message, "content": _plain(message["content"])} for message in messages]
    if way is Way.RESPONSES:
        # Not to be kept by the server: the texts are confidential.
        request: dict[str, Any] = {"model": model, "input": messages, "store": False}
        if schema:
            request["text"] = {"format": {"type": "json_schema", **_strict(schema)}}
        return request
    request = {"model": model, "messages": messages}
    if schema and way is Way.SCHEMA:
        request["response_format"] = {"type": "json_schema", "json_schema": _strict(schema)}
    elif schema and way is Way.OBJECT:
        request["response_format"] = {"type": "json_object"}
    return request


def _strict(schema: type[BaseModel]) -> dict[str, Any]:
    """The schema as servers want it: every key required, no other allowed."""
    from openai import pydantic_function_tool  # noqa: PLC0415 - 0.8 s

    # The client's own way to make a strict schema is private, except for tools.
    tool = pydantic_function_tool(schema)["function"]
    return {"name": re.sub(r"\W", "_", schema.__name__)[:64], "strict": True, "schema": tool["parameters"]}


def _plain(text: str) -> str:
    return text.encode(errors="replace").decode()


PATIENCE = 60.0  # seconds that a question waits for a server which is too busy to answer anybody
_FOR_ONE = 10  # times as long for a question that the server keeps refusing while it answers others
_LONGEST_PAUSE = 8.0  # seconds between two attempts, where the server names none
_LARGEST = 64 * 1024 * 1024  # bytes of an answer; a model's longest is below one
_LEAST_ANSWER = 256  # tokens; less is no answer

T = TypeVar("T")

log = logging.getLogger(__name__)


class Endpoint:
    """A model at an address; all that ask it share what is known of it, and its limiter.

    `timeout` is for one answer from its question to its end, `pause` the first wait before trying again,
    `patience` how long a busy server is asked that answers nobody, `PATIENCE` when None (all in seconds).
    """

    def __init__(
        self, model: str, address: str, key: str | None, timeout: float, pause: float, patience: float | None = None
    ) -> None:
        self._model = model
        self._address = address
        self._key = key
        self._timeout = timeout
        self._first_pause = pause
        self._patience = PATIENCE if patience is None else patience

    @property
    def abilities(self) -> Abilities:
        """What is known of the model here."""
        return abilities_of(self._address, self._model)

    @property
    def limiter(self) -> RateLimiter:
        """Who may call, and when."""
        return _limiters.of(self._address.rstrip("/"))

    def ask(
        self,
        way: Way,
        messages: Messages,
        schema: type[BaseModel] | None = None,
        ledger: "Ledger | None" = None,
    ) -> Reply:
        """Send `messages` that way; with `schema`, ask for JSON as far as that way can.

        Raises:
            NotSpoken: the server does not know this way.
            ModelRefused, AnswerCut: it does, and gave no whole answer.
            BeyondWindow: the prompt is too long, or was cut without a word.
            BudgetSpent: the ledger leaves nothing for it.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        request = request_of(way, self._model, messages, schema)
        limit = self._answer_limit(ledger)
        try:
            try:
                return self._patiently(lambda: self._ask(way, request, ledger))
            except OldLimit:
                self.abilities.old_limit = True
                return self._patiently(lambda: self._ask(way, request, ledger))
        except OldLimit:
            raise NotConfigured(
                "The AI server takes no limit on an answer's length, which DILIGENCE_AI_BUDGET needs. Leave the "
                "budget out, or ask another server."
            ) from None
        except BeyondWindow as beyond:
            if beyond.window is not None:
                self.abilities.narrow(beyond.window)
            if limit == self._answer_limit(ledger):
                raise
            # The room asked for the answer may have been what is too much: it is smaller now.
            return self._patiently(lambda: self._ask(way, request, ledger))

    def send(self, way: Way, request: dict[str, Any]) -> bytes:
        """The body that answers a request of that way's protocol; a busy server is asked again for a while.

        Raises:
            NotSpoken: the server does not know this way.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        return self._patiently(lambda: self._send(way, request))

    def _patiently(self, once: Callable[[], T]) -> T:
        """What `once` gives, called in turn with all others and again while that may help."""
        began, attempts = inf, 0  # when it first had its turn: waiting for that is no failure

        def attempt() -> T:
            nonlocal began, attempts
            attempts += 1
            with self._turn() as turn:
                began = min(began, turn.began)
                try:
                    result = once()
                except TryAgain as failure:
                    if failure.attempts is None or failure.after is not None:
                        self.limiter.refused(turn, failure.after)
                    raise
                except TookTooLong as error:
                    self.limiter.refused(turn)
                    if attempts > 1 or turn.alone:
                        raise
                    raise TryAgain(error, attempts=2) from None  # the server may have had too much to do at once
                except (AnswererFailed, NotSpoken):
                    self.limiter.answered()
                    raise
                self.limiter.answered()
                return result

        return retry(attempt, lambda failure, number: self._pause(failure, number, began))

    def _turn(self) -> Turn:
        try:
            return self.limiter.begin(patience=self._patience)
        except HeldBack as held:
            raise too_often(held.seconds) from None

    def _pause(self, failure: TryAgain, attempt: int, began: float) -> float:
        """Seconds until the next attempt. Raises the failure's error when patience has ended."""
        backoff = Backoff(self._first_pause, min(_LONGEST_PAUSE, self._patience / 4), jitter=(1, 1.25))
        pause = backoff.pause(attempt, failure.after)
        end = time.monotonic() + pause
        # A caller who waits while others are answered is only unlucky. Where nobody is answered, one has found out
        # for all.
        refused_since = self.limiter.refuses_since if failure.attempts is None else began
        over = end - refused_since > self._patience or end - began > self._patience * _FOR_ONE
        if attempt == failure.attempts or over:
            raise failure.error from None
        return pause

    def _ask(self, way: Way, request: dict[str, Any], ledger: "Ledger | None") -> Reply:
        prompt = json.dumps(request, ensure_ascii=False)
        limit = self._answer_limit(ledger)
        if limit is not None:
            request = {**request, limit_of(way, old=self.abilities.old_limit): limit}
        with _call(ledger, prompt) as settle:
            body = self._send(way, request)
            try:
                reply = read_response(body) if way is Way.RESPONSES else read_completion(body)
            except AnswererFailed as failure:
                failure.usage = self._counted(failure.usage, prompt, None, limit)
                settle(failure.usage)
                raise
            except ValueError:
                failed = not_the_protocol(body)
                if isinstance(failed, TryAgain):
                    settle(self._counted(Usage(1), prompt, None, limit))
                raise failed from None
            usage = self._counted(reply.usage, prompt, reply.text, limit)
            settle(usage)
        if limit is not None and reply.usage.output_tokens > limit:
            self.abilities.old_limit = True  # the newer name was ignored
        told = "\n".join(message["content"] for message in request["input" if way is Way.RESPONSES else "messages"])
        window = self.abilities.window if self.abilities.cuts else None
        if was_cut(told, reply.usage.input_tokens, window=window):
            self.abilities.narrow(reply.usage.input_tokens, cuts=True)
            raise silently_cut(reply.usage.input_tokens, usage)
        return Reply(reply.text, usage, reply.instead)

    def _answer_limit(self, ledger: "Ledger | None") -> int | None:
        """What the ledger leaves to an answer, and no more than the model's window can hold beside a prompt."""
        limit, window = ledger.answer_limit if ledger else None, self.abilities.window
        return limit if limit is None or window is None else min(limit, max(window // 4, _LEAST_ANSWER))

    def _counted(self, usage: Usage, prompt: str, answer: str | None, limit: int | None) -> Usage:
        if not tells(usage, prompt) and self.abilities.tells_no_counts():
            log.warning("The AI server does not say how many tokens a call took: they are estimated.")
        return counted(usage, prompt, answer, limit)

    def _send(self, way: Way, request: dict[str, Any]) -> bytes:
        from httpx2 import HTTPError, StreamError  # noqa: PLC0415 - 0.1 s
        from openai import OpenAIError  # noqa: PLC0415 - 0.8 s

        deadline = time.monotonic() + self._timeout
        body = bytearray()
        ask: Any = self._client.responses if way is Way.RESPONSES else self._client.chat.completions
        try:
            with ask.with_streaming_response.create(**request) as response:
                # The client's limit is for each piece. One that comes drop by drop must end too, at the latest
                # after one more silence of that length.
                for piece in response.iter_bytes():
                    body += piece
                    if time.monotonic() > deadline:
                        raise too_slow(self._timeout)
                    if len(body) > _LARGEST:
                        raise SourceFailed("The AI server's answer does not end. Check OPENAI_BASE_URL.")
        # Without their causes: the server's words, which a traceback would show, can hold key and prompt.
        except OpenAIError as error:
            raise what_failed(error, self._timeout) from None
        except HTTPError as error:
            raise what_broke(error, self._timeout) from None
        except StreamError:
            raise cut_off() from None
        if not body.strip():
            raise empty()
        return bytes(body)

    @cached_property
    def _client(self) -> "OpenAI":
        from openai import DefaultHttpxClient, OpenAI, Timeout  # noqa: PLC0415 - 0.8 s

        timeout = Timeout(self._timeout, connect=min(10.0, self._timeout))
        client = OpenAI(
            api_key=self._key or "none",  # a server that needs no key still gets a header
            base_url=self._address,
            timeout=timeout,
            max_retries=0,
            http_client=DefaultHttpxClient(
                base_url=self._address, timeout=timeout, follow_redirects=False, verify=tls_context()
            ),
        )
        weakref.finalize(self, client.close)  # its open connections end with this endpoint, or with the process
        return client


def _call(ledger: "Ledger | None", prompt: str) -> AbstractContextManager[Callable[[Usage], None]]:
    return nullcontext(lambda _: None) if ledger is None else ledger.call(most_model_tokens(prompt))
