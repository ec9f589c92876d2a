"""A model server on loopback that speaks both of OpenAI's protocols, and misbehaves when told to.

    with ModelServer(says="Forty-two.") as server:
        OpenAiAnswerer("m", base_url=server.url).answer("How much?", [])

`says` is the model: a text, or a function of the request. `plans` is what it says when it is asked for a search plan;
with None it knows no plans, and says what it says to all. `server.then(busy(1), web_page())` makes
the next requests fail in that order; afterwards the model answers again. With a `window` it takes no
longer prompt: it says so, or with `cuts` reads the end of it alone and says nothing.

Errors are worded as their owners document or send them: OpenAI (https://platform.openai.com/docs/guides/error-codes),
Azure OpenAI (https://learn.microsoft.com/azure/ai-services/openai/reference, …/concepts/content-filter), llama.cpp
(tools/server/README.md: "Loading model"), OpenRouter (https://openrouter.ai/docs/errors), vLLM
(https://docs.vllm.ai/en/latest/features/reasoning_outputs/).
"""

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count as counting
from select import select
from socket import MSG_PEEK
from threading import Event, Lock, Thread
from time import monotonic
from typing import Any, Self

from tasks.ai.openai import client


@dataclass(frozen=True)
class ModelRequest:
    """One request as it came in; the headers' names in lower case."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]
    seen: str | None = None
    query: str = ""

    @property
    def visible_prompt(self) -> str:
        """What the model sees of the prompt: all of it, unless the server cut it."""
        return self.prompt if self.seen is None else self.seen

    @property
    def responses(self) -> bool:
        return self.path.endswith("/responses")

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages, without the type that items of the Responses protocol bear."""
        messages: list[dict[str, str]] = self.body["input" if self.responses else "messages"]
        return [{key: value for key, value in message.items() if key != "type"} for message in messages]

    @property
    def prompt(self) -> str:
        """All that the model is told."""
        return "\n".join(message["content"] for message in self.messages)

    @property
    def asks_for_plan(self) -> bool:
        """Whether it asks for a search plan, not for a judgement or an answer."""
        return '"wordings"' in self.prompt

    @property
    def format(self) -> str:
        """`json_schema`, `json_object` or `text`."""
        requested = self.body.get("text", {}).get("format") if self.responses else self.body.get("response_format")
        return str((requested or {"type": "text"})["type"])


