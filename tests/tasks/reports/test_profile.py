"""A profile's facts in words, with the claims that they come from."""

from typing import Any

from tasks.companies.claims import Claim
from tasks.reports.company import in_words, profile_facts
from tasks.reports.report import build
from tests.cases import cases
from tests.tasks.reports.rows import BEGAN, claim, company, write_company, write_run


def test_telling_facts_come_first_and_ids_and_pictures_not_at_all() -> None:
    fields: dict[str, Any] = {
        "search_id": "1",
        "profile_pic_url": "https://x.example/a.png",
        "extra.stock_symbol": "ABC",
        "hq": {},
    }
    fields |= {"founded_year": 2014, "tagline": "Warm homes"}
    claims = [Claim(field=field, value=value, source="files", retrieved_at=BEGAN) for field, value in fields.items()]
    assert [(fact.name, fact.value) for fact in profile_facts(claims)] == [
        ("founding year", "2014"),
        ("stock symbol", "ABC"),
        ("tagline", "Warm homes"),
    ]


def test_report_has_of_each_field_the_claim_that_the_profile_took() -> None:
    write_run("r1", [company("Alpha")])
    claims = [
        claim("founded_year", 2014, "files"),
        claim("founded_year", 2016, "sec"),
        claim("industry", "Heat", "sec"),
    ]
    write_company("r1", "alpha.example", claims=claims)
    facts = build("r1").companies[0].facts
    assert [(fact.field, fact.value, fact.source) for fact in facts] == [
        ("founded_year", 2014, "files"),
        ("industry", "Heat", "sec"),
    ]


@cases(
    ("field", "value", "words"),
    [
        ("company_size", [51, 200], "51 to 200"),
        ("company_size", [10_000, None], "10\u202f000 or more"),
        ("company_type", "PRIVATELY_HELD", "Privately held"),
        ("hq", {"country": "DK", "city": "Aarhus", "is_hq": True}, "Aarhus DK"),
        ("extra.founding_date", {"day": 3, "month": 4, "year": 2014}, "2014-04-03"),
        ("specialities", [f"s{n}" for n in range(10)], "s0, s1, s2, s3, s4, s5, s6, s7 and 2 more"),
        ("hq", {}, ""),
        ("extra.is_new", True, "yes"),
    ],
)
def test_values_are_in_words(field: str, value: Any, words: str) -> None:
    assert in_words(field, value) == words
