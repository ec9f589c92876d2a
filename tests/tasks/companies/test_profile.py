"""The Company profile is strict, always whole, and every field of it has a path.

A domain names a company only if it is the registrable one; the message says which one to send.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.companies.profile import CompanyProfile, FieldType, field_type, fields, registrable, value_at
from tasks.companies.web.transport import registrable_domain
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


@cases(
    ("domain", "plain"),
    [
        ("example.com", "example.com"),
        ("alpha.example", "alpha.example"),  # an ending that no registry has
        ("example.co.uk", "example.co.uk"),
        ("EXAMPLE.Com", "example.com"),
        ("example.com.", "example.com"),
        ("  example.com\n", "example.com"),
        ("1and1.com", "1and1.com"),
        ("3m.com", "3m.com"),
        ("a-b.co.jp", "a-b.co.jp"),
        ("github.io", "github.io"),  # a suffix in the list's private part only
        ("www.ck", "www.ck"),  # an exception to the rule *.ck
        ("müller.example", "xn--mller-kva.example"),
        ("MÜLLER.example", "xn--mller-kva.example"),
        ("mu\u0308ller.example", "xn--mller-kva.example"),
        ("xn--mller-kva.example", "xn--mller-kva.example"),
        ("XN--MLLER-KVA.EXAMPLE", "xn--mller-kva.example"),
        ("straße.de", "xn--strae-oqa.de"),
        ("食狮.公司.cn", "xn--85x722f.xn--55qx5d.cn"),
        ("example。com", "example.com"),
    ],
)
def test_a_registrable_domain_is_put_into_its_plain_form(domain: str, plain: str) -> None:
    assert registrable(domain) == plain


@cases(
    ("domain", "surplus"),
    [
        ("https://example.co.uk", "a scheme"),
        ("HTTP://example.co.uk", "a scheme"),
        ("//example.co.uk", "slashes"),
        ("www.example.co.uk", "a subdomain"),
        ("a.b.c.example.co.uk", "a subdomain"),
        ("example.co.uk/", "a path"),
        ("example.co.uk/about/us", "a path"),
        ("example.co.uk:443", "a port"),
        ("example.co.uk:", "a port"),
        ("info@example.co.uk", "a user name"),
        ("mailto:info@example.co.uk", "a user name"),
        ("example.co.uk?utm=1", "parameters"),
        ("example.co.uk#top", "a fragment"),
        (
            "https://user:pass@www.example.co.uk:8443/a/b.html?c=d#e",
            "a subdomain, a scheme, a user name, a port, a path",
        ),
        ("https:\\\\example.co.uk\\x", "a path"),
    ],
)
def test_anything_around_it_is_refused_with_the_domain_to_send(domain: str, surplus: str) -> None:
    with pytest.raises(BadRequest) as refused:
        registrable(domain)

    assert surplus in refused.value.message
    assert "send example.co.uk instead" in refused.value.message
    assert list(refused.value.fields) == ["domain"]


def test_a_name_and_a_password_are_not_repeated() -> None:
    with pytest.raises(BadRequest) as refused:
        registrable("https://admin:hunter2@example.com/secret?token=abc")

    assert not any(word in str(refused.value) for word in ("admin", "hunter2", "secret", "abc"))


@cases(
    ("domains", "why"),
    [
        (["alice.github.io"], r"send github\.io instead"),  # a host below a suffix of the list's private part
        (["co.uk", "com", "example", "localhost", "公司.cn", "foo.ck"], "an ending that companies register under"),
        (["127.0.0.1", "::1", "[::1]", "http://[2001:db8::1]:80/", "http://10.0.0.1/x"], "an IP address"),
        (["127.1", "0x7f.1", "2130706433"], "an IP address"),
        (["", " ", "\t\n"], "is blank"),
    ],
)
def test_what_names_no_company_is_refused_with_the_reason(domains: list[str], why: str) -> None:
    for domain in domains:
        with pytest.raises(BadRequest, match=why):
            registrable(domain)


@cases(
    "domain",
    [
        "a_b.com",
        "-a.com",
        "a-.com",
        "a..com",
        ".example.com",
        "example.com..",
        ".",
        "..",
        "../../etc/passwd",
        "..\\..\\secret",
        "exa mple.com",
        "exam\nple.com",
        "exam\0ple.com",
        "%2e%2e.com",
        "xn--a.com",
        f"{'x' * 64}.com",
        "a." * 130 + "com",
        "x" * 100_000,
        "http://",
        "\ud800.com",
    ],
)
def test_what_is_no_domain_name_is_refused(domain: str) -> None:
    with pytest.raises(BadRequest):
        registrable(domain)


def test_the_error_is_filed_under_the_name_that_the_caller_uses() -> None:
    with pytest.raises(BadRequest, match='"company_domain" holds a subdomain') as refused:
        registrable("www.example.com", field="company_domain")

    assert list(refused.value.fields) == ["company_domain"]


@given(st.text(max_size=80))
def test_whatever_is_given_the_outcome_is_a_plain_name_or_a_refusal(text: str) -> None:
    try:
        domain = registrable(text)
    except BadRequest:
        return
    assert registrable(domain) == domain
    assert domain.isascii()
    assert not set(domain) - set("abcdefghijklmnopqrstuvwxyz0123456789-.")


@cases(
    ("url", "domain"),
    [
        ("https://a.b.alpha.co.uk/x", "alpha.co.uk"),
        ("https://alpha.example:8443/", "alpha.example"),
        ("http://127.0.0.1/", None),
        ("http://[::1]/", None),
        ("http://localhost/", None),
        ("ftp://alpha.example/", None),
        ("http://[", None),
    ],
)
def test_an_address_lies_on_its_registrable_domain(url: str, domain: str | None) -> None:
    assert registrable_domain(url) == domain