@dataclass(frozen=True)
class ModelResponse:
    """One answer of the server. `delay` and `drip` are in seconds; `missing` bytes are promised and not sent.

    `drip` is the time between two bytes of the body, or between two pieces of `stream`, which takes the body's place.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0
    missing: int = 0
    drip: float = 0
    stream: Iterator[bytes] | None = None


Behaviour = Callable[[ModelRequest], ModelResponse]


class ModelServer:
    """The server; `requests` holds every request in order, `cancelled` those whose client left before the answer's end.

    Switch off what it should not know. It lists `models`, and tells `props` as llama.cpp does, where these are set;
    with `closed_lists` it wants another key for that. `limits` are the names that a limit on an answer's length may
    have in a chat; `window` is in tokens. `host` is the address that it listens at.
    """

    def __init__(
        self,
        says: str | Callable[[ModelRequest], str] = "Yes.",
        *,
        plans: str | Callable[[ModelRequest], str] | None = '{"wordings": ["zyzzyva"]}',
        responses: bool = True,
        chat: bool = True,
        schema: bool = True,
        json_object: bool = True,
        limits: Collection[str] = ("max_completion_tokens", "max_tokens"),
        window: int | None = None,
        cuts: bool = False,
        models: Collection[str] | None = None,
        props: Mapping[str, object] | None = None,
        closed_lists: bool = False,
        host: str = "127.0.0.1",
    ) -> None:
        self._host = host
        self.models, self.props, self.closed_lists = models, props, closed_lists
        self.cancelled: list[ModelRequest] = []
        self.says = says
        self.plans = plans
        self.window = window
        self._cuts = cuts
        self._limits = limits
        self._busy = 0
        self.most_at_once = 0
        self.requests: list[ModelRequest] = []
        self._paths = {"/v1/responses": responses, "/v1/chat/completions": chat}
        self._formats = {"text": True, "json_schema": schema, "json_object": json_object}
        self._next: deque[Behaviour] = deque()
        self._always: Behaviour | None = None
        self._lock = Lock()
        self._closing = Event()

    def then(self, *behaviours: Behaviour) -> None:
        """What happens to the next requests, one each."""
        self._next.extend(behaviours)

    def always(self, behaviour: Behaviour | None) -> None:
        """What happens to every request from now on; None for the model again."""
        self._always = behaviour

    @property
    def url(self) -> str:
        return f"http://{self._host}:{self._server.server_port}/v1"

    @property
    def judgements(self) -> list[ModelRequest]:
        """The requests for anything but a search plan."""
        return [request for request in self.requests if not request.asks_for_plan]

    @property
    def plan_requests(self) -> list[ModelRequest]:
        """The requests for a search plan."""
        return [request for request in self.requests if request.asks_for_plan]

    @property
    def paths(self) -> list[str]:
        """What was requested, in order, as `responses/json_schema`, `completions/text`."""
        return [f"{request.path.rsplit('/', 1)[-1]}/{request.format}" for request in self.requests]

    def azure_url(self, deployment: str | None = None) -> str:
        """An address as Azure OpenAI had before `/openai/v1`; without a deployment, that is the model's name."""
        path = f"/openai/deployments/{deployment}" if deployment else ""
        return f"http://127.0.0.1:{self._server.server_port}{path}?api-version=2024-10-21"

    def __enter__(self) -> Self:
        self._server = _Server((self._host, 0), _Handler)
        self._server.model = self
        client.forget(self.url)  # the port may have been another server's
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def reply(self, request: ModelRequest, has_left: Callable[[], bool]) -> ModelResponse:
        """What the server does with a request; `has_left` says whether the client is gone."""
        with self._lock:
            self.requests.append(request)
            behaviour = self._next.popleft() if self._next else self._always
            self._busy += 1
            self.most_at_once = max(self._busy, self.most_at_once)
        try:
            sent = (behaviour or self._well_behaved)(request)
            end = monotonic() + sent.delay
            while monotonic() < end and not self._closing.wait(min(0.02, sent.delay)):
                if has_left():
                    self.cancelled.append(request)
                    break
        finally:
            with self._lock:
                self._busy -= 1
        return sent

    def dripping(self, seconds: float) -> bool:
        """Wait between two bytes; False when the server ends."""
        return not self._closing.wait(seconds)

    def _well_behaved(self, request: ModelRequest) -> ModelResponse:
        if request.path.startswith("/openai/"):
            if denial := _wrong_for_azure(request):
                return denial
            request = replace(request, path="/v1/chat/completions")
        if not self._paths.get(request.path):
            return _error(404, "no such path")
        if not self._formats.get(request.format):
            return _error(400, f"response_format {request.format} is not supported", param="response_format")
        wrong = {"max_completion_tokens", "max_tokens"} & request.body.keys() - set(self._limits)
        if wrong:
            return _error(400, f"Unsupported parameter: {', '.join(wrong)}", param=wrong.pop())
        if self.window is not None and count(request.prompt) > self.window:
            if not self._cuts:
                return _error(
                    400,
                    f"This model's maximum context length is {self.window} tokens. However, your messages resulted in "
                    f"{count(request.prompt)} tokens.",
                    code="context_length_exceeded",
                )
            pieces = list(PIECE.finditer(request.prompt))
            request = replace(request, seen=request.prompt[pieces[-self.window].start() :])
        says = self.says if self.plans is None or not request.asks_for_plan else self.plans
        text = says(request) if callable(says) else says
        return saying(text)(request)


PIECE = re.compile(r"[^\W\d_]+|\d{1,3}|[^\w\s]|_")


def count(text: str) -> int:
    """The tokens of a text by a small vocabulary: words, up to three figures, marks."""
    return sum(1 for _ in PIECE.finditer(text))


def saying(text: str, reason: str = "stop", refusal: str | None = None, usage: object = None) -> Behaviour:
    """The model says `text`; it ends for `reason` (`stop`, `length`, `content_filter`).

    `usage` is told in place of what it used: (read, written), or any JSON value; `NO_USAGE` for none.
    """

    def behave(request: ModelRequest) -> ModelResponse:
        read, written = usage if isinstance(usage, tuple) else (count(request.visible_prompt), count(text))
        other = {} if usage is None or isinstance(usage, tuple) else {"usage": None if usage is NO_USAGE else usage}
        if request.responses:
            part = {"type": "refusal", "refusal": refusal} if refusal else {"type": "output_text", "text": text}
            whole = reason == "stop"
            return _answer(request, {
                "id": "r", "object": "response", "model": "m", "status": "completed" if whole else "incomplete",
                "incomplete_details": None if whole else {"reason": _INCOMPLETE[reason]}, "error": None,
                "output": [
                    {"type": "reasoning", "id": "t", "summary": []},
                    {"type": "message", "id": "a", "role": "assistant", "content": [part]},
                ],
                "usage": {"input_tokens": read, "output_tokens": written},
                **other,
            })  # fmt: skip
        message = {"role": "assistant", "content": None if refusal else text, "refusal": refusal}
        return _answer(request, {
            "id": "c", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": reason, "message": message}],
            "usage": {"prompt_tokens": read, "completion_tokens": written},
            **other,
        })  # fmt: skip

    return behave


