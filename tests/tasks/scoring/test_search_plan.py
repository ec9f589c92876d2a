"""The search plan: asked once for each criterion, cached, counted, and never in the way of a score."""

import json
from collections.abc import Callable

import pytest

from storage.scores import ScoreStatus
from tasks.ai.registry import current_answerer
from tasks.scoring.judge import try_model
from tasks.scoring.score import score_criteria
from tests.servers.openai_server import (
    Behaviour,
    ModelRequest,
    ModelResponse,
    ModelServer,
    busy,
    cut_off,
    failing,
    nothing,
    refusing,
    saying,
    torn,
    web_page,
)
from tests.tasks.conftest import ServeModel
from tests.tasks.scoring.conftest import Room
from tests.tasks.scoring.test_judge import right

SUING = {"id": "suits", "ask": "Is anybody suing them?"}
SECRET = "The plaintiffs seek damages of 40 million euros before the regional court."
PLAN = json.dumps({"wordings": ["plaintiffs", "damages"], "names": ["Legal proceedings"], "units": ["EUR million"]})
FILLER = [f"Is anybody suing them? That was asked in meeting {number}; nobody knew." for number in range(30)]


def verdict(request: ModelRequest) -> str:
    """A model that knows judgements alone, and finds something only where the plaintiffs are shown."""
    asked = next(line for line in request.prompt.splitlines() if line.startswith("Question: "))
    assert asked
    found = SECRET in request.prompt
    quotes = [{"source": 1, "text": SECRET, "stance": "against"}] if found else []
    return json.dumps({"found": found, "score": 1 if found else None, "reason": "As it says.", "quotes": quotes})


@pytest.fixture
def server(serve_model: ServeModel) -> ModelServer:
    return serve_model(verdict, plans=PLAN, DILIGENCE_AI_TIMEOUT="5")


@pytest.fixture
def room(room: Room) -> Room:
    room.holds_all({f"Minutes {number}.txt": text for number, text in enumerate(FILLER)} | {"Note.txt": SECRET})
    room.asks(SUING)
    return room


@pytest.fixture
def believed(server: ModelServer) -> None:
    """The model has passed its trial, so that what it does not find is missing, though passages repeat the question."""
    server.says = right
    try_model(current_answerer())
    server.says = verdict
    server.requests.clear()


def test_a_plan_finds_what_the_criterion_does_not_say(room: Room, server: ModelServer) -> None:
    assert score_criteria(room.id)
    outcome = room.outcomes["suits"]
    assert (outcome.status, outcome.score) == (ScoreStatus.SCORED, 1)
    assert room.company.search_warnings == []
    assert room.run.calls == len(server.requests) == 2


