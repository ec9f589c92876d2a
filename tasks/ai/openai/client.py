"""A model at the address of an AI server: a request goes out, and a reply or one clear error comes back.

The `openai` library handles the connection. Bodies are parsed in `protocols.py`, because the library takes a web page
with status 200 for an answer and lets an empty body through as a raw exception (measured on 3.52). Retries happen here,
because the library would also repeat what has timed out. The limiter (`tasks/remote/rate_limit.py`) decides how many
requests are under way at once, the ledger what they may cost.

What a server can do is found out by trying and kept as long as the process lives: one record for each address and
model, shared by all callers.
"""

import json
import logging
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import Any, Final, TypeVar

from httpx2 import ConnectError, ConnectTimeout, HTTPError, ProxyError, StreamError, TimeoutException, TransportError
from openai import APIConnectionError, APIStatusError, OpenAI, OpenAIError, Timeout
from pydantic import BaseModel

from tasks.ai.answerer import AnswerCut, AnswererFailed
from tasks.ai.calls import Messages
from tasks.ai.openai import answers
from tasks.ai.openai.answers import Capabilities, find_capabilities
from tasks.ai.openai.errors import (
    GATEWAY_GAVE_UP,
    ContextWindowExceeded,
    EndlessAnswer,
    Lost,
    Option,
    RefusedOption,
    ServerFailed,
    UnknownModel,
    UnsupportedRequestFormat,
    adding_to_failures,
    error_for_status,
    fewest,
    make_proxy_error,
    make_time_out,
    not_taken,
    pieces,
    prompt_truncated,
    too_many_requests,
    too_slow,
    unknown_model,
    unreadable_response,
    was_cut,
)
from tasks.ai.openai.protocols import (
    LIMIT_NAMES,
    Arrival,
    Reply,
    RequestFormat,
    build_request,
    dicts,
    read_completion,
    read_response,
)
from tasks.errors import BadRequest, DiligenceError, NotConfigured, SourceFailed, TookTooLong
from tasks.language.words import most_model_tokens
from tasks.remote.openai_client import open_client
from tasks.remote.rate_limit import HeldBack, RateLimit, RateLimiter, RateLimiters, Turn
from tasks.remote.retry import Backoff, TryAgain, retry
from tasks.spending.budget import HEADER, LONGEST_ANSWER, Account, Call, Ledger, SpendingSettings
from tasks.spending.money import Price, Usage, find_price
from tasks.telemetry import count_model_use, span

_FOR_ONE = 10  # times as long for a request that the server keeps refusing while it answers others
_LONGEST_PAUSE = 8.0  # seconds between two attempts, where the server names none
_LARGEST = 64 * 1024 * 1024  # bytes of an answer; a model's longest is below one
_WITH_THOUGHTS = 4  # times the longest answer, for a model whose thoughts count as a part of it
_LEAST_ANSWER = 256  # tokens; fewer cannot hold an answer
_STREAM_LASTS = 10  # times the limit on a silence that a streamed answer may take in all
_CONNECTING = 10.0  # seconds at most to open a connection
_MOST_LISTED = 50  # models that are remembered of an address
_TEMPLATE = 2_000  # tokens that a server may add to a prompt
_NO_LIMIT = (
    "The AI server does not accept a limit on the length of answers, which DILIGENCE_AI_BUDGET needs. "
    "Leave the budget out, or ask another server."
)
_ERROR_START = 4000  # characters of an error's body; a server that echoes the prompt puts its own words first

T = TypeVar("T")

log = logging.getLogger(__name__)


SERVER_LIMIT: Final = RateLimit(at_once=16, start_at=2, longest_hold=600.0, spread=0.25)
"""The requests under way at a server: two to begin with, and more while that brings more tokens a second."""

_limiters = RateLimiters(SERVER_LIMIT)


