"""The texts of a room that is too large for memory."""

import pytest

from storage.database import writing
from storage.texts import StoredText
from tasks.scoring import evidence
from tasks.scoring.evidence import RoomTexts
from tests.tasks.scoring.conftest import Room


def test_a_text_that_was_let_go_is_loaded_again(room: Room) -> None:
    words = {f"{name}.txt": f"{name} has {number} employees. " * 3 for number, name in enumerate(("A", "B", "C"))}
    for name, text in words.items():
        room.holds(name, text)
    ids = {document.name: document.text_id or 0 for document in room.evidence.documents}
    kept = RoomTexts(kept=100)  # one text, not two
    for name, text in words.items():
        kept.add(ids[name], text)
    for _ in range(2):
        assert {name: kept[ids[name]] for name in words} == words
    assert kept.length(ids["A.txt"]) == len(words["A.txt"])


def test_a_text_longer_than_all_that_is_kept_is_still_there(room: Room) -> None:
    room.holds("Long.txt", "Revenue was 3,700. " * 40)
    (document,) = room.evidence.documents
    kept = RoomTexts(kept=10)
    kept.add(document.text_id or 0, "Revenue was 3,700. " * 40)
    assert kept[document.text_id or 0] == "Revenue was 3,700. " * 40


def test_what_the_room_has_not_is_no_text_of_it(room: Room) -> None:
    kept = RoomTexts()
    assert 7 not in kept
    assert None not in kept
    with pytest.raises(KeyError):
        kept[7]


def test_a_text_that_was_deleted_since_is_empty(room: Room) -> None:
    room.holds("Gone.txt", "Revenue was 3,700.")
    (document,) = room.evidence.documents
    kept = RoomTexts(kept=0)
    kept.add(document.text_id or 0, "Revenue was 3,700.")
    with writing() as session:
        session.delete(session.get_one(StoredText, document.text_id))
    assert kept[document.text_id or 0] == ""


def test_a_room_whose_texts_do_not_fit_is_answered_as_one_whose_texts_do(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        room.holds(
            f"{number}.txt", f"Site {number} employs {number}00 people.\n\fChurn of site {number} was {number} %.\n"
        )
    whole = room.evidence
    monkeypatch.setattr(evidence, "RoomTexts", lambda: RoomTexts(kept=1))
    letting_go = room.evidence
    for question in ("How many people does site 3 employ?", "churn"):
        assert letting_go.find(question, 5) == whole.find(question, 5) != []
    quote = "Churn of site 4 was 4 %"
    assert letting_go.verify(quote) == whole.verify(quote) is not None
    document = whole.documents[2]
    assert letting_go.opening(document, 10) == whole.opening(document, 10)
    assert letting_go.languages == whole.languages
