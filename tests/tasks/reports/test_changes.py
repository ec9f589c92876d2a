"""What counts as a change between two runs, and what does not."""

import pytest

from storage.documents import DocumentStatus
from storage.scores import ScoreStatus
from tasks.reports.changes import Causes, criteria_changes, document_changes, find_redefined_criteria, score_moves
from tests.tasks.reports.rows import CRITERIA, document, outcome

SCORED, MISSING, UNSUPPORTED = ScoreStatus.SCORED, ScoreStatus.MISSING, ScoreStatus.UNSUPPORTED


def test_document_with_the_same_content_is_no_change() -> None:
    renamed = document("a", "h1", name="renamed.pdf", status=DocumentStatus.UNCHANGED)
    assert document_changes([document("a", "h1")], [renamed]) == []


def test_changed_document_carries_both_hashes() -> None:
    (change,) = document_changes([document("a", "h1")], [document("a", "h2")])
    assert (change.kind, change.document_id, change.before, change.after) == ("document_changed", "a", "h1", "h2")


@pytest.mark.parametrize(("before", "after"), [(None, "h2"), ("h1", None)])
def test_content_that_one_run_never_saw_is_not_called_changed(before: str | None, after: str | None) -> None:
    assert document_changes([document("a", before)], [document("a", after)]) == []


def test_score_that_ceases_to_count_has_moved() -> None:
    (change,) = score_moves([outcome("recurring", 3, SCORED)], [outcome("recurring", 4, UNSUPPORTED)], Causes())
    assert (change.criterion, change.before, change.after) == ("recurring", 3, "unsupported")
    assert change.text == "recurring went from 3 to unsupported."


def test_score_that_begins_to_count_has_moved() -> None:
    (change,) = score_moves([outcome("audited", None, MISSING)], [outcome("audited", 5, SCORED)], Causes())
    assert (change.before, change.after) == ("missing", 5)


def test_step_between_two_statuses_without_a_score_moves_nothing() -> None:
    assert score_moves([outcome("recurring", None, MISSING)], [outcome("recurring", 4, UNSUPPORTED)], Causes()) == []


def test_move_of_a_criterion_that_asks_something_else_says_so() -> None:
    asks_else = {"scale": [0, 5], "criteria": [CRITERIA["criteria"][0] | {"ask": "Is churn low?"}]}
    reweighted = {"scale": [0, 5], "criteria": [CRITERIA["criteria"][0] | {"weight": 9}]}
    assert find_redefined_criteria(CRITERIA, asks_else) == {"recurring"}
    assert find_redefined_criteria(CRITERIA, reweighted) == frozenset()
    (change,) = score_moves(
        [outcome("recurring", 3, SCORED)],
        [outcome("recurring", 4, SCORED)],
        Causes(redefined=find_redefined_criteria(CRITERIA, asks_else), answerers=("extractive", "openai-compatible m")),
    )
    assert change.why == "The criterion itself was changed between the two runs."


def test_move_names_the_documents_that_it_rests_on_and_who_judged() -> None:
    documents = document_changes([document("a", "h1"), document("b")], [document("a", "h2"), document("c")])
    before, now = [outcome("recurring", 3, SCORED)], [outcome("recurring", 4, SCORED)]
    (rests,) = score_moves(before, now, Causes(documents=documents, quoted={"recurring": {"a", "x"}}))
    assert rests.why == "Its quotes come from a.pdf (changed)."
    (other,) = score_moves(before, now, Causes(documents=documents, answerers=("one", "two")))
    assert other.why == (
        "It was judged by two; in the last run, by one. "
        "The data room changed: a.pdf (changed), c.pdf (added), b.pdf (removed)."
    )
    (unknown,) = score_moves(before, now, Causes(answerers=("one", "one")))
    assert unknown.why == "The same documents were judged again, with a different result."


def test_move_of_a_fact_or_of_what_was_not_judged_gives_the_reason_itself() -> None:
    (fact,) = score_moves([outcome("established", 0, SCORED)], [outcome("established", 5, SCORED)], Causes())
    assert fact.why == "The reason for established."
    unscored = outcome("recurring", None, ScoreStatus.UNSCORED, reason="The budget is spent.")
    (spent,) = score_moves([outcome("recurring", 3, SCORED)], [unscored], Causes())
    assert spent.why == "The budget is spent."
    (judged,) = score_moves([unscored], [outcome("recurring", 3, SCORED)], Causes())
    assert judged.why == "It was not judged in the last run: The budget is spent."


def test_criteria_that_came_went_or_ask_for_something_else_are_told_in_their_order() -> None:
    recurring, established, audited = CRITERIA["criteria"]
    asks_else = recurring | {"ask": "Is churn low?"}
    added = [audited | {"id": f"new{number}"} for number in range(12)]
    changes = criteria_changes(CRITERIA, {"scale": [0, 5], "criteria": [asks_else, established, *added]})
    assert [change.text for change in changes] == [
        f"Criteria added: {', '.join(f'new{number}' for number in range(10))} and 2 more.",
        "Criteria removed: audited.",
        "Criteria that ask for something else: recurring.",
    ]
    assert criteria_changes(CRITERIA, CRITERIA) == []
