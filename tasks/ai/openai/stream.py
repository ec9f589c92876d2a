"""Streams of an AI server, put together into the body that the same answer would have as a whole.

Both protocols stream as server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html):

- A chat sends pieces (`chat.completion.chunk`), the counts of tokens in a last one without choices, and `[DONE]`
  (https://platform.openai.com/docs/api-reference/chat-streaming).
- The Responses protocol sends events of many kinds, of which the last holds the whole response
  (https://platform.openai.com/docs/api-reference/responses-streaming).

Comments are signs of life: llama.cpp and OpenRouter send them while a prompt is read.
"""

import json
from collections.abc import Iterator
from typing import Any

_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":")
_LAST_EVENTS = frozenset(("response.completed", "response.incomplete", "response.failed"))
_TEXTS = ("content", "refusal", "reasoning_content", "reasoning")


def is_stream(body: bytes) -> bool:
    """Whether a body, or its beginning, is a stream of events."""
    return body.lstrip()[:8].startswith(_BEGINNINGS)


def join_stream(body: bytes) -> bytes:
    """The body that the streamed answer would have as a whole.

    Raises:
        ValueError: the stream breaks off before its answer is complete, or its events are not of either protocol.
    """
    events = list(_events(body))
    for event in events:
        if event.get("type") in _LAST_EVENTS and isinstance(event.get("response"), dict):
            return json.dumps(event["response"]).encode()
        if event.get("error") or event.get("type") == "error":
            return json.dumps({"error": event.get("error") or event}).encode()
    return json.dumps(_completion(events)).encode()


def _events(body: bytes) -> Iterator[dict[str, Any]]:
    data: list[str] = []
    for line in [*body.decode(errors="replace").splitlines(), ""]:
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            text, data = "\n".join(data), []
            if text.strip() != "[DONE]":
                event = json.loads(text)
                if isinstance(event, dict):
                    yield event


def _completion(events: list[dict[str, Any]]) -> dict[str, Any]:
    """The chat completion of its pieces."""
    texts = dict.fromkeys(_TEXTS, "")
    arguments: dict[int, str] = {}
    finish: Any = None
    usage: Any = None
    for event in events:
        usage = event.get("usage") or usage
        for choice in event.get("choices") or []:
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or choice.get("message") or {}
            for name in _TEXTS:
                texts[name] += _plain(delta.get(name))
            for call in delta.get("tool_calls") or []:
                piece = (call.get("function") or {}).get("arguments")
                at = call.get("index") or 0
                arguments[at] = arguments.get(at, "") + (piece if isinstance(piece, str) else json.dumps(piece))
    if finish is None:
        raise ValueError("the stream has no end")
    message: dict[str, Any] = {name: text or None for name, text in texts.items()}
    if arguments:
        message["tool_calls"] = [{"function": {"arguments": text}} for text in arguments.values()]
    return {"choices": [{"finish_reason": finish, "message": message}], "usage": usage}


def _plain(content: Any) -> str:
    """A piece of text, which is a string or a list of parts."""
    if isinstance(content, list):
        return "".join(_plain(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
