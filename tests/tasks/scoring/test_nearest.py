"""The documents nearest to what is missing."""

import pytest

from tasks.scoring.checks import nearest_documents, nearest_passages
from tests.tasks.scoring.conftest import Room


def near(room: Room, wanted: str) -> list[tuple[str, str]]:
    return [(document.document.name, document.why) for document in nearest_documents(wanted, room.evidence)]


def test_names_go_before_folders_and_beginnings_and_these_before_passages(room: Room) -> None:
    room.holds("Scan 1.pdf", "Consolidated statements\n\nof Alpha.")
    room.holds("2024.pdf", "The year.", path="Audited")
    room.holds("FinancialStatements.pdf", "A plan.")
    assert near(room, "audited financial statements") == [
        ("FinancialStatements.pdf", "its name shares “financial”, “statements”"),
        ("2024.pdf", "its folder shares “audited”"),
        ("Scan 1.pdf", "its beginning shares “statements”"),
    ]


def test_documents_that_speak_of_it_fill_up_with_their_place(room: Room) -> None:
    text = "Minutes\n\fThe auditors looked at the audited accounts."
    room.holds("Minutes.txt", text, [(0, 8, "page", "1"), (9, len(text), "page", "2")])
    room.holds("Lease.pdf", "A lease.")
    assert near(room, "audited financial statements") == [("Minutes.txt", "it speaks of “audited” (page 2)")]


def test_no_more_than_three_are_named_each_once(room: Room) -> None:
    for number in range(9):
        room.holds(f"Statements {number}.pdf", "Statements of the year. Audited.")
    assert [name for name, _ in near(room, "audited financial statements")] == [
        f"Statements {number}.pdf" for number in range(3)
    ]


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("監査済み財務諸表", "財務諸表2024.pdf"), ("geprüfter Jahresabschluss", "Jahresabschluß 2024.pdf")],
)
def test_names_in_other_languages_come_near_too(room: Room, wanted: str, name: str) -> None:
    room.holds("Lease.pdf", "A lease.")
    room.holds(name)
    assert [found for found, _ in near(room, wanted)] == [name]


def test_of_passages_each_document_is_named_once_with_its_best_place(room: Room) -> None:
    text = "Churn was 2 %.\n\fChurn was 3 % in the year before, said the board on churn."
    room.holds("Report.pdf", text, [(0, 15, "page", "1"), (16, len(text), "page", "2")])
    room.holds("Letter.txt", "One customer cancelled.")
    found = room.evidence.find("churn of customers", 12)
    named = nearest_passages(found)
    assert {each.document.name for each in named} == {"Report.pdf", "Letter.txt"}
    best = {each.document.name: each for each in reversed(found)}
    for each in named:
        assert each.why == f"it comes nearest to the question ({best[each.document.name].place})"
