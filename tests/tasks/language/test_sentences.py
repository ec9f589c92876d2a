"""Sentences: where they end, and where they do not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.language.sentences import LONGEST, says_something, sentences
from tests.cases import cases


@cases(
    "sentence",
    [
        "Sales rose by 3.5 million in the year.",
        "Acme Inc. agreed with Mr. J. Smith on the price.",
        "Most of it, i.e. 83.4 %, recurs (approx. 4.2 m).",
        "See No. 5 and Sec. 7.2 of the deed.",
        "Edge Pvt. Ltd. London signed.",
        "It is at https://example.com/a.b?c=d. on the page.",
        "Signed on 5 Dec. 2023 by both.",
        "Der Vertrag endet am 31. März 2027.",
    ],
)
def test_dots_inside_a_sentence_do_not_end_it(sentence: str) -> None:
    assert sentences(f"{sentence} Another one follows.") == [sentence, "Another one follows."]


@cases(
    ("text", "expected"),
    [
        ("It grew. It shrank!", ["It grew.", "It shrank!"]),
        ("The answer is no. We left.", ["The answer is no.", "We left."]),
        ("It was sold to Acme Inc. The price is secret.", ["It was sold to Acme Inc.", "The price is secret."]),
        ("This was Series A. The next was B.", ["This was Series A.", "The next was B."]),
        ('"Is it?" "It is."', ['"Is it?"', '"It is."']),
        ("売上高は増加した。利益は減少した。", ["売上高は増加した。", "利益は減少した。"]),
        ("1. Definitions", ["1. Definitions"]),
        ("In 2023. In 2024.", ["In 2023.", "In 2024."]),
        ("", []),
        (" \n\t\n\f ", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_lines_wrapped_by_the_page_are_one_sentence() -> None:
    text = "The agreement between the seller and the\nbuyer ends when either of them gives notice to\nAcme of it."
    assert sentences(text) == [text.replace("\n", " ")]


def test_lines_of_a_slide_and_headings_of_some_length_stand_alone() -> None:
    text = (
        "Changes in the Useful Lives of Our Cranes and Lorries\n"
        "In March the harbour finished a study of how long its cranes and lorries can be used, and it now writes off\n"
        "the cranes over twelve years.\n"
        "The planner makes the timetables of all ships\n"
        "Pilots can be booked in the harbour's own office up to an hour before a ship comes in\n"
    )
    assert sentences(text) == [
        "Changes in the Useful Lives of Our Cranes and Lorries",
        " ".join(text.splitlines()[1:3]),
        "The planner makes the timetables of all ships",
        "Pilots can be booked in the harbour's own office up to an hour before a ship comes in",
    ]


def test_a_hyphen_at_the_line_end_stays_in_its_word() -> None:
    assert sentences("A long-\nterm contract.") == ["A long-term contract."]


def test_each_row_of_a_table_stands_alone() -> None:
    rows = ["Year\tRevenue", "2023\t12,300", "2022\t11,900"]
    assert sentences("The figures are these.\n" + "\n".join(rows) + "\nThey are audited.") == [
        "The figures are these.",
        *rows,
        "They are audited.",
    ]


def test_headings_and_list_items_stand_alone() -> None:
    assert sentences("Key risks\nOne customer pays half.\n• churn\n• debt\n\n(a) the lease") == [
        "Key risks",
        "One customer pays half.",
        "• churn",
        "• debt",
        "(a) the lease",
    ]


def test_a_text_without_any_stop_is_cut_at_spaces() -> None:
    pieces = sentences("word " * 5000)
    assert max(map(len, pieces)) <= LONGEST
    assert " ".join(pieces).split() == ["word"] * 5000


@given(st.text(alphabet=st.sampled_from("aB1 .,;!?-\n\t\f\"'()•。é\u2028"), max_size=300))
def test_nothing_is_lost_or_made_up(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


def test_a_long_text_is_read_a_stretch_at_a_time_and_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(f"Part {number} came in time.\r\nIt is\nwhole.\n\nRow\t{number}\n" for number in range(40))
    whole = sentences(text)
    monkeypatch.setattr("tasks.language.sentences._AT_ONCE", 60)
    assert sentences(text) == whole


def test_a_long_line_comes_in_parts_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.language.sentences._AT_ONCE", 100)
    text = "The words go on and on without any stop " * 20
    assert " ".join(sentences(text)).split() == text.split()


@cases(
    ("sentence", "says"),
    [
        ("The tenant pays rent.", True),
        ("3. The rent.", False),
        ("Rent of 2024", True),
        ("Rent\tfive", True),
        ("# The rent of the tenant", False),
        ("Signed by the tenant: ____________", False),
    ],
)
def test_headings_and_lines_to_fill_in_say_nothing(sentence: str, says: bool) -> None:
    assert says_something(sentence) is says
