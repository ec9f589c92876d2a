"""An answer of an AI server while it comes: as a stream of events, or whole where the server knows no streams.

Both protocols stream as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html):

- A chat sends pieces (`chat.completion.chunk`), the counts of tokens in a last one without choices, and `[DONE]`
  (https://platform.openai.com/docs/api-reference/chat-streaming).
- The Responses protocol sends events of many kinds, of which the last holds the whole response
  (https://platform.openai.com/docs/api-reference/responses-streaming).

Comments are signs of life: llama.cpp and OpenRouter send them while a prompt is read.

A small model may repeat itself without end, and some servers ignore the limit on an answer. Both show while the answer
comes, so that it need not be waited for.
"""

import json
from collections.abc import Mapping
from typing import Any

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

    `size` is its bytes so far, `pieces` the events that held text, at most one for each token. `is_endless` means that
    it keeps repeating itself, or says far more than it may.
    """

    def __init__(self, limit: int | None = None) -> None:
        self.size = self.pieces = 0
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
        ends = event.get("type") in _LAST_EVENTS or any(choice.get("finish_reason") for choice in _choices(event))
        self._has_ended = self._has_ended or ends
        texts = [(name, _plain(delta.get(name))) for delta in map(_delta, _choices(event)) for name in _TEXTS]
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
            for choice in _choices(event):
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


def _choices(event: Mapping[str, Any]) -> list[dict[str, Any]]:
    choices = event.get("choices")
    return [choice for choice in choices if isinstance(choice, dict)] if isinstance(choices, list) else []


def _delta(choice: Mapping[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta") or choice.get("message")
    return delta if isinstance(delta, dict) else {}


def _plain(content: Any) -> str:
    """The text of a piece, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(_plain(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
