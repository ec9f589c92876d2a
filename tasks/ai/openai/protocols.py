"""The requests and replies of OpenAI's two protocols: Responses and chat completions.

A request is built in one of four formats, because servers differ in how they take a schema. A reply is parsed leniently
and judged strictly: servers leave fields out, add their own and send null where a number belongs, and none of that
matters. A refusal, a cut answer, a tool call and an error inside a reply with status 200 do.

An answer is read while it comes: as a stream of events, or whole where the server knows no streams. Both protocols
stream as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html):

- A chat sends pieces (`chat.completion.chunk`), the counts of tokens in a last one without choices, and `[DONE]`
  (https://platform.openai.com/docs/api-reference/chat-streaming).
- The Responses protocol sends events of many kinds, of which the last holds the whole response
  (https://platform.openai.com/docs/api-reference/responses-streaming).

Comments are signs of life: llama.cpp and OpenRouter send them while a prompt is read.

A small model may repeat itself without end, and some servers ignore the limit on an answer. Both show while the answer
comes, so that it need not be waited for.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from time import monotonic
from typing import Any

from pydantic import BaseModel

from tasks.ai.answerer import AnswerCut, ModelRefused
from tasks.ai.calls import Messages
from tasks.ai.openai.errors import Option, UnsupportedRequestFormat, content_filtered, error_for_status
from tasks.errors import SourceFailed
from tasks.spending.money import Usage

TOOL_CALL = "The model called a tool instead of answering."
REASONING_ONLY = "The model thought aloud and gave no answer."
EMPTY = "The model gave an empty answer."

LIMIT_NAMES = ("max_output_tokens", "max_completion_tokens", "max_tokens")
"""The fields for the limit on an answer's length, in tokens: of Responses, of chats, and of older chat servers."""

_SEED = 1  # any: the same question is to give the same answer
_LONGEST_TEXT, _MOST_ITEMS = 800, 12  # characters of a text and items of a list; a quotation has one or two sentences
_MOST_TOKENS = 20_000_000  # of a call; no model reads or writes more, so a larger count is wrong
_REASONING = re.compile(r"\s*<(think|thinking|reasoning)>", re.IGNORECASE)
# gpt-oss writes its thoughts and its answer into channels, which some servers leave in the text
# (https://cookbook.openai.com/articles/openai-harmony).
_CHANNEL, _ANSWER_CHANNEL = "<|channel|>", re.compile(r"<\|channel\|>final\b[^<]*<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|start|channel)\|>")
_REASONING_END = re.compile(r"</(?:think|thinking|reasoning)>", re.IGNORECASE)
_STATUS = {  # of an error that names no number
    "rate_limit_exceeded": 429,
    "server_error": 500,
    "invalid_api_key": 401,
    "insufficient_quota": 429,
}
_CUT = frozenset(("length", "max_tokens", "model_length"))  # the last two of Anthropic's and Mistral's servers
# Google's server passes on its own words (https://ai.google.dev/api/generate-content#FinishReason), some behind ours.
_STOPPED_BY_FILTER = re.compile(
    r"content_filter\b|(?:image_)?(?:safety|recitation|prohibited_content)$|blocklist$|spii$", re.IGNORECASE
)
_ERROR_START = 4000  # characters of an error that are searched
_LONGEST_SERVER = 150  # characters of a model's name


class RequestFormat(Enum):
    """The format of a request. The first and the last are also for free text; the others ask for JSON."""

    RESPONSES = "the Responses protocol, with the schema"
    SCHEMA = "a chat completion with the schema"
    OBJECT = "a chat completion in JSON mode"
    CHAT = "a chat completion with the schema in words only"

    @property
    def path(self) -> str:
        """The path below the server's address."""
        return "responses" if self is RequestFormat.RESPONSES else "chat/completions"

    @property
    def takes_schema(self) -> bool:
        """Whether a schema is sent along, to which the server can hold the model."""
        return self in {RequestFormat.RESPONSES, RequestFormat.SCHEMA}


