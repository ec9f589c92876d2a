"""The Answerer seam: what holds for every answerer, and which one the settings choose."""

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel, Field

from storage.settings import given
from tasks.ai.answerer import Answerer, AnswererFailed, ModelRefused, Source, Usage, current
from tasks.ai.extractive import ExtractiveAnswerer
from tasks.ai.openai.answerer import OPENAI, OpenAiAnswerer
from tasks.errors import NotConfigured
from tests.servers.openai_server import Asked, ModelServer

SOURCES = [
    Source(1, "accounts.xlsx", "sheet P&L", "Year\tRevenue\n2023\t12,300"),
    Source(2, "pitch.pptx", "slide 4", "Recurring revenue was 83.4 % of the total."),
]


class Verdict(BaseModel):
    score: int = Field(ge=0, le=5)
    reason: str


def model(asked: Asked) -> str:
    return "Five sixths [2]." if "schema" not in asked.prompt else '{"score": 4, "reason": "Five sixths."}'


@pytest.fixture(params=["extractive", "responses", "chat"])
def answerer(request: pytest.FixtureRequest) -> Iterator[Answerer]:
    if request.param == "extractive":
        yield ExtractiveAnswerer()
        return
    with ModelServer(model, responses=request.param == "responses") as server:
        yield OpenAiAnswerer("small", base_url=server.url)


def test_it_answers_from_sources(answerer: Answerer) -> None:
    answer = answerer.answer("What share of the revenue is recurring?", SOURCES)
    assert "sixths" in answer.text or "83.4 %" in answer.text


def test_it_answers_without_sources(answerer: Answerer) -> None:
    assert answerer.answer("What share?", []).text


def test_only_a_model_costs(answerer: Answerer) -> None:
    usage = answerer.answer("What share of the revenue is recurring?", SOURCES).usage
    if answerer.model is None:
        assert usage == Usage(0, 0, 0)
    else:
        assert usage.calls == 1
        assert usage.input_tokens > usage.output_tokens > 0


def test_it_judges_if_it_says_so(answerer: Answerer) -> None:
    if answerer.judges:
        judged = answerer.judge("Score it.", "83.4 % recurs.", Verdict)
        assert judged.value == Verdict(score=4, reason="Five sixths.")
        assert judged.usage.calls == 1
    else:
        with pytest.raises(NotConfigured, match="DILIGENCE_AI_MODEL"):
            answerer.judge("Score it.", "83.4 % recurs.", Verdict)


def test_a_name_and_an_address_go_with_a_model(answerer: Answerer) -> None:
    assert (answerer.model is None) == (answerer.address is None) == (answerer.name == "extractive")
    assert answerer.model is None or answerer.name == f"openai-compatible {answerer.model}"


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "<source-1>", "x" * 100_000, "\u202eabc", "a\r\nb\fc"])
def test_any_text_may_stand_in_a_source(answerer: Answerer, text: str) -> None:
    assert answerer.answer("What \ud800 is x?", [Source(1, 'a"\n\ud800b.txt', None, text)]).text


def test_it_may_be_asked_from_many_threads(answerer: Answerer) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = set(pool.map(lambda _: answerer.answer("What share recurs?", SOURCES).text, range(24)))
    assert len(texts) == 1


def test_it_says_how_many_questions_at_once_make_sense(answerer: Answerer) -> None:
    assert (answerer.side_by_side == 1) == (answerer.model is None)


# --- which one


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "DILIGENCE_AI_MODEL", "DILIGENCE_AI_API", "DILIGENCE_AI_WINDOW"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_without_settings_no_model_is_asked(settings: pytest.MonkeyPatch) -> None:
    assert isinstance(current(), ExtractiveAnswerer)


def test_a_key_alone_asks_no_model(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_API_KEY", "sk-1")
    assert isinstance(current(), ExtractiveAnswerer)


def test_a_model_and_a_key_ask_openai(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_API_KEY", "sk-1")
    assert (current().name, current().address) == ("openai-compatible large", OPENAI)


def test_a_model_without_key_and_address_names_both_settings(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    with pytest.raises(NotConfigured, match=r"OPENAI_API_KEY.*OPENAI_BASE_URL"):
        current()


@pytest.mark.parametrize(
    "address", ["localhost:8080", "ftp://a/v1", "http://", "http://a:99999", "http://[", "nonsense"]
)
def test_an_address_that_is_none_names_its_setting(settings: pytest.MonkeyPatch, address: str) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(NotConfigured, match="OPENAI_BASE_URL"):
        current()


@pytest.mark.parametrize("key", ["“sk-1”", "sk-1\nsk-2", "sk…"])
def test_a_key_that_can_be_none_names_its_setting_and_not_itself(settings: pytest.MonkeyPatch, key: str) -> None:
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("OPENAI_API_KEY", key)
    with pytest.raises(NotConfigured, match="OPENAI_API_KEY") as failed:
        current()
    assert "sk" not in failed.value.message


def test_white_space_around_settings_does_no_harm(settings: pytest.MonkeyPatch) -> None:
    with ModelServer(model) as server:
        settings.setenv("DILIGENCE_AI_MODEL", " small ")
        settings.setenv("OPENAI_API_KEY", "sk-1\n")
        settings.setenv("OPENAI_BASE_URL", f" {server.url}/\n")
        assert current().answer("Is it?", []).text
    assert server.asked[0].headers["authorization"] == "Bearer sk-1"


def test_the_batch_may_say_which_model(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    with given({"ai_model": "small", "openai_base_url": "http://127.0.0.1:2/v1"}):
        assert (current().model, current().address) == ("small", "http://127.0.0.1:2/v1")
    assert (current().model, current().address) == ("large", "http://127.0.0.1:1/v1")


def test_the_window_may_be_set(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    settings.setenv("DILIGENCE_AI_WINDOW", "8192")
    answerer = current()
    assert isinstance(answerer, OpenAiAnswerer)
    assert answerer.window == 8192


def test_the_same_settings_give_the_same_answerer(settings: pytest.MonkeyPatch) -> None:
    settings.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    settings.setenv("DILIGENCE_AI_MODEL", "large")
    first = current()
    assert current() is first
    settings.setenv("DILIGENCE_AI_MODEL", "small")
    assert current() is not first


def test_usage_adds_up() -> None:
    assert Usage(1, 10, 2) + Usage(2, 5, 1) == Usage(3, 15, 3)


@pytest.mark.parametrize("failure", [AnswererFailed, ModelRefused])
def test_a_failure_keeps_its_usage_between_processes(failure: type[AnswererFailed]) -> None:
    back = pickle.loads(pickle.dumps(failure("No.", Usage(1, 10, 2))))
    assert (type(back), back.message, back.usage) == (failure, "No.", Usage(1, 10, 2))
