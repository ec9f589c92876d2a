"""What a server is able to do is found out by one small question, kept, and not asked for again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from storage.settings import override_settings
from tasks.ai.openai import client
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import Capabilities, find_capabilities
from tasks.ai.openai.protocols import RequestFormat
from tasks.ai.registry import current_answerer
from tasks.errors import NotConfigured
from tests.servers.openai_server import ModelRequest, ModelResponse, ModelServer, cut_off, failing, saying, whole
from tests.tasks.ai.openai.test_answerer import GOOD, Verdict

BIRD = json.dumps({"bird": "heron", "number": 7})


def model(request: ModelRequest) -> str:
    return BIRD if "bird" in request.prompt else GOOD


def loose_at_responses(request: ModelRequest) -> str:
    return "I would say a heron." if request.responses else model(request)


def asking(server: ModelServer) -> OpenAiAnswerer:
    with override_settings({"ai_model": "m", "openai_base_url": server.url, "ai_probe": "on"}):
        answerer = current_answerer()
    assert isinstance(answerer, OpenAiAnswerer)
    return answerer


def test_a_server_is_asked_once_and_what_it_showed_is_kept(home: Path) -> None:
    with ModelServer(model) as server:
        asking(server).judge("Score it.", "text", Verdict)
        assert len(server.requests) == 2
        client.forget(server.url)  # as in another process
        asking(server).judge("Score it.", "text", Verdict)
        assert len(server.requests) == 3
    assert RequestFormat.RESPONSES in find_capabilities(server.url, "m").works


def test_a_server_that_takes_a_schema_and_ignores_it_is_asked_in_the_next_format(home: Path) -> None:
    with ModelServer(loose_at_responses) as server:
        for _ in range(2):
            asking(server).judge("Score it.", "text", Verdict)
        assert server.paths == ["responses/json_schema", *["completions/json_schema"] * 3]


def test_an_answer_that_goes_on_and_on_is_cut_short_and_shows_that_the_schema_is_ignored(home: Path) -> None:
    with ModelServer(model) as server:
        server.then(cut_off("The text says that seven herons stood in the water. The text says that"))
        asking(server).judge("Score it.", "text", Verdict)
        asked = server.requests[0].body["max_output_tokens"]
        assert server.paths == ["responses/json_schema", *["completions/json_schema"] * 2]
    assert asked <= 256


def test_answers_that_tell_a_fingerprint_and_others_that_do_not_come_from_one_model(home: Path) -> None:
    def telling(request: ModelRequest) -> ModelResponse:  # as llama.cpp, whose chats alone tell one
        sent = whole(saying(loose_at_responses(request)))(request)
        told = {"model": "m", **({} if request.responses else {"system_fingerprint": "b0-unknown"})}
        return replace(sent, body=json.dumps({**json.loads(sent.body), **told}).encode())

    with ModelServer() as server:
        server.always(telling)
        asking(server).judge("Score it.", "text", Verdict)
    assert find_capabilities(server.url, "m").servers == {"m"}


def test_a_model_that_keeps_to_nothing_is_asked_in_the_usual_order(home: Path) -> None:
    with ModelServer(GOOD) as server:
        asking(server).judge("Score it.", "text", Verdict)
        assert server.paths[-1] == "responses/json_schema"


def test_a_server_that_is_not_there_is_named_and_asked_again_later(home: Path) -> None:
    with ModelServer(model) as server:
        server.always(failing(404))
        with pytest.raises(NotConfigured, match="OPENAI_BASE_URL"):
            asking(server).judge("Score it.", "text", Verdict)
        server.always(None)
        assert asking(server).judge("Score it.", "text", Verdict).value.score == 4


def test_how_fast_a_server_is_is_known_to_the_next_process_without_asking(home: Path) -> None:
    with ModelServer(model) as server:
        assert asking(server).pace is None
        asking(server).judge("Score it.", "text", Verdict)
        client.forget(server.url)
        before = len(server.requests)
        pace = asking(server).pace
        assert pace is not None
        assert min(pace.reading, pace.writing) > 0
        assert len(server.requests) == before


def test_a_short_first_answer_counts_no_more_for_the_speed_than_its_tokens() -> None:
    found = Capabilities()
    found.note_speed(300, 1.0, 20, 0.5)
    assert found.writing == 40
    found.note_speed(300, 1.0, 80, 8.0)
    assert found.writing == pytest.approx(100 / 8.5)
    for _ in range(20):
        found.note_speed(300, 1.0, 100, 10.0)
    found.note_speed(300, 1.0, 500, 5.0)
    assert found.writing == pytest.approx(1000 / 55, rel=0.02)  # of what is longer ago 500 tokens count
