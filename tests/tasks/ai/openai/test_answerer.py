"""The OpenAI-compatible answerer against a real server: what it is able to do, and everything it may do wrong."""

import logging
import socket
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from pydantic import BaseModel, Field

from tasks.ai.answerer import AnswerCut, AnswererFailed, ModelRefused, NoJson, Source
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.errors import (
    DiligenceError,
    NotConfigured,
    SourceFailed,
    TookTooLong,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from tasks.language.words import most_model_tokens
from tests.servers.openai_server import (
    NO_USAGE,
    Behaviour,
    ModelRequest,
    ModelResponse,
    ModelServer,
    broken,
    busy,
    calling_a_tool,
    complaining,
    count,
    cut_off,
    cut_stream,
    denied,
    dripping,
    echoing,
    failing,
    in_parts,
    moved,
    nothing,
    out_of_credit,
    refusing,
    saying,
    slow,
    thinking_only,
    too_long,
    torn,
    web_page,
)

KEY = "sk-secret-0123456789"
SECRET = "the buyer is Omega"
GOOD = '{"score": 4, "reason": "Most of it."}'


class Verdict(BaseModel):
    score: int = Field(ge=0, le=5)
    reason: str


def model(request: ModelRequest) -> str:
    return GOOD if "JSON schema" in request.prompt else "Yes."


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(model) as server:
        yield server


def asking(server: ModelServer, **options: object) -> OpenAiAnswerer:
    arguments = {"pause": 0.01, "patience": 0.3, **options}
    return OpenAiAnswerer("small", key=KEY, base_url=server.url, **arguments)  # type: ignore[arg-type]


def judged(answerer: OpenAiAnswerer) -> Verdict:
    return answerer.judge("Score it.", SECRET, Verdict).value


# --- what a server is able to do is found out once


ABLE = "responses/json_schema", "completions/json_schema", "completions/json_object", "completions/text"


@pytest.mark.parametrize(
    ("server", "tried"),
    [
        (ModelServer(model), ABLE[:1]),
        (ModelServer(model, responses=False), ABLE[:2]),
        (ModelServer(model, responses=False, schema=False), ABLE[:3]),
        (ModelServer(model, responses=False, schema=False, json_object=False), ABLE),
        (ModelServer(model, schema=False), (ABLE[0], ABLE[1], ABLE[2])),
    ],
    ids=["responses", "schema", "object", "words", "responses without a schema"],
)
def test_the_best_way_is_found_once_and_kept(server: ModelServer, tried: tuple[str, ...]) -> None:
    with server:
        answerer = asking(server)
        for _ in range(3):
            assert judged(answerer).score == 4
    assert server.paths == [*tried, tried[-1], tried[-1]]


def test_free_text_knows_what_a_judgement_found_out() -> None:
    with ModelServer(model, responses=False) as server:
        answerer = asking(server)
        judged(answerer)
        assert answerer.answer("Is it?", []).text == "Yes."
    assert server.paths[2:] == ["completions/text"]


@pytest.mark.parametrize(("api", "path"), [("responses", ABLE[0]), ("chat", ABLE[1])])
def test_the_protocol_can_be_forced(server: ModelServer, api: str, path: str) -> None:
    judged(asking(server, api=api))
    assert server.paths == [path]


def test_a_forced_protocol_that_the_server_lacks_is_an_error() -> None:
    with ModelServer(model, responses=False) as server, pytest.raises(NotConfigured, match="OPENAI_BASE_URL"):
        judged(asking(server, api="responses"))


@pytest.mark.parametrize("behaviour", [web_page(), complaining("Unexpected endpoint or method"), failing(405)])
def test_a_server_that_hides_what_it_lacks_is_asked_by_chat(server: ModelServer, behaviour: Behaviour) -> None:
    server.then(behaviour)
    assert judged(asking(server)).score == 4
    assert server.paths == list(ABLE[:2])


def test_a_failure_by_every_way_teaches_nothing(server: ModelServer) -> None:
    answerer = asking(server)
    server.always(failing(400))
    with pytest.raises(SourceFailed):
        judged(answerer)
    server.always(None)
    judged(answerer)
    assert server.paths[-1] == ABLE[0]


def test_the_schema_sent_is_strict(server: ModelServer) -> None:
    judged(asking(server))
    schema = server.requests[0].body["text"]["format"]
    assert schema["strict"] is True
    assert schema["schema"]["additionalProperties"] is False
    assert schema["schema"]["required"] == ["score", "reason"]


def test_the_server_is_asked_not_to_keep_the_texts(server: ModelServer) -> None:
    judged(asking(server))
    assert server.requests[0].body["store"] is False


@pytest.mark.parametrize(("key", "sent"), [(KEY, f"Bearer {KEY}"), (None, "Bearer none")])
def test_the_key_goes_into_its_header_alone(server: ModelServer, key: str | None, sent: str) -> None:
    OpenAiAnswerer("small", key=key, base_url=server.url).answer("Is it?", [])
    assert server.requests[0].headers["authorization"] == sent
    assert KEY not in str(server.requests[0].body)


# --- answers that are none


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        f"```json\n{GOOD}\n```",
        f"Here it is:\n{GOOD}\nI hope it helps.",
        f"<think>Is {{it}} 4?</think>\n{GOOD}",
        '{"score": "4", "reason": "Most of it.", "more": [1]}',
    ],
)
def test_json_is_found_where_it_stands(server: ModelServer, text: str) -> None:
    server.says = text
    assert judged(asking(server)) == Verdict(score=4, reason="Most of it.")


