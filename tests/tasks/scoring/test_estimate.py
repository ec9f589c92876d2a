"""The answerer that only counts: it passes for the real one and is never paid."""

import json

import pytest
from pydantic import BaseModel

from storage.database import writing
from storage.model_calls import StoredAnswer, save_answer
from tasks.ai.answerer import NotAsked, Source
from tasks.ai.calls import answer_key, judge_once
from tasks.ai.registry import current_answerer
from tasks.language import words
from tasks.scoring.ask import CallKind, CountingAnswerer
from tests.servers.openai_server import ModelServer


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
