"""Parts of a request that a server may refuse: each is left out from then on, and the request is sent again."""

import pytest

from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.errors import Option, find_refused
from tests.cases import cases
from tests.servers.openai_server import Behaviour, ModelRequest, ModelResponse, ModelServer, failing, saying, whole
from tests.tasks.ai.openai.test_answerer import GOOD, Verdict, asking, judged, model

# What the owners of these servers document or were seen to say.
GEMMA = "System role not supported"
MISTRAL = '{"detail":[{"type":"extra_forbidden","loc":["body","seed"],"msg":"Extra inputs are not permitted"}]}'
REASONING = (
    "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported."
)
UNVERIFIED = "Your organization must be verified to stream this model."
OLD_STREAMS = "Unrecognized request argument supplied: stream_options"
STRICT = (
    "Invalid schema for response_format 'Verdict': In context=('properties', 'reason'), 'maxLength' is not permitted."
)
OLD_LIMIT = "Unsupported parameter: 'max_completion_tokens' is not supported. Use 'max_tokens' instead."


def refusing(words: str, status: int, has_it: str) -> Behaviour:
    """The server refuses with these words each request that holds that text."""

    def behave(request: ModelRequest) -> ModelResponse:
        return (failing(status, words) if has_it in str(request.body) else saying(model(request)))(request)

    return behave


@cases(
    ("words", "status", "has_it", "api"),
    [
        (GEMMA, 400, "'system'", "chat"),
        (GEMMA, 500, "'system'", "chat"),  # llama.cpp passes on what a template raises
        (MISTRAL, 422, "'seed'", "chat"),
        (REASONING, 400, "'temperature'", "auto"),
        (UNVERIFIED, 400, "'stream'", "auto"),
        (OLD_STREAMS, 400, "stream_options", "chat"),
        (STRICT, 400, "maxLength", "chat"),
        (OLD_LIMIT, 400, "max_completion_tokens", "chat"),
    ],
)
def test_what_a_server_does_not_take_is_left_out_from_then_on(words: str, status: int, has_it: str, api: str) -> None:
    with ModelServer() as server:
        server.always(refusing(words, status, has_it))
        answerer = asking(server, api=api)
        assert judged(answerer).score == judged(answerer).score == 4
        assert len(server.requests) == 3
        assert "Score it." in server.requests[2].prompt


def test_a_server_that_takes_nothing_of_it_is_asked_without() -> None:
    refusals = {
        "'system'": GEMMA, "'seed'": MISTRAL, "'temperature'": REASONING, "maxLength": STRICT,
        "stream_options": OLD_STREAMS, "'stream'": UNVERIFIED, "max_completion_tokens": OLD_LIMIT,
        "'max_tokens'": "Unsupported parameter: 'max_tokens'",
    }  # fmt: skip

    def behave(request: ModelRequest) -> ModelResponse:
        words = next((words for has_it, words in refusals.items() if has_it in str(request.body)), None)
        return (saying(GOOD) if words is None else failing(400, words))(request)

    with ModelServer() as server:
        server.always(behave)
        answerer = asking(server, api="chat")
        assert judged(answerer).score == 4
        before = len(server.requests)
        judged(answerer)
        assert len(server.requests) == before + 1


def test_an_error_that_names_no_part_is_none_of_these() -> None:
    assert find_refused("no such thing") is None
    assert find_refused(MISTRAL.lower()) is Option.SEED


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_an_answer_that_comes_whole_though_a_stream_was_asked_for_is_taken(api: str) -> None:
    with ModelServer() as server:
        server.always(whole(saying(GOOD)))
        assert judged(asking(server, api=api)).score == 4
        assert len(server.requests) == 1


def test_every_text_and_list_of_a_schema_has_an_end() -> None:
    with ModelServer(GOOD) as server:
        asking(server, api="chat").judge("Score it.", "text", Verdict)
        schema = server.requests[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["reason"]["maxLength"] == 800


def test_the_same_question_is_asked_with_the_same_chance() -> None:
    with ModelServer(GOOD) as server:
        asking(server, api="chat").judge("Score it.", "text", Verdict)
        assert (server.requests[0].body["temperature"], server.requests[0].body["seed"]) == (0, 1)


@pytest.mark.parametrize(
    ("usage", "read", "written"),
    [
        ({"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 4320}, 300, 4020),
        (
            {"prompt_tokens": 300, "completion_tokens": 20, "total_tokens": 320, "cache_read_input_tokens": 200},
            300,
            20,
        ),
        (
            {
                "prompt_tokens": 300,
                "completion_tokens": 20,
                "cache_read_input_tokens": 200,
                "prompt_tokens_details": {"cached_tokens": 200},
            },
            300,
            20,
        ),
        ({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 200}, 300, 20),
        ({"input_tokens": 100, "output_tokens": 20, "total_tokens": 320, "cache_read_input_tokens": 200}, 300, 20),
    ],
    ids=["thoughts in the total", "cached twice", "cached twice, no total", "cached beside", "beside, in the total"],
)
def test_the_bill_is_what_was_used(usage: dict[str, object], read: int, written: int) -> None:
    with ModelServer() as server:
        server.always(saying(GOOD, usage=usage))
        cost = asking(server, api="chat").judge("Score it.", "The text is long. " * 30, Verdict).usage
    assert (cost.input_tokens, cost.output_tokens) == (read, written)


def test_thoughts_that_leave_nothing_of_an_answer_get_more_room_once() -> None:
    with ModelServer(GOOD) as server:
        server.then(saying("<think>Hm. Let me", reason="length"))
        answerer = OpenAiAnswerer("small", api="chat", base_url=server.url, pause=0.01)
        verdict = answerer.judge("Score it.", "text", Verdict)
        limits = [request.body["max_completion_tokens"] for request in server.requests]
    assert limits == [448, 16_384]
    assert verdict.usage.calls == 2
