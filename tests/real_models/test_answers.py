"""Questions and judgements on a real server with a real, weak model: what is asserted holds however weak it is."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from pydantic import BaseModel, Field

from tasks.ai.answerer import AnswerCut, Source
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.protocols import RequestFormat
from tasks.companies.question import company_question
from tasks.errors import NotConfigured, Unavailable
from tests.api.conftest import serving
from tests.companies_servers.site import SITE
from tests.real_models.llama_server import GEMMA3, REPOSITORY, SMOLLM2, LlamaServer, missing
from tests.servers.recorder import Exchange, Recorder
from tests.web.server import LoopbackServer

LIMITS = {"max_output_tokens", "max_completion_tokens", "max_tokens"}
HERONS = "Seven herons stood in the shallow water beside the mill. Two of them left at noon."

pytestmark = pytest.mark.skipif(missing(SMOLLM2) is not None, reason=str(missing(SMOLLM2)))


class Opinion(BaseModel):
    """A small judgement."""

    found: bool
    reason: str = Field(description="a short sentence")


@contextmanager
def recorded(server: LlamaServer, **settings: object) -> Iterator[tuple[OpenAiAnswerer, Recorder]]:
    """A model behind a relay that writes down each call; the server was not asked anything before."""
    with Recorder(server.url) as recorder:
        yield OpenAiAnswerer(server.model, base_url=recorder.url, probes=True, **settings), recorder  # type: ignore[arg-type]


def assert_all_is_well(calls: list[Exchange]) -> None:
    """No call was refused, or given up but in a loop, and each had a limit on its answer."""
    assert calls
    assert [(call.status, call.whole or call.is_loop) for call in calls] == [(200, True)] * len(calls)
    assert all(LIMITS & call.body.keys() for call in calls)
    assert all(call.body["stream"] for call in calls)


def test_what_the_server_can_do_is_found_out_by_asking(home: Path, smollm2: LlamaServer) -> None:
    with recorded(smollm2) as (answerer, recorder):
        answerer.prepare()
        found = answerer.capabilities
        assert_all_is_well(recorder.asked)
    assert RequestFormat.RESPONSES in found.loose  # it takes a schema there, and ignores it
    assert found.works == {RequestFormat.RESPONSES, RequestFormat.SCHEMA}
    assert (found.window, found.slots, found.models) == (4096, 2, ("smollm2",))
    assert found.servers == {"smollm2"}
    assert found.counts
    assert found.reading
    assert found.writing


def test_a_judgement_keeps_to_its_schema(home: Path, smollm2: LlamaServer) -> None:
    with recorded(smollm2, api="chat") as (answerer, recorder):
        assert answerer.judge("Were there herons?", HERONS, Opinion).value.reason
        assert_all_is_well(recorder.asked)
        assert len(recorder.asked) == 2  # one to find out what the server is able to do


def test_a_question_through_the_service(
    home: Path, smollm2: LlamaServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DILIGENCE_AI_PROBE")
    with Recorder(smollm2.url) as recorder:
        monkeypatch.setenv("DILIGENCE_AI_MODEL", smollm2.model)
        monkeypatch.setenv("OPENAI_BASE_URL", recorder.url)
        with serving() as client:
            client.timeout = 600
            asked = {"question": "How many herons stood in the water?", "context": HERONS}
            answer = client.post("/v1/ai/question", json=asked)
        assert_all_is_well(recorder.asked)
    assert answer.status_code == 200, answer.text
    assert answer.json()["answer"]


@pytest.mark.nightly
def test_a_question_about_a_company_from_the_pages_of_its_site(
    home: Path, smollm2: LlamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with LoopbackServer(SITE) as site, Recorder(smollm2.url) as recorder:
        monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"{site.url}/{{domain}}")
        monkeypatch.setenv("DILIGENCE_WEB_ALLOW", "127.0.0.1")
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website")
        monkeypatch.setenv("DILIGENCE_AI_MODEL", smollm2.model)
        monkeypatch.setenv("OPENAI_BASE_URL", recorder.url)
        answer = company_question("Who are the largest customers?", None, "alpha.example")
        assert_all_is_well(recorder.asked)
    assert "Hamburg" in answer.answer  # in the model's words, or in the passage that is shown in their place


@pytest.mark.nightly
def test_a_text_beyond_a_window_of_2048_tokens_is_read_in_parts_that_fit(home: Path) -> None:
    licence = (REPOSITORY / "LICENSE").read_text()[:9_000]
    with LlamaServer(SMOLLM2, window=2048, slots=1) as server, recorded(server) as (answerer, recorder):
        with suppress(AnswerCut):  # it may go on and on, and is stopped then
            answer = answerer.answer("Who may use the work?", [Source(1, "LICENSE", None, licence)])
            assert answer.text
            assert re.search(r"read whole in [2-9] parts", answer.notes[0])
        calls = recorder.asked
        assert answerer.window == 2048
        assert answerer.side_by_side == 1
    assert len(calls) > 2
    assert {call.status for call in calls} == {200}  # none was longer than the window
    assert all(LIMITS & call.body.keys() for call in calls)


@pytest.mark.nightly
def test_a_server_with_a_key_takes_that_key_alone(home: Path) -> None:
    with LlamaServer(SMOLLM2, key="the-key", window=2048, slots=1) as server:
        for wrong in (None, "another"):
            with pytest.raises(NotConfigured, match="OPENAI_API_KEY") as raised:
                OpenAiAnswerer(server.model, base_url=server.url, key=wrong, probes=True).prepare()
            assert "another" not in str(raised.value)
        with recorded(server, key="the-key") as (answerer, recorder):
            assert answerer.judge("Were there herons?", HERONS, Opinion).value.reason
            assert_all_is_well(recorder.asked)


@pytest.mark.nightly
def test_a_server_that_is_stopped_between_two_calls_is_named_and_asked_again_when_it_runs(home: Path) -> None:
    server = LlamaServer(SMOLLM2, window=2048, slots=1)
    with server:
        answerer = OpenAiAnswerer(server.model, api="chat", base_url=server.url)
        before = answerer.judge("Were there herons?", HERONS, Opinion).value
    with pytest.raises(Unavailable, match="cannot be reached"):
        answerer.judge("Were there herons?", HERONS, Opinion)
    with server:
        assert answerer.judge("Were there herons?", HERONS, Opinion).value == before


def test_a_server_that_is_still_loading_its_model_is_waited_for(home: Path) -> None:
    server = LlamaServer(SMOLLM2, window=2048, slots=1)
    with server:
        answerer = OpenAiAnswerer(server.model, api="chat", base_url=server.url)
    server.start(wait=False)
    try:
        while True:
            with suppress(httpx.ConnectError):
                httpx.get(server.url, trust_env=False)
                break
        assert answerer.judge("Were there herons?", HERONS, Opinion).value.reason
    finally:
        server.kill()


@pytest.mark.nightly
def test_a_server_that_unloads_its_model_between_two_calls_answers_as_before(home: Path) -> None:
    with (
        LlamaServer(SMOLLM2, window=2048, slots=1, idle=1) as server,
        recorded(server, api="chat") as (answerer, recorder),
    ):
        before = answerer.judge("Were there herons?", HERONS, Opinion).value
        time.sleep(3)
        assert answerer.judge("Were there herons?", HERONS, Opinion).value == before
        assert_all_is_well(recorder.asked)


@pytest.mark.nightly
@pytest.mark.skipif(missing(GEMMA3) is not None, reason=str(missing(GEMMA3)))
def test_a_base_model_without_a_chat_template_is_held_to_the_schema(home: Path) -> None:
    class Brief(Opinion):
        reason: str = Field(description="a short sentence", max_length=160)  # in a longer one it repeats itself

    with LlamaServer(GEMMA3, window=2048, slots=1) as server, recorded(server) as (answerer, recorder):
        assert answerer.judge("Were there herons?", HERONS, Brief).value.reason
        assert_all_is_well(recorder.asked)
