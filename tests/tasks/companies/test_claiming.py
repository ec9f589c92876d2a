"""From what a source sent to claims: plain, bounded, and left out where it does not fit."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tasks.companies.claims import ClaimCollector, SourceClaims, a_day, one_text, tidy


def test_claims_say_where_they_come_from_and_of_when() -> None:
    claims = ClaimCollector("sec", "https://sec.example/1", "2026-01-31")
    claims.add("name", " Alpha\u200b Inc.\u0007 ")

    finding = claims.result("a warning")

    assert finding is not None
    claim = finding.claims[0]
    assert (claim.field, claim.value, claim.source) == ("name", "Alpha Inc.", "sec")
    assert (claim.url, claim.as_of) == ("https://sec.example/1", "2026-01-31")
    assert claim.retrieved_at <= datetime.now(UTC)
    assert finding.warnings == ["a warning"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", None),
        ("name", " \n\u200b"),
        ("hq", {"country": None, "city": " ", "is_hq": True}),
        ("company_size", [None, None]),
        ("extra.founding_date", {"day": None, "month": None, "year": None}),
        ("locations", [{"city": None}, {"city": ""}]),
    ],
)
def test_what_says_nothing_is_not_claimed(field: str, value: Any) -> None:
    claims = ClaimCollector("sec")
    claims.add(field, value)

    assert claims.result() is None


@pytest.mark.parametrize(
    ("field", "value"), [("categories", []), ("extra.number_of_exits", 0), ("company_size", [10001, None])]
)
def test_none_zero_and_an_open_end_are_words_too(field: str, value: Any) -> None:
    claims = ClaimCollector("sec")
    claims.add(field, value)

    finding = claims.result()
    assert finding is not None
    assert finding.claims[0].value == value


def test_what_does_not_fit_is_named_and_not_repeated() -> None:
    claims = ClaimCollector("sec")
    for field in ("founded_year", "follower_count", "hq", "updates", "exit_data", "categories"):
        claims.add(field, "hunter2")

    finding = claims.result()

    assert finding == SourceClaims(
        [],
        [
            "The source sec gave a value of another kind than the profile has, which was left out: "  # noqa: ISC004 - one sentence
            "founded_year, follower_count, hq, updates, exit_data and more."
        ],
    )


def test_texts_and_lists_are_bounded_and_blank_ones_left_out() -> None:
    assert tidy(["a", " ", "b", None]) == ["a", "b", None]
    assert len(tidy("x" * 100_000)) == 20_000
    assert len(tidy(["x"] * 5_000)) == 1_000


def test_what_is_nested_without_end_is_cut() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]

    assert tidy(deep) == [[[[[[[[None]]]]]]]]


def test_a_line_and_a_day_are_taken_for_what_they_are() -> None:
    assert one_text(" Alpha\n  Inc.\u202e ") == "Alpha Inc."
    assert [one_text(each) for each in ("", 7, None, ["x"])] == [None] * 4
    assert a_day("2026-01-31") == "2026-01-31"
    assert a_day("2026-01-31T10:00:00Z") == "2026-01-31T10:00:00Z"
    assert [a_day(each) for each in ("soon", 2026, None, "2026-13-01")] == [None] * 4
