"""The documents nearest to a missing one, and those of the passages nearest to a question."""

import pytest

from tasks.scoring.checks import nearest_documents, nearest_passages
from tests.tasks.scoring.conftest import Room


def nearest(room: Room, name: str) -> list[tuple[str, str]]:
    return [(near.document.name, near.why) for near in nearest_documents(name, room.evidence)]


def test_names_come_before_folders_and_opening_lines(room: Room) -> None:
    room.holds("Scan 1.pdf", "Consolidated statements\n\nof Alpha.")
    room.holds("2024.pdf", "The year.", path="Audited")
    room.holds("FinancialStatements.pdf", "A plan.")
    assert nearest(room, "audited financial statements") == [
        ("FinancialStatements.pdf", "its name contains “financial”, “statements”"),
        ("2024.pdf", "its folder's name contains “audited”"),
        ("Scan 1.pdf", "its opening lines contain “statements”"),
    ]


def test_documents_that_mention_it_follow_with_the_place(room: Room) -> None:
    text = "Minutes\n\fThe auditors looked at the audited accounts."
    room.holds("Minutes.txt", text, [(0, 8, "page", "1"), (9, len(text), "page", "2")])
    room.holds("Lease.pdf", "A lease.")
    assert nearest(room, "audited financial statements") == [("Minutes.txt", "it mentions “audited” (page 2)")]


def test_at_most_three_documents_are_listed_each_once(room: Room) -> None:
    for number in range(9):
        room.holds(f"Statements {number}.pdf", "Statements of the year. Audited.")
    assert [name for name, _ in nearest(room, "audited financial statements")] == [
        f"Statements {number}.pdf" for number in range(3)
    ]


@pytest.mark.parametrize(
    ("missing", "name"),
    [("監査済み財務諸表", "財務諸表2024.pdf"), ("geprüfter Jahresabschluss", "Jahresabschluß 2024.pdf")],
)
def test_names_in_other_languages_match(room: Room, missing: str, name: str) -> None:
    room.holds("Lease.pdf", "A lease.")
    room.holds(name)
    assert [nearest_name for nearest_name, _ in nearest(room, missing)] == [name]


def test_each_document_of_the_passages_is_listed_once_with_its_best_place(room: Room) -> None:
    text = "Churn was 2 %.\n\fChurn was 3 % in the year before, said the board on churn."
    room.holds("Report.pdf", text, [(0, 15, "page", "1"), (16, len(text), "page", "2")])
    room.holds("Letter.txt", "One customer cancelled.")
    excerpts = room.evidence.find("churn of customers", 12)
    documents = nearest_passages(excerpts)
    assert sorted(near.document.name for near in documents) == ["Letter.txt", "Report.pdf"]
    best = {excerpt.document.name: excerpt for excerpt in reversed(excerpts)}
    for near in documents:
        assert near.why == f"it has a passage related to the question ({best[near.document.name].place})"


@pytest.mark.parametrize(
    ("missing", "text", "is_near"),
    [
        ("cap table", "The totals stand in a table.", False),
        ("group structure", "The roles have a clear structure.", False),
        ("customer contracts", "Ring the gas contract line.", False),
        ("group structure", "The structure of the group is on file.", True),
        ("customer contracts", "Each supply agreement is filed with the customer contract.", True),
        ("licences", "The licences are on the shelf.", True),
    ],
)
def test_one_common_word_of_several_makes_no_document_near(room: Room, missing: str, text: str, is_near: bool) -> None:
    room.holds("Handbook.txt", f"Welcome to the handbook of the house.\n{text}\n")
    assert [name for name, _ in nearest(room, missing)] == (["Handbook.txt"] if is_near else [])
