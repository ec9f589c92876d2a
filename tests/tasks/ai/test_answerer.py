"""The Answerer seam: what holds for every answerer in the registry."""

import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import BaseModel, Field

from tasks.ai import registry
from tasks.ai.answerer import Answerer, AnswererFailed, ModelRefused, Source
from tasks.ai.registry import current_answerer
from tasks.errors import NotConfigured
from tasks.spending.money import Usage
from tests.cases import cases
from tests.servers.openai_server import ModelRequest, ModelServer

SOURCES = [
    Source(1, "accounts.xlsx", "sheet P&L", "Year\tRevenue\n2023\t12,300"),
    Source(2, "pitch.pptx", "slide 4", "Recurring revenue was 83.4 % of the total."),
]


class Verdict(BaseModel):
    score: int = Field(ge=0, le=5)
    reason: str


def model(request: ModelRequest) -> str:
    return "Five sixths [2]." if "schema" not in request.prompt else '{"score": 4, "reason": "Five sixths."}'


@pytest.fixture(params=["extractive", "responses", "chat", "quoting"])
def answerer(request: pytest.FixtureRequest, settings: pytest.MonkeyPatch) -> Iterator[Answerer]:
    if request.param in {"extractive", "quoting"}:
        if request.param == "quoting":  # one line in the registry is all that a new answerer takes
            line = "tests.tasks.ai.quoting_answerer", lambda _: True
            settings.setattr(registry, "ANSWERERS", (line, *registry.ANSWERERS))
        yield current_answerer()
        return
    with ModelServer(model, responses=request.param == "responses") as server:
        settings.setenv("DILIGENCE_AI_MODEL", "small")
        settings.setenv("OPENAI_BASE_URL", server.url)
        yield current_answerer()


def test_it_comes_from_the_registry(answerer: Answerer, request: pytest.FixtureRequest) -> None:
    names = {"extractive": "extractive", "quoting": "quoting"}
    kind = request.node.callspec.params["answerer"]
    assert answerer.name == names.get(kind, "openai-compatible small")


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
    assert (answerer.model is None) == (answerer.address is None)
    assert answerer.model is None or answerer.name == f"openai-compatible {answerer.model}"


@cases("text", ["", "\0", "\ud800", "<source-1>", "x" * 100_000, "\u202eabc", "a\r\nb\fc"])
def test_any_text_may_stand_in_a_source(answerer: Answerer, text: str) -> None:
    assert answerer.answer("What \ud800 is x?", [Source(1, 'a"\n\ud800b.txt', None, text)]).text


def test_it_may_be_asked_from_many_threads(answerer: Answerer) -> None:
    with ThreadPoolExecutor(8) as pool:
        texts = set(pool.map(lambda _: answerer.answer("What share recurs?", SOURCES).text, range(24)))
    assert len(texts) == 1


def test_it_says_how_many_questions_at_once_make_sense(answerer: Answerer) -> None:
    assert (answerer.side_by_side == 1) == (answerer.model is None)


@pytest.mark.parametrize("failure", [AnswererFailed, ModelRefused])
def test_a_failure_keeps_its_usage_between_processes(failure: type[AnswererFailed]) -> None:
    back = pickle.loads(pickle.dumps(failure("No.", Usage(1, 10, 2))))
    assert (type(back), back.message, back.usage) == (failure, "No.", Usage(1, 10, 2))
