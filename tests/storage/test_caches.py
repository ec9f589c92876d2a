"""Stored answers are found by their key, and a later one replaces an earlier one."""

from storage import database, model_calls
from storage.model_calls import StoredAnswer


def test_an_answer_is_found_by_its_key(database_url: str) -> None:
    answer = StoredAnswer(key="k1", model="m", answer={"score": 4, "quotes": ["Umsätze 🙂", None]}, input_tokens=9)
    with database.writing() as session:
        model_calls.save_answer(session, answer)
    with database.reading() as session:
        stored = model_calls.find_answer(session, "k1")
        assert stored is not None
        assert stored.model_dump() == answer.model_dump()
        assert model_calls.find_answer(session, "k2") is None


def test_a_later_answer_takes_the_place_of_the_earlier(database_url: str) -> None:
    for score in (1, 2):
        with database.writing() as session:
            model_calls.save_answer(session, StoredAnswer(key="k", model=f"m{score}", answer={"score": score}))
    with database.reading() as session:
        stored = model_calls.find_answer(session, "k")
    assert stored is not None
    assert (stored.model, stored.answer) == ("m2", {"score": 2})
