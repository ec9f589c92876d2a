"""How much a server is asked: judgements that a slow one of one's own ends in time; an estimate asks nothing."""

import json

import pytest
from pydantic import BaseModel

from storage.database import writing
from storage.model_calls import StoredAnswer, save_answer
from storage.scores import ScoreStatus
from tasks.ai.answerer import NotAsked, Source
from tasks.ai.calls import answer_key, judge_once
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import find_capabilities
from tasks.ai.registry import current_answerer
from tasks.language import words
from tasks.scoring.ask import SLOW, CallKind, CountingAnswerer, Width
from tasks.scoring.score import score_criteria
from tests.benchmarks import plants
from tests.servers.openai_server import ModelServer, saying, whole
from tests.tasks.conftest import ServeModel
from tests.tasks.scoring.conftest import Room
from tests.tasks.scoring.test_isolation import CALM, CLAIM, RULE

LITIGATION = {"id": "litigation", "ask": "Is the company free of pending litigation?", "severity": "high"}
OTHERS = [f"Litigation of the year {year}: none was begun in it." for year in range(2012, 2020)]


@pytest.mark.parametrize(
    ("address", "reading", "writing", "timeout", "is_narrow"),
    [
        ("http://127.0.0.1:8080/v1", 200.0, 28.0, 120, True),
        ("http://127.0.0.1:8080/v1", 200.0, 28.0, 600, False),
        ("http://127.0.0.1:8080/v1", 2000.0, 70.0, 120, False),
        ("http://127.0.0.1:8080/v1", None, None, 120, False),
        ("https://models.example.com/v1", 200.0, 28.0, 120, False),
    ],
)
def test_only_a_slow_server_in_the_house_is_given_less(
    home: object,
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    reading: float | None,
    writing: float | None,
    timeout: int,
    *,
    is_narrow: bool,
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_TIMEOUT", str(timeout))
    found = find_capabilities(address, "m")
    found.reading, found.writing = reading, writing
    width = Width.of(OpenAiAnswerer("m", base_url=address))
    assert width.is_narrow == is_narrow
    if is_narrow:
        assert width.spend(width.prompt_tokens) == pytest.approx(timeout / 4, rel=0.01)


def test_a_model_that_loads_before_its_first_word_is_no_slower_a_reader(home: object) -> None:
    found = find_capabilities("http://localhost/v1", "m")
    found.reading, found.writing = 5.0, 20.0
    assert Width.of(OpenAiAnswerer("m", base_url="http://localhost/v1")).pace.reading == 80  # type: ignore[union-attr]


@pytest.fixture
def server(serve_model: ServeModel) -> ModelServer:
    server = serve_model(RULE)
    server.always(lambda request: whole(saying(RULE(request)))(request))  # so that its speed is not measured
    return server


@pytest.fixture
def room(room: Room) -> Room:
    for number, text in enumerate([CLAIM, CALM, *OTHERS]):
        room.holds(f"Note {number}.txt", text)
    room.asks(LITIGATION)
    return room


def names(server: ModelServer) -> list[str]:
    return [request.body["text"]["format"]["name"] for request in server.requests]


def test_a_slow_server_reads_the_best_documents_and_is_asked_for_brief_answers(room: Room, server: ModelServer) -> None:
    found = find_capabilities(server.url, "small")
    found.reading, found.writing = 200.0, 28.0
    assert score_criteria(room.id)
    asked = names(server)
    assert set(asked) <= {"PortionReading", "Judgement", "JudgementAlone"}  # no plan, no second check
    assert 1 <= asked.count("PortionReading") < 10
    schema = server.requests[0].body["text"]["format"]["schema"]
    assert schema["properties"]["quotes"]["maxItems"] == 2
    warning = room.outcomes["litigation"].warning
    assert warning is not None
    assert f"it was given the best {asked.count('PortionReading')}, and" in warning
    assert SLOW in room.company.warnings


def test_what_the_documents_that_were_read_do_not_say_is_not_told_as_missing(room: Room, server: ModelServer) -> None:
    found = find_capabilities(server.url, "small")
    found.reading, found.writing = 200.0, 28.0
    silent = plants.Model(good=[], bad=[])
    server.always(lambda request: whole(saying(silent(request)))(request))
    score_criteria(room.id)
    outcome = room.outcomes["litigation"]
    assert (outcome.status, outcome.failed, outcome.evidence) == (ScoreStatus.UNSCORED, False, "")


@pytest.mark.parametrize("speed", [None, (2000.0, 70.0)])
def test_a_fast_server_is_asked_as_one_whose_speed_is_not_known(
    room: Room, server: ModelServer, speed: tuple[float, float] | None
) -> None:
    found = find_capabilities(server.url, "small")
    found.reading, found.writing = speed or (None, None)
    score_criteria(room.id)
    assert names(server).count("PortionReading") == 10
    assert "SearchPlan" in names(server)
    assert SLOW not in room.company.warnings
    assert room.outcomes["litigation"].warning is None


class Verdict(BaseModel):
    score: int


@pytest.fixture
def counting(home: object, monkeypatch: pytest.MonkeyPatch) -> CountingAnswerer:
    monkeypatch.setenv("DILIGENCE_AI_MODEL", "a-model")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")  # nobody answers there
    return CountingAnswerer(current_answerer())


def test_a_judgement_is_counted_as_it_would_be_sent(
    counting: CountingAnswerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(NotAsked):
        judge_once(counting, "Judge.", "A text. " * 100, Verdict)
    with ModelServer('{"score": 3}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        judge_once(current_answerer(), "Judge.", "A text. " * 100, Verdict)
    body = server.requests[0].body
    assert counting.calls.total() == len(server.requests) == 1
    assert counting.usual_input.total() == words.usual_model_tokens(server.requests[0].prompt, json.dumps(body["text"]))
    assert counting.most_input.total() >= words.most_model_tokens(json.dumps(body, ensure_ascii=False))


def test_an_answer_that_is_kept_is_not_counted(counting: CountingAnswerer) -> None:
    with writing() as session:
        key = answer_key(current_answerer(), "Judge.", "A text.", Verdict)
        save_answer(session, StoredAnswer(key=key, model="a-model", answer={"score": 3}))
    assert judge_once(counting, "Judge.", "A text.", Verdict).value == Verdict(score=3)
    assert counting.calls.total() == 0


def test_a_question_is_counted_with_its_sources(counting: CountingAnswerer) -> None:
    with pytest.raises(NotAsked):
        counting.answer("Why?", [])
    alone = counting.most_input.total()
    with pytest.raises(NotAsked):
        counting.answer("Why?", [Source(1, "a.txt", None, "A long text. " * 50)])
    assert counting.calls.total() == 2
    assert counting.most_input.total() > 2 * alone


def test_what_is_asked_in_one_attempt_is_counted_once_for_all_companies(home: object) -> None:
    planned: set[str] = set()
    first, second = (CountingAnswerer(current_answerer(), planned) for _ in range(2))
    for company in (first, first, second):
        with pytest.raises(NotAsked):
            company.judge("Plan.", "A criterion.", Verdict, one_attempt=True)
    assert (first.calls, second.calls) == ({CallKind.PLAN: 1}, {})
