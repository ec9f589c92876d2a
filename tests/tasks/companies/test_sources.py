"""The contract of a source of facts, tested on all of them; a new source joins by a line in `SETUPS`.

Values that the settings for companies accept, and those that they refuse by name.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.companies.claims import CLAIMABLE, Claim
from tasks.companies.profile import CompanyProfile, CompanySettings
from tasks.companies.sources import SOURCES, FactSource, choose_sources, open_source
from tasks.companies.sources import gleif as gleif_source
from tasks.companies.sources import sec as edgar_module
from tasks.companies.sources import sec as sec_source
from tasks.companies.sources import website as website_source
from tasks.companies.sources import wikidata as wikidata_source
from tasks.companies.sources.files import FileSource
from tasks.companies.sources.profile_api import ProfileApiSource, ProviderState
from tasks.errors import BadRequest, DiligenceError, NotConfigured
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.cases import cases
from tests.companies_servers import gleif as register
from tests.companies_servers import sec as edgar
from tests.companies_servers import site
from tests.companies_servers import wikidata as wikibase
from tests.companies_servers.profile_api import KEY, ProfileApi
from tests.companies_servers.wikidata import forget, item, lead_to
from tests.tasks.companies.sources import memory as memory_source
from tests.tasks.companies.sources.conftest import claimed, values_of
from tests.web.behaviours import page
from tests.web.server import Asked, LoopbackServer, Reply

ALPHA = {"name": "Alpha GmbH", "founded_year": 2015, "hq": {"country": "DE"}, "extra": {"ipo_status": "Private"}}
BETA = {"name": "Beta", "founded_year": 1999, "categories": []}
KNOWN: Mapping[str, Mapping[str, Any]] = {"alpha.example": ALPHA, "xn--mller-kva.example": BETA}


@dataclass(frozen=True)
class Stage:
    """Where a source is set up: a folder, settings, and servers that end with the test."""

    folder: Path
    settings: pytest.MonkeyPatch
    servers: ExitStack

    def serve(self, setting: str, pages: Callable[[Asked], Reply]) -> str:
        """Start a server that answers so; its address is given back, and is the setting's value."""
        server = self.servers.enter_context(LoopbackServer(pages))
        self.settings.setenv(f"DILIGENCE_{setting}", server.url)
        return server.url


def memory(stage: Stage) -> FactSource:
    return _registered_memory(stage, KNOWN)


def lost_memory(stage: Stage) -> FactSource:
    return _registered_memory(stage, None)


def _registered_memory(stage: Stage, profiles: Mapping[str, Mapping[str, Any]] | None) -> FactSource:
    """A source of the tests: one module, and one line in the registry."""
    stage.settings.setitem(SOURCES, "memory", memory_source.__name__)
    stage.settings.setattr(memory_source, "PROFILES", profiles)
    stage.settings.setenv("DILIGENCE_FACT_SOURCES", "memory")
    return choose_sources()[0]


def files(stage: Stage) -> FactSource:
    for domain, profile in KNOWN.items():
        (stage.folder / f"{domain}.json").write_text(json.dumps(profile), encoding="utf-8")
    return FileSource(stage.folder)


def lost_files(stage: Stage) -> FactSource:
    return FileSource(stage.folder / "gone")


def wikidata(stage: Stage) -> FactSource:
    alpha: dict[str, Any] = {
        "P31": [wikibase.item_value("Q5621421")],
        "P159": [wikibase.item_value("Q64")],
        "P17": [wikibase.item_value("Q183")],
        "P1448": [wikibase.in_language("Alpha GmbH")],
    }
    items = [
        item("Q1", "Alpha", P856=["https://alpha.example/"], P571=[wikibase.moment("2015")], **alpha),
        item("Q2", "Beta", P856=["https://müller.example"], P571=[wikibase.moment("1999")]),
        item("Q183", "Germany", P297=["DE"]),
    ]
    _serve_wikidata(stage, *items)
    return wikidata_source.open_source()


def lost_wikidata(stage: Stage) -> FactSource:
    wikidata(stage)
    stage.serve("WIKIDATA_SPARQL_URL", lambda _: page("<p>Sorry"))
    return wikidata_source.open_source()


def sec(stage: Stage) -> FactSource:
    known = [
        edgar.submission("1", "Alpha GmbH", business={**edgar.LONDON, "countryCode": "2M"}),
        edgar.submission("2", "Beta"),
    ]
    stage.serve("SEC_DATA_URL", edgar.sec(*known))
    stage.settings.setenv("DILIGENCE_CONTACT", "mailto:us@example.com")
    stage.settings.setitem(edgar_module.SEC, "limiter", RateLimiter(RateLimit(at_once=10)))
    _in_wikidata(stage, P5531=("1", "2"))
    return sec_source.open_source()