NO_USAGE = object()
_INCOMPLETE = {"length": "max_output_tokens", "content_filter": "content_filter"}


def _wrong_for_azure(request: ModelRequest) -> ModelResponse | None:
    if request.headers.get("api-key") != AZURE_KEY:
        return _error(401, "Access denied due to invalid subscription key or wrong API endpoint.", code="401")
    if request.query != "api-version=2024-10-21" or not request.path.endswith("/chat/completions"):
        return _error(404, "Resource not found", code="404")
    if request.path != f"/openai/deployments/{AZURE_DEPLOYMENT}/chat/completions":
        return missing_deployment()(request)
    return None


AZURE_KEY, AZURE_DEPLOYMENT = "azure-key", "our-deployment"


def missing_deployment() -> Behaviour:
    """404 as Azure OpenAI gives it for a deployment that does not exist."""
    return lambda _: _error(
        404,
        "The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, "
        "please wait a moment and try again.",
        code="DeploymentNotFound",
    )


def filtered() -> Behaviour:
    """400 as Azure OpenAI gives it for a prompt that its content filter stops."""
    return lambda _: _error(
        400,
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        code="content_filter",
        param="prompt",
        innererror={"code": "ResponsibleAIPolicyViolation"},
    )


def flagged() -> Behaviour:
    """403 as OpenRouter gives it for a prompt that its moderation stops."""
    return lambda _: _error(403, "Your chosen model requires moderation and your input was flagged", code=403)


def unpaid() -> Behaviour:
    """402 as OpenRouter and DeepSeek give it for an account without credit."""
    return lambda _: _error(402, "Insufficient credits", code=402)


def more_than_a_minute_takes(limit: int = 30_000) -> Behaviour:
    """429 as OpenAI gives it for a request with more tokens than the account may send in a minute."""
    return lambda _: _error(
        429,
        f"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit {limit}, Requested 49203. "
        "The input or output tokens must be reduced in order to run successfully.",
        code="rate_limit_exceeded",
    )


def ending(reason: str, text: str = "") -> Behaviour:
    """A chat completion that ends for a reason in a server's own words."""
    return lambda _: _json({
        "choices": [{"finish_reason": reason, "message": {"role": "assistant", "content": text}}],
        "usage": {"prompt_tokens": 300, "completion_tokens": 3},
    })  # fmt: skip


