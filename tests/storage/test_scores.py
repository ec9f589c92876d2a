"""Outcomes of criteria, with their quotes."""

from typing import Any

from sqlmodel import select

from storage import database, scores
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tests.storage import rows


def outcome(company_id: int, criterion: str, ordinal: int = 0, **given: object) -> CriterionOutcome:
    values: dict[str, Any] = {
        "company_id": company_id,
        "criterion_id": criterion,
        "ordinal": ordinal,
        "kind": "judged",
        "weight": 1.5,
        "status": ScoreStatus.SCORED,
        "reason": "Most of it is recurring.",
        "evidence": "e1",
    }
    return CriterionOutcome(**values | given)


def quote(text: str) -> Quote:
    return Quote(outcome_id=0, ordinal=0, text=text, verified=True, document_name="deck.pdf", place="page 3")


def store(row: CriterionOutcome, *quotes: Quote) -> None:
    with database.writing() as session:
        scores.save_outcomes(session, row.company_id, [(row, quotes)])


def test_outcomes_come_in_the_order_of_the_criteria_with_their_quotes(database_url: str) -> None:
    company_id = rows.stored_company()
    store(outcome(company_id, "late", ordinal=1, score=4.5), quote("second"), quote("first"))
    store(outcome(company_id, "early", status=ScoreStatus.MISSING, missing="audited accounts", failed=True))
    with database.reading() as session:
        early, late = scores.company_outcomes(session, company_id)
        quotes = scores.outcome_quotes(session, company_id)
    assert (early.criterion_id, early.status, early.missing, early.failed, early.score) == (
        "early",
        ScoreStatus.MISSING,
        "audited accounts",
        True,
        None,
    )
    assert (late.score, late.weight) == (4.5, 1.5)
    assert {key: [each.text for each in found] for key, found in quotes.items()} == {late.id: ["second", "first"]}


def test_scoring_again_replaces_outcome_and_quotes(database_url: str) -> None:
    company_id = rows.stored_company()
    store(outcome(company_id, "recurring", score=1.0), quote("old"), quote("older"))
    store(outcome(company_id, "recurring", score=5.0), quote("new"))
    with database.reading() as session:
        (kept,) = scores.company_outcomes(session, company_id)
        assert kept.score == 5.0
        assert [each.text for found in scores.outcome_quotes(session, company_id).values() for each in found] == ["new"]
        assert len(session.exec(select(Quote)).all()) == 1