@dataclass(frozen=True)
class Reply:
    """The model's text without its reasoning, and its cost as the server gave it (0 if it did not).

    If `text` is empty, `instead` is a sentence on what came in its place, `arguments` are those of the tools that the
    model called, and `reasoning` is what it thought. `cached` are tokens of the prompt that the server had read before,
    `server` is its name for the model that answered. `is_cut`: the text is the complete sentences of a longer one.
    """

    text: str
    usage: Usage
    instead: str = EMPTY
    arguments: tuple[str, ...] = ()
    reasoning: str = ""
    cached: int = 0
    server: str = ""
    is_cut: bool = False


def build_request(
    request_format: RequestFormat,
    model: str,
    messages: Messages,
    schema: type[BaseModel] | None,
    limit: int | None = None,
    without: Collection[Option] = (),
) -> dict[str, Any]:
    """The request for that prompt; with `schema`, for JSON as far as the format can ask for it.

    `limit` is the most tokens that the answer may have, `without` the options that the server does not accept.
    """
    # A lone surrogate, from a broken file name or escape, would fail deep inside the client.
    messages = [{**message, "content": message["content"].encode(errors="replace").decode()} for message in messages]
    if Option.SYSTEM_ROLE in without:
        messages = _without_system_role(messages)
    request: dict[str, Any] = {"model": model}
    is_response = request_format is RequestFormat.RESPONSES
    if is_response:
        # An item without its type is refused by llama.cpp where it is the assistant's.
        # `store`: the server is not to keep the texts, which are confidential.
        request |= {"input": [{"type": "message", **message} for message in messages], "store": False}
    else:
        request |= {"messages": messages}
    if schema and is_response:
        request["text"] = {"format": {"type": "json_schema", **_strict(schema, frozenset(without))}}
    elif schema and request_format is RequestFormat.SCHEMA:
        request["response_format"] = {"type": "json_schema", "json_schema": _strict(schema, frozenset(without))}
    elif schema and request_format is RequestFormat.OBJECT:
        request["response_format"] = {"type": "json_object"}
    if Option.STREAM not in without:
        request["stream"] = True
        if not is_response and Option.STREAM_USAGE not in without:
            request["stream_options"] = {"include_usage": True}
    if Option.TEMPERATURE not in without:
        request["temperature"] = 0
    if not is_response and Option.SEED not in without:  # the Responses protocol has none
        request["seed"] = _SEED
    if limit is not None and Option.LIMIT not in without:
        request[_limit_name(request_format, without)] = limit
    return request


def _limit_name(request_format: RequestFormat, without: Collection[Option]) -> str:
    if request_format is RequestFormat.RESPONSES:
        return LIMIT_NAMES[0]
    return LIMIT_NAMES[2 if Option.COMPLETION_LIMIT in without else 1]


def _without_system_role(messages: Messages) -> Messages:
    """The messages with the instructions moved to the beginning of the user's first message."""
    instructions = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    others = [message for message in messages if message["role"] != "system"]
    return [{**others[0], "content": f"{instructions}\n\n{others[0]['content']}"}, *others[1:]]


@cache  # 1 ms, for each judgement
def _strict(schema: type[BaseModel], without: frozenset[Option] = frozenset()) -> dict[str, Any]:
    """The schema in the form that servers want: all keys required, no others allowed, each text and list limited."""
    from openai import pydantic_function_tool  # noqa: PLC0415 - 0.7 s, which `diligence run` without a model saves

    # The client's own way to make a strict schema is private, except for tools.
    tool = pydantic_function_tool(schema)["function"]
    parameters: Any = tool["parameters"]
    if Option.BOUNDS not in without:
        parameters = _bound(parameters)
    return {"name": re.sub(r"\W", "_", schema.__name__)[:64], "strict": True, "schema": parameters}


