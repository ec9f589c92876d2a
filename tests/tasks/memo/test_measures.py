"""Figures that a memo states in its own words: changes, margins, ratios, rounded amounts, held against the ledger."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import MemoVerdict, check_memo
from tasks.memo.claims import MemoTexts

ACCOUNTS = """Annual report for the year ended 31 December 2024 (audited)

(in thousands of EUR)\t2024\t2023
Revenue\t8,412\t6,098
Gross profit\t5,212\t3,598
EBITDA\t1,240\t(310)
Net income\t700\t(420)
Total assets\t9,900\t8,100
Equity\t4,100\t3,460
Cash and cash equivalents\t1,150\t900
Number of employees\t340\t303

Borrowings were EUR 2,650 thousand at 31 December 2024.
"""

STATED = {
    MemoVerdict.SUPPORTED: (
        "Revenue grew 38 % to EUR 8.4 million in 2024.",
        "Revenue came to just under EUR 8.5 million in 2024.",
        "Headcount grew 12 % to 340 in 2024.",
        "The gross margin was almost 62 % in 2024, up from 59 %.",
        "Net debt was 1.2 times EBITDA at 31 December 2024.",
        "Equity was some 41 % of total assets at 31 December 2024.",
        "EBITDA improved from EUR -310 thousand in 2023 to EUR 1,240 thousand in 2024.",
        "Revenue reached EUR 8.4 million in 2024, and the EBITDA margin 14.7 %.",
        "EBITDA was EUR 1.2 million.",
        "Revenue rose by 38 % to EUR 8.4 million (2023: EUR 6.1 million).",
        "Der Umsatz stieg gegenüber dem Vorjahr um 38 % auf 8,4 Mio. EUR.",
    ),
    MemoVerdict.CONTRADICTED: (
        "Revenue grew 83 % to EUR 8.4 million in 2024.",
        "Revenue came to just under EUR 7.5 million in 2024.",
        "Revenue fell to EUR 8.4 million in 2024.",
        "Revenue fell by less than 50 % in 2024.",
        "Revenue nearly doubled in 2024.",
        "The EBITDA margin reached 41.7 % in 2024.",
        "Net debt was 2.1 times EBITDA at 31 December 2024.",
        "Equity was some 14 % of total assets at 31 December 2024.",
        "Acme, which sells software, had revenue of EUR 20 million in 2024.",
        "Der Umsatz stieg 2024 auf 20 Mio. EUR.",
        "Le chiffre d'affaires a atteint 20 millions d'euros en 2024.",
        "Omsætningen udgjorde 20 mio. EUR i 2024.",
    ),
    MemoVerdict.NOT_FOUND: (
        "Revenue in the previous year was EUR 6.1 million.",
        "Revenue was 12 % higher than EBITDA in 2024.",
        "Adjusted EBITDA was EUR 1.4 million in 2024.",
        "Revenue of the Nordic segment was EUR 5 million in 2024.",
        "Note 8: Employees",
        "Revenue per employee was EUR 25 thousand in 2024.",
        "The gross margin was almost 62 % in 2024, down from 59 %.",
        "The net loss was less than EUR 2 million in 2024.",
        "Cash was EUR 1.15 million, up 3 % on the previous quarter.",
        "Cash was EUR 0.9 million.",
        "Revenue per quarter was EUR 2.1 million in 2024.",
        "Monthly revenue was EUR 0.7 million in 2024.",
        "Der Umsatz betrug im Halbjahr 4 Mio. EUR.",
        "Revenue was EUR 2.1 million in the quarter.",
        "Revenue for the quarter was EUR 2.1 million.",
        "Revenue came to EUR 4 million in the first half.",
        "Revenue was EUR 2.1 million in the second quarter.",
        "Two thirds of revenue in 2024, EUR 5.6 million, came from Germany.",
        "Net income attributable to Acme plc was EUR 0.3 million in 2024.",
    ),
}
FALLEN = ACCOUNTS.replace("8,412", "3,232").replace("1,240", "(90)")
STATED_OF_A_FALL = {
    MemoVerdict.SUPPORTED: ("Revenue nearly halved in 2024.", "Revenue fell by nearly 50 % in 2024."),
    MemoVerdict.CONTRADICTED: ("Revenue grew by less than 10 % in 2024.",),
    MemoVerdict.NOT_FOUND: ("Net debt was 2.5 times EBITDA.", "Net debt was 2.5 times EBITDA at 31 December 2024."),
}
LOSING = ACCOUNTS.replace("1,240\t(310)", "(1,240)\t(310)")
STATED_OF_A_LOSS = {
    MemoVerdict.SUPPORTED: (
        "The EBITDA loss was EUR 1.24 million in 2024.",
        "The EBITDA loss was EUR 1.24 million in 2024, above all because of salaries.",
        "Revenue rose to EUR 8.4 million in 2024 despite the loss of a customer.",
        "The EBITDA loss widened to EUR 1,240 thousand in 2024, up from EUR 310 thousand.",
    ),
    MemoVerdict.CONTRADICTED: ("The EBITDA loss was EUR 2.14 million in 2024.",),
    MemoVerdict.NOT_FOUND: (
        "The EBITDA loss narrowed to EUR 1,240 thousand in 2024, from EUR 310 thousand.",
        "The EBITDA loss narrowed to EUR 1,240 thousand in 2024.",
        "The EBITDA loss improved to EUR 1,240 thousand in 2024, from EUR 310 thousand.",
        "La perte d'EBITDA a été réduite à 1,24 million d'euros en 2024.",
        "The EBITDA loss before 2024 was EUR 310 thousand.",
        "The EBITDA loss rose by 5 % to EUR 1,240 thousand in 2024.",
        "EBITDA was EUR 1.24 million in 2024.",
    ),
}
QUARTERS = """Net income for the first quarter of 2024 was EUR 2.0 million.

Net income for the second quarter of 2024 was EUR 3.1 million.
"""
STATED_OF_QUARTERS = {
    MemoVerdict.SUPPORTED: (
        "Net income was EUR 3.1 million in the second quarter.",
        "Net income for the quarter was EUR 3.1 million.",
        "Net income in the first quarter was EUR 2.0 million.",
    ),
    MemoVerdict.CONTRADICTED: ("Net income was EUR 4.5 million in the second quarter of 2024.",),
    MemoVerdict.NOT_FOUND: (
        "Net income for the month was EUR 3.1 million.",
        "Net income was EUR 4.5 million in the second quarter.",
        "Net income for the quarter was EUR 4.5 million.",
    ),
}


@pytest.mark.parametrize(
    ("accounts", "stated"),
    [(ACCOUNTS, STATED), (FALLEN, STATED_OF_A_FALL), (LOSING, STATED_OF_A_LOSS), (QUARTERS, STATED_OF_QUARTERS)],
    ids=["rise", "fall", "loss", "quarters"],
)
def test_amounts_are_held_against_the_ledger_in_any_words_that_say_nothing_else(
    home: Path, accounts: str, stated: Mapping[MemoVerdict, Sequence[str]]
) -> None:
    new = NewText(content_hash="a", reader="test", outcome=Outcome.READ, text=accounts, characters=len(accounts))
    with database.writing() as session:
        row = texts.save_text(session, new)
    room = MemoTexts([LedgerText(row.id, "Accounts 2024.txt", "Accounts 2024.txt")], "Acme")
    for verdict, statements in stated.items():
        checked = check_memo("\n\n".join(statements), [], "memo.txt", room)
        assert {one.statement.text: one.verdict for one in checked} == dict.fromkeys(statements, verdict)
