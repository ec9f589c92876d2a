"""What a judgement's quotations prove: its references, whether it counts, contradictions with both places."""

import re
from typing import Any

import pytest

from storage.scores import ScoreStatus
from tasks.scoring.criteria import Judged
from tasks.scoring.judgement import Judgement, prove
from tasks.scoring.results import CriterionResult
from tests.tasks.scoring.conftest import Room

ASK = Judged(id="recurring", ask="Is most of the revenue recurring?")
REPORT = "Annual report\n\fRecurring revenue was 83.4 % of all revenue in 2024.\n\fChurn was 2 % in 2024.\n"
_SECOND, _THIRD = (match.end() for match in re.finditer("\f", REPORT))
PAGES = [(0, _SECOND, "page", "1"), (_SECOND, _THIRD, "page", "2"), (_THIRD, len(REPORT), "page", "3")]
LETTER = "Dear Sirs, one customer cancelled, so recurring revenue was 71 % of all revenue in 2024."

MOST, CHURN, FALLS, MADE_UP = (
    "Recurring revenue was 83.4 %",
    "Churn was 2 % in 2024.",
    "recurring revenue was 71 % of all revenue",
    "Recurring revenue was 99 %",
)


@pytest.fixture
def room(room: Room) -> Room:
    room.holds("Report.pdf", REPORT, PAGES)
    room.holds("Letter.txt", LETTER)
    return room


def proved(
    room: Room, *quotes: tuple[str, str | None] | str, scale: tuple[float, float] = (0, 5), **more: Any
) -> CriterionResult:
    """A judgement with these quotations (text, stance), each said to stand in the first source."""
    with_stance = [(quote, "for") if isinstance(quote, str) else quote for quote in quotes]
    answer: dict[str, Any] = {"found": True, "score": 4, "reason": "So.", "contradictions": [], "confidence": 0.8}
    answer["quotes"] = [{"source": 1, "text": text, "stance": stance} for text, stance in with_stance]
    evidence = room.evidence
    judgement = Judgement.model_validate(answer | more)
    return prove(judgement, ASK, scale, evidence.find(ASK.ask, 12), evidence)


def contradiction(one: str, other: str, about: str = "the share") -> dict[str, Any]:
    return {"about": about, "one": {"source": 1, "text": one}, "other": {"source": 2, "text": other}}


def test_quotations_for_and_against_are_kept_with_their_side_and_place(room: Room) -> None:
    finding = proved(room, (MOST, "for"), (FALLS, "against"), (MADE_UP, "against"))
    assert [
        (quote.stance, quote.excerpt and (quote.excerpt.document.name, quote.excerpt.place)) for quote in finding.quotes
    ] == [("for", ("Report.pdf", "page 2")), ("against", ("Letter.txt", "line 1")), ("against", None)]
    assert (finding.status, finding.score, finding.confidence) == (ScoreStatus.SCORED, 4, 0.8)


# --- the reason's references


@pytest.mark.parametrize(
    ("reason", "renumbered"),
    [
        ("It recurs [1]. Few leave [3].", "It recurs [1]. Few leave [2]."),
        ("It is all of it [2].", "It is all of it [unverified]."),
        ("Few leave [3][2].", "Few leave [2][unverified]."),
        ("It recurs and few leave [1, 2, 3].", "It recurs and few leave [1, 2]."),
        ("All of this [1-3] and [ 1 and 3 ].", "All of this [1, 2] and [1, 2]."),
        ("Again [4], and again [9].", "Again [1], and again [unverified]."),
        ("See clause [a] and [2024-01-31].", "See clause [a] and [2024-01-31]."),
        ("No number at all.", "No number at all."),
    ],
)
def test_the_reason_points_to_quotations_that_stand(room: Room, reason: str, renumbered: str) -> None:
    finding = proved(room, MOST, MADE_UP, CHURN, "recurring   revenue was 83.4%", reason=reason)
    assert [quote.text for quote in finding.quotes] == [MOST, CHURN, MADE_UP]
    assert finding.reason == renumbered


@pytest.mark.parametrize("says", ["not 83.4 %", "93.4 %"])
def test_in_place_of_what_its_source_contradicts_the_source_stands(room: Room, says: str) -> None:
    finding = proved(room, MOST, reason=f"Recurring revenue was {says} of all revenue in 2024 [1]. That is much.")
    assert finding.reason == (
        "“Recurring revenue was 83.4 % of all revenue in 2024.” [1] That is much. (In place of one statement the "
        "source's own sentence stands, which says otherwise.)"
    )


def test_what_follows_from_a_source_stays_in_the_reason(room: Room) -> None:
    reason = "More than 80 % of all revenue was recurring in 2024 [1], which is a high share."
    assert proved(room, MOST, reason=reason).reason == reason


def test_where_nothing_was_found_the_reason_points_nowhere(room: Room) -> None:
    finding = proved(room, found=False, score=None, reason="They do not say [1].")
    assert (finding.status, finding.reason) == (ScoreStatus.MISSING, "They do not say.")


# --- what does not count


