"""The second check of a reason: one call for what no passage says in its words, shown, counted, never in the way."""

import json
from collections.abc import Callable

import pytest

from storage.scores import ScoreStatus
from tasks.scoring.judge import with_opinions
from tasks.scoring.results import CriterionResult
from tasks.scoring.score import score_criteria, take_over
from tasks.spending.budget import BudgetSpent
from tasks.spending.money import Cap
from tasks.statements.answers import CheckedStatement
from tasks.statements.check import Finding
from tests.servers.openai_server import Behaviour, ModelRequest, ModelServer, failing, saying
from tests.tasks.conftest import ServeModel
from tests.tasks.scoring.conftest import Room

CHURN = {"id": "churn", "ask": "Do customers of the company stay?"}
SAYS = "Churn of customers was 2 % in 2024."
FREE = "Hardly any subscriber ever cancels the contract [1]."
MADE_UP = "Management expects competitors to lose patience soon."


class Model:
    """Judges with a reason of its own, and checks statements by `verdicts`."""

    def __init__(self) -> None:
        self.reason = f"{SAYS[:-1]} [1]. {FREE} {MADE_UP}"
        self.verdicts: str = json.dumps(
            {"verdicts": [{"statement": 1, "verdict": "supported"}, {"statement": 2, "verdict": "not said"}]}
        )
        self.checks: list[str] = []

    def __call__(self, request: ModelRequest) -> str:
        if "Statement 1:" in request.prompt:
            self.checks.append(request.prompt)
            return self.verdicts
        return self.judgement

    @property
    def judgement(self) -> str:
        quotes = [{"source": 1, "text": SAYS, "stance": "for"}]
        return json.dumps({"found": True, "score": 5, "reason": self.reason, "quotes": quotes})


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(serve_model: ServeModel, model: Model) -> ModelServer:
    return serve_model(model, DILIGENCE_AI_SEARCH_PLAN="off", DILIGENCE_AI_TIMEOUT="5")


@pytest.fixture
def room(room: Room) -> Room:
    room.holds("Report.txt", SAYS)
    room.asks(CHURN)
    return room


def test_what_no_passage_says_is_checked_in_one_call_and_both_verdicts_are_shown(
    room: Room, server: ModelServer, model: Model
) -> None:
    assert score_criteria(room.id)
    outcome = room.outcomes["churn"]
    assert (outcome.status, outcome.score, outcome.warning) == (ScoreStatus.SCORED, 5, None)
    assert outcome.reason == (
        f"{model.reason} (By their words, the passages do not say 2 statements of this reason; second check by the "
        f"model: 1 supported, 1 not said: “{MADE_UP}”.)"
    )
    (check,) = model.checks
    assert f"Statement 1: {FREE.replace(' [1]', '')}\nSentences of its source:\n- {SAYS}" in check
    assert room.run.calls == len(server.requests) == 2


def test_where_the_passages_say_all_of_a_reason_there_is_no_call(room: Room, server: ModelServer, model: Model) -> None:
    model.reason = f"{SAYS[:-1]} [1]. That is little."
    score_criteria(room.id)
    assert room.outcomes["churn"].reason == model.reason
    assert len(server.requests) == 1
    assert room.outcomes["churn"].reason == model.reason


def test_a_reason_is_not_paid_for_twice(room: Room, server: ModelServer, new_run: Callable[[str], Room]) -> None:
    score_criteria(room.id)
    other = new_run("run-2")
    other.holds("Report.txt", SAYS)
    other.asks(CHURN | {"weight": 2})
    score_criteria(other.id)
    assert other.outcomes["churn"].reason == room.outcomes["churn"].reason
    assert len(server.requests) == 2


@pytest.mark.parametrize("behaviour", [failing(500), saying("I cannot."), saying("{}")])
def test_a_check_that_fails_is_a_warning_and_the_score_stands(
    room: Room, server: ModelServer, model: Model, behaviour: Behaviour
) -> None:
    server.then(saying(model.judgement))
    server.always(behaviour)
    assert score_criteria(room.id)
    outcome = room.outcomes["churn"]
    assert (outcome.status, outcome.score, outcome.failed) == (ScoreStatus.SCORED, 5, False)
    assert outcome.reason == model.reason
    assert outcome.warning is not None
    assert outcome.warning.startswith("The statements of its reason were checked by words only. ")


def test_after_a_failure_no_other_reason_of_the_company_is_checked(
    room: Room, server: ModelServer, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.scoring.score._MOST_AT_ONCE", 1)
    room.asks(CHURN, {"id": "stay", "ask": "Is the churn of customers low?"})
    model.verdicts = "None."
    score_criteria(room.id)
    assert len(model.checks) == 2  # asked once, and once more since that was no JSON
    assert all(outcome.warning for outcome in room.outcomes.values())


def test_what_the_budget_does_not_reach_is_checked_when_the_run_goes_on() -> None:
    result = CriterionResult(ScoreStatus.SCORED, "So.", score=5, warning="Of another kind.")
    left = with_opinions(result, [CheckedStatement(MADE_UP, Finding.NOT_FOUND)], BudgetSpent(Cap(tokens=5)))
    assert (left.score, left.reason, left.unfinished) == (5, "So.", True)
    assert (left.warning or "").startswith("Of another kind. The statements of its reason were checked by words")


def test_what_could_not_be_checked_is_checked_by_the_next_run_and_nothing_else_is_asked(
    room: Room, server: ModelServer, model: Model, new_run: Callable[[str], Room]
) -> None:
    server.then(saying(model.judgement), failing(402))
    score_criteria(room.id)
    assert room.outcomes["churn"].warning
    other = new_run("run-2")
    other.holds("Report.txt", SAYS)
    other.asks(CHURN)
    assert not take_over(other.id)
    score_criteria(other.id)
    assert other.outcomes["churn"].warning is None
    assert len(model.checks) == other.run.calls == 1


def test_without_checks_none_is_made(
    room: Room, server: ModelServer, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_AI_STATEMENT_CHECK", "off")
    score_criteria(room.id)
    assert len(server.requests) == 1
    assert room.outcomes["churn"].reason == model.reason