@pytest.mark.parametrize(
    "text",
    ["", '{"score": 4, "rea', '{"score": 9, "reason": "x"}', '{"reason": "x"}', "[4]", "null", "}{"],
)
def test_an_answer_that_does_not_fit_is_asked_for_once_more(server: ModelServer, text: str) -> None:
    server.then(saying(text))
    verdict = asking(server).judge("Score it.", SECRET, Verdict)
    assert verdict.value.score == 4
    assert verdict.usage.calls == len(server.requests) == 2
    assert server.requests[1].messages[:2] == server.requests[0].messages
    assert server.requests[1].messages[-1]["role"] == "user"
    assert not text or server.requests[1].messages[2] == {"role": "assistant", "content": text}


def test_a_server_that_ignores_the_schema_is_asked_in_the_next_format(server: ModelServer) -> None:
    server.then(saying("I would say 4."))
    answerer = asking(server)
    assert judged(answerer).score == judged(answerer).score == 4
    assert server.paths == [ABLE[0], ABLE[1], ABLE[1]]


def test_words_in_the_only_format_are_answered_with_what_was_wrong(server: ModelServer) -> None:
    server.then(saying("I would say 4."))
    assert judged(asking(server, api="responses")).score == 4
    assert server.requests[1].messages[2] == {"role": "assistant", "content": "I would say 4."}


def test_the_second_attempt_is_told_what_was_wrong(server: ModelServer) -> None:
    server.then(saying('{"score": 9, "reason": "x"}'))
    judged(asking(server))
    assert "score: Input should be less than or equal to 5" in server.requests[1].messages[-1]["content"]


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_two_answers_that_do_not_fit_are_no_json(server: ModelServer, api: str) -> None:
    server.says = f'{{"score": "{SECRET}", "reason": "x"}}'
    with pytest.raises(NoJson) as failed:
        judged(asking(server, api=api))
    assert failed.value.usage.calls == 2
    assert failed.value.usage.output_tokens == 2 * count(server.says)
    assert SECRET not in "".join(traceback.format_exception(failed.value))
    assert len(server.requests) == 2


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize("context", ["Revenue was 5.", "Revenue was 5. " * 4000], ids=["short", "in parts"])
def test_whole_sentences_of_a_cut_answer_are_kept(server: ModelServer, api: str, context: str) -> None:
    server.always(cut_off("Revenue was EUR 5.2 million. It grew by 20 %. The reason for th"))
    answer = asking(server, api=api, window=8000).answer("How much is it?", [Source(1, "a.txt", None, context)])
    assert answer.text == "Revenue was EUR 5.2 million. It grew by 20 %."
    assert "The model's answer exceeded its limit" in " ".join(answer.notes)


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        (refusing(), ModelRefused),
        (saying("", reason="content_filter"), ModelRefused),
        (cut_off(), AnswerCut),
        (cut_off(GOOD), AnswerCut),
    ],
    ids=["refused", "filtered", "cut", "cut after whole JSON"],
)
def test_refused_and_cut_answers_are_told_apart(
    server: ModelServer, api: str, behaviour: Behaviour, error: type[AnswererFailed]
) -> None:
    server.always(behaviour)
    with pytest.raises(error) as failed:
        judged(asking(server, api=api))
    assert failed.value.usage.calls == len(server.requests) == 1
    assert failed.value.usage.input_tokens > 0
    with pytest.raises(error):
        asking(server, api=api).answer("Is it?", [])


def test_a_refusal_of_the_second_attempt_costs_both(server: ModelServer) -> None:
    server.then(saying("I would say 4."), refusing())
    with pytest.raises(ModelRefused) as failed:
        judged(asking(server))
    assert failed.value.usage.calls == 2


def test_an_empty_free_text_is_a_failure(server: ModelServer) -> None:
    server.says = " \n"
    with pytest.raises(AnswererFailed, match="empty answer"):
        asking(server).answer("Is it?", [])


