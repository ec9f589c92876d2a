"""What the trial of a model does to its judgements: a weak one's silence is not taken for the room's."""

import json
from collections.abc import Callable, Iterator

import pytest

from storage.runs import ModelTrial
from storage.scores import ScoreStatus
from tasks.ai.openai.answerer import OpenAiAnswerer
from tasks.ai.registry import current_answerer
from tasks.scoring.model_trial import find_standing, try_model
from tasks.scoring.score import score_criteria
from tests.servers.openai_server import ModelServer
from tests.tasks.scoring.conftest import Room
from tests.tasks.scoring.test_model_trial import right

SILENT = json.dumps({
    "found": False, "quotes": [], "contradictions": [], "reason": "The sources do not tell.", "score": None,
    "confidence": 1,
})  # fmt: skip
CLEAR = {"id": "recurring", "ask": "Is most of the revenue recurring?", "severity": "low"}
OTHER = {"id": "permits", "ask": "Which environmental permits does the factory need?", "severity": "low"}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, home: object) -> Iterator[ModelServer]:
    with ModelServer(SILENT, plans=None) as server:
        monkeypatch.setenv("DILIGENCE_AI_MODEL", "small")
        monkeypatch.setenv("DILIGENCE_AI_SEARCH_PLAN", "off")
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        yield server


@pytest.fixture
def room(room: Room) -> Room:
    room.holds("Report.txt", "Recurring revenue was 83.4 % of all revenue in 2024.")
    room.asks(CLEAR, OTHER)
    return room


def statuses(room: Room) -> dict[str, ScoreStatus]:
    return {criterion: outcome.status for criterion, outcome in room.outcomes.items()}


def test_a_weak_model_s_missing_is_unscored_where_a_passage_clearly_speaks(room: Room, server: ModelServer) -> None:
    assert try_model(current_answerer()).is_weak
    assert score_criteria(room.id)  # no judgement failed
    assert statuses(room) == {"recurring": ScoreStatus.UNSCORED, "permits": ScoreStatus.MISSING}
    outcome = room.outcomes["recurring"]
    assert outcome.missing is None
    assert outcome.nearest == []
    assert "the model is weak" in outcome.reason
    assert outcome.reason.endswith("The passages that address it are shown.")
    assert [quote.document_name for quote in room.quotes("recurring")] == ["Report.txt"]


def test_a_model_that_was_not_tried_or_passed_is_believed(room: Room, server: ModelServer) -> None:
    assert find_standing(current_answerer()) is ModelTrial.UNTRIED
    score_criteria(room.id)
    assert statuses(room)["recurring"] is ScoreStatus.MISSING
    server.says = right
    try_model(current_answerer())
    assert find_standing(current_answerer()) is ModelTrial.PASSED


def test_what_was_missing_is_judged_again_once_the_model_is_known_to_be_weak(
    room: Room, server: ModelServer, new_run: Callable[[str], Room]
) -> None:
    score_criteria(room.id)
    asked = len(server.requests)
    try_model(current_answerer())
    tried = len(server.requests)
    score_criteria(room.id)
    assert statuses(room)["recurring"] is ScoreStatus.UNSCORED
    assert len(server.requests) == tried > asked  # the answers are kept: nothing is paid for twice


def test_nothing_is_asked_to_know_how_a_model_stands(home: object) -> None:
    with ModelServer(right) as server:
        assert find_standing(OpenAiAnswerer("m", base_url=server.url)) is ModelTrial.UNTRIED
        assert server.requests == []
    assert find_standing(current_answerer()) is None  # no model judges
