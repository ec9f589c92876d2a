"""The files of the vocabulary, and what they may hold."""

import re
from importlib import resources

import pytest

from tasks.language.words import tokens
from tasks.ranking.vocabulary import FIELDS, entries, parse, phrase, shares
from tests.cases import cases


def test_the_vocabulary_is_broad() -> None:
    assert sum(entry.field == "finance" for entry in entries()) >= 150
    assert {entry.field for entry in entries()} == set(FIELDS)


def test_an_entry_is_read() -> None:
    (entry,) = parse(
        '[capex]\nasks = ["capex"]\nsays = ["purchases of property"]\nstands = "cash flow"\nweight = 0.5', "finance"
    )
    assert (entry.name, entry.field, entry.stands, entry.weight) == ("capex", "finance", "cash flow", 0.5)
    assert entry.asks == (("capex",),)
    assert entry.says == (tuple(tokens("purchases property")),)


def test_any_number_can_be_part_of_a_phrase() -> None:
    assert phrase("# full-time employees") == ("#", *tokens("full-time employees"))


@cases(
    "text",
    [
        '[a]\nasks = ["x"]',
        '[a]\nasks = ["x"]\nsays = ["y"]\nother = 1',
        '[a]\nasks = ["the of"]\nsays = ["y"]',
        '[a]\nasks = ["x"]\nsays = ["y"]\nstands = "moon"',
        '[a]\nasks = ["x"]\nsays = ["y"]\nweight = 0',
        '[a]\nasks = ["x"]\nsays = ["y"]\nweight = "much"',
        "a = 1",
        '[a]\nasks = ["x"]\nsays = ["y"]\n[a]\nasks = ["x"]\nsays = ["y"]',
    ],
)
def test_what_is_no_vocabulary_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"vocabulary|declare"):
        parse(text, "finance")


def test_no_entry_on_finance_holds_a_year() -> None:
    text = (resources.files("tasks.ranking.vocabulary") / "finance.toml").read_text("utf-8")
    assert not re.search(r'"[^"]*\b(?:19|20)\d\d\b[^"]*"', text)


def test_shares_are_shares() -> None:
    assert len(shares()) > 1000
    assert all(0 < share <= 1 for share in shares().values())
    assert shares()["agreement"] > shares()["patent"]
