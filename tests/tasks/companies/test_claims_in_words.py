"""A fact in words: one sentence that an answerer may quote."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks.companies.claims import Claim
from tasks.companies.question import claims_in_words


@pytest.mark.parametrize(
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