def loading() -> Behaviour:
    """503 as llama.cpp gives it until its model is loaded."""
    return lambda _: _json({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, 503)


def refusing() -> Behaviour:
    """The model declines, as OpenAI's models do when JSON was asked for."""
    return saying("", refusal="I cannot help with that.")


def cut_off(text: str = '{"score": 3, "reason": "Most of') -> Behaviour:
    """The answer ends at the limit on its length."""
    return saying(text, reason="length")


def web_page(status: int = 200) -> Behaviour:
    """A page, as a proxy or a wrong path gives it."""
    page = b"<!DOCTYPE html><title>Welcome</title>"
    return lambda _: ModelResponse(page, status, headers={"Content-Type": "text/html"})


def nothing() -> Behaviour:
    """Status 200 and an empty body."""
    return lambda _: ModelResponse(b"")


def broken() -> Behaviour:
    """Half an answer, whole as far as HTTP knows."""
    return lambda request: ModelResponse(saying("Yes.")(request).body[:40])


def torn() -> Behaviour:
    """The connection ends in the middle of the answer."""
    return lambda request: ModelResponse(saying("Yes.")(request).body, missing=100)


def busy(after: str | None = None) -> Behaviour:
    """429; `after` is the Retry-After header as sent."""
    return lambda _: _error(429, "slow down", headers={} if after is None else {"Retry-After": after})


def out_of_credit() -> Behaviour:
    """429 as OpenAI gives it when the account is empty."""
    return lambda _: _error(429, "You exceeded your current quota", code="insufficient_quota")


def failing(status: int, message: str = "it failed", code: str | None = None) -> Behaviour:
    """An error with that status and those words."""
    return lambda _: _error(status, message, code=code)


def denied() -> Behaviour:
    """401 that shows the key it was given, as some servers do."""
    return lambda request: _error(401, f"Incorrect API key provided: {request.headers.get('authorization')}")


def too_long() -> Behaviour:
    """400 as OpenAI gives it for a prompt beyond the model's window."""
    return lambda _: _error(400, "This model's maximum context length is 4096 tokens.", code="context_length_exceeded")


def dripping(seconds: float) -> Behaviour:
    """The answer comes as a whole, a byte at a time."""
    return lambda request: ModelResponse(whole(saying("Yes."))(request).body, drip=seconds)


def cut_stream(comment: str = "") -> Behaviour:
    """A stream of events that ends in the middle. OpenRouter begins one with a comment."""
    start = f": {comment}\n\n".encode() if comment else b""
    return lambda _: ModelResponse(start + b'data: {"choices": [{"delta": {"content": "Yes."}}]}\n\n')


def writing(tokens: Iterator[str], every: float = 0) -> Behaviour:
    """A stream of these tokens, one in `every` seconds, whatever limit was asked for; it does not say that it ends."""

    def behave(request: ModelRequest) -> ModelResponse:
        def event(token: str) -> bytes:
            chat = {"choices": [{"index": 0, "delta": {"content": token}, "finish_reason": None}]}
            response = {"type": "response.output_text.delta", "delta": token}
            return f"data: {json.dumps(response if request.responses else chat)}\n\n".encode()

        return ModelResponse(b"", headers={"Content-Type": "text/event-stream"}, drip=every, stream=map(event, tokens))

    return behave


def numbers() -> Iterator[str]:
    """Tokens that never end and never repeat."""
    return (f"{number} " for number in counting())


def failing_in_the_middle(message: str) -> Behaviour:
    """A stream whose last event is an error, as vLLM and LM Studio send it."""
    start = 'data: {"choices": [{"index": 0, "delta": {"content": "Yes"}}]}\n\n'
    return lambda _: ModelResponse(f"{start}data: {json.dumps({'error': {'message': message}})}\n\n".encode())


def served_by(model: str, behaviour: Behaviour, fingerprint: str | None = None) -> Behaviour:
    """The answer says that it comes from this model."""

    def behave(request: ModelRequest) -> ModelResponse:
        answer = json.loads(whole(behaviour)(request).body)
        return _json({**answer, "model": model, "system_fingerprint": fingerprint})

    return behave


def whole(behaviour: Behaviour) -> Behaviour:
    """The same answer as a whole, though a stream was asked for: some gateways know no streams."""
    return lambda request: behaviour(replace(request, body={**request.body, "stream": False}))


def calling_a_tool(arguments: object = "{}") -> Behaviour:
    """The model wants a tool to be called, and says nothing. Some servers send the arguments as an object."""
    call = {"id": "t", "type": "function", "function": {"name": "search", "arguments": arguments}}
    item = {"type": "function_call", "id": "t", "name": "search", "arguments": arguments}
    return _message({"content": None, "tool_calls": [call]}, [item])


def thinking_only(thought: str = "Hm.", name: str = "reasoning_content") -> Behaviour:
    """All that the model thought, in the field that the server has for it, and nothing that it says."""
    content = [{"type": "reasoning_text", "text": thought}]
    item: dict[str, object] = {"type": "reasoning", "id": "t", "summary": [], "content": content}
    return _message({"content": None, name: thought}, [item])


def in_parts(*texts: str) -> Behaviour:
    """What the model says as a list of parts."""
    chat, response = ([{"type": kind, "text": text} for text in texts] for kind in ("text", "output_text"))
    return _message({"content": chat}, [{"type": "message", "id": "a", "content": response}])


def _message(message: Mapping[str, object], output: list[dict[str, object]]) -> Behaviour:
    def behave(request: ModelRequest) -> ModelResponse:
        body = {key: value for key, value in request.body.items() if key != "stream"}
        whole = json.loads(saying("")(replace(request, body=body)).body)
        if request.responses:
            return _answer(request, {**whole, "output": output})
        choices = [{"finish_reason": "stop", "message": {"role": "assistant", **message}}]
        return _answer(request, {**whole, "choices": choices})

    return behave


def slow(seconds: float) -> Behaviour:
    """The answer comes, later."""
    return lambda request: ModelResponse(saying("Yes.")(request).body, delay=seconds)


def moved(to: str) -> Behaviour:
    """A redirect that would take the whole request along."""
    return lambda _: ModelResponse(b"", 307, {"Location": to})


def echoing(status: int) -> Behaviour:
    """An error whose words are the whole prompt."""
    return lambda request: _error(status, request.prompt)


def complaining(message: str, code: object = None) -> Behaviour:
    """An error with status 200, as LM Studio gives it for a path that it does not know, OpenRouter with a code."""
    return lambda _: _json({"error": message if code is None else {"message": message, "code": code}})


def _answer(request: ModelRequest, value: dict[str, Any]) -> ModelResponse:
    """An answer as a whole, or where a stream was asked for, in the events that the owner of the protocol documents.

    A chat: https://platform.openai.com/docs/api-reference/chat-streaming; pieces of its text, then the reason of its
    end, then the counts where they were asked for, then `[DONE]`. The Responses protocol:
    https://platform.openai.com/docs/api-reference/responses-streaming; the last event holds the whole response.
    """
    if not request.body.get("stream"):
        return _json(value)
    if request.responses:
        created = {"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress"}}
        parts = [part for item in value["output"] if item["type"] == "message" for part in item["content"]]
        text = "".join(part.get("text", "") for part in parts)
        events = [{"type": "response.output_text.delta", "delta": text[at : at + 7]} for at in range(0, len(text), 7)]
        return _events(created, *events, {"type": f"response.{value['status']}", "response": value})
    (choice,) = value["choices"]
    message = dict(choice["message"])
    text = message.pop("content", None)
    pieces = [text[at : at + 7] for at in range(0, len(text), 7)] if isinstance(text, str) else [text]
    calls = [{"index": at, **call} for at, call in enumerate(message.pop("tool_calls", None) or [])]
    deltas = [message, *({"content": piece} for piece in pieces), *({"tool_calls": [call]} for call in calls)]
    chunks: list[dict[str, object]] = [
        {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]})
    if request.body.get("stream_options", {}).get("include_usage"):
        chunks.append({"choices": [], "usage": value.get("usage")})
    return _events(*chunks, end="data: [DONE]\n\n")


