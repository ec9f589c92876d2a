"""The schema of an answer allows no more than its sources and scale do; what a server answers is read all the same."""

import pytest

from tasks.ai.answerer import Source
from tasks.ai.calls import judgement_prompt
from tasks.ai.openai.protocols import longest_answer
from tasks.scoring.criteria import Judged
from tasks.scoring.isolation import PortionReading
from tasks.scoring.judgement import Judgement, bound, instructions

SCALE = (0.0, 5.0)


def sources(count: int, characters: int = 100) -> list[Source]:
    return [Source(number, "a.txt", None, "x" * characters) for number in range(1, count + 1)]


def test_one_short_source_has_two_quotations_and_contradicts_nothing() -> None:
    schema = bound(Judgement, sources(1), SCALE).model_json_schema()
    fields = schema["properties"]
    assert (fields["quotes"]["maxItems"], fields["contradictions"]["maxItems"]) == (2, 0)
    assert schema["$defs"]["JudgedQuote"]["properties"]["source"]["maximum"] == 1
    assert longest_answer(bound(Judgement, sources(1), SCALE))[0] < longest_answer(Judgement)[0] / 3


def test_a_brief_answer_has_a_short_schema_without_contradictions_which_are_read_where_they_are_given() -> None:
    brief = bound(Judgement, sources(3), SCALE, is_brief=True)
    schema = brief.model_json_schema()
    assert list(schema["$defs"]) == ["JudgedQuote"]
    assert list(schema["properties"]) == ["found", "quotes", "contradictions", "reason", "score", "confidence"]
    assert schema["properties"]["contradictions"]["maxItems"] == 0
    assert schema["properties"]["quotes"]["maxItems"] == 2
    assert longest_answer(brief)[0] < 500
    words = {"source": 1, "text": "x"}
    given = {"found": True, "quotes": [words], "reason": "It is so.", "score": 3}
    assert (
        len(
            brief.model_validate(
                given | {"contradictions": [{"about": "y", "one": words, "other": words}]}
            ).contradictions
        )
        == 1
    )
    assert brief.model_validate(given | {"contradictions": None}).contradictions == []


def test_many_long_sources_leave_the_schema_as_it_is() -> None:
    free, bounded = PortionReading.model_json_schema(), bound(PortionReading, sources(9)).model_json_schema()
    assert free == bounded


@pytest.mark.parametrize(
    ("scale", "listed"),
    [
        ((0.0, 5.0), [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5]),
        ((1.0, 6.2), [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.2]),
        ((0.0, 1.0), [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]),
        ((0.0, 100.0), None),
    ],
)
def test_a_score_is_one_of_the_scale(scale: tuple[float, float], listed: list[float] | None) -> None:
    number, nothing = bound(Judgement, sources(1), scale).model_json_schema()["properties"]["score"]["anyOf"]
    assert number.get("enum") == listed
    assert nothing == {"type": "null"}


def test_few_schemas_are_made_and_an_answer_beyond_them_is_read() -> None:
    schema = bound(Judgement, sources(2, 90), SCALE)
    assert schema is bound(Judgement, sources(2), SCALE)
    given = {"found": True, "quotes": [{"source": 7, "text": "x"}] * 5, "reason": "It is so.", "score": 3.7}
    answer = schema.model_validate(given)
    assert isinstance(answer, Judgement)
    assert (answer.score, len(answer.quotes)) == (3.7, 5)


@pytest.mark.parametrize("is_brief", [False, True])
def test_judgements_of_other_questions_and_sources_share_most_of_their_prompt(*, is_brief: bool) -> None:
    shared = {
        judgement_prompt(
            instructions(Judged(id="q", ask=ask), SCALE, "Alder"),
            "text",
            bound(Judgement, sources(count, 1000), SCALE, is_brief=is_brief),
        )[0]["content"].removesuffix(ask)
        for count, ask in ((1, "Is it sued?"), (3, "Who owns the patents?"))
    }
    assert len(shared) == 1
