"""A memo's years are those of its room, and the growth that it states is computed from the room's figures."""

from pathlib import Path

import pytest

from storage import database, texts
from storage.texts import NewText, Outcome
from tasks.figures.ledger import LedgerText
from tasks.memo.check import MemoVerdict, check_memo
from tasks.memo.claims import MemoTexts
from tests.cases import cases

ACCOUNTS = (
    "Annual report for the year ended 30 June 2023\n\n(in millions of USD)\tYear ended 30 June 2023\t"
    "Year ended 30 June 2022\nTotal revenue\t14,694\t14,544\nNet income\t1,048\t805\nNet sales\t14,100\t13,900\n\n"
    "Free cash flow for fiscal 2023 was $848 million and compares with $1,066 million last year.\n\n"
    "The margin of the group was 10.9 % in the year ended 30 June 2023.\n\n"
    "Sales of the coated paper division were $2,777 million in the last quarter, 6 % lower than a year ago.\n\n"
    "Sales of the coated paper division were $11,154 million, 1 % lower than a year ago in constant currencies.\n\n"
    "Texas Packaging Incorporated makes cartons.\n\n"
    "Net interest income was $7 million in the first quarter of 2023.\n\n"
    "Interest income in our second quarter was $9 million.\n"
)


@pytest.fixture
def room(home: Path) -> MemoTexts:
    new = NewText(content_hash="a", reader="test", outcome=Outcome.READ, text=ACCOUNTS, characters=len(ACCOUNTS))
    with database.writing() as session:
        row = texts.save_text(session, new)
    return MemoTexts([LedgerText(row.id, "Accounts.txt", "Accounts.txt")], "Texas Packaging")


def verdict(memo: str, room: MemoTexts) -> MemoVerdict:
    (checked,) = check_memo(memo, [], "memo.txt", room)
    return checked.verdict


@cases(
    "memo",
    [
        "For fiscal 2023, the company reports revenue of $14.7 billion.",
        "Net income of fiscal 2023 came to $1,048 million, about 30% more than the year before.",
        "In fiscal 2023 net income rose 30% to $1,048 million.",
        "Net sales of fiscal 2023 were $14,100 million.",
        "Der Umsatz betrug im Geschäftsjahr 2023 14,7 Mrd. USD.",
    ],
)
def test_figures_of_a_fiscal_year_and_their_growth_are_supported(memo: str, room: MemoTexts) -> None:
    assert verdict(memo, room) is MemoVerdict.SUPPORTED


@cases(
    "memo",
    [
        "For fiscal 2023, the company reports revenue of $14.2 billion.",
        "In fiscal 2023 net income rose 20% to $1,048 million.",
        "In fiscal 2023 net income nearly doubled to $1,048 million.",
        "Net income of fiscal 2023 came to $1,048 million, 30% less than the year before.",
        "Der Umsatz betrug im Geschäftsjahr 2023 15,7 Mrd. USD.",
    ],
)
def test_other_figures_and_other_growth_are_contradicted(memo: str, room: MemoTexts) -> None:
    assert verdict(memo, room) is MemoVerdict.CONTRADICTED


def test_a_sentence_of_another_time_contradicts_no_figure_that_the_room_has(room: MemoTexts) -> None:
    memo = "Sales of the coated paper division came to $11,154 million, 6 % lower than a year ago as reported."
    assert verdict(memo, room) is MemoVerdict.NOT_FOUND


@pytest.mark.parametrize(
    "memo",
    [
        "Net income was $52 million in the first quarter of 2023.",
        "Interest income in the second quarter of 2023 was $9 million.",
    ],
)
def test_another_name_and_a_quarter_without_its_year_contradict_nothing(memo: str, room: MemoTexts) -> None:
    assert verdict(memo, room) is MemoVerdict.NOT_FOUND


@pytest.mark.parametrize(
    "memo",
    [
        "Free cash flow increased from $848 million to $1,066 million in fiscal 2023.",
        "Free cash flow was $848 million in fiscal 2022.",
        "The company is incorporated in Texas.",
    ],
)
def test_a_change_the_other_way_round_and_a_company_form_prove_nothing(memo: str, room: MemoTexts) -> None:
    assert verdict(memo, room) is not MemoVerdict.SUPPORTED
