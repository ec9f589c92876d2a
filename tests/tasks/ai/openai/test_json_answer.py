"""Every written answer is read as it is meant, or not at all; nothing that is uncertain is taken."""

import json
from typing import Any

import json_repair
import pytest
from pydantic import BaseModel, ConfigDict

from tasks.ai.openai.answers import Misfit, read_object
from tests.cases import cases
from tests.tasks.ai.openai.json_answers import ANSWERS, MATERIAL, MEANT, OTHER, WHOLE, JsonAnswer


class Words(BaseModel):
    model_config = ConfigDict(extra="forbid")

    source: int
    text: str
    stance: str


class Judged(BaseModel):
    model_config = ConfigDict(extra="forbid")

    found: bool
    quotes: list[Words]
    reason: str
    score: float


def read(text: str, **more: Any) -> dict[str, Any] | None:
    try:
        return read_object([text], Judged, MATERIAL, **more).model_dump()
    except Misfit:
        return None


@cases("answer", ANSWERS)
def test_an_answer_is_read_as_it_is_meant_or_not_at_all(answer: JsonAnswer) -> None:
    assert read(answer.text) == answer.meant


def test_a_repairer_alone_takes_what_is_not_certain() -> None:
    """What this module adds to `json_repair`: less read wrongly, and more read."""
    wrong = unread = 0
    for answer in ANSWERS:
        value = json_repair.loads(answer.text)
        fits = isinstance(value, dict) and Judged.model_fields.keys() <= value.keys()
        wrong += fits and answer.meant is None
        unread += not fits and answer.meant is not None
    assert wrong >= 5
    assert unread >= 10


def test_reasoning_counts_at_its_end_and_where_no_answer_stands() -> None:
    for thought in (f"Hm. It is fixed.\n{WHOLE}", f"Hm.\n```json\n{WHOLE}\n```\n"):
        assert read("", reasoning=thought) == MEANT
    for thought in (f"Perhaps {WHOLE}, but no.", f"{OTHER} or {WHOLE[:-1]}"):
        assert read("", reasoning=thought) is None
    assert read("I would give a 4.", reasoning=WHOLE) is None


def test_the_problems_are_those_of_the_object() -> None:
    with pytest.raises(Misfit) as misfit:
        read_object([f"Here: {json.dumps({**MEANT, 'score': 'four'})}"], Judged, MATERIAL)
    assert misfit.value.problems == [
        "score: Input should be a valid number, unable to parse string as a number",
    ]


@cases("text", ["{" * 100_000, "[" * 100_000, '{"a":' * 100_000, "{" + '"' * 60_000])
def test_braces_without_end_are_given_up(text: str) -> None:
    assert read(text) is None


def test_what_is_very_long_is_not_repaired() -> None:
    torn = '{"found": true, "quotes": [], "reason": "%s", "score": 4'
    assert read(torn % "Yes.") is None
    assert read((torn + ",}") % "Yes.") is not None
    assert read((torn + ",}") % ("Yes. " * 12_000)) is None
