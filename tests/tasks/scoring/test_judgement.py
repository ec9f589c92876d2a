"""The form of a judgement: strict where a score rests on it, lenient where a model leaves something out."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.scoring.judgement import Judgement
from tests.cases import cases

WHOLE: dict[str, Any] = {
    "found": True,
    "quotes": [{"source": 1, "text": "It recurs.", "stance": "for"}],
    "contradictions": [],
    "reason": "So [1].",
    "score": 4,
    "confidence": 0.9,
}


def read(**changed: Any) -> Judgement:
    """As the answerer reads it: from JSON."""
    return Judgement.model_validate_json(json.dumps(WHOLE | changed))


@pytest.mark.parametrize(("value", "score"), [(4, 4), (4.5, 4.5), ("4", 4), (None, None)])
def test_a_score_is_a_number_or_none(value: Any, score: float | None) -> None:
    assert read(score=value).score == score


@cases("value", ["high", "NaN", float("nan"), float("inf"), "-Infinity", True, [4], "4/5", {}])
def test_what_is_no_number_is_no_score(value: Any) -> None:
    with pytest.raises(ValidationError):
        read(score=value)


@cases(("value", "confidence"), [(0, 0), (1, 1), (0.5, 0.5), (85, None), (-1, None), ("high", None)])
def test_a_confidence_that_is_no_share_is_left_out(value: Any, confidence: float | None) -> None:
    assert read(confidence=value).confidence == confidence


@pytest.mark.parametrize(("value", "stance"), [("for", "for"), (" AGAINST ", "against"), ("neutral", None), (3, None)])
def test_a_stance_is_for_or_against_or_none(value: Any, stance: str | None) -> None:
    assert read(quotes=[{"source": 1, "text": "It recurs.", "stance": value}]).quotes[0].stance == stance


def test_a_model_may_leave_out_what_no_score_rests_on() -> None:
    answer = {name: value for name, value in WHOLE.items() if name not in {"contradictions", "confidence"}}
    judgement = Judgement.model_validate(answer | {"quotes": [{"source": 1, "text": "It recurs."}]})
    assert (judgement.contradictions, judgement.confidence, judgement.quotes[0].stance) == ([], None, None)


WORDS = {"source": 1, "text": "It recurs."}


@pytest.mark.parametrize(
    ("value", "count"),
    [
        (None, 0),
        ("none", 0),
        (["they differ", {"about": "x", "one": WORDS}, {"about": "x", "one": WORDS, "other": WORDS}], 1),
    ],
)
def test_contradictions_that_are_none_are_left_out(value: Any, count: int) -> None:
    assert len(read(contradictions=value).contradictions) == count


@pytest.mark.parametrize("field", ["found", "quotes", "reason", "score"])
def test_what_a_score_rests_on_must_be_there(field: str) -> None:
    with pytest.raises(ValidationError):
        Judgement.model_validate({name: value for name, value in WHOLE.items() if name != field})


def test_quotations_come_before_what_follows_from_them() -> None:
    names = list(Judgement.model_json_schema()["properties"])
    assert names.index("quotes") < names.index("reason") < names.index("score")
