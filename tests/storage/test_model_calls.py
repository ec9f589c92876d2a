"""Calls whose answers are not known: written before a call, gone with its answer, kept with the run."""

import pytest
from sqlmodel import Session

from storage import database, model_calls, runs
from tests.storage import rows

pytestmark = pytest.mark.usefixtures("database_url")


def add_run(session: Session) -> str:
    run = rows.run()
    runs.add_run(session, run, [])
    return run.id


def interrupted(run_id: str) -> None:
    with database.writing() as session:
        model_calls.add_call(session, run_id, "key", "request")
        raise KeyboardInterrupt


def test_a_call_counts_until_it_is_answered() -> None:
    with database.writing() as session:
        run_id = add_run(session)
        first, second = (model_calls.add_call(session, run_id, key, "request") for key in ("one", "two"))
    with database.writing() as session:
        model_calls.remove_call(session, first)
    with database.reading() as session:
        assert model_calls.count_unanswered(session, run_id) == 1
        (call,) = model_calls.list_unanswered_calls(session, run_id)
    assert (call.id, call.key, call.request) == (second, "two", "request")


def test_a_call_that_was_not_committed_was_not_made() -> None:
    with database.writing() as session:
        run_id = add_run(session)
    with pytest.raises(KeyboardInterrupt):
        interrupted(run_id)
    with database.reading() as session:
        assert model_calls.count_unanswered(session, run_id) == 0


def test_the_calls_of_a_run_go_with_it() -> None:
    with database.writing() as session:
        run_id = add_run(session)
        model_calls.add_call(session, run_id, "key", "request")
    with database.writing() as session:
        session.delete(runs.get_run(session, run_id))
    with database.reading() as session:
        assert model_calls.count_unanswered(session, run_id) == 0


def test_replies_take_the_place_of_nothing_but_replies() -> None:
    replies = model_calls.Replies("key", "m", {"request": "first"})
    with database.writing() as session:
        model_calls.save_replies(session, replies)
        model_calls.save_replies(session, model_calls.Replies("key", "m", {"request": "second"}))
    with database.reading() as session:
        stored = model_calls.find_answer(session, "key")
        assert stored is not None
        assert stored.replies == {"request": "second"}
    finished = model_calls.StoredAnswer(key="key", model="m", answer={"score": 4})
    with database.writing() as session:
        model_calls.save_answer(session, finished)
    with database.writing() as session:
        model_calls.save_replies(session, replies)
        model_calls.delete_replies(session, "key")
    with database.reading() as session:
        stored = model_calls.find_answer(session, "key")
        assert stored is not None
        assert stored.answer == {"score": 4}


def test_replies_that_came_to_nothing_are_deleted() -> None:
    with database.writing() as session:
        model_calls.save_replies(session, model_calls.Replies("key", "m", {"request": "reply"}))
        model_calls.delete_replies(session, "key")
    with database.reading() as session:
        assert model_calls.find_answer(session, "key") is None
