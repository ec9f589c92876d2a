"""Several judgements of one criterion combined."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.documents import RunDocument
from storage.scores import ScoreStatus
from tasks.scoring.evidence import Excerpt
from tasks.scoring.judge import combine_results
from tasks.scoring.results import CriterionResult, ProvenContradiction, Quotation
from tests.cases import cases

DOCUMENT = RunDocument(company_id=1, document_id="d", name="Report.pdf", path="", url="http://x/d")
FAILED = CriterionResult(ScoreStatus.UNSCORED, "The model refused.", failed=True)
MISSING = CriterionResult(ScoreStatus.MISSING, "Nothing is said.", missing="Is it?")
UNSUPPORTED = CriterionResult(ScoreStatus.UNSUPPORTED, "No quotation could be verified.")


def words(start: int) -> Excerpt:
    return Excerpt(DOCUMENT, 1, start, start + 5, f"page {start}", None, f"words {start}")


def scored(score: float, *starts: int, confidence: float | None = None, reason: str = "So.") -> CriterionResult:
    return CriterionResult(
        ScoreStatus.SCORED,
        reason,
        score=score,
        quotes=[*(Quotation.of(words(start), "for") for start in starts), Quotation("made up", "for")],
        confidence=confidence,
    )


def test_a_single_judgement_is_as_it_is() -> None:
    finding = scored(3)
    assert combine_results([finding]) is finding


@cases(
    ("scores", "score", "agreement"),
    [
        ([4, 4, 4], 4, 1),
        ([5, 4, 4], 4, 2 / 3),
        ([1, 5, 3], 3, 1 / 3),
        ([2, 4], 2, 1 / 2),
        ([1, 2, 4, 5], 2, 1 / 4),
        ([0, 0, 5, 5, 5], 5, 3 / 5),
    ],
)
def test_the_median_is_a_score_that_was_given(scores: list[float], score: float, agreement: float) -> None:
    result = combine_results([scored(score) for score in scores])
    assert result.score == score
    assert result.agreement == pytest.approx(agreement)


@given(st.lists(st.floats(0, 5), min_size=2, max_size=9))
def test_the_order_of_the_repeats_does_not_matter(scores: list[float]) -> None:
    one, other = (combine_results([scored(score) for score in order]) for order in (scores, scores[::-1]))
    assert (one.score, one.agreement) == (other.score, other.agreement)
    assert one.score in scores


@cases(
    ("findings", "status", "agreement"),
    [
        ([scored(4), scored(4), MISSING], ScoreStatus.SCORED, 2 / 3),
        ([scored(4), MISSING, MISSING], ScoreStatus.MISSING, 2 / 3),
        ([scored(4), MISSING], ScoreStatus.MISSING, 1 / 2),
        ([scored(4), UNSUPPORTED], ScoreStatus.UNSUPPORTED, 1 / 2),
        ([scored(4), MISSING, UNSUPPORTED], ScoreStatus.UNSUPPORTED, 1 / 3),
        ([scored(4), FAILED, FAILED], ScoreStatus.SCORED, 1 / 3),
    ],
)
def test_the_most_frequent_status_of_the_successful_judgements_counts(
    findings: list[CriterionResult], status: ScoreStatus, agreement: float
) -> None:
    result = combine_results(findings)
    assert result.status is status
    assert result.agreement == pytest.approx(agreement)
    assert (result.score is None) == (status is not ScoreStatus.SCORED)


def test_quotations_of_the_repeats_that_agree_are_joined_and_the_reason_s_numbers_stay() -> None:
    result = combine_results([scored(5, 9), scored(4, 1, 2, reason="So [2]."), scored(4, 2, 3)])
    assert [quote.text for quote in result.quotes] == ["words 1", "words 2", "words 3", "made up"]
    assert result.reason == "So [2]."


def test_confidence_is_the_middle_one_and_contradictions_are_reported_once() -> None:
    one = CriterionResult(
        ScoreStatus.SCORED,
        "So.",
        score=4,
        confidence=0.5,
        contradictions=[ProvenContradiction("a", words(1), words(2))],
    )
    other = CriterionResult(
        ScoreStatus.SCORED,
        "So.",
        score=4,
        confidence=0.9,
        contradictions=[ProvenContradiction("b", words(2), words(1))],
    )
    result = combine_results([one, other, scored(4)])
    assert result.confidence == 0.5
    assert [contradiction.about for contradiction in result.contradictions] == ["a"]


def test_failures_among_the_repeats_are_counted_in_the_reason() -> None:
    assert combine_results([scored(4), FAILED, scored(4)]).reason == (
        "So. (1 of 3 judgements failed. The model refused.)"
    )


def test_when_all_failed_the_criterion_failed() -> None:
    assert combine_results([FAILED, FAILED]) == FAILED