def lost_sec(stage: Stage) -> FactSource:
    sec(stage)
    stage.serve("SEC_DATA_URL", lambda _: page("<p>Sorry"))
    return sec_source.open_source()


def gleif(stage: Stage) -> FactSource:
    leis = ("529900K9B0N5BT694847", "7LTWFZYICNSX8D621K86")
    records = [register.record(leis[0], "Alpha GmbH"), register.record(leis[1], "Beta")]
    stage.serve("GLEIF_URL", register.gleif(*records))
    stage.settings.setitem(gleif_source.GLEIF, "limiter", RateLimiter(RateLimit(at_once=5)))
    _in_wikidata(stage, P1278=leis)
    return gleif_source.open_source()


def lost_gleif(stage: Stage) -> FactSource:
    gleif(stage)
    stage.serve("GLEIF_URL", lambda _: page("<p>Sorry"))
    return gleif_source.open_source()


def profile_api(stage: Stage) -> FactSource:
    return ProfileApiSource(
        stage.serve("PROFILE_API_URL", ProfileApi(KNOWN)), KEY, ProviderState(RateLimiter(RateLimit(at_once=10)))
    )


def lost_profile_api(stage: Stage) -> FactSource:
    address = stage.serve("PROFILE_API_URL", lambda _: page("<p>Sorry"))
    return ProfileApiSource(address, KEY, ProviderState(RateLimiter(RateLimit(at_once=10))))


def website(stage: Stage) -> FactSource:
    beta = {"@type": "Organization", "name": "Beta", "foundingDate": "1999"}
    pages = {
        "/alpha.example": site.document("<p>Pumps</p>", site.ALPHA),
        "/xn--mller-kva.example": site.document("<p>Flour</p>", beta),
    }
    server = stage.servers.enter_context(LoopbackServer(pages))
    stage.settings.setenv("DILIGENCE_WEBSITE_URL", f"{server.url}/{{domain}}")
    return website_source.open_source()


def lost_website(stage: Stage) -> FactSource:
    server = stage.servers.enter_context(LoopbackServer(lambda _: Reply(status=501)))
    stage.settings.setenv("DILIGENCE_WEBSITE_URL", f"{server.url}/{{domain}}")
    return website_source.open_source()


def _in_wikidata(stage: Stage, **numbers: Sequence[str]) -> None:
    """Let Wikidata know the companies of `KNOWN` and their numbers with others, by property, in their order."""
    items = []
    for place, (domain, profile) in enumerate(KNOWN.items()):
        claims: dict[str, Any] = {name: [values[place]] for name, values in numbers.items()}
        items.append(item(f"Q{place + 1}", str(profile["name"]), P856=[f"https://{domain}/"], **claims))
    _serve_wikidata(stage, *items)


def _serve_wikidata(stage: Stage, *items: Any) -> None:
    forget(stage.settings)
    server = stage.servers.enter_context(LoopbackServer(wikibase.wikidata(*items)))
    lead_to(server, stage.settings)


SETUPS: list[tuple[Callable[[Stage], FactSource], Callable[[Stage], FactSource]]] = [
    (memory, lost_memory),
    (files, lost_files),
    (wikidata, lost_wikidata),
    (sec, lost_sec),
    (gleif, lost_gleif),
    (profile_api, lost_profile_api),
    (website, lost_website),
]
"""How to set each source up so that it knows `KNOWN`, and so that it cannot be reached."""
NOT_KNOWN: Mapping[str, frozenset[str]] = {
    "sec": frozenset({"founded_year", "extra.ipo_status"}),
    "gleif": frozenset({"founded_year", "extra.ipo_status"}),
    "website": frozenset({"extra.ipo_status"}),
}
"""Fields of `KNOWN` that a source does not have."""
NAMELESS = frozenset({"sec", "gleif", "profile_api", "website"})
"""Sources that know no domain by a name."""


