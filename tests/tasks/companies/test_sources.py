"""What every source of facts keeps to, whichever it is; a new source joins by a line in `SOURCES`."""

import json
import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest
from pydantic import ValidationError

from tasks.companies import sources
from tasks.companies.profile import CompanyProfile
from tasks.companies.settings import KNOWN_SOURCES
from tasks.companies.sources import CLAIMABLE, Claim, FactSource, configured
from tasks.companies.sources.files import FileSource
from tasks.errors import BadRequest, DiligenceError, NotConfigured

ALPHA = {"name": "Alpha GmbH", "founded_year": 2015, "hq": {"country": "DE"}, "extra": {"ipo_status": "Private"}}
BETA = {"name": "Beta", "founded_year": 1999, "categories": []}
KNOWN: Mapping[str, Mapping[str, Any]] = {"alpha.example": ALPHA, "xn--mller-kva.example": BETA}


def files(folder: Path) -> FactSource:
    for domain, profile in KNOWN.items():
        (folder / f"{domain}.json").write_text(json.dumps(profile), encoding="utf-8")
    return FileSource(folder)


def lost_files(folder: Path) -> FactSource:
    return FileSource(folder / "gone")


SOURCES: list[tuple[Callable[[Path], FactSource], Callable[[Path], FactSource]]] = [(files, lost_files)]
"""How to make each source so that it knows `KNOWN`, and so that it cannot be reached."""


@pytest.fixture(params=SOURCES, ids=lambda pair: pair[0].__name__)
def source(request: pytest.FixtureRequest, tmp_path: Path) -> FactSource:
    made: FactSource = request.param[0](tmp_path)
    return made


@pytest.fixture(params=SOURCES, ids=lambda pair: pair[0].__name__)
def unreachable(request: pytest.FixtureRequest, tmp_path: Path) -> FactSource:
    made: FactSource = request.param[1](tmp_path)
    return made


def test_a_known_company_gives_claims_that_make_its_profile(source: FactSource) -> None:
    finding = source.facts("alpha.example")

    assert finding is not None
    said = {claim.field: claim.value for claim in finding.claims}
    assert said["name"] == "Alpha GmbH"
    assert said["founded_year"] == 2015
    assert said["hq"]["country"] == "DE"
    assert said["extra.ipo_status"] == "Private"


def test_a_claim_says_what_it_is_about_and_where_it_comes_from(source: FactSource) -> None:
    finding = source.facts("alpha.example")

    assert finding is not None
    for claim in finding.claims:
        assert claim.field in CLAIMABLE
        assert claim.value is not None
        assert claim.source == source.name
        assert datetime.now(UTC) - timedelta(minutes=5) < claim.retrieved_at <= datetime.now(UTC)


def test_no_field_is_claimed_twice(source: FactSource) -> None:
    finding = source.facts("alpha.example")

    assert finding is not None
    fields = [claim.field for claim in finding.claims]
    assert len(fields) == len(set(fields))


def test_an_unknown_company_is_none_and_no_error(source: FactSource) -> None:
    assert source.facts("unknown.example") is None
    assert source.domains("Unknown") == []


def test_an_international_name_is_known_by_its_plain_form(source: FactSource) -> None:
    finding = source.facts("xn--mller-kva.example")

    assert finding is not None
    assert {claim.field: claim.value for claim in finding.claims}["founded_year"] == 1999


@pytest.mark.parametrize("domain", ["../alpha.example", "a/../../b.example", "www.alpha.example", "..", "/etc/passwd"])
def test_what_is_no_registrable_domain_is_not_looked_up(source: FactSource, domain: str) -> None:
    with pytest.raises(BadRequest):
        source.facts(domain)


def test_a_company_is_found_by_its_exact_name(source: FactSource) -> None:
    assert source.domains("ALPHA  gmbh") == ["alpha.example"]
    assert source.domains("Alpha") == ["alpha.example"]
    assert source.domains("Alph") == []


def test_several_threads_may_ask_at_once(source: FactSource) -> None:
    with ThreadPoolExecutor(8) as pool:
        findings = list(pool.map(source.facts, ["alpha.example", "unknown.example"] * 20))

    assert [finding is not None for finding in findings] == [True, False] * 20


def test_a_source_out_of_reach_is_an_error_and_not_an_unknown_company(unreachable: FactSource) -> None:
    with pytest.raises(DiligenceError):
        unreachable.facts("alpha.example")
    with pytest.raises(DiligenceError):
        unreachable.domains("Alpha")


@pytest.mark.usefixtures("facts")
def test_every_module_of_the_folder_opens_a_source_of_its_name() -> None:
    names = [module.name for module in iter_modules(sources.__path__)]

    assert set(names) <= set(KNOWN_SOURCES)
    for name in names:
        assert import_module(f"tasks.companies.sources.{name}").open_source().name == name


def test_a_claim_has_the_whole_shape_of_its_field(claim: Callable[..., Claim]) -> None:
    assert (
        claim("hq", {"city": "Aarhus"}).value
        == CompanyProfile.model_validate({"hq": {"city": "Aarhus"}}).model_dump()["hq"]
    )


@pytest.mark.parametrize(
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
def test_the_default_takes_the_sources_that_there_are() -> None:
    assert "files" in [source.name for source in configured()]


@pytest.mark.parametrize("given", ["files", " Files ,, files", "sec,files"])
def test_sources_are_named_comma_separated(facts: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", given)

    names = [source.name for source in configured()]
    assert "files" in names
    assert len(names) == len(set(names))


def test_an_unknown_source_is_named_with_those_there_are(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files,wikipaedia")

    with pytest.raises(NotConfigured, match=re.compile("DILIGENCE_FACT_SOURCES names wikipaedia.*files.*wikidata")):
        configured()


def test_no_source_at_all_names_the_setting(facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", ",")

    with pytest.raises(NotConfigured, match="DILIGENCE_FACT_SOURCES"):
        configured()
