"""What the trial of a model does to its judgements: only a model that passed is believed when it finds nothing."""

import json
from collections.abc import Callable

import pytest

from storage.runs import ModelTrial
from storage.scores import Absence, ScoreStatus
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.registry import current_answerer
from tasks.scoring.judge import find_standing, try_model
from tasks.scoring.score import score_criteria
from tests.servers.openai_server import ModelServer
from tests.tasks.conftest import ServeModel
from tests.tasks.scoring.conftest import Room
from tests.tasks.scoring.test_judge import right

SILENT = json.dumps({
    "found": False, "quotes": [], "contradictions": [], "reason": "The sources do not tell.", "score": None,
    "confidence": 1,
})  # fmt: skip
CLEAR = {"id": "recurring", "ask": "Is most of the revenue recurring?", "severity": "low"}
OTHER = {"id": "permits", "ask": "Which environmental permits does the factory need?", "severity": "low"}


@pytest.fixture
def server(serve_model: ServeModel) -> ModelServer:
    return serve_model(SILENT, plans=None, DILIGENCE_AI_SEARCH_PLAN="off")


@pytest.fixture
def room(room: Room) -> Room:
    room.holds("Report.txt", "Recurring revenue was 83.4 % of all revenue in 2024.")
    room.asks(CLEAR, OTHER)
    return room


def statuses(room: Room) -> dict[str, ScoreStatus]:
    return {criterion: outcome.status for criterion, outcome in room.outcomes.items()}


@pytest.mark.parametrize("trial", [ModelTrial.WEAK, ModelTrial.UNTRIED], ids=str)
def test_a_missing_that_nothing_checks_is_unscored_where_a_passage_clearly_speaks(
    room: Room, server: ModelServer, trial: ModelTrial
) -> None:
    if trial is ModelTrial.WEAK:
        assert try_model(current_answerer()).is_weak
    room.holds("Overview.txt", "Revenue is what most of the report is about.")
    assert find_standing(current_answerer()) is trial
    assert score_criteria(room.id)  # no judgement failed
    assert statuses(room) == {"recurring": ScoreStatus.UNSCORED, "permits": ScoreStatus.MISSING}
    outcome = room.outcomes["recurring"]
    assert (outcome.missing, outcome.absence, outcome.nearest) == (None, None, [])
    assert "a passage has the words of the question, and " in outcome.reason
    assert {ModelTrial.WEAK: "the model is weak", ModelTrial.UNTRIED: "was never tested"}[trial] in outcome.reason
    assert outcome.reason.endswith("The passages that address it are shown.")
    assert next(iter(room.quotes("recurring"))).document_name == "Report.txt"


@pytest.mark.parametrize(
    "said",
    [
        "The sources do not tell.",
        "The company is a leader in the field of permits.",
        "The factory needs no environmental permits.",
    ],
)
def test_what_stays_missing_has_the_program_s_reason(room: Room, server: ModelServer, said: str) -> None:
    server.says = json.dumps(json.loads(SILENT) | {"reason": said})
    score_criteria(room.id)
    reason = room.outcomes["permits"].reason
    assert reason.startswith("The model found no answer, and no passage has most of the words of the question.")
    assert reason.count("No passage shares a word with the question") == 1
    assert said not in reason


def test_a_quotation_alone_of_an_unknown_model_does_not_say_that_there_is_none(room: Room, server: ModelServer) -> None:
    quote = {"source": 1, "text": "Recurring revenue was 83.4 % of all revenue in 2024.", "stance": "against"}
    server.says = json.dumps(json.loads(SILENT) | {"quotes": [quote]})
    score_criteria(room.id)
    outcome = room.outcomes["permits"]
    assert (outcome.status, outcome.absence) == (ScoreStatus.MISSING, Absence.SILENT)
    assert [quote.text for quote in room.quotes("permits")] == [quote["text"]]


def test_a_model_that_passed_is_believed(room: Room, server: ModelServer) -> None:
    server.says = right
    try_model(current_answerer())
    assert find_standing(current_answerer()) is ModelTrial.PASSED
    server.says = SILENT
    score_criteria(room.id)
    assert room.outcomes["recurring"].status is ScoreStatus.MISSING
    assert room.outcomes["recurring"].reason == "The sources do not tell."


def test_what_was_unscored_is_judged_again_once_the_model_has_passed(
    room: Room, server: ModelServer, new_run: Callable[[str], Room]
) -> None:
    score_criteria(room.id)
    assert statuses(room)["recurring"] is ScoreStatus.UNSCORED
    asked = len(server.requests)
    server.says = right
    try_model(current_answerer())
    tried = len(server.requests)
    score_criteria(room.id)
    assert statuses(room)["recurring"] is ScoreStatus.MISSING
    assert len(server.requests) == tried > asked  # the answers are kept: nothing is paid for twice


def test_nothing_is_asked_to_know_how_a_model_stands(home: object) -> None:
    with ModelServer(right) as server:
        assert find_standing(OpenAiAnswerer("m", base_url=server.url)) is ModelTrial.UNTRIED
        assert server.requests == []
    assert find_standing(current_answerer()) is None  # no model judges
