"""Verdicts on the claims of a memo."""

from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import CheckedClaim, MemoVerdict, as_json, check_memo, render_memo
from tasks.memo.claims import MemoTexts

DOCUMENTS = {
    "Audited accounts 2024.txt": (
        "Annual recurring revenue was EUR 7.1 million at 31 December 2024.\n"
        "Revenue was EUR 8,412,345 in the year to 31 December 2024.\n"
        "Revenue was EUR 6,098,000 in the year to 31 December 2023.\n"
    ),
    "Deck.txt": "Annual recurring revenue was EUR 9.4 million at 31 December 2024.\n",
    "Lease.txt": (
        "The tenant may terminate the lease at the end of any quarter with six months' notice.\n\n"
        "The tenant shall not sublet any part of the premises without the landlord's written consent.\n"
    ),
    "Legal.txt": "The company has no pending litigation. The founders hold 62 % of the shares.\n",
    "Minutes.txt": (
        "Casa Serena (12 % of ARR) is 90 days behind with EUR 340k and disputes the fee.\nTerm: 23.9 % interest.\n"
    ),
}


def documents() -> list[LedgerText]:
    listed = []
    with database.writing() as session:
        for name, text in DOCUMENTS.items():
            row = texts.save_text(session, new_text(name, text))
            listed.append(LedgerText(row.id, name, name))
    return listed


def new_text(name: str, text: str) -> NewText:
    return NewText(content_hash=name, reader="test", outcome=Outcome.READ, text=text, characters=len(text))


@pytest.fixture
def room(home: Path) -> MemoTexts:
    return MemoTexts(documents(), "Acme")


def verdict(memo: str, room: MemoTexts) -> CheckedClaim:
    (checked,) = check_memo(memo, [], "memo.txt", room)
    return checked


@pytest.mark.parametrize("whose", ["Acme's", "Acme’s", "ACME's", "The company's"])
def test_what_the_room_s_own_company_is_said_to_have_is_held_against_the_figure_that_counts(
    whose: str, room: MemoTexts
) -> None:
    checked = verdict(f"{whose} ARR was EUR 9.4 million at 31 December 2024.", room)
    assert checked.verdict is MemoVerdict.CONTRADICTED
    assert [place.document_name for place in checked.places] == ["Audited accounts 2024.txt"]


def test_another_company_s_figure_is_not_the_room_s(room: MemoTexts) -> None:
    checked = verdict("Orbis's ARR was EUR 3.3 million at 31 December 2024.", room)
    assert checked.verdict is not MemoVerdict.SUPPORTED


@pytest.mark.parametrize(
    "memo",
    [
        "Revenue was EUR 8.4 million in the year to 31 December 2024.",
        "In the year to 31 December 2024, the company's revenue came to EUR 8.4 million.",
        "Annual recurring revenue was EUR 7.1 million at 31 December 2024.",
        "Revenue of 2024 was EUR 8.4 million, up from EUR 6.1 million in 2023.",
        "There is no pending litigation.",
        "The founders hold 62 % of the shares.",
        "The lease says “with six months’ notice”.",
        "The lease says “The tenant may terminate the lease … with six months' notice.”",
    ],
)
def test_what_the_room_says_is_supported(memo: str, room: MemoTexts) -> None:
    checked = verdict(memo, room)
    assert checked.verdict is MemoVerdict.SUPPORTED
    assert checked.places[0].document_name in DOCUMENTS


@pytest.mark.parametrize(
    ("memo", "document"),
    [
        ("Revenue was EUR 9.9 million in the year to 31 December 2024.", "Audited accounts 2024.txt"),
        ("Revenue of 2024 was EUR 8.4 million, up from EUR 5.1 million in 2023.", "Audited accounts 2024.txt"),
        ("The founders hold 72 % of the shares.", "Legal.txt"),
        ("The company has pending litigation.", "Legal.txt"),
        ("The tenant may terminate the lease at the end of any quarter with three months' notice.", "Lease.txt"),
        ("It says “terminate the lease at the end of any quarter with three months' notice”.", "Lease.txt"),
        ("It says “The tenant shall sublet any part of the premises”.", "Lease.txt"),
    ],
)
def test_what_the_room_says_otherwise_is_contradicted(memo: str, document: str, room: MemoTexts) -> None:
    checked = verdict(memo, room)
    assert checked.verdict is MemoVerdict.CONTRADICTED
    assert checked.places[0].document_name == document


def test_a_figure_that_does_not_count_is_contradicted_by_the_one_that_does(room: MemoTexts) -> None:
    checked = verdict("Annual recurring revenue was EUR 9.4 million at 31 December 2024.", room)
    assert checked.verdict is MemoVerdict.CONTRADICTED
    assert checked.places[0].text == "Annual recurring revenue was EUR 7.1 million at 31 December 2024."
    assert "Deck.txt says it too" in checked.why


