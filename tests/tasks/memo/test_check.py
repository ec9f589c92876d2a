"""Verdicts on the claims of a memo.

A memo is cut into figures, quotations and statements.
"""

from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import CheckedClaim, MemoVerdict, as_json, check_memo, render_memo
from tasks.memo.claims import MemoTexts, StatementKind, split
from tasks.reading.text_writer import HEADING
from tests.cases import cases

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
        "The neighbours of the house: a) take turns in clearing the common path of snow.\n"
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


@cases(
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


@cases(
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


@cases(
    "memo",
    [
        "The office in Berlin has forty desks.",
        "Revenue was EUR 5.1 million in the year to 31 December 2022.",
        "Casa Serena is content with the new portal.",
        "The term has 24 % interest.",
        "It says “The neighbours of the house take turns in clearing the common path of snow”.",
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


def kinds(text: str) -> list[tuple[str, str]]:
    return [(str(claim.kind), claim.words) for claim in split(text)]


def test_sentences_with_an_amount_are_figures_and_others_statements() -> None:
    assert kinds("Revenue was EUR 9.4 million in 2024. The founders still run the company.") == [
        ("figure", "Revenue was EUR 9.4 million in 2024."),
        ("statement", "The founders still run the company."),
    ]


def test_a_year_alone_makes_no_figure() -> None:
    assert kinds("The company was founded in Delft in 2011.")[0][0] == "statement"


def test_list_items_lose_their_marks_and_sources() -> None:
    assert kinds(
        "• Customers prepay for one year [3]\n2. Churn was 4 % in 2024 (source: deck, p. 3).\n7.3 The tenant pays."
    ) == [
        ("statement", "Customers prepay for one year"),
        ("figure", "Churn was 4 % in 2024."),
        ("statement", "The tenant pays."),
    ]


def test_a_table_row_is_said_with_its_header() -> None:
    (row,) = split("EUR m\t2023\t2024\nRevenue\t7.7\t9.4\n")
    assert row.kind is StatementKind.FIGURE
    assert row.text == "Revenue 7.7 9.4"
    assert "in 2024" in row.words


def test_a_quotation_stands_for_the_sentence_that_only_says_who_said_it() -> None:
    text = 'The lease says: “Either party may terminate. Notice is six months.” (clause 4)\nHe calls it a "moat".\n'
    claims = split(text)
    assert [(claim.kind, claim.words) for claim in claims] == [
        (StatementKind.QUOTATION, "Either party may terminate. Notice is six months."),
        (StatementKind.STATEMENT, 'He calls it a "moat".'),
    ]
    assert text[claims[0].start : claims[0].end] == claims[0].text


def test_headings_questions_and_announcements_claim_nothing() -> None:
    text = "Terms of the lease\nIs it cheap?\nWhat we saw:\nRent is paid every quarter.\n"
    claims = split(text, [(0, len(text), HEADING, "Terms of the lease")])
    assert [claim.text for claim in claims] == ["Rent is paid every quarter."]


def test_a_sentence_over_two_lines_keeps_its_place() -> None:
    text = "Intro line here is good.\nThe landlord may refuse a sub-\ntenant without reason.\n"
    claim = split(text)[1]
    assert text[claim.start : claim.end].startswith("The landlord")
    assert text[claim.start : claim.end].endswith("reason.")


def test_marks_of_footnotes_are_no_words_of_a_claim() -> None:
    claims = split("Revenue was EUR 9.4 million in 2024.[^1]\n\n[^1]: Churn was 4 % in 2024.\n")
    assert [claim.text for claim in claims] == ["Revenue was EUR 9.4 million in 2024.", "Churn was 4 % in 2024."]
    assert [claim.words for claim in claims] == [claim.text for claim in claims]


def test_a_title_and_a_row_of_periods_claim_nothing() -> None:
    rows = "EUR m\tFY2024\tQ1 2023\nRevenue\t9.4\t7.7\nFounded in Delft, Holland\t1998\n"
    text = f"Acme: notes on the annual report 2024\n{rows}"
    assert [claim.text for claim in split(text)] == ["Revenue 9.4 7.7", "Founded in Delft, Holland 1998"]


def test_a_first_line_with_an_amount_is_a_claim() -> None:
    assert [claim.text for claim in split("Revenue up 12 % to EUR 9 m\n")] == ["Revenue up 12 % to EUR 9 m"]


def test_a_scale_before_a_currency_ends_no_sentence() -> None:
    assert [claim.text for claim in split("Der Umsatz betrug 8,6 Mrd. Euro im Jahr 2024. Er wächst seit Jahren.")] == [
        "Der Umsatz betrug 8,6 Mrd. Euro im Jahr 2024.",
        "Er wächst seit Jahren.",
    ]


def test_the_unit_of_a_row_goes_to_its_values() -> None:
    (row,) = split("\t2023\t2024\nSelling expenses ($ million)\t19,779\t18,537\n")
    assert row.words == "Selling expenses: $19,779 million in 2023, $18,537 million in 2024"
