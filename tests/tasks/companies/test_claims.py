"""Claims: made of what a source sent, merged by precedence, and compared for conflicts.

A fact in words: one sentence that an answerer may quote.

Telephone numbers, as they are called from abroad.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tasks.companies.claims import Claim, ClaimCollector, SourceClaims, a_day, find_conflicts, merge, one_text, tidy
from tasks.companies.company_match import international
from tasks.companies.question import claims_in_words
from tests.cases import cases

Make = Callable[..., Claim]


def test_claims_say_where_they_come_from_and_of_when() -> None:
    claims = ClaimCollector("sec", "https://sec.example/1", "2026-01-31")
    claims.add("name", " Alpha\u200b Inc.\u0007 ")

    result = claims.result("a warning")

    assert result is not None
    claim = result.claims[0]
    assert (claim.field, claim.value, claim.source) == ("name", "Alpha Inc.", "sec")
    assert (claim.url, claim.as_of) == ("https://sec.example/1", "2026-01-31")
    assert claim.retrieved_at <= datetime.now(UTC)
    assert result.warnings == ["a warning"]


@cases(
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

    result = claims.result()
    assert result is not None
    assert result.claims[0].value == value


def test_what_does_not_fit_is_named_and_not_repeated() -> None:
    claims = ClaimCollector("sec")
    for field in ("founded_year", "follower_count", "hq", "updates", "exit_data", "categories"):
        claims.add(field, "hunter2")

    result = claims.result()

    assert result == SourceClaims(
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
    assert [one_text(value) for value in ("", 7, None, ["x"])] == [None] * 4
    assert a_day("2026-01-31") == "2026-01-31"
    assert a_day("2026-01-31T10:00:00Z") == "2026-01-31T10:00:00Z"
    assert [a_day(value) for value in ("soon", 2026, None, "2026-13-01")] == [None] * 4


def test_the_first_source_that_speaks_to_a_field_has_the_word(claim: Make) -> None:
    profile = merge(
        [
            claim("founded_year", 1902, source="files"),
            claim("founded_year", 1929, source="wikidata"),
            claim("extra.ipo_status", "Public", source="wikidata"),
            claim("extra.ipo_status", "Private", source="sec"),
            claim("name", "Alpha", source="sec"),
        ]
    )

    assert (profile.founded_year, profile.name, profile.extra.ipo_status) == (1902, "Alpha", "Public")
    assert profile.tagline is None


def test_headquarters_are_put_together_of_parts_that_do_not_contradict_each_other(claim: Make) -> None:
    def place(**parts: Any) -> dict[str, Any]:
        return {
            "country": None,
            "city": None,
            "postal_code": None,
            "line_1": None,
            "state": None,
            "is_hq": True,
            **parts,
        }

    profile = merge(
        [
            claim("hq", place(country="US", city="Redmond"), source="wikidata"),
            claim("hq", place(country="US", city="Albuquerque", state="NM"), source="website"),
            claim("hq", place(country="US", city="REDMOND", postal_code="98052", state="WA"), source="sec"),
        ]
    )

    assert profile.hq is not None
    assert profile.hq.model_dump() == place(country="US", city="Redmond", postal_code="98052", state="WA")


def test_of_head_counts_and_status_the_newest_counts(claim: Make) -> None:
    profile = merge(
        [
            claim("company_size", [1001, 5000], source="wikidata", as_of="2011"),
            claim("company_size", [10001, None], source="website", as_of="2026-01-01"),
            claim("company_size", [51, 200], source="other", as_of="2999-01-01"),
            claim("extra.operating_status", "Inactive", source="sec", as_of="2020-05"),
            claim("extra.operating_status", "Active", source="gleif", as_of="2026-01-02T10:00:00Z"),
            claim("name", "Alpha", source="wikidata", as_of="2011"),
            claim("name", "Alpha Group", source="website", as_of="2026"),
        ]
    )

    assert profile.company_size == [10001, None]
    assert profile.extra.operating_status == "Active"
    assert profile.name == "Alpha"


def test_an_undated_first_claim_keeps_the_word(claim: Make) -> None:
    claims = [claim("company_size", [1, 1], source="files"), claim("company_size", [2, 10], as_of="2026-01-01")]

    assert merge(claims).company_size == [1, 1]


def test_an_undated_head_count_of_the_company_itself_and_an_old_dated_one_are_a_conflict(claim: Make) -> None:
    own = claim("company_size", [201, 500], source="website")
    old = claim("company_size", [51, 200], source="wikidata", as_of="2014")

    (conflict,) = find_conflicts([own, old])
    assert [(claim.source, claim.as_of) for claim in conflict.claims] == [("website", None), ("wikidata", "2014")]


def test_a_founding_year_and_a_founding_date_of_another_year_are_a_conflict(claim: Make) -> None:
    year = claim("founded_year", 1999, source="wikidata")
    date = claim("extra.founding_date", {"day": 4, "month": 5, "year": 1902}, source="gleif")
    same = claim("extra.founding_date", {"day": None, "month": None, "year": 1999}, source="wikidata")

    (conflict,) = find_conflicts([year, date])
    assert conflict.field == "founded_year"
    assert [(claim.value, claim.source) for claim in conflict.claims] == [(1999, "wikidata"), (1902, "gleif")]
    assert find_conflicts([year, same]) == []


@cases(
    ("dates", "newest"),
    [
        (["2024-05-01", "2025-01-31T22:00:00Z", "2023"], "2025-01-31T22:00:00Z"),
        (["2024"], "2024-01-01T00:00:00Z"),
        (["2024-06", "2024"], "2024-06-01T00:00:00Z"),
        ([None, "2024"], "2026-03-31T12:00:00Z"),
        (["some day"], "2026-03-31T12:00:00Z"),
        (["0001-01-01T00:00:00+14:00"], "2026-03-31T12:00:00Z"),
    ],
)
def test_last_updated_is_the_newest_claims_date(claim: Make, dates: list[str | None], newest: str) -> None:
    assert merge([claim("name", "Alpha", as_of=date) for date in dates]).last_updated == newest


def test_no_claims_make_a_profile_of_nulls() -> None:
    assert merge([]).last_updated is None
    assert find_conflicts([]) == []


def test_a_conflict_holds_every_claim_on_its_field(claim: Make) -> None:
    claims = [
        claim("extra.ipo_status", "Private", source="files"),
        claim("founded_year", 1902, source="files", as_of="2024"),
        claim("founded_year", 1929, source="wikidata", url="https://www.wikidata.org/wiki/Q1"),
        claim("founded_year", 1902, source="sec"),
        claim("extra.ipo_status", "Public", source="sec"),
    ]

    conflicts = find_conflicts(claims)

    assert [conflict.field for conflict in conflicts] == ["founded_year", "extra.ipo_status"]
    assert [(claim.source, claim.value) for claim in conflicts[0].claims] == [
        ("files", 1902),
        ("wikidata", 1929),
        ("sec", 1902),
    ]


DATE = {"day": 17, "month": 3, "year": 2014}


@cases(
    ("field", "one", "other"),
    [
        ("founded_year", 1902, 1902),
        ("name", "Alpha  GmbH", "ALPHA GmbH."),
        ("name", "Müller", "Mu\u0308ller"),
        ("website", "https://www.alpha.example/", "http://alpha.example"),
        ("extra.phone_number", "+45 70 00 00 41", "004570000041"),
        ("hq", {"city": "Aarhus", "country": "DK"}, {"city": "AARHUS"}),
        ("extra.founding_date", {"year": 2014}, DATE),
        ("company_size", [10001, None], [10001, 50000]),
        ("specialities", ["heating", "leaks"], ["Leaks", "heating"]),
        ("locations", [{"city": "A"}, {"city": "B"}], [{"city": "b", "country": "DK"}, {"city": "a"}]),
        ("description", "A heater.", "Warm homes."),
        ("updates", [{"text": "one"}], []),
    ],
)
def test_another_way_to_write_it_is_no_conflict(claim: Make, field: str, one: Any, other: Any) -> None:
    assert find_conflicts([claim(field, one), claim(field, other, source="sec")]) == []


@cases(
    ("field", "one", "other"),
    [
        ("founded_year", 1902, 1929),
        ("name", "Alpha", "Alpha Industries"),
        ("name", "!", "?"),
        ("website", "https://alpha.example", "https://beta.example"),
        ("website", "https://alpha.example/de", "https://alpha.example/en"),
        ("hq", {"city": "Aarhus", "country": "DK"}, {"city": "Malmö", "country": "SE"}),
        ("extra.founding_date", DATE, {**DATE, "day": 18}),
        ("company_size", [51, 200], [201, 500]),
        ("company_size", [10001, None], [5000, 10001]),
        ("specialities", ["heating"], ["heating", "leaks"]),
        ("specialities", ["heating", "heating"], ["heating", "leaks"]),
        ("funding_data", [], [{"funding_type": "Seed"}]),
        ("extra.phone_number", "+45 70 00 00 41", "+45 70 00 00 42"),
    ],
)
def test_another_fact_is_a_conflict(claim: Make, field: str, one: Any, other: Any) -> None:
    conflicts = find_conflicts([claim(field, one), claim(field, other, source="sec")])

    assert [conflict.field for conflict in conflicts] == [field]


@cases(
    ("field", "value", "sentence"),
    [
        ("industry", "Software", "The industry is Software."),
        ("tagline", "Warm homes!", "The tagline is Warm homes!"),
        ("founded_year", 2014, "The company was founded in the year 2014."),
        ("extra.number_of_exits", 0, "The number of exits is 0."),
        ("company_size", [51, 200], "The number of employees (company size) is 51 to 200."),
        ("company_size", [10001, None], "The number of employees (company size) is 10001 or more."),
        ("company_size", [None, 10], "The number of employees (company size) is at most 10."),
        ("company_size", [None, None], "The number of employees (company size) is unknown."),
        ("specialities", ["heat", "leaks"], "The specialities are heat, leaks."),
        ("categories", [], "The categories: the source says that there are none."),
        ("extra.ipo_date", {"year": 2014, "month": 3, "day": 7}, "The ipo date is 2014-03-07."),
        ("extra.ipo_date", {"year": 2014, "month": 3}, "The ipo date is 2014-03."),
        ("extra.ipo_date", {"year": 2014}, "The ipo date is 2014."),
        ("extra.ipo_date", {}, "The ipo date is unknown year."),
        ("hq", {"city": "Aarhus", "country": "DK", "is_hq": True}, "The headquarters is at Aarhus, DK."),
        (
            "locations",
            [{"city": "Aarhus"}, {"city": "Malmö", "postal_code": "211 19"}],
            "A location is at Aarhus.\nA location is at 211 19 Malmö.",
        ),
        (
            "funding_data",
            [{"funding_type": "Seed", "money_raised": 900000, "investor_list": [{"name": "A"}, {"name": "B"}]}],
            "A funding round: funding type Seed; money raised 900000; investor list (name A), (name B).",
        ),
        ("acquisitions", {"acquired": []}, "The acquisitions: acquired none."),
    ],
)
def test_a_claim_reads_as_a_sentence(claim: Callable[..., Claim], field: str, value: Any, sentence: str) -> None:
    assert claims_in_words([claim(field, value)]) == sentence


@cases(
    ("phone", "country", "number"),
    [
        ("4089961010", "US", "+1 408-996-1010"),
        ("1-408-996-1010", "CA", "+1 408-996-1010"),
        ("011-31-20-546-5000", "US", "+31205465000"),
        ("+49 89 636 33443", "DE", "+49 89 636 33443"),
        ("089 636 33443", "DE", "089 636 33443"),
        ("n/a", "US", None),
        ("", "US", None),
        (4089961010, "US", None),
    ],
)
def test_telephone_numbers_have_their_prefix_where_it_is_known(phone: Any, country: str, number: str | None) -> None:
    assert international(phone, country) == number
