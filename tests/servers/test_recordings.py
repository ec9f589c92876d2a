"""The emulator beside what llama.cpp's server really answered, and what the readers of answers make of that.

`recordings/llama_cpp.json` is written by `python -m tests.real_models.record`.
"""

import json
import re
from pathlib import Path
from typing import Any

from tasks.ai.answerer import AnswerCut
from tasks.ai.openai.errors import ContextWindowExceeded, UnsupportedRequestFormat, error_for_status
from tasks.ai.openai.protocols import Reply, read_completion, read_response
from tasks.errors import NotConfigured, Unavailable
from tasks.remote.retry import TryAgain
from tests.cases import cases
from tests.servers.openai_server import ModelRequest, loading, saying
from tests.servers.recorder import join_stream

RECORDINGS = {
    recording["name"]: recording
    for recording in json.loads(Path(__file__).with_name("recordings").joinpath("llama_cpp.json").read_text("utf-8"))
}
ANSWERS = [name for name, recording in RECORDINGS.items() if recording["status"] == 200 and recording["body"]]


def read(recording: dict[str, Any]) -> Reply:
    body = join_stream(recording["answer"].encode())
    return read_response(body) if recording["path"].endswith("responses") else read_completion(body)


def read_or_cut(recording: dict[str, Any]) -> Reply:
    try:
        return read(recording)
    except AnswerCut as cut:
        return Reply(cut.text, cut.usage)


def events(body: str) -> list[dict[str, Any]]:
    return [json.loads(line[6:]) for line in body.splitlines() if line.startswith("data: ") and line[6:] != "[DONE]"]


def shape(body: str) -> list[object]:
    """What a reader sees of an answer, each kind of event once: how its text, its end and its counts come."""
    if not body.startswith(("data:", "event:")):
        return [_shape_of_values(json.loads(body))]
    kinds: list[object] = []
    for event in events(body):
        if event.get("type"):
            kind: object = (event["type"], "output" in event.get("response", {}))
        else:
            deltas = [choice["delta"] for choice in event["choices"]]
            text = any(delta.get("content") is not None for delta in deltas)
            kind = (len(deltas), text, [choice["finish_reason"] for choice in event["choices"]], "usage" in event)
        kinds += [kind] if kinds[-1:] != [kind] else []
    return [*kinds, body.rstrip().endswith("data: [DONE]")]


def _shape_of_values(answer: dict[str, Any]) -> object:
    if "output" in answer:
        message = next(item for item in answer["output"] if item["type"] == "message")
        return answer["object"], answer["status"], [part["type"] for part in message["content"]]
    return answer["object"], [(choice["finish_reason"], choice["message"]["role"]) for choice in answer["choices"]]


@cases("name", ANSWERS)
def test_the_readers_take_text_and_counts_from_what_the_real_server_sent(name: str) -> None:
    recording = RECORDINGS[name]
    reply = read_or_cut(recording)
    assert reply.text
    assert reply.usage.tokens == int(re.findall(r'"total_tokens":(\d+)', recording["answer"])[-1])


@cases("name", [name for name in ANSWERS if "says it is complete" not in name])
def test_the_emulator_answers_in_the_shape_of_the_real_server(name: str) -> None:
    recording = RECORDINGS[name]
    reply = read_or_cut(recording)
    cut = '"finish_reason":"length"' in recording["answer"]
    emulated = saying(reply.text, "length" if cut else "stop")(
        ModelRequest(recording["path"], recording["body"], {})
    ).body.decode()
    real = shape(recording["answer"])
    if recording["path"].endswith("responses") and recording["body"]["stream"]:
        # The real server tells each step; the emulator the first and the last, which is all that is read.
        assert [kind for kind in real if kind in shape(emulated)] == shape(emulated)
    else:
        assert shape(emulated) == real


def test_the_emulator_loads_its_model_as_the_real_server_does() -> None:
    recording = RECORDINGS["a chat while the model is loaded"]
    emulated = loading()(ModelRequest(recording["path"], recording["body"], {}))
    assert (emulated.status, json.loads(emulated.body)) == (recording["status"], json.loads(recording["answer"]))


@cases(
    ("name", "kind"),
    [
        ("a chat beyond the context", ContextWindowExceeded),
        ("a response beyond the context", ContextWindowExceeded),
        ("a response with an item that has no type", UnsupportedRequestFormat),
        ("a chat with another key", NotConfigured),
        ("a chat while the model is loaded", TryAgain),
    ],
)
def test_an_error_of_the_real_server_is_understood(name: str, kind: type[Exception]) -> None:
    recording = RECORDINGS[name]
    error = error_for_status(recording["status"], {}, recording["answer"].lower())
    assert isinstance(error, kind)
    if isinstance(error, ContextWindowExceeded):
        assert error.window == 1024
    if isinstance(error, TryAgain):
        assert isinstance(error.error, Unavailable)
