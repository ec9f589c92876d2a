"""Outcomes of criteria with their quotes, and dated profiles with the claims they were merged from.

The log of decisions: a process that is killed loses no act that it told of, and of two on one cell one is first.
"""

import os
import signal
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from sqlmodel import select

from storage import database, scores
from storage.columns import row_values
from storage.scores import (
    CriterionOutcome,
    Decision,
    DecisionKind,
    Quote,
    ScoreStatus,
    SourceAnswer,
    StoredClaim,
    StoredProfile,
    add_decision,
)
from tests.storage import rows
from tests.storage.killed import kill_at_statement


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
        scores.save_outcomes(session, row.company_id, [(row_values(row), list(map(row_values, quotes)))])


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


def decision(reason: str, follows: int = 0, criterion: str = "c1") -> Decision:
    fields: dict[str, Any] = {
        "batch": "b",
        "domain": "d",
        "criterion_id": criterion,
        "kind": DecisionKind.COMMENT,
        "run_id": "r",
    }
    return Decision(by="ann", reason=reason, follows=follows, **fields)


def reasons() -> list[str]:
    with database.reading() as session:
        return [one.reason for one in scores.decisions_of(session, "b")]


def test_a_killed_process_loses_no_act_that_it_told_of(home: Path) -> None:
    for kill in range(23):  # at each of the first statements
        told, tell = os.pipe()
        database.close()
        child = os.fork()
        if child == 0:
            kill_at_statement(2 + kill)
            for number in range(8):
                with database.writing() as session:
                    add_decision(session, decision(f"{kill}-{number}", criterion=f"c{kill}-{number}"))
                os.write(tell, f"{kill}-{number} ".encode())
            os.kill(os.getpid(), signal.SIGKILL)
        os.close(tell)
        os.waitpid(child, 0)
        with os.fdopen(told) as pipe:
            assert set(pipe.read().split()) <= set(reasons())
    assert len(reasons()) > 23


def test_of_two_on_one_cell_one_is_first_and_the_other_is_refused(database_url: str) -> None:
    at_once, results = Barrier(8), list[bool]()

    def decide(number: int) -> None:
        at_once.wait()
        with database.writing() as session:
            results.append(add_decision(session, decision(str(number))))

    threads = [Thread(target=decide, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [False] * 7 + [True]
    assert len(reasons()) == 1


def store_profile(domain: str, hours: int = 0, claims: tuple[StoredClaim, ...] = (), **profile: object) -> int:
    row = StoredProfile(
        domain=domain, retrieved_at=rows.MORNING + timedelta(hours=hours), profile=profile, sources=["files"]
    )
    with database.writing() as session:
        return scores.save_profile(session, row, claims)


def test_the_newest_profile_of_a_domain(database_url: str) -> None:
    store_profile("alpha.example", hours=2, name="newest")
    store_profile("alpha.example", hours=1, name="older")
    store_profile("beta.example", hours=3, name="another")
    with database.reading() as session:
        found = scores.latest_profile(session, "alpha.example")
        assert found is not None
        assert (found.profile, found.sources) == ({"name": "newest"}, ["files"])
        assert scores.latest_profile(session, "gamma.example") is None


def test_of_two_profiles_of_one_moment_the_later_counts(database_url: str) -> None:
    store_profile("alpha.example", name="first")
    second = store_profile("alpha.example", name="second")
    with database.reading() as session:
        found = scores.latest_profile(session, "alpha.example")
        assert found is not None
        assert found.id == second
        assert scores.get_profile(session, second).profile == {"name": "second"}


def test_which_answers_there_are_is_told_without_reading_them(database_url: str) -> None:
    def answer(source: str, claims: list[dict[str, object]] | None) -> None:
        row = SourceAnswer(
            source=source, origin="o", domain="alpha.example", retrieved_at=rows.MORNING, claims=claims, warnings=[]
        )
        with database.writing() as session:
            scores.save_answer(session, row)

    answer("knows", [{"field": "name"}])
    answer("knows_not", None)
    answer("claims_nothing", [])
    with database.reading() as session:
        found = {answer.source: answer for answer in scores.answers_on(session, "alpha.example")}
        assert scores.answers_on(session, "beta.example") == []
        kept = scores.get_answer(session, "knows", "o", "alpha.example")
        assert scores.get_answer(session, "knows", "o", "beta.example") is None
    assert {name: answer.unknown for name, answer in found.items()} == {
        "knows": False,
        "knows_not": True,
        "claims_nothing": False,
    }
    assert {answer.retrieved_at for answer in found.values()} == {rows.MORNING}
    assert kept is not None
    assert kept.claims == [{"field": "name"}]


def test_claims_come_back_in_the_order_given_with_values_of_any_kind(database_url: str) -> None:
    values = ["text", 2015, 2.5, True, None, [1, 50], {"city": "Bergen"}]
    claims = tuple(
        StoredClaim(
            profile_id=0, ordinal=0, field=f"f{9 - number}", value=value, source="files", retrieved_at=rows.MORNING
        )
        for number, value in enumerate(values)
    )
    store_profile("beta.example", claims=(StoredClaim(**claims[0].model_dump()),))
    profile_id = store_profile("alpha.example", claims=claims)
    with database.reading() as session:
        found = scores.profile_claims(session, profile_id)
    assert [claim.value for claim in found] == values
    assert [claim.field for claim in found] == ["f9", "f8", "f7", "f6", "f5", "f4", "f3"]
