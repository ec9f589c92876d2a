"""Outcomes of criteria, with their quotes.

The log of decisions: a process that is killed loses no act that it told of, and of two on one cell one is first.
"""

import os
import signal
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

from sqlmodel import select

from storage import database, scores
from storage.columns import row_values
from storage.scores import CriterionOutcome, Decision, DecisionKind, Quote, ScoreStatus, add_decision
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
