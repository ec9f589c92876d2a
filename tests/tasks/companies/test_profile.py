"""The Company profile is strict, always whole, and every field of it has a path."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.companies.profile import CompanyProfile, FieldType, field_type, fields, value_at
from tasks.errors import BadRequest
from tests.cases import cases

PROFILE_KEYS = (  # noqa: SIM905 - a list of words reads best as words
    "social_internal_id description website industry company_size company_size_on_social hq company_type "
    "founded_year specialities locations name tagline universal_name_id profile_pic_url search_id similar_companies "
    "affiliated_companies updates follower_count acquisitions exit_data extra funding_data categories customer_list "
    "social_url last_updated"
).split()
EXTRA_KEYS = (  # noqa: SIM905
    "funding_db_profile_url ipo_status funding_db_rank founding_date operating_status company_type contact_email "
    "phone_number network_a_id network_b_id number_of_funding_rounds total_funding_amount stock_symbol ipo_date "
    "number_of_lead_investors number_of_investors total_fund_raised number_of_investments number_of_lead_investments "
    "number_of_exits number_of_acquisitions"
).split()


def test_every_key_of_the_contract_is_present_and_null_where_unknown() -> None:
    profile = CompanyProfile().model_dump()

    assert list(profile) == PROFILE_KEYS
    assert list(profile["extra"]) == EXTRA_KEYS
    assert {key for key, value in profile.items() if value is not None} == {"extra"}
    assert set(profile["extra"].values()) == {None}


def test_an_extra_of_null_is_an_object_of_nulls() -> None:
    assert CompanyProfile.model_validate({"extra": None}) == CompanyProfile()


def test_nested_parts_have_every_key_too() -> None:
    profile = CompanyProfile.model_validate(
        {
            "hq": {"city": "Aarhus"},
            "funding_data": [{"investor_list": [{"name": "Kattegat"}], "announced_date": {"year": 2022}}],
            "acquisitions": {"acquired": [{"price": 5}]},
        }
    ).model_dump()

    assert list(profile["hq"]) == ["country", "city", "postal_code", "line_1", "is_hq", "state"]
    assert profile["funding_data"] == [
        {
            "funding_type": None,
            "money_raised": None,
            "announced_date": {"day": None, "month": None, "year": 2022},
            "number_of_investor": None,
            "investor_list": [{"social_profile_url": None, "name": "Kattegat", "type": None}],
        }
    ]
    assert profile["acquisitions"]["acquired_by"] is None
    assert profile["acquisitions"]["acquired"][0]["price"] == 5


def test_an_empty_array_stays_apart_from_unknown() -> None:
    profile = CompanyProfile.model_validate({"funding_data": []})

    assert profile.funding_data == []
    assert profile.categories is None


def test_an_open_head_count_range_is_taken() -> None:
    assert CompanyProfile.model_validate({"company_size": [10001, None]}).company_size == [10001, None]


def test_money_keeps_its_kind_of_number() -> None:
    rounds = CompanyProfile.model_validate({"funding_data": [{"money_raised": 5}, {"money_raised": 2.5}]})

    assert json.loads(rounds.model_dump_json())["funding_data"][0]["money_raised"] == 5
    assert '"money_raised":5,' in rounds.model_dump_json()
    assert '"money_raised":2.5,' in rounds.model_dump_json()


@cases(
    "wrong",
    [
        {"founded_year": "2015"},
        {"founded_year": 2015.5},
        {"founded_year": True},
        {"name": 7},
        {"company_size": [51]},
        {"company_size": [51, 200, 500]},
        {"hq": {"is_hq": "yes"}},
        {"hq": "Aarhus"},
        {"extra": {"ipo_date": "2015-03-01"}},
        {"specialities": "heating"},
        {"funding_data": [{"money_raised": "much"}]},
        {"funding_data": [{"money_raised": float("nan")}]},
        {"last_updated": "yesterday"},
        {"last_updated": "0001-01-01T00:00:00+14:00"},
        {"founded_yaer": 2015},
        {"extra": {"founded_year": 2015}},
    ],
)
def test_a_wrong_type_or_an_unknown_key_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        CompanyProfile.model_validate(wrong)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("2025-01-31T22:40:51Z", "2025-01-31T22:40:51Z"),
        ("2025-02-01T00:40:51+02:00", "2025-01-31T22:40:51Z"),
        ("2025-01-31T22:40:51.123", "2025-01-31T22:40:51Z"),
        ("2025-01-31", "2025-01-31T00:00:00Z"),
    ],
)
def test_last_updated_is_put_into_utc(value: str, plain: str) -> None:
    assert CompanyProfile.model_validate({"last_updated": value}).last_updated == plain


def test_every_field_of_the_contract_has_a_path() -> None:
    known = fields()

    assert set(PROFILE_KEYS) | {f"extra.{key}" for key in EXTRA_KEYS} <= set(known)


@cases(
    ("path", "type_"),
    [
        ("founded_year", FieldType.INTEGER),
        ("name", FieldType.TEXT),
        ("hq", FieldType.OBJECT),
        ("hq.country", FieldType.TEXT),
        ("hq.is_hq", FieldType.BOOLEAN),
        ("extra.ipo_status", FieldType.TEXT),
        ("extra.ipo_date", FieldType.DATE),
        ("extra.ipo_date.year", FieldType.INTEGER),
        ("company_size", FieldType.LIST),
        ("company_size.0", FieldType.INTEGER),
        ("company_size.1", FieldType.INTEGER),
        ("locations.12.city", FieldType.TEXT),
        ("funding_data.0.money_raised", FieldType.NUMBER),
        ("funding_data.3.investor_list.2.name", FieldType.TEXT),
        ("specialities.4", FieldType.TEXT),
        ("last_updated", FieldType.TIME),
    ],
)
def test_a_path_has_the_type_of_what_stands_there(path: str, type_: FieldType) -> None:
    assert field_type(path) is type_


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("founded_yaer", "founded_year"),
        ("ipo_status", "extra.ipo_status"),
        ("hq.countri", "hq.country"),
        ("company_size.2", "company_size.1"),
    ],
)
def test_an_unknown_path_names_the_nearest_ones(path: str, near: str) -> None:
    with pytest.raises(BadRequest, match=f"Did you mean .*{near}"):
        field_type(path)


@cases("path", ["", ".", "hq.", "__class__", "locations.x.city", "locations.-1.city", "9" * 9000])
def test_a_path_that_is_like_no_field_is_refused(path: str) -> None:
    with pytest.raises(BadRequest, match="has no field"):
        value_at(CompanyProfile(), path)


def test_a_value_is_read_at_its_path() -> None:
    profile = CompanyProfile.model_validate(
        {"company_size": [51, None], "hq": {"country": "DK"}, "locations": [{"city": "Malmö"}], "founded_year": 0}
    )

    for value in (profile, profile.model_dump()):
        assert value_at(value, "company_size.0") == 51
        assert value_at(value, "company_size.1") is None
        assert value_at(value, "hq.country") == "DK"
        assert value_at(value, "locations.0.city") == "Malmö"
        assert value_at(value, "locations.7.city") is None
        assert value_at(value, "extra.ipo_date.year") is None
        assert value_at(value, "founded_year") == 0
        assert value_at(value, "hq")["country"] == "DK"


def test_the_sample_profiles_are_company_profiles() -> None:
    folder = Path(__file__).parents[3] / "deployments" / "sample" / "facts"
    profiles = [CompanyProfile.model_validate_json(path.read_bytes()) for path in sorted(folder.glob("*.json"))]

    assert len(profiles) >= 3
    assert all(profile.name for profile in profiles)