@pytest.mark.parametrize(
    "text", ["<think>Hm.\n</think>\n\nYes.", "<thinking>Hm.</thinking>Yes.", "Hm, no, wait.\n</think>\nYes."]
)
def test_thinking_aloud_is_left_out_of_a_free_text(server: ModelServer, text: str) -> None:
    server.says = text
    assert asking(server).answer("Is it?", []).text == "Yes."


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_an_answer_in_parts_is_put_together(server: ModelServer, api: str) -> None:
    server.then(in_parts("Ye", "s."), in_parts(GOOD[:9], GOOD[9:]))
    answerer = asking(server, api=api)
    assert answerer.answer("Is it?", []).text == "Yes."
    assert judged(answerer).score == 4


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize(
    ("behaviour", "says"),
    [
        (calling_a_tool(), "called a tool"),
        (thinking_only(), "thought aloud"),
        (saying("<think>Is it? Yes."), "thought aloud"),
        (saying(""), "empty answer"),
    ],
    ids=["tool", "thoughts apart", "thoughts without end", "nothing"],
)
def test_what_is_no_answer_is_asked_for_once_more_and_then_named(
    server: ModelServer, api: str, behaviour: Behaviour, says: str
) -> None:
    answerer = asking(server, api=api)
    server.then(behaviour)
    answer = answerer.answer("Is it?", [])
    assert (answer.text, answer.usage.calls) == ("Yes.", 2)
    server.then(behaviour)
    assert judged(answerer).score == 4
    assert says in server.requests[-1].messages[-1]["content"]
    server.always(behaviour)
    with pytest.raises(AnswererFailed, match=says) as failed:
        answerer.answer("Is it?", [])
    assert failed.value.usage.calls == 2


# --- servers that fail


@pytest.mark.parametrize("api", ["auto", "responses", "chat"])
@pytest.mark.parametrize(
    ("behaviour", "error", "says"),
    [
        (web_page(), SourceFailed, "web page.*OPENAI_BASE_URL"),
        (nothing(), SourceFailed, "answer was empty"),
        (broken(), SourceFailed, "ended in the middle"),
        (cut_stream(), SourceFailed, "ended in the middle"),
        (complaining("it failed"), SourceFailed, "error of its own"),
        (complaining("the prompt is too long"), TooLarge, "longer than the model accepts"),
        (complaining("Rate limit", 429), TooManyRequests, "too many requests"),
        (complaining("Overloaded", 502), Unavailable, "HTTP 502"),
        (complaining("Slow down", "rate_limit_exceeded"), TooManyRequests, "too many requests"),
        (torn(), SourceFailed, "ended in the middle"),
        (denied(), NotConfigured, "OPENAI_API_KEY"),
        (failing(403), NotConfigured, "OPENAI_API_KEY"),
        (failing(404), NotConfigured, "OPENAI_BASE_URL"),
        (failing(404, 'model "small" not found, try pulling it first'), NotConfigured, "DILIGENCE_AI_MODEL"),
        (failing(404, "No such thing", code="model_not_found"), NotConfigured, "DILIGENCE_AI_MODEL"),
        (failing(400), SourceFailed, "HTTP 400"),
        (too_long(), TooLarge, "DILIGENCE_AI_MODEL"),
        (failing(400, "the request exceeds the available context size"), TooLarge, "Shorten"),
        (failing(413), TooLarge, "Shorten"),
        (failing(500), Unavailable, "HTTP 500"),
        (failing(503), Unavailable, "HTTP 503"),
        (busy(), TooManyRequests, "too many requests"),
        (out_of_credit(), Unavailable, "no credit"),
        (moved("http://127.0.0.1:1/v1"), NotConfigured, "OPENAI_BASE_URL"),
        (echoing(400), SourceFailed, "HTTP 400"),
        (echoing(500), Unavailable, "HTTP 500"),
    ],
)
def test_each_failure_says_what_to_do_and_shows_no_secret(
    server: ModelServer,
    caplog: pytest.LogCaptureFixture,
    api: str,
    behaviour: Behaviour,
    error: type[DiligenceError],
    says: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server.always(behaviour)
    with pytest.raises(error, match=f"(?s){says}") as failed:
        judged(asking(server, api=api))
    assert failed.value.status == error.status
    shown = "".join(traceback.format_exception(failed.value)) + caplog.text
    assert KEY not in shown
    assert SECRET not in shown


def test_a_server_that_is_busy_is_asked_again_when_it_says(server: ModelServer) -> None:
    server.then(busy("1"))
    started = time.monotonic()
    assert judged(asking(server, patience=60)).score == 4
    assert time.monotonic() - started > 0.9
    assert len(server.requests) == 2


def test_a_date_in_retry_after_is_understood(server: ModelServer) -> None:
    server.then(busy(format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)))
    started = time.monotonic()
    judged(asking(server, patience=60))
    assert time.monotonic() - started > 0.5  # the header tells whole seconds


