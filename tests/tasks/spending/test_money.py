"""Amounts: usage adds up, prices are for a million tokens, and a cap is read as users write it."""

import pytest

from tasks.spending.money import Cap, Price, Usage, dollars
from tests.cases import cases


def test_usage_adds_up() -> None:
    assert Usage(1, 10, 2) + Usage(2, 5, 1) == Usage(3, 15, 3)


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(2.5, 10).of(Usage(3, 400_000, 50_000)) == pytest.approx(1.5)


@cases("written", ["0.50 USD", " 0.5usd", "0.500000  Usd", ".5 USD"])
def test_a_cap_in_dollars_is_read_in_any_case_and_spacing(written: str) -> None:
    assert Cap.parse(written) == Cap(usd=0.5)
    assert str(Cap.parse(written)) == "0.50 USD"


@cases("written", ["20000 tokens", "20000TOKENS", "20000  token "])
def test_a_cap_in_tokens_is_read_in_any_case_and_spacing(written: str) -> None:
    assert Cap.parse(written) == Cap(tokens=20000)
    assert str(Cap.parse(written)) == "20000 tokens"


@cases("written", ["", "5", "USD", "0.5 EUR", "$0.50", "-1 USD", "1e3 tokens", "0.5 tokens", "1,000 tokens", "nan USD"])
def test_any_other_cap_is_refused_with_what_is_allowed(written: str) -> None:
    with pytest.raises(ValueError, match="20000 tokens"):
        Cap.parse(written)


def test_a_cap_of_less_than_a_cent_is_told_whole() -> None:
    assert str(Cap.parse("0.0025 USD")) == "0.0025 USD"
    assert str(Cap.parse("2 usd")) == "2.00 USD"


def test_a_cap_is_in_one_unit() -> None:
    with pytest.raises(ValueError, match="USD or in tokens"):
        Cap()
    with pytest.raises(ValueError, match="USD or in tokens"):
        Cap(usd=1, tokens=1)


@cases(("usd", "shown"), [(12.5, "12.50 USD"), (0.25, "0.2500 USD"), (0.0, "0.0000 USD"), (0.00012345, "0.00012 USD")])
def test_an_amount_is_shown_in_as_many_digits_as_count(usd: float, shown: str) -> None:
    assert dollars(usd) == shown
