"""A model is tried on cases of known answer: one that knows them, one that always says the same, one that is silent."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.openai.answers import find_capabilities
from tasks.scoring.judge import Case, find_trial, read_cases, try_model
from tests.servers.openai_server import ModelRequest, ModelServer, saying, whole


def case_of(request: ModelRequest) -> Case:
    return next(case for case in read_cases() if case.question in request.prompt)


def judgement(case: Case, score: float | None, quotes: list[str]) -> str:
    found = score is not None
    return json.dumps({
        "found": found,
        "quotes": [{"source": 1, "text": text, "stance": None} for text in quotes],
        "contradictions": [], "reason": "So it says.", "score": score, "confidence": 1,
    })  # fmt: skip


def right(request: ModelRequest) -> str:
    case = case_of(request)
    return judgement(case, case.score, [] if case.score is None else [case.sources[-1].split("\n")[-1]])


def flattering(request: ModelRequest) -> str:
    return judgement(case_of(request), 5, ["The company is excellent."])


def asking(server: ModelServer) -> OpenAiAnswerer:
    return OpenAiAnswerer("m", base_url=server.url, pause=0.01)


def test_the_cases_are_of_each_kind_in_four_languages() -> None:
    cases = read_cases()
    assert len(cases) == 30
    assert len({case.question for case in cases}) == 30
    assert set(Counter(case.language for case in cases)) == {"English", "German", "French", "Spanish"}
    assert {case.kind for case in cases} == {"found", "missing", "contradicted", "order", "table", "unsure"}
    assert all((case.score is None) == (case.kind == "missing") for case in cases)


def test_a_model_that_knows_them_judges(home: Path) -> None:
    with ModelServer(right) as server:
        trial = try_model(asking(server))
        assert (trial.answered, trial.reasons, trial.quotes) == (1, 1, 1)
        assert (trial.scores, trial.silent, trial.orders) == (1, 1, 1)
        assert not trial.is_weak
        assert trial.advice == "It judges."
        assert find_trial(asking(server)) == trial


@pytest.mark.parametrize(("writing", "cases"), [(20.0, 30), (5.0, 10)])
def test_a_server_that_would_take_very_long_is_given_fewer_cases(home: Path, writing: float, cases: int) -> None:
    with ModelServer(right) as server:
        server.always(lambda request: whole(saying(right(request)))(request))  # so that its speed is not measured
        found = find_capabilities(server.url, "m")
        found.reading, found.writing = 8 * writing, writing
        assert try_model(asking(server)).cases == len(server.requests) == cases


def test_a_model_that_praises_everything_is_weak(home: Path) -> None:
    with ModelServer(flattering) as server:
        trial = try_model(asking(server))
    assert trial.is_weak
    assert (trial.quotes, trial.silent, trial.orders) == (0, 0, 0)
    assert trial.scores < 0.4


def test_a_model_that_gives_no_json_is_weak_and_kept_as_such(home: Path) -> None:
    with ModelServer("I would rather not.") as server:
        assert try_model(asking(server)).answered == 0
        kept = find_trial(asking(server))
    assert kept is not None
    assert kept.is_weak


def test_a_model_whose_reasons_are_none_is_weak(home: Path) -> None:
    with ModelServer(lambda request: right(request).replace("So it says.", "Kiembra")) as server:
        trial = try_model(asking(server))
    assert (trial.answered, trial.reasons, trial.quotes, trial.scores, trial.silent) == (1, 0, 1, 0, 0)
    assert trial.is_weak


def test_a_model_that_was_never_tried_has_no_trial(home: Path) -> None:
    with ModelServer(right) as server:
        assert find_trial(asking(server)) is None