def _events(*events: object, end: str = "") -> ModelResponse:
    body = "".join(f"data: {json.dumps(event)}\n\n" for event in events) + end
    return ModelResponse(body.encode(), headers={"Content-Type": "text/event-stream"})


def _json(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> ModelResponse:
    return ModelResponse(json.dumps(value).encode(), status, {"Content-Type": "application/json", **(headers or {})})


def _error(status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: object) -> ModelResponse:
    return _json({"error": {"message": message, "type": "error", **more}}, status, headers)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    model: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: in two, the second waits 40 ms for the first's receipt
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        path, _, query = self.path.partition("?")
        model, request = self.server.model, ModelRequest(path, body, headers, query=query)
        sent = model.reply(request, self._has_left)
        try:
            self.send_response(sent.status)
            for name, value in sent.headers.items():
                self.send_header(name, value)
            if sent.stream is not None:
                self._write_stream(sent, request)
                return
            self.send_header("Content-Length", str(len(sent.body) + sent.missing))
            self.end_headers()
            for byte in sent.body if sent.drip else b"":
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if not self.server.model.dripping(sent.drip):
                    break
            self.wfile.write(b"" if sent.drip else sent.body)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True  # the client did not wait
            model.cancelled.append(request)
        self.close_connection = self.close_connection or bool(sent.missing)

    def _write_stream(self, sent: ModelResponse, request: ModelRequest) -> None:
        self.close_connection = True
        self.send_header("Connection", "close")
        self.end_headers()
        for piece in sent.stream or ():
            self.wfile.write(piece)
            self.wfile.flush()
            if self._has_left():
                self.server.model.cancelled.append(request)
                return
            if not self.server.model.dripping(sent.drip):
                return

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that left before its next request
            super().handle()

    def finish(self) -> None:
        with suppress(OSError):  # what was not sent to a client that left
            super().finish()

    def _has_left(self) -> bool:
        try:
            return bool(select([self.connection], [], [], 0)[0]) and not self.connection.recv(1, MSG_PEEK)
        except OSError:
            return True

    def do_GET(self) -> None:
        model = self.server.model
        listed = {"/props": model.props, "/v1/models": model.models}.get(self.path)
        if listed is None or model.closed_lists:
            self.send_error(401 if model.closed_lists else 404)
            return
        told = {"data": [{"id": name} for name in listed]} if self.path == "/v1/models" else listed
        body = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the inherited name
        pass