def forget(address: str) -> None:
    """Drop what is known about an address, for example when another server has taken it."""
    answers.forget(address)
    _limiters.forget(address.rstrip("/"))


@lru_cache(maxsize=16)
def _price(model: str, own: Path | None) -> Price | None:
    try:
        return find_price(model, own)
    except BadRequest:  # a price file with mistakes, which a run reports before it begins
        return None


class Endpoint:
    """A model at an address. All endpoints with the same model and address share capabilities and a limiter.

    `timeout` is how long the server may be silent, in addition to the time it needs to read the prompt (an answer that
    is not streamed must be complete by then); `pause` is the first wait before trying again; `patience` is how long to
    keep trying a busy server that answers no request, as long as that silence if None. All are in seconds.
    """

    def __init__(
        self,
        model: str,
        address: str,
        key: str | None,
        timeout: float,
        pause: float = 0.5,
        patience: float | None = None,
    ) -> None:
        self.model = model
        self.address = address
        self._key = key
        self._timeout = timeout
        self._first_pause = pause
        self._patience = timeout if patience is None else patience

    @property
    def capabilities(self) -> Capabilities:
        """What is known about the model here."""
        return find_capabilities(self.address, self.model)

    @property
    def limiter(self) -> RateLimiter:
        """The limit on requests to the address."""
        return _limiters.of(self.address.rstrip("/"))

    def ask(
        self,
        request_format: RequestFormat,
        messages: Messages,
        schema: type[BaseModel] | None = None,
        ledger: Ledger | None = None,
        *,
        one_attempt: bool = False,
        most: int | None = None,
    ) -> Reply:
        """Send `messages` in that format; with `schema`, ask for JSON as far as the format can.

        With `one_attempt` a failure is final, unless the server is busy or loading its model. `most` is how many tokens
        an answer needs at most, without thoughts, if that is known.

        Raises:
            UnsupportedRequestFormat: the server does not know this format.
            ModelRefused, AnswerCut: the model gave no complete answer.
            ContextWindowExceeded: the prompt is too long, or the server cut it without an error.
            BudgetSpent: the ledger leaves nothing for it.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        account, usage, again = ledger or Ledger(Account()), Usage(), False
        while True:
            limit, sent_without = self._answer_limit(account, most), frozenset(self.capabilities.refused)
            if Option.LIMIT in sent_without and account.answer_limit is not None:
                raise NotConfigured(_NO_LIMIT)
            try:
                with adding_to_failures(usage):
                    reply = self._patiently(
                        lambda: self._ask(request_format, messages, schema, account, most), one_attempt=one_attempt
                    )
                return replace(reply, usage=usage + reply.usage)
            except RefusedOption as refusal:
                if not self.capabilities.refuse(refusal.option, sent_without):
                    raise not_taken(400) from None
            except UnknownModel:
                self.describe()
                raise unknown_model(self.capabilities.models) from None
            except EndlessAnswer:
                raise
            except (ContextWindowExceeded, AnswerCut) as error:
                if not self._learn(error, limit) or again or limit == self._answer_limit(account, most):
                    raise
                usage, again = error.usage, True

    def _learn(self, error: ContextWindowExceeded | AnswerCut, limit: int | None) -> bool:
        """Keep what a failure for want of room shows of the model; returns whether other room may be enough.

        Thoughts count as a part of the answer: where they leave nothing of it, it is given more. For a prompt that was
        too long, the room for the answer may have been what is too much: it is smaller now.
        """
        if isinstance(error, ContextWindowExceeded):
            if error.window is not None:
                self.capabilities.narrow_window(error.window)
            return True
        if error.text or not error.usage.calls or limit is None:
            return False
        self.capabilities.thinks = True
        return True

    def send(self, request_format: RequestFormat, request: dict[str, Any]) -> bytes:
        """The body of the response to a request in that format; a busy server is tried again for a while.

        Raises:
            UnsupportedRequestFormat: the server does not know this format.
            tasks.errors.DiligenceError: what else is wrong, with what to do about it.
        """
        return self._patiently(lambda: self._send(request_format, request).whole())

    def replies(
        self, formats: Sequence[RequestFormat], ask: Callable[[RequestFormat], T]
    ) -> Iterator[tuple[RequestFormat, T]]:
        """What `ask` returns in each of the formats that the server supports; the others are remembered.

        Raises:
            tasks.errors.DiligenceError: it supports none of them.
        """
        failed: list[RequestFormat] = []
        failure: UnsupportedRequestFormat | None = None
        answered = False
        for candidate in formats:
            if failure is not None and failure.path_missing and failed[-1].path == candidate.path:
                continue
            try:
                reply = ask(candidate)
            except UnsupportedRequestFormat as error:
                failure = error
                failed.append(candidate)
            except ServerFailed as error:
                # Some servers fail at the Responses protocol instead of saying that they lack it.
                is_known = candidate is not RequestFormat.RESPONSES or candidate in self.capabilities.works
                if is_known or len(formats) == 1:
                    raise
                failure = UnsupportedRequestFormat(error, path_missing=True)
                failed.append(candidate)
            else:
                answered = True
                self.capabilities.works.add(candidate)
                self.capabilities.unsupported.update(failed)
                yield candidate, reply
        if not answered:
            assert failure is not None, "there is always a format to try"
            self.capabilities.reset_formats()
            raise failure.error from failure

    def _patiently(self, once: Callable[[], T], *, one_attempt: bool = False, alone: bool = False) -> T:
        """Return the result of `once`, which takes its turn with all other requests and is retried while that may help.

        A request that timed out is sent once more, alone: the server may have had too much to do at once. With
        `one_attempt` it is retried only while the server is busy.
        """
        began = inf  # when it first had its turn: waiting for a turn is not a failure
        was_alone = alone

        def attempt() -> T:
            nonlocal began, was_alone
            with self._turn(alone=alone) as turn:
                began = min(began, turn.began)
                try:
                    result = once()
                except TryAgain as failure:
                    if failure.attempts is None or failure.after is not None:
                        self.limiter.refused(turn, failure.after)
                    if one_attempt and failure.attempts is not None:
                        raise failure.error from None
                    raise
                except TookTooLong:
                    self.limiter.refused(turn)
                    was_alone = alone or turn.alone
                    raise
                except (AnswererFailed, UnsupportedRequestFormat, RefusedOption):
                    self.limiter.answered()
                    raise
                self.limiter.answered(work=result.usage.tokens if isinstance(result, Reply) else 0, turn=turn)
                return result

        try:
            return retry(attempt, lambda failure, number: self._pause(failure, number, began))
        except TookTooLong:
            if was_alone or one_attempt:
                raise
        log.info("The AI server did not answer in time. It is asked again, alone.")
        return self._patiently(once, alone=True)

    def _turn(self, *, alone: bool) -> Turn:
        try:
            return self.limiter.begin(patience=self._patience, alone=alone)
        except HeldBack as held:
            raise too_many_requests(held.seconds) from None

    def _pause(self, failure: TryAgain, attempt: int, began: float) -> float:
        """Seconds until the next attempt. Raises the failure's error if there is to be no other."""
        backoff = Backoff(self._first_pause, min(_LONGEST_PAUSE, self._patience / 4), jitter=(1, 1.25))
        pause = backoff.pause(attempt, failure.after)
        end = time.monotonic() + pause
        # A request may wait for long while others are answered. Where none is answered, all give up together.
        refused_since = self.limiter.refuses_since if failure.attempts is None else began
        over = end - refused_since > self._patience or end - began > self._patience * _FOR_ONE
        if attempt == failure.attempts or over:
            raise failure.error from None
        return pause

    def _ask(
        self,
        request_format: RequestFormat,
        messages: Messages,
        schema: type[BaseModel] | None,
        ledger: Ledger,
        most: int | None,
    ) -> Reply:
        without, limit = frozenset(self.capabilities.refused), self._answer_limit(ledger, most)
        request = build_request(request_format, self.model, messages, schema, limit, without)
        prompt = json.dumps(request, ensure_ascii=False)
        hashed = sha256(f"{self.address} {prompt}".encode(errors="replace")).hexdigest()
        with ledger.call(most_model_tokens(prompt), pieces=pieces(prompt), answer_limit=limit, request=hashed) as call:
            if call.answer_limit is not None:
                request = build_request(request_format, self.model, messages, schema, call.answer_limit, without)
            try:
                with span(f"chat {self.model}", {"gen_ai.request.model": self.model}):
                    arrival = self._send(request_format, request, call)
                    reply = self._read(arrival, request_format, prompt, call)
            except AnswererFailed as failure:
                cut = failure.text if isinstance(failure, AnswerCut) and call.answer_limit is None else None
                if isinstance(failure, EndlessAnswer):
                    self._note_limit(request_format, limit, failure.usage, without)
                is_for_budget = isinstance(failure, AnswerCut) and call.answer_limit not in {None, limit}
                if is_for_budget:
                    call.reply = None  # under a higher cap it may be whole
                failure.usage = self._settle(call, failure.usage, prompt, cut)
                if is_for_budget:
                    raise ledger.budget_spent() from None  # it was cut where the budget ends
                raise
            usage = self._settle(call, reply.usage, prompt, reply.text + reply.reasoning)
        self._note_limit(request_format, limit, usage, without)
        text = "\n".join(message["content"] for message in messages)
        window = self.capabilities.window if self.capabilities.truncates else None
        read = reply.usage.input_tokens
        if was_cut(text, read, window=window):
            self.capabilities.narrow_window(read, truncates=True)
            raise prompt_truncated(read, usage)
        writing = arrival.seconds - arrival.waited if arrival.waited else 0.0
        self.capabilities.note_speed(read - reply.cached, arrival.waited, reply.usage.output_tokens, writing)
        if self.capabilities.note_server(reply.server):
            log.warning(
                "Two models answer at the AI server's address, so that the same question may be judged in two ways. "
                "Give each of them its own address, and name one in OPENAI_BASE_URL."
            )
        return replace(reply, usage=usage)

    def _note_limit(
        self, request_format: RequestFormat, limit: int | None, usage: Usage, without: Collection[Option]
    ) -> None:
        """Note that a server which wrote more than it may has ignored the newer name of the limit."""
        if limit is not None and usage.output_tokens > limit and request_format is not RequestFormat.RESPONSES:
            self.capabilities.refuse(Option.COMPLETION_LIMIT, without)

    def _read(self, arrival: Arrival, request_format: RequestFormat, prompt: str, call: Call) -> Reply:
        """The reply in a body. A reply that broke off midway was paid for all the same."""
        body = b""
        try:
            body = arrival.whole()
            call.reply = body.decode(errors="replace")
            return read_response(body) if request_format is RequestFormat.RESPONSES else read_completion(body)
        except ValueError:
            call.reply = None
            error = Lost.CUT.try_again() if arrival.is_stream else unreadable_response(body)
            if isinstance(error, TryAgain):
                call(self._usage(Usage(1, most_model_tokens(prompt), arrival.pieces), prompt, None, call.answer_limit))
            raise error from None

    def _answer_limit(self, ledger: Ledger, most: int | None) -> int | None:
        """The most tokens that an answer may have: what the ledger leaves for it or, without a cap, what answers need.

        It never exceeds what fits into the model's window beside a prompt. None if the server accepts no limit.
        """
        window, limit = self.capabilities.window, ledger.answer_limit
        if limit is None:
            if Option.LIMIT in self.capabilities.refused:
                return None
            limit = LONGEST_ANSWER * (_WITH_THOUGHTS if self.capabilities.thinks else 1)
        if most is not None and not self.capabilities.thinks:
            limit = min(limit, most)
        return limit if window is None else min(limit, max(window // 4, _LEAST_ANSWER))

    def _settle(self, call: Call, reported: Usage, prompt: str, answer: str | None) -> Usage:
        """Settle a call that was answered, and return what it is taken to have used; see `_usage`."""
        usage = self._usage(reported, prompt, answer, call.answer_limit)
        call(usage)
        if call.key:  # else it was paid for, and counted, by a process that was killed
            price = _price(self.model, SpendingSettings.current().ai_prices)
            count_model_use(usage.calls, usage.input_tokens, usage.output_tokens, price.of(usage) if price else None)
        return usage

    def _usage(self, usage: Usage, prompt: str, answer: str | None, limit: int | None) -> Usage:
        """The usage that the server reported; if it is missing or cannot be right, the most that it can have been.

        `limit` is the most tokens that the answer may have had. `answer` is None if its text is not known.
        """
        read, written = usage.input_tokens, usage.output_tokens
        # No vocabulary has a token below a byte, and none a token for several words.
        is_read = 0 < read <= len(prompt.encode()) + _TEMPLATE
        is_written = written > 0 and written >= fewest(answer or "")
        if not (is_read and is_written) and answer is not None and self.capabilities.counts:
            self.capabilities.counts = False
            log.warning(
                "The AI server's token counts are missing or cannot be right, so they are estimated on the high "
                "side. Its own bill shows what was used."
            )
        if not is_written:
            written = (limit or written) if answer is None else most_model_tokens(answer)
        return Usage(usage.calls, read if is_read else most_model_tokens(prompt), written)

    def _send(self, request_format: RequestFormat, request: dict[str, Any], call: Call | None = None) -> Arrival:
        """The response.

        `call` is told if the server may have given an answer that did not arrive. One whose reply is there already is
        not sent.
        """
        if call and call.reply is not None:
            arrival = Arrival()
            arrival.add(call.reply.encode())
            return arrival
        # The server may be silent for the time limit, and while it reads the prompt.
        reading = self.capabilities.reading
        silence = self._timeout + (_tokens(request) / reading if reading else 0)
        error: Exception
        try:
            return self._exchange(request_format, request, silence, {HEADER: call.key} if call else {})
        except AnswererFailed:
            raise
        except (DiligenceError, TryAgain) as failure:
            error, sent = failure, True
        except (OpenAIError, HTTPError, StreamError) as failure:
            error, sent = _translate(failure, silence)
        if sent and call:
            call.lose()
        raise error  # without its cause: the server's words, which a traceback would show, can hold key and prompt

    def _exchange(
        self, request_format: RequestFormat, request: dict[str, Any], silence: float, headers: dict[str, str]
    ) -> Arrival:
        """The whole response. If the caller leaves midway, the connection closes, which cancels the call.

        `silence` is in seconds. An answer that arrives slowly, piece by piece, must end too: a stream some time later,
        a body sent whole within one silence.
        """
        limits = [request[name] for name in LIMIT_NAMES if name in request]
        arrival = Arrival(limits[0] if limits else None)
        is_response = request_format is RequestFormat.RESPONSES
        resource: Any = self._client.responses if is_response else self._client.chat.completions
        patience = Timeout(silence, connect=min(_CONNECTING, silence))
        with resource.with_streaming_response.create(**request, extra_headers=headers, timeout=patience) as response:
            for piece in response.iter_bytes():
                arrival.add(piece)
                if arrival.is_endless:
                    usage = Usage(1, _tokens(request), arrival.pieces)
                    raise EndlessAnswer(EndlessAnswer.says, usage, arrival.text)
                if arrival.seconds > silence * (_STREAM_LASTS if arrival.is_stream else 1):
                    raise too_slow(arrival.seconds, arrival.pieces) if arrival.is_stream else make_time_out(silence)
                if arrival.size > _LARGEST:
                    raise SourceFailed("The AI server's answer does not end. Check OPENAI_BASE_URL.")
        arrival.end()
        if arrival.is_empty:
            raise Lost.EMPTY.try_again()
        return arrival

    def describe(self) -> None:
        """Ask the server what it says about itself: its models, their context, its slots.

        llama.cpp gives its slots and their context at `/props`, beside `/v1`, and the context in `/v1/models`
        (https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md); vLLM has `max_model_len` there,
        OpenRouter `context_length`, Groq `context_window`. A server that says nothing, or wants another key for it, is
        still asked for answers.
        """
        listed = dicts(self._get("models").get("data"))
        props = self._get(f"{self.address.rstrip('/').removesuffix('/v1')}/props")
        settings = props.get("default_generation_settings")
        mine = [entry for entry in listed if self.model in {entry.get("id"), *_names(entry.get("aliases"))}]
        entry = mine[0] if mine else listed[0] if len(listed) == 1 and props else {}
        meta = entry.get("meta")
        told = [
            settings.get("n_ctx") if isinstance(settings, dict) else None,
            meta.get("n_ctx") if isinstance(meta, dict) else None,
            *(entry.get(name) for name in ("max_model_len", "context_length", "context_window")),
        ]
        for window in told:
            if isinstance(window, int) and window >= _LEAST_ANSWER:
                self.capabilities.narrow_window(window)
        slots = props.get("total_slots")
        self.capabilities.slots = slots if isinstance(slots, int) and slots > 0 else None
        self.allow_slots()
        self.capabilities.models = tuple(str(entry["id"]) for entry in listed[:_MOST_LISTED] if entry.get("id"))

    def allow_slots(self) -> None:
        """Limit concurrent calls to the number that the server says it answers at once."""
        if self.capabilities.slots is not None:
            self.limiter.allow(self.capabilities.slots)

    def _get(self, address: str) -> dict[str, Any]:
        """The JSON object at an address of the server; empty if there is none."""
        try:
            told = self._client.get(address, cast_to=object, options={"timeout": min(_LONGEST_PAUSE, self._timeout)})
        except (OpenAIError, HTTPError, ValueError):
            return {}
        return told if isinstance(told, dict) else {}

    @cached_property
    def _client(self) -> OpenAI:
        client = open_client(self.address, self._key, self._timeout)
        weakref.finalize(self, client.close)  # its open connections end with this endpoint, or with the process
        return client


def _tokens(request: dict[str, Any]) -> int:
    """The most tokens that a request's prompt can have."""
    return most_model_tokens(json.dumps(request, ensure_ascii=False))


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def _translate(failure: OpenAIError | HTTPError | StreamError, silence: float) -> tuple[Exception, bool]:
    """The error that a failed exchange stands for, and whether the server may have had the model answer it.

    `silence` is the limit in force, in seconds.
    """
    if isinstance(failure, APIStatusError):
        status, body = failure.status_code, failure.response.text[:_ERROR_START].lower()
        return error_for_status(status, failure.response.headers, body), status in GATEWAY_GAVE_UP
    cause = failure.__cause__ if isinstance(failure, APIConnectionError) else failure  # a time limit is one too
    if isinstance(cause, ConnectTimeout | ConnectError):
        return Lost.UNREACHABLE.try_again(), False
    if isinstance(cause, ProxyError):
        return make_proxy_error(), False
    if isinstance(cause, TimeoutException):
        return make_time_out(silence), True
    if isinstance(cause, TransportError | StreamError):
        return Lost.CUT.try_again(), True
    if isinstance(failure, APIConnectionError | HTTPError):
        return Lost.UNREACHABLE.try_again(), True
    return SourceFailed("The AI server's answer could not be read. Check OPENAI_BASE_URL."), False