@pytest.fixture
def stage(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with ExitStack() as servers:
        yield Stage(tmp_path, monkeypatch, servers)


@pytest.fixture(params=SETUPS, ids=lambda pair: pair[0].__name__)
def source(request: pytest.FixtureRequest, stage: Stage) -> FactSource:
    source: FactSource = request.param[0](stage)
    return source


@pytest.fixture(params=SETUPS, ids=lambda pair: pair[0].__name__)
def unreachable(request: pytest.FixtureRequest, stage: Stage) -> FactSource:
    source: FactSource = request.param[1](stage)
    return source


def test_a_known_company_gives_claims_that_make_its_profile(source: FactSource) -> None:
    finding = claimed(source)

    values = values_of(finding)
    assert values["name"] == "Alpha GmbH"
    assert values["hq"]["country"] == "DE"
    for field, value in (("founded_year", 2015), ("extra.ipo_status", "Private")):
        assert values.get(field) == (None if field in NOT_KNOWN.get(source.name, ()) else value)


def test_a_claim_names_its_field_source_and_time(source: FactSource) -> None:
    finding = claimed(source)

    for claim in finding.claims:
        assert claim.field in CLAIMABLE
        assert claim.value is not None
        assert claim.source == source.name
        assert datetime.now(UTC) - timedelta(minutes=5) < claim.retrieved_at <= datetime.now(UTC)


def test_no_field_is_claimed_twice(source: FactSource) -> None:
    finding = claimed(source)

    fields = [claim.field for claim in finding.claims]
    assert len(fields) == len(set(fields))


def test_an_unknown_company_is_none_and_no_error(source: FactSource) -> None:
    assert source.facts("unknown.example") is None
    assert source.domains("Unknown") == []


def test_an_international_name_is_known_by_its_plain_form(source: FactSource) -> None:
    finding = claimed(source, "xn--mller-kva.example")

    values = values_of(finding)
    assert values["name"] == "Beta"
    assert values.get("founded_year") == (None if "founded_year" in NOT_KNOWN.get(source.name, ()) else 1999)


@pytest.mark.parametrize("domain", ["../alpha.example", "a/../../b.example", "www.alpha.example", "..", "/etc/passwd"])
def test_what_is_no_registrable_domain_is_not_looked_up(source: FactSource, domain: str) -> None:
    with pytest.raises(BadRequest):
        source.facts(domain)


def test_a_company_is_found_by_its_exact_name(source: FactSource) -> None:
    domains = [] if source.name in NAMELESS else ["alpha.example"]
    assert source.domains("ALPHA  gmbh") == domains
    assert source.domains("Alpha") == domains
    assert source.domains("Alph") == []


def test_several_threads_may_ask_at_once(source: FactSource) -> None:
    with ThreadPoolExecutor(8) as pool:
        findings = list(pool.map(source.facts, ["alpha.example", "unknown.example"] * 20))

    assert [finding is not None for finding in findings] == [True, False] * 20


def test_a_source_out_of_reach_is_an_error_and_not_an_unknown_company(unreachable: FactSource) -> None:
    with pytest.raises(DiligenceError):
        unreachable.facts("alpha.example")
    if unreachable.name not in NAMELESS:
        with pytest.raises(DiligenceError):
            unreachable.domains("Alpha")


@pytest.mark.usefixtures("facts")
@pytest.mark.parametrize("name", SOURCES)
def test_a_source_has_its_name_of_the_registry(name: str) -> None:
    assert open_source(name).name == name


def test_a_claim_has_every_key_of_its_field(claim: Callable[..., Claim]) -> None:
    assert (
        claim("hq", {"city": "Aarhus"}).value
        == CompanyProfile.model_validate({"hq": {"city": "Aarhus"}}).model_dump()["hq"]
    )


@cases(
    ("field", "value"),
    [
        ("founded_year", "2015"),
        ("founded_year", None),
        ("founded_yaer", 2015),
        ("extra", {}),
        ("extra.founded_year", 2015),
        ("hq.city", "Aarhus"),
        ("last_updated", "2025-01-01"),
        ("company_size", [51]),
    ],
)
def test_a_claim_that_does_not_fit_the_profile_cannot_be_made(
    claim: Callable[..., Claim], field: str, value: Any
) -> None:
    with pytest.raises(ValidationError):
        claim(field, value)


@pytest.mark.usefixtures("facts")
def test_the_default_asks_every_source_that_needs_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_FACT_SOURCES", raising=False)
    assert [source.name for source in choose_sources()] == ["files", "wikidata", "sec", "gleif", "website"]


@pytest.mark.parametrize("setting", ["files", " Files ,, files", "sec,files"])
def test_sources_are_named_comma_separated(facts: Path, monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", setting)

    names = [source.name for source in choose_sources()]
    assert "files" in names
    assert len(names) == len(set(names))


def test_an_unknown_source_is_named_with_those_there_are(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files,wikipaedia")

    with pytest.raises(NotConfigured, match=re.compile("DILIGENCE_FACT_SOURCES names wikipaedia.*files.*wikidata")):
        choose_sources()


def test_no_source_at_all_names_the_setting(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", ",")

    with pytest.raises(NotConfigured, match="DILIGENCE_FACT_SOURCES"):
        choose_sources()


@pytest.mark.usefixtures("facts")
def test_the_commercial_provider_comes_first_when_there_is_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_FACT_SOURCES", raising=False)
    assert "profile_api" not in [source.name for source in choose_sources()]

    monkeypatch.setenv("DILIGENCE_PROFILE_API_KEY", "a key")
    assert next(source.name for source in choose_sources()) == "profile_api"

    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files,profile_api")
    assert [source.name for source in choose_sources()] == ["files", "profile_api"]

    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")
    assert [source.name for source in choose_sources()] == ["files"]


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
