"""Values that the settings for companies accept, and those that they refuse by name."""

import pytest
from pydantic import ValidationError

from tasks.companies.settings import CompanySettings


def settings(monkeypatch: pytest.MonkeyPatch, **values: str) -> CompanySettings:
    for name, value in values.items():
        monkeypatch.setenv(f"DILIGENCE_{name.upper()}", value)
    return CompanySettings.current()


def test_a_list_is_parted_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    current = settings(monkeypatch, web_allow="127.0.0.1, Intranet.example,10.0.0.0/8,127.0.0.1,", fact_sources="sec")
    assert current.web_allow == ("127.0.0.1", "intranet.example", "10.0.0.0/8")
    assert current.fact_sources == ("sec",)


def test_the_address_of_a_server_ends_without_a_slash_and_a_whole_address_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    current = settings(monkeypatch, sec_url="http://127.0.0.1:9/sec/", wikidata_sparql_url="http://127.0.0.1:9/sparql/")
    assert current.sec_url == "http://127.0.0.1:9/sec"
    assert current.wikidata_sparql_url == "http://127.0.0.1:9/sparql/"


def test_a_site_has_the_domain_in_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    assert settings(monkeypatch, website_url="http://127.0.0.1:9/{domain}/").website_url.count("{domain}") == 1


def test_a_key_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    current = settings(monkeypatch, profile_api_key="one-secret", search_key="other-secret")
    assert "secret" not in repr(current)
    assert current.search_key is not None
    assert current.search_key.get_secret_value() == "other-secret"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("web_allow", "10.0.0.0/99"),
        ("web_allow", "http://intranet.example"),
        ("website_url", "ftp://{domain}"),
        ("website_url", "https://{company}"),
        ("gleif_url", "api.gleif.org"),
        ("search", "yahoo"),
        ("contact", "us\r\nX-Other: header"),
        ("facts_timeout", "0"),
    ],
)
def test_an_invalid_value_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    with pytest.raises(ValidationError) as refused:
        settings(monkeypatch, **{name: value})
    assert [error["loc"] for error in refused.value.errors()] == [(name,)]