@pytest.mark.usefixtures("believed")
def test_without_one_it_is_not_found(room: Room, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_AI_SEARCH_PLAN", "off")
    assert score_criteria(room.id)
    assert room.outcomes["suits"].status is ScoreStatus.MISSING
    assert server.plan_requests == []
    assert room.company.search_warnings == []


def test_the_criterion_is_data_and_the_company_is_not_named(room: Room, server: ModelServer) -> None:
    room.asks(SUING | {"guide": "5: nobody; 0: for more than it owns"})
    score_criteria(room.id)
    system, user = server.plan_requests[0].messages
    assert "suing" not in system["content"]
    assert "Is anybody suing them?\n5: nobody; 0: for more than it owns" in user["content"]
    assert "Alpha" not in server.plan_requests[0].prompt
    assert "meeting" not in server.plan_requests[0].prompt


def test_a_plan_is_asked_for_in_the_languages_of_the_room(room: Room, server: ModelServer) -> None:
    for number in range(40):
        room.holds(f"Brief {number}.txt", "Die Klage ist nicht zugestellt, und das Gericht ist auch nicht zuständig.")
        room.holds(f"Note {number}.txt", "The claim has not been served on the company, and it is not known to it.")
    score_criteria(room.id)
    assert "Write them in English and German." in server.plan_requests[0].prompt


def test_another_company_costs_no_other_plan(room: Room, server: ModelServer, new_run: Callable[[str], Room]) -> None:
    score_criteria(room.id)
    other = new_run("run-2")
    other.holds("Note.txt", SECRET + " And the company has no insurance for that.")
    other.asks(SUING)
    score_criteria(other.id)
    assert len(server.plan_requests) == 1
    assert len(server.judgements) == 2


def test_where_nothing_is_found_other_wordings_are_searched(room: Room, server: ModelServer) -> None:
    first = json.dumps({"wordings": ["arbitral tribunal"]})
    server.plans = lambda request: PLAN if "- arbitral tribunal" in request.prompt else first
    assert score_criteria(room.id)
    assert room.outcomes["suits"].status is ScoreStatus.SCORED
    assert len(server.plan_requests) == len(server.judgements) == 2
    assert room.run.calls == 4


@pytest.mark.usefixtures("believed")
def test_a_second_search_that_finds_nothing_either_changes_nothing(room: Room, server: ModelServer) -> None:
    server.plans = lambda request: json.dumps({"wordings": ["writs" if "- tribunal" in request.prompt else "tribunal"]})
    assert score_criteria(room.id)
    outcome = room.outcomes["suits"]
    assert (outcome.status, outcome.missing) == (ScoreStatus.MISSING, "Is anybody suing them?")
    assert room.company.search_warnings == []


@pytest.mark.usefixtures("believed")
def test_a_second_search_that_fails_leaves_the_first_result(room: Room, server: ModelServer) -> None:
    def plans(request: ModelRequest) -> str:
        return "No." if "- tribunal" in request.prompt else '{"wordings": ["tribunal"]}'

    server.plans = plans
    assert score_criteria(room.id)
    assert room.outcomes["suits"].status is ScoreStatus.MISSING
    assert len(room.company.search_warnings) == 1


FAILURES = {
    "a judgement": saying('{"found": true, "score": 5, "reason": "It is.", "quotes": [{"source": 1, "text": "x"}]}'),
    "prose": saying("They would call it litigation."),
    "an empty plan": saying('{"wordings": []}'),
    "no list": saying('{"wordings": "litigation"}'),
    "refusal": refusing(),
    "cut": cut_off('{"wordings": ["litig'),
    "500": failing(500),
    "502": failing(502),
    "400": failing(400),
    "nothing": nothing(),
    "web page": web_page(),
    "torn": torn(),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_plan_that_fails_costs_no_score(room: Room, server: ModelServer, failure: str) -> None:
    server.plans = None
    ask_again = [SUING, {"id": "more", "ask": "Which meeting was it?"}, {"id": "who", "ask": "Who knew?"}]
    room.asks(*ask_again)
    server.always(only_for_plans(FAILURES[failure], server))
    assert score_criteria(room.id)
    assert not any(outcome.failed for outcome in room.outcomes.values())
    assert len(server.judgements) == 3
    first_format = [request for request in server.plan_requests if request.format == "json_schema"]
    assert len(first_format) <= 2, "a plan is asked for once, in each protocol at most"
    (warning,) = room.company.search_warnings
    assert warning.startswith("The passages were found by the words of the criteria only, because no search plan")


def test_an_answer_that_is_no_plan_is_paid_for_once(
    room: Room, server: ModelServer, new_run: Callable[[str], Room]
) -> None:
    server.plans = "They would call it litigation."
    score_criteria(room.id)
    assert room.run.calls == len(server.requests) == 2
    again = new_run("run-2")
    again.holds("Note.txt", SECRET)
    again.asks(SUING)
    score_criteria(again.id)
    assert len(server.plan_requests) == 1
    assert len(again.company.search_warnings) == 1


def test_a_busy_server_is_waited_for(room: Room, server: ModelServer) -> None:
    server.then(busy("0"))
    assert score_criteria(room.id)
    assert room.outcomes["suits"].status is ScoreStatus.SCORED


def test_an_empty_room_costs_no_plan(room: Room, server: ModelServer, new_run: Callable[[str], Room]) -> None:
    empty = new_run("run-3")
    empty.asks(SUING)
    assert score_criteria(empty.id)
    assert server.requests == []


def test_without_budget_for_a_plan_there_is_a_warning(
    room: Room, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_BUDGET", "600 tokens")
    assert score_criteria(room.id)
    assert server.requests == []
    assert room.outcomes["suits"].score is None
    assert "The budget is spent" in room.company.search_warnings[0]
    monkeypatch.delenv("DILIGENCE_AI_BUDGET")
    assert score_criteria(room.id)
    assert room.outcomes["suits"].score == 1
    assert room.company.search_warnings == []


def test_what_is_no_wording_is_left_out(room: Room, server: ModelServer) -> None:
    server.plans = json.dumps({"wordings": ["plaintiffs", 7, "", "plaintiffs", "x" * 500], "note": "?", "units": None})
    assert score_criteria(room.id)
    assert room.outcomes["suits"].status is ScoreStatus.SCORED


def only_for_plans(behaviour: Behaviour, server: ModelServer) -> Behaviour:
    """A server that behaves so where a plan is asked for, and as a good one otherwise."""

    def behave(request: ModelRequest) -> ModelResponse:
        return behaviour(request) if request.asks_for_plan else saying(verdict(request))(request)

    assert current_answerer().judges
    return behave