def _bound(schema: Any) -> Any:
    """The schema with a limit on every text and list that has none: a small model would write on without end."""
    if isinstance(schema, list):
        return [_bound(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    bounds = {"string": {"maxLength": _LONGEST_TEXT}, "array": {"maxItems": _MOST_ITEMS}}.get(str(schema.get("type")))
    bounds = {} if bounds is None or "enum" in schema or "const" in schema else bounds
    return bounds | {key: _bound(part) for key, part in schema.items()}


@cache  # its schema alone takes 1.4 ms, for each judgement
def longest_answer(schema: type[BaseModel]) -> tuple[int, int]:
    """The longest answer that keeps to a schema, with the bounds added here: characters of texts, and keys."""
    whole: Any = _bound(schema.model_json_schema())

    def longest(part: Any) -> tuple[int, int]:
        if "$ref" in part:
            return longest(whole["$defs"][part["$ref"].rsplit("/", 1)[1]])
        if "anyOf" in part:
            return max(map(longest, part["anyOf"]))
        match part.get("type"):
            case "string":
                return int(part.get("maxLength", 0)), 0
            case "array":
                characters, keys = longest(part.get("items", {}))
                return int(part["maxItems"]) * characters, int(part["maxItems"]) * keys
            case "object":
                fields = [longest(field) for field in part.get("properties", {}).values()]
                return sum(one for one, _ in fields), len(fields) + sum(keys for _, keys in fields)
        return 0, 0

    return longest(whole)


@dataclass(frozen=True)
class _Said:
    """What a reply says, in whichever protocol; `text` has the thoughts that stand in it.

    `end` is the reason why it ended, in lower case, `calls` are the tools that were called, `reasoned` says that the
    model thought.
    """

    text: str
    end: str
    refused: bool
    cut: bool
    calls: Sequence[Any]
    reasoning: str
    reasoned: bool


def read_completion(body: bytes) -> Reply:
    """The answer in the body of a chat completion.

    Raises:
        ValueError: the body is not a chat completion.
        UnsupportedRequestFormat, TryAgain: it reports an error.
        ModelRefused, AnswerCut, ContextWindowExceeded: it holds no complete answer.
    """
    completion = _read(body)
    choice = next(iter(dicts(completion.get("choices"))), {})
    message, end = choice.get("message"), str(choice.get("finish_reason") or "").lower()
    if choice.get("error") or end == "error":
        raise _error(choice.get("error"))
    if not isinstance(message, dict):
        raise ValueError("no message")  # noqa: TRY004 - of a foreign body
    text = _text(message.get("content"))
    reasoning = _text(message.get("reasoning_content")) or _text(message.get("reasoning"))
    calls = [*(call.get("function") for call in dicts(message.get("tool_calls"))), message.get("function_call")]
    refused, reasoned = bool(message.get("refusal")), bool(text.strip() or reasoning)
    return _make_reply(completion, _Said(text, end, refused, end in _CUT, calls, reasoning, reasoned))


def read_response(body: bytes) -> Reply:
    """The answer in the body of a response of the Responses protocol. Raises as `read_completion`."""
    response = _read(body)
    items, status = dicts(response.get("output")), response.get("status")
    if status not in ("completed", "incomplete", None) or not (items or status == "incomplete"):
        raise ValueError("no output")
    details = response.get("incomplete_details")
    end = str(details.get("reason") or "") if isinstance(details, dict) else ""
    parts = [part for item in items if item.get("type") == "message" for part in dicts(item.get("content"))]
    thoughts = [item for item in items if item.get("type") == "reasoning"]
    reasoning = "".join(str(part.get("text") or "") for item in thoughts for part in dicts(item.get("content")))
    text = _text(parts)
    said = _Said(
        text,
        end,
        any(part.get("type") == "refusal" for part in parts),
        status == "incomplete",
        [item for item in items if str(item.get("type")).endswith("_call")],
        reasoning,
        bool(text.strip() or (thoughts and not parts)),
    )
    return _make_reply(response, said)


def _make_reply(body: Mapping[str, Any], said: _Said) -> Reply:
    usage, text = _usage(body.get("usage")), _without_reasoning(said.text)
    if _STOPPED_BY_FILTER.match(said.end):
        raise content_filtered(usage)
    if said.refused:
        raise ModelRefused("The model refused to answer. Ask in another way, or name another model.", usage)
    if said.cut:
        raise AnswerCut(
            "The model's answer was cut off before its end. Ask for less at once, or raise the server's limit on an "
            "answer's length.",
            usage,
            text,
        )
    calls = [call for call in said.calls if call]
    instead = TOOL_CALL if calls else REASONING_ONLY if said.reasoned else EMPTY
    counts: Any = body.get("usage") if isinstance(body.get("usage"), dict) else {}
    details = counts.get("prompt_tokens_details") or counts.get("input_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, dict) else 0
    # Fingerprints do not name the server: llama.cpp sends one with chats and with nothing else.
    server = body["model"][:_LONGEST_SERVER] if isinstance(body.get("model"), str) else ""
    return Reply(text, usage, instead, _arguments(calls), said.reasoning, cached, server)


def _arguments(calls: Sequence[Any]) -> tuple[str, ...]:
    """The arguments of the tool calls: JSON as text or, from some servers, the object itself."""
    values = [call.get("arguments") for call in calls if isinstance(call, dict)]
    return tuple(value if isinstance(value, str) else json.dumps(value) for value in values if value)


def _without_reasoning(text: str) -> str:
    """The text after the reasoning that local models write first; empty if the reasoning does not end."""
    if _CHANNEL in text:
        answers = list(_ANSWER_CHANNEL.finditer(text))
        return _CHANNEL_END.split(text[answers[-1].end() :])[0].strip() if answers else ""
    ends = list(_REASONING_END.finditer(text))
    if _REASONING.match(text):
        return text[ends[0].end() :].strip() if ends else ""
    # Some prompt templates open the reasoning themselves: only its end stands in the answer.
    if ends and "<think" not in text[: ends[0].start()].lower():
        return text[ends[0].end() :].strip()
    return text.strip()


def _text(content: Any) -> str:
    """The text of a message or a piece of it, whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    parts = [part for part in dicts(content) if part.get("type", "text") in {"text", "output_text"}]
    return "".join(part["text"] for part in parts if isinstance(part.get("text"), str))


def dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list in a server's JSON; empty where it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _usage(value: Any) -> Usage:
    """The usage of one call, with its tokens if the server reports numbers that can be right.

    Some servers count reasoning in the total only, and some count cached tokens separately: the total shows which.
    Without a total, cached tokens are taken as separate only if they have the names of Anthropic's protocol
    (https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching).
    """
    counts = value if isinstance(value, dict) else {}
    read = _count(counts, "input_tokens", "prompt_tokens")
    written = _count(counts, "output_tokens", "completion_tokens")
    cached = _count(counts, "cache_read_input_tokens") + _count(counts, "cache_creation_input_tokens")
    total = _count(counts, "total_tokens")
    told_within = any(isinstance(counts.get(name), dict) for name in ("prompt_tokens_details", "input_tokens_details"))
    if total == read + written or (not total and told_within):
        cached = 0
    read += cached
    return Usage(1, read, max(written, total - read) if read and total else written)


def _count(counts: dict[str, Any], *names: str) -> int:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS:
            return int(value)
    return 0


def _read(body: bytes) -> dict[str, Any]:
    try:
        # Half of a surrogate pair, which models write at times, cannot be stored.
        reply = json.loads(json.dumps(json.loads(body), ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise ValueError("not the protocol")  # noqa: TRY004 - of a foreign body
    if reply.get("error"):
        raise _error(reply["error"])
    return reply


def _error(error: Any) -> Exception:
    """What an error in a reply with status 200 means; LM Studio and OpenRouter send such replies."""
    message = str(error)[:_ERROR_START].lower()
    code = error.get("code") if isinstance(error, dict) else None
    status: Any = _STATUS.get(code, 0) if isinstance(code, str) else code
    is_named = isinstance(status, int) and 400 <= status < 600
    meant = error_for_status(int(status) if is_named else 400, {}, message)
    if is_named or not isinstance(meant, UnsupportedRequestFormat):
        return meant
    return UnsupportedRequestFormat(
        SourceFailed("The AI server answered with an error of its own. Try again later, or check its log."),
        path_missing=False,
    )


_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LAST_EVENTS = frozenset(("response.completed", "response.incomplete", "response.failed"))
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")
_TOLD = ("usage", "model")  # by the events of a chat: the last one counts
_LOOP, _PERIOD = 1_000, 60  # characters that say the same again and again, each time in no more than these
_JSON_LOOP, _TIMES = 300, 4  # characters of JSON, and times that it says the same there, each time in more than those
_CHECKED = 32  # pieces after which that is looked at again
_BEYOND = 2  # times the limit that was asked for: a server that sends as many tokens does not know it
_THOUGHTS = 8  # times the limit for answer and thoughts, where a server counts thoughts apart


class Arrival:
    """The body of an answer that is arriving; `limit` is the most tokens that were asked for.

    `size` is its bytes so far, `pieces` the events that held text, at most one for each token. `waited` are the seconds
    until the first text of a stream. `is_endless` means that it keeps repeating itself, or says far more than it may.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.size = self.pieces = 0
        self.waited = 0.0
        self._began = monotonic()
        self._ended = 0.0
        self.is_endless = False
        self._is_broken = False
        self._has_ended = False
        self._next_check = _CHECKED
        self._limit = limit
        self._body = bytearray()  # all of it where it comes whole, the unfinished line where it is a stream
        self._is_stream: bool | None = None
        self._data: list[bytes] = []
        self._events: list[dict[str, Any]] = []
        self._texts: dict[str, list[str]] = {}

    @property
    def seconds(self) -> float:
        """Seconds from the request to the end of the body, or until now while it arrives."""
        return (self._ended or monotonic()) - self._began

    def end(self) -> None:
        """Note that the body has arrived: what is done with it afterwards does not count as writing."""
        self._ended = monotonic()

    @property
    def is_stream(self) -> bool:
        """Whether the answer comes piece by piece, judging by its beginning."""
        return bool(self._is_stream)

    @property
    def is_empty(self) -> bool:
        """Whether nothing but white space has arrived."""
        return self._is_stream is None

    @property
    def text(self) -> str:
        """What the answer says so far, without thoughts."""
        return "".join(self._texts.get("content", ()))

    def add(self, piece: bytes) -> None:
        """Take in the next bytes."""
        self.size += len(piece)
        self._body += piece
        if self._is_stream is None and (start := self._body.lstrip()[:8]):
            self._is_stream = start.startswith(_BEGINNINGS)
        if self._is_stream and b"\n" in piece:
            *lines, rest = bytes(self._body).split(b"\n")
            self._body = bytearray(rest)
            for line in lines:
                self._take(line.removesuffix(b"\r"))
            self.waited = self.waited or (self.seconds if self.pieces else 0.0)
            if self.pieces >= self._next_check and not self._has_ended:
                self._next_check = self.pieces + _CHECKED
                self.is_endless = self._has_no_end()

    def _has_no_end(self) -> bool:
        limit, answer = self._limit, self._texts.get("content", ())
        if limit is not None and (len(answer) > limit * _BEYOND or self.pieces > limit * _THOUGHTS):
            return True
        return any(_repeats(texts) for texts in self._texts.values())

    def whole(self) -> bytes:
        """The body that the answer would have if it were not streamed.

        Raises:
            ValueError: the stream breaks off before its answer is complete, or its events are not of either protocol.
        """
        if not self._is_stream:
            return bytes(self._body)
        for line in (*bytes(self._body).splitlines(), b""):
            self._take(line)
        self._body = bytearray()
        if self._is_broken:
            raise ValueError("an event is no JSON")
        for event in self._events:
            if event.get("type") in _LAST_EVENTS and isinstance(event.get("response"), dict):
                return json.dumps(event["response"]).encode()
            if event.get("error") or "error" in {event.get("type"), event.get("object")}:
                return json.dumps({"error": event.get("error") or event}).encode()
        return json.dumps(self._completion()).encode()

    def _take(self, line: bytes) -> None:
        """Take a line of a stream; an empty one ends an event. Other line breaks do not count: texts may hold them."""
        if line.startswith(b"data:"):
            self._data.append(line[5:].removeprefix(b" "))
        elif not line and self._data:
            data, self._data = b"\n".join(self._data), []
            if data.strip() == b"[DONE]":
                return
            try:
                event = json.loads(data.decode(errors="replace"))
            except (ValueError, RecursionError):
                self._is_broken = True
                return
            if isinstance(event, dict):
                self._events.append(event)
                self._note(event)

    def _note(self, event: dict[str, Any]) -> None:
        """Keep the texts of an event, and whether it is the last one that says something."""
        ends = event.get("type") in _LAST_EVENTS or any(
            choice.get("finish_reason") for choice in dicts(event.get("choices"))
        )
        self._has_ended = self._has_ended or ends
        texts = [
            (name, _text(delta.get(name))) for delta in map(_delta, dicts(event.get("choices"))) for name in _TEXTS
        ]
        if isinstance(event.get("delta"), str):  # of the Responses protocol
            texts.append(
                ("content" if event.get("type") == "response.output_text.delta" else "reasoning", event["delta"])
            )
        for name, text in texts:
            if text:
                self._texts.setdefault(name, []).append(text)
        self.pieces += any(text for _, text in texts)

    def _completion(self) -> dict[str, Any]:
        """The chat completion assembled from its pieces."""
        arguments: dict[int, str] = {}
        finish: Any = None
        told: dict[str, Any] = {"usage": None}
        for event in self._events:
            told |= {name: event[name] for name in _TOLD if event.get(name)}
            for choice in dicts(event.get("choices")):
                finish = choice.get("finish_reason") or finish
                for call in _delta(choice).get("tool_calls") or []:
                    piece = (call.get("function") or {}).get("arguments")
                    at = call.get("index") or 0
                    arguments[at] = arguments.get(at, "") + (piece if isinstance(piece, str) else json.dumps(piece))
        if finish is None:
            raise ValueError("the stream has no end")
        message: dict[str, Any] = {name: "".join(texts) for name, texts in self._texts.items()}
        if arguments:
            message["tool_calls"] = [{"function": {"arguments": text}} for text in arguments.values()]
        return {"choices": [{"finish_reason": finish, "message": message}], **told}


def _repeats(texts: list[str]) -> bool:
    """Whether the texts end in the same words over and over: a few words or, in JSON, also longer ones, and sooner.

    A text may have a line of dashes or a table of equal rows; a judgement has no use for four equal quotations.
    """
    end = "".join(texts[-_LOOP:])[-_LOOP:]

    def has_period(period: int, size: int) -> bool:
        return len(end) >= size and end[period - size :] == end[-size:-period]

    if any(has_period(period, _LOOP) for period in range(1, _PERIOD + 1)):
        return True
    is_json = "".join(texts[:8]).lstrip().startswith("{")
    return is_json and any(
        has_period(period, max(_JSON_LOOP, period * _TIMES)) for period in range(_PERIOD, len(end) // _TIMES + 1)
    )


def _delta(choice: Mapping[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta") or choice.get("message")
    return delta if isinstance(delta, dict) else {}