@pytest.mark.parametrize(
    "memo",
    [
        "The office in Berlin has forty desks.",
        "Revenue was EUR 5.1 million in the year to 31 December 2022.",
        "Casa Serena is content with the new portal.",
        "The term has 24 % interest.",
        "He said “we shall double the team in the coming spring”.",
    ],
)
def test_what_the_room_does_not_say_is_not_found(memo: str, room: MemoTexts) -> None:
    checked = verdict(memo, room)
    assert checked.verdict is MemoVerdict.NOT_FOUND
    assert all("nearest" in checked.why for _ in checked.places)


@pytest.mark.parametrize(
    ("amount", "is_contradicted"), [("6.09", False), ("6.08", True), ("6.11", True), ("-6.09", True)]
)
def test_an_amount_that_is_cut_off_and_not_rounded_is_not_contradicted(
    amount: str, is_contradicted: bool, room: MemoTexts
) -> None:
    checked = verdict(f"Revenue was EUR {amount} million in the year to 31 December 2023.", room)
    assert (checked.verdict is MemoVerdict.CONTRADICTED) is is_contradicted
    assert checked.verdict is not MemoVerdict.SUPPORTED


def test_the_page_escapes_words_and_names_each_verdict(room: MemoTexts) -> None:
    memo = "The founders hold <b>62 %</b> of the shares. The company has pending litigation."
    checked = check_memo(memo, [], "memo.txt", room)
    page = render_memo("<memo>.txt", "room", memo, checked, [])
    assert "<b>" not in page
    assert "<memo>" not in page
    assert "<script" not in page
    assert "✗ contradicted" in page
    assert '"verdict": "contradicted"' in as_json("memo.txt", checked)


FILING = (
    "All dollars are in millions. Tables (Dollars in Millions)\n\n"
    "Net sales in Latin America increased 16.5% in 2023 to $4,640, driven by volume growth of 2.5%.\n\n"
    "\t2023\t2022\nSelling expenses of the plants\t$ 19,779\t$ 18,537\n\n"
    "Capital expenditures of the plant were $904 in 2023 and $1.1 billion in 2022.\n"
)


@pytest.mark.parametrize(
    ("memo", "said"),
    [
        ("Net sales in Latin America increased 16.5% in 2023 to $4,640 million.", MemoVerdict.SUPPORTED),
        ("Selling expenses of the plants were $19,779 million in 2023.", MemoVerdict.SUPPORTED),
        ("Net sales in Latin America increased 16.5% in 2023 to $4,640 thousand.", MemoVerdict.CONTRADICTED),
        ("Net sales in Latin America increased 16.5% in 2023 to $4,460 million.", MemoVerdict.CONTRADICTED),
    ],
)
def test_amounts_of_a_document_that_counts_in_millions_are_held_against_millions(
    home: Path, memo: str, said: MemoVerdict
) -> None:
    with database.writing() as session:
        row = texts.save_text(session, new_text("Filing.txt", FILING))
    room = MemoTexts([LedgerText(row.id, "Filing.txt", "Filing.txt")], "Acme")
    assert verdict(memo, room).verdict is said


def test_a_table_at_the_beginning_of_a_document_keeps_its_columns(home: Path) -> None:
    table = "\tJan 28, 2024\nStocks of the plants ($ in millions)\t4,871\n"
    with database.writing() as session:
        row = texts.save_text(session, new_text("Stocks.txt", table))
    room = MemoTexts([LedgerText(row.id, "Stocks.txt", "Stocks.txt")], "Acme")
    assert verdict("Stocks of the plants were $4.87 billion on 28 January 2024.", room).verdict is MemoVerdict.SUPPORTED


def test_a_figure_of_another_line_that_means_the_same_contradicts_nothing(home: Path) -> None:
    text = (
        "(in millions of USD)\t2024\t2023\nNet sales\t160,280\t151,381\nMembership income\t1,352\t1,478\n"
        "Total revenues\t161,632\t152,859\nNet income\t8,053\t5,147\nNet income attributable to Acme\t7,891\t5,149\n"
    )
    with database.writing() as session:
        row = texts.save_text(session, new_text("Accounts 2024.txt", text))
    room = MemoTexts([LedgerText(row.id, "Accounts 2024.txt", "Accounts 2024.txt")], "Acme")
    said = [
        verdict(f"{name} came to $160.3 billion in 2024.", room).verdict for name in ("Net sales", "Total revenues")
    ]
    assert said[0] is not MemoVerdict.CONTRADICTED
    assert said[1] is MemoVerdict.CONTRADICTED
    assert verdict("Beta Foods had revenues of $8.2 billion in 2024.", room).verdict is MemoVerdict.NOT_FOUND
    owners = verdict("Net income attributable to Acme was $7,891 million in 2024.", room)
    assert owners.verdict is not MemoVerdict.CONTRADICTED
