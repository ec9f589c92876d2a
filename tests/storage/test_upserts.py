"""The same row from many sides at once: one row in the end, and no error for anybody."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import text as sql
from sqlmodel import Session

from storage import database, documents, model_calls, texts
from storage.columns import row_values
from storage.documents import Content
from storage.model_calls import StoredAnswer
from storage.texts import Passage
from tests.storage import rows

_THREADS = 6
_TURNS = 10


def race(write: Callable[[Session, int, int], object]) -> list[object]:
    """Run `write(session, thread, turn)` in all threads, turn by turn at the same moment; gives what came of it."""
    with database.reading():  # open it beforehand
        pass
    together = threading.Barrier(_THREADS, timeout=30)

    def run(thread: int) -> list[object]:
        found = []
        for turn in range(_TURNS):
            together.wait()
            with database.writing() as session:
                found.append(write(session, thread, turn))
        return found

    with ThreadPoolExecutor(_THREADS) as threads:
        return [each for found in threads.map(run, range(_THREADS)) for each in found]


def count(table: str) -> int:
    with database.reading() as session:
        return int(session.connection().execute(sql(f"SELECT count(*) FROM {table}")).scalar_one())


def test_one_answer_from_many(database_url: str) -> None:
    race(
        lambda session, thread, turn: model_calls.save_answer(
            session, StoredAnswer(key=f"question {turn}", model="m", answer={"thread": thread})
        )
    )
    assert count("answers") == _TURNS


def test_one_content_from_many(database_url: str) -> None:
    def write(session: Session, thread: int, turn: int) -> None:
        hashed = f"hash of {thread}"
        content = Content(
            drive="d", document_id=f"{turn}", version=f"{thread}", content_hash=hashed, fetched_at=rows.MORNING
        )
        rows.keep_content(session, content)

    race(write)
    assert count("contents") == _TURNS


def test_one_text_from_many_and_all_get_its_id(database_url: str) -> None:
    ids = race(lambda session, thread, turn: (turn, texts.save_text(session, rows.text(f"content {turn}")).id))
    assert count("texts") == _TURNS
    assert len(set(ids)) == _TURNS


def test_one_room_from_many_with_the_entries_of_one(database_url: str) -> None:
    def write(session: Session, thread: int, turn: int) -> int:
        entries = [rows.document(f"{turn} {number}", version=f"{thread}") for number in range(5)]
        return documents.replace_room(session, rows.room(), [], map(row_values, entries))

    assert len(set(race(write))) == 1
    assert count("rooms") == 1
    with database.reading() as session:
        left = session.connection().execute(sql("SELECT DISTINCT version FROM room_documents")).all()
    assert len(left) == 1
    assert count("room_documents") == 5


def test_one_set_of_passages_from_many(database_url: str) -> None:
    with database.writing() as session:
        text_id = texts.save_text(session, rows.text()).id
    assert text_id is not None

    def write(session: Session, thread: int, turn: int) -> None:
        passages = [Passage(text_id=text_id, ordinal=number, start=0, end=1, place="") for number in range(4)]
        texts.save_passages(session, f"cutter-{turn}", {text_id: passages})

    race(write)
    assert count("passages") == 4