@pytest.mark.parametrize(
    ("score", "quotes", "status"),
    [
        (4, [(MOST, "for"), (MADE_UP, "against")], ScoreStatus.SCORED),
        (4, [(MADE_UP, "for"), (FALLS, "against")], ScoreStatus.UNSUPPORTED),
        (1, [(MADE_UP, "for"), (FALLS, "against")], ScoreStatus.SCORED),
        (1, [(MOST, "for"), (MADE_UP, "against")], ScoreStatus.UNSUPPORTED),
        (2.5, [(MOST, "for"), (MADE_UP, "against")], ScoreStatus.SCORED),
        (4, [(FALLS, "against")], ScoreStatus.SCORED),
        (4, [(MADE_UP, "for"), (CHURN, None)], ScoreStatus.SCORED),
        (4, [(MADE_UP, None), (FALLS, "against")], ScoreStatus.UNSUPPORTED),
        (4, [(MADE_UP, "for")], ScoreStatus.UNSUPPORTED),
        (4, [], ScoreStatus.UNSUPPORTED),
    ],
)
def test_a_score_needs_a_quotation_that_stands_on_its_side_where_it_quoted_one(
    room: Room, score: float, quotes: list[tuple[str, str | None]], status: ScoreStatus
) -> None:
    finding = proved(room, *quotes, score=score)
    assert finding.status is status
    assert finding.score == (score if status is ScoreStatus.SCORED else None)
    assert finding.reason.endswith("So.")


def test_an_unsupported_judgement_says_which_side_has_no_verified_quotation(room: Room) -> None:
    assert proved(room, (MADE_UP, "for"), (FALLS, "against")).reason == (
        "The score is high, but no quotation that supports a high score could be verified, so the judgement does not "
        "count. The model's reason: So."
    )


@pytest.mark.parametrize("source", [10**30, -5])
def test_a_source_that_does_not_exist_is_no_obstacle(room: Room, source: int) -> None:
    quotes = [{"source": source, "text": FALLS, "stance": "for"}]
    (quote,) = proved(room, quotes=quotes).quotes
    assert quote.excerpt is not None
    assert quote.excerpt.document.name == "Letter.txt"


def test_ten_thousand_quotations_and_a_reason_of_a_megabyte_are_bounded(room: Room) -> None:
    quotes = [{"source": 1, "text": f"{MADE_UP} {number}", "stance": "for"} for number in range(10_000)]
    quotes[3] = {"source": 1, "text": MOST, "stance": "for"}
    quotes[4] = {"source": 1, "text": "Recurring " * 100_000, "stance": "for"}
    finding = proved(room, quotes=quotes, reason="It recurs [4][999]. " * 50_000)
    assert finding.status is ScoreStatus.SCORED
    assert len(finding.quotes) == 12
    assert max(len(quote.text) for quote in finding.quotes) <= 2000
    assert finding.reason.startswith("It recurs [1][unverified]. ")
    assert finding.reason.endswith(" …")
    assert len(finding.reason) < 10_000


# --- contradictions


def test_a_contradiction_is_kept_with_both_places(room: Room) -> None:
    finding = proved(room, MOST, contradictions=[contradiction(FALLS, MOST, " the share\n of revenue ")])
    (proven,) = finding.contradictions
    stored = proven.as_json()
    for quote, excerpt in zip(stored["quotes"], (proven.one, proven.other), strict=True):
        assert (quote.pop("text_id"), quote.pop("start"), quote.pop("end")) == (
            excerpt.text_id,
            excerpt.start,
            excerpt.end,
        )
    assert stored == {
        "about": "the share of revenue",
        "quotes": [
            {
                "text": "recurring revenue was 71 % of all revenue",
                "document_id": "/Letter.txt",
                "document_name": "Letter.txt",
                "document_url": "http://x/Letter.txt",
                "place": "line 1",
            },
            {
                "text": "Recurring revenue was 83.4 %",
                "document_id": "/Report.pdf",
                "document_name": "Report.pdf",
                "document_url": "http://x/Report.pdf",
                "place": "page 2",
            },
        ],
    }


def test_two_pages_of_one_document_can_contradict_each_other(room: Room) -> None:
    (proven,) = proved(room, MOST, contradictions=[contradiction(MOST, CHURN)]).contradictions
    assert (proven.one.place, proven.other.place) == ("page 2", "page 3")


@pytest.mark.parametrize(
    ("one", "other"),
    [(MOST, MADE_UP), (MADE_UP, FALLS), (MOST, "83.4 % of all revenue in 2024."), (MOST, MOST), ("", "")],
)
def test_one_without_two_quotations_from_two_places_is_dropped(room: Room, one: str, other: str) -> None:
    finding = proved(room, MOST, contradictions=[contradiction(one, other)])
    assert (finding.status, list(finding.contradictions)) == (ScoreStatus.SCORED, [])


def test_the_same_words_in_two_documents_contradict_nothing(room: Room) -> None:
    room.holds("Copy.txt", "Recurring revenue: 83.4 % of it.\n\nRecurring revenue was 71 % of all revenue in 2024.")
    finding = proved(
        room, MOST, contradictions=[contradiction("Recurring revenue was 71 % of all revenue", FALLS.capitalize())]
    )
    assert list(finding.contradictions) == []


def test_a_repeated_contradiction_is_reported_once_and_a_thousand_are_bounded(room: Room) -> None:
    repeated = [contradiction(MOST, FALLS), contradiction(FALLS, MOST)] + [contradiction(MOST, CHURN, "x" * 999)] * 1000
    proven = proved(room, MOST, contradictions=repeated).contradictions
    assert len(proven) == 2
    assert len(proven[1].about) <= 202
