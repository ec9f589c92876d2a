"""What llama.cpp's server answers, written down.

    python -m tests.real_models.record > tests/servers/recordings/llama_cpp.json

The emulator in `tests/servers/openai_server.py` is held against it, and so are those who read answers. Paths of this
machine are left out.
"""

import json
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import httpx

from tasks.ai.calls import Messages
from tasks.ai.openai.answerer import Sighting
from tasks.ai.openai.protocols import RequestFormat, build_request
from tests.real_models.llama_server import SMOLLM2, LlamaServer, weights

_ASKED: Final[Messages] = [
    {"role": "system", "content": "Answer in one short sentence."},
    {"role": "user", "content": "Seven herons stood in the water. How many herons were there?"},
]
_SAID: Final[Messages] = [*_ASKED, {"role": "assistant", "content": "Seven."}, {"role": "user", "content": "Again?"}]
_LONG: Final[Messages] = [{"role": "user", "content": "Seven herons stood in the water. " * 400}]
_KEY: Final = "a-key"
_CHAT, _RESPONSES = "chat/completions", "responses"


def _requests() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """The name of each recording, its path below `/v1`, and the request."""

    def build(request_format: RequestFormat, messages: Messages = _ASKED, limit: int = 60) -> dict[str, Any]:
        schema = Sighting if request_format is not RequestFormat.CHAT else None
        return build_request(request_format, SMOLLM2, messages, schema, limit)

    whole = {"stream": False}
    text = build(RequestFormat.CHAT)
    yield "a chat, streamed", _CHAT, text
    yield "a chat as a whole", _CHAT, {key: text[key] for key in text if key != "stream_options"} | whole
    yield "a chat that holds to a schema", _CHAT, build(RequestFormat.SCHEMA)
    yield "a chat in JSON mode, which is not kept", _CHAT, build(RequestFormat.OBJECT)
    yield "a chat that is cut at its limit", _CHAT, build(RequestFormat.CHAT, limit=4)
    yield "a response that ignores its schema", _RESPONSES, build(RequestFormat.RESPONSES)
    yield "a response as a whole", _RESPONSES, build(RequestFormat.RESPONSES) | whole
    yield "a response that is cut and says it is complete", _RESPONSES, build(RequestFormat.RESPONSES, limit=4)
    untyped = build(RequestFormat.RESPONSES, _SAID)
    yield "a response with the assistant's item", _RESPONSES, untyped
    untyped = untyped | {"input": [{k: v for k, v in item.items() if k != "type"} for item in untyped["input"]]}
    yield "a response with an item that has no type", _RESPONSES, untyped
    yield "a chat beyond the context", _CHAT, build(RequestFormat.CHAT, _LONG)
    yield "a response beyond the context", _RESPONSES, build(RequestFormat.RESPONSES, _LONG)


def _record() -> Iterator[tuple[str, httpx.Response]]:
    """Each recording's name, and the response; a connection is opened for each, as the server keeps none."""
    right, wrong = {"Authorization": f"Bearer {_KEY}"}, {"Authorization": "Bearer another"}
    short = {"model": SMOLLM2, "messages": _ASKED, "max_tokens": 4}
    server = LlamaServer(SMOLLM2, window=1024, slots=1, key=_KEY)
    with server:
        for name, path, request in _requests():
            yield name, httpx.post(f"{server.url}/{path}", json=request, headers=right, timeout=300)
        yield "its models", httpx.get(f"{server.url}/models", headers=right)
        yield "what it says of itself", httpx.get(f"{server.url.removesuffix('/v1')}/props", headers=right)
        yield "its models without a key", httpx.get(f"{server.url}/models")
        yield "a chat with another key", httpx.post(f"{server.url}/{_CHAT}", json=short, headers=wrong)
        server.kill()
        server.start(wait=False)
        while True:
            with suppress(httpx.TransportError):
                answer = httpx.post(f"{server.url}/{_CHAT}", json=short, headers=right)
                break
        yield "a chat while the model is loaded", answer


def main() -> None:
    recordings = []
    for name, answer in _record():
        body = json.loads(answer.request.content or b"{}")
        if "beyond" in name:
            body = json.loads(re.sub(r"(Seven herons stood in the water\. ){9,}", "… ", json.dumps(body)))
        recordings.append({
            "name": name,
            "path": answer.request.url.path,
            "body": body,
            "status": answer.status_code,
            "content_type": answer.headers["content-type"],
            "answer": answer.text.replace(str(weights(SMOLLM2)), "/models/smollm2.gguf"),
        })  # fmt: skip
    json.dump(recordings, sys.stdout, indent=1, ensure_ascii=False)
    print()  # noqa: T201


if __name__ == "__main__":
    main()