@pytest.mark.parametrize("after", ["", "soon", "nan", "inf", "-5", "0"])
def test_a_retry_after_that_makes_no_sense_delays_nothing(server: ModelServer, after: str) -> None:
    server.then(busy(after))
    assert judged(asking(server)).score == 4


def test_a_wait_beyond_patience_is_handed_on_at_once(server: ModelServer) -> None:
    server.always(busy("3600"))
    started = time.monotonic()
    with pytest.raises(TooManyRequests) as failed:
        judged(asking(server))
    assert failed.value.retry_after == 3600
    assert failed.value.headers == {"Retry-After": "3600"}
    assert time.monotonic() - started < 30
    assert len(server.requests) == 1


def test_busy_for_ever_ends(server: ModelServer) -> None:
    server.always(busy())
    with pytest.raises(TooManyRequests):
        judged(asking(server))
    assert len(server.requests) > 2


@pytest.mark.parametrize("behaviour", [failing(500), failing(503), nothing(), torn()])
def test_a_passing_trouble_is_got_over(server: ModelServer, behaviour: Behaviour) -> None:
    server.then(behaviour, behaviour)
    assert judged(asking(server, patience=60)).score == 4
    assert server.paths == [ABLE[0]] * 3


def test_a_slow_server_is_waited_for_once(server: ModelServer) -> None:
    server.always(slow(5))  # and then answers: who waits for it gets no error
    with pytest.raises(TookTooLong, match=r"0\.3 s.*DILIGENCE_AI_TIMEOUT"):
        judged(asking(server, timeout=0.3))
    assert len(server.requests) == 1


def test_an_answer_that_comes_drop_by_drop_ends_at_the_limit_too(server: ModelServer) -> None:
    server.always(dripping(0.05))  # 15 s for the whole, never silent for long
    with pytest.raises(TookTooLong, match=r"0\.5 s.*DILIGENCE_AI_TIMEOUT"):
        judged(asking(server, timeout=0.5))
    assert len(server.requests) == 1


def test_a_server_that_is_not_there_is_out_of_reach() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        answerer = OpenAiAnswerer("small", base_url=f"http://127.0.0.1:{free.getsockname()[1]}/v1", pause=0.01)
        with pytest.raises(Unavailable, match="OPENAI_BASE_URL"):
            answerer.answer("Is it?", [])


def test_a_redirect_takes_no_text_elsewhere(server: ModelServer) -> None:
    with ModelServer(model) as other:
        server.always(moved(f"{other.url}/responses"))
        with pytest.raises(NotConfigured):
            asking(server).answer("Is it?", [Source(1, "a.txt", None, SECRET)])
        assert other.requests == []


@pytest.mark.parametrize(
    "body",
    [b"[]", b'"x"', b"null", b"{}", b"0", b'{"choices": []}', b'{"choices": [{}]}', b'{"output": "x"}', b"\xff\xfe"],
)
def test_json_of_another_kind_is_no_answer(server: ModelServer, body: bytes) -> None:
    server.always(lambda _: ModelResponse(body, headers={"Content-Type": "application/json"}))
    with pytest.raises(SourceFailed, match="OpenAI-compatible"):
        judged(asking(server))


@pytest.mark.parametrize(
    "usage", [NO_USAGE, [], "12", {"prompt_tokens": None}, {"prompt_tokens": -3, "completion_tokens": "7"}]
)
def test_counts_that_are_missing_are_estimated_and_that_is_said_once(
    server: ModelServer, caplog: pytest.LogCaptureFixture, usage: object
) -> None:
    server.always(saying("Yes.", usage=usage))
    answerer = asking(server, api="chat")
    prompt = answerer.answer("Is it?", []).usage
    assert (prompt.calls, prompt.output_tokens) == (1, most_model_tokens("Yes."))
    most = most_model_tokens(server.requests[0].prompt)
    assert most <= prompt.input_tokens <= most + 200
    answerer.answer("Is it?", [])
    assert len([message for message in caplog.messages if "are estimated" in message]) == 1


@pytest.mark.parametrize("usage", ['{"prompt_tokens": NaN}', '{"prompt_tokens": 1e300}', '{"prompt_tokens": 99999999}'])
def test_counts_that_cannot_be_right_are_not_believed(server: ModelServer, usage: str) -> None:
    body = f'{{"choices": [{{"message": {{"content": "Yes."}}}}], "usage": {usage}}}'.encode()
    server.always(lambda _: ModelResponse(body))
    assert 0 < asking(server, api="chat").answer("Is it?", []).usage.input_tokens < 1000
