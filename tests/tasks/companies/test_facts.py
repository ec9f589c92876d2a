"""Get Company Facts: merged, dated, stored with its claims; unknown is not unreachable."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import pytest
from prefect.states import Failed

from storage.columns import now
from storage.database import reading, writing
from storage.scores import get_profile, profile_claims
from tasks.companies import facts as asking
from tasks.companies import facts as facts_module
from tasks.companies.claims import Claim, SourceClaims, find_conflicts
from tasks.companies.claims import merge as merge_claims
from tasks.companies.facts import CompanyFacts, company_facts, fetch_facts, store_answer
from tasks.companies.profile import CompanyProfile
from tasks.companies.sources import FactSource
from tasks.companies.sources.files import FileSource
from tasks.errors import BadRequest, DiligenceError, NotConfigured, NotFound, SourceFailed, TooManyRequests
from tasks.operation import source_failed
from tests.cases import cases

Write = Callable[..., Path]
Ask = Callable[[Sequence[FactSource]], None]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Lets these sources be the configured ones."""

    def ask(sources: Sequence[FactSource]) -> None:
        monkeypatch.setattr(facts_module, "choose_sources", lambda: sources)

    return ask


def load_facts(profile_id: int) -> CompanyFacts:
    """The facts that are stored under an id."""
    with reading() as session:
        stored = get_profile(session, profile_id)
        claims = [Claim.model_validate(claim) for claim in profile_claims(session, profile_id)]
    return CompanyFacts(
        profile=CompanyProfile.model_validate(stored.profile),
        claims=claims,
        conflicts=find_conflicts(claims),
        warnings=stored.warnings,
    )


class BrokenSource:
    """A source with a mistake of its own."""

    name = "broken"
    origin = None

    def facts(self, domain: str) -> SourceClaims | None:
        raise KeyError(f"{domain} secret words")

    def domains(self, name: str) -> Sequence[str]:
        raise KeyError(name)


def test_a_known_domain_gives_the_whole_profile(write: Write) -> None:
    write("alpha.example", name="Alpha", founded_year=2015, last_updated="2025-01-31T22:00:00Z")

    profile = company_facts("ALPHA.example.").profile.model_dump()

    assert (profile["name"], profile["founded_year"], profile["tagline"]) == ("Alpha", 2015, None)
    assert profile["last_updated"] == "2025-01-31T22:00:00Z"
    assert "stock_symbol" in profile["extra"]


def test_the_claims_answer_has_the_shape_of_the_contract(write: Write) -> None:
    write("alpha.example", founded_year=2015, extra={"ipo_status": "Private"}, last_updated="2025-01-31T22:00:00Z")

    answer = json.loads(company_facts("alpha.example").model_dump_json())

    assert list(answer) == ["profile", "claims", "conflicts", "warnings"]
    assert [list(claim) for claim in answer["claims"]] == [
        ["field", "value", "source", "url", "retrieved_at", "as_of"]
    ] * 2
    assert [(claim["field"], claim["value"]) for claim in answer["claims"]] == [
        ("founded_year", 2015),
        ("extra.ipo_status", "Private"),
    ]
    assert answer["claims"][0]["retrieved_at"].endswith("Z")
    assert answer["conflicts"] == []
    assert answer["warnings"] == []


def test_profile_and_claims_are_stored(write: Write) -> None:
    write("alpha.example", name="Alpha", company_size=[51, None], founded_yaer=2015)

    profile_id, facts = fetch_facts("alpha.example")

    with reading() as session:
        stored = get_profile(session, profile_id)
        claims = profile_claims(session, profile_id)
    assert stored.domain == "alpha.example"
    assert stored.profile == facts.profile.model_dump()
    assert stored.sources == ["files"]
    assert [claim.field for claim in claims] == ["company_size", "name"]
    assert claims[0].value == [51, None]
    assert load_facts(profile_id) == facts
    assert len(facts.warnings) == 1


def test_facts_that_have_not_changed_are_stored_once(write: Write) -> None:
    write("alpha.example", name="Alpha", hq={"city": "Aarhus"})
    first = fetch_facts("alpha.example")[0]

    assert fetch_facts("alpha.example")[0] == first

    write("alpha.example", name="Alpha", hq={"city": "Malmö"})
    second, facts = fetch_facts("alpha.example")
    assert second != first
    assert facts.profile.hq is not None
    assert facts.profile.hq.city == "Malmö"
    earlier = load_facts(first).profile.hq
    assert earlier is not None
    assert earlier.city == "Aarhus"


@pytest.mark.usefixtures("facts")
def test_a_company_that_no_source_knows_is_not_found() -> None:
    with pytest.raises(NotFound, match=r"Company not found.*files.*unknown\.example"):
        company_facts("unknown.example")


@pytest.mark.usefixtures("facts")
def test_a_domain_that_is_not_registrable_is_refused() -> None:
    with pytest.raises(BadRequest, match=r"send alpha\.example instead"):
        company_facts("https://www.alpha.example/about")


def test_a_source_that_fails_leaves_a_warning_and_the_others_their_facts(
    ask: Ask, facts: Path, write: Write, tmp_path: Path
) -> None:
    write("alpha.example", name="Alpha")
    ask([FileSource(tmp_path / "gone"), BrokenSource(), FileSource(facts)])

    answer = company_facts("alpha.example")

    assert answer.profile.name == "Alpha"
    assert len(answer.warnings) == 2
    assert "DILIGENCE_FACTS" in answer.warnings[0]
    assert "broken" in answer.warnings[1]
    assert "secret" not in answer.warnings[1]


def test_an_exception_of_a_source_is_logged_without_its_message(
    ask: Ask, facts: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ask([BrokenSource(), FileSource(facts)])

    with pytest.raises(SourceFailed):
        company_facts("alpha.example")

    assert "broken" in caplog.text
    assert "secret" not in caplog.text


def test_sources_are_merged_in_their_order_and_their_conflicts_shown(ask: Ask, facts: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (facts / "alpha.example.json").write_text('{"founded_year": 1902}', encoding="utf-8")
    (other / "alpha.example.json").write_text('{"founded_year": 1929, "name": "Alpha"}', encoding="utf-8")
    ask([FileSource(facts), FileSource(other)])

    profile_id, merged = fetch_facts("alpha.example")

    assert (merged.profile.founded_year, merged.profile.name) == (1902, "Alpha")
    assert [(conflict.field, [claim.value for claim in conflict.claims]) for conflict in merged.conflicts] == [
        ("founded_year", [1902, 1929])
    ]
    assert load_facts(profile_id).conflicts == merged.conflicts


def test_a_company_is_not_unknown_while_a_source_could_not_be_asked(ask: Ask, facts: Path) -> None:
    ask([BrokenSource(), FileSource(facts)])

    with pytest.raises(SourceFailed, match="broken"):
        company_facts("unknown.example")


def test_a_bad_file_is_the_sources_failure(facts: Path) -> None:
    (facts / "alpha.example.json").write_text('{"founded_year": "2015"}', encoding="utf-8")

    with pytest.raises(SourceFailed, match=r"alpha\.example\.json is not a Company profile: founded_year") as failed:
        company_facts("alpha.example")

    assert failed.value.status == 502


def test_a_missing_setting_is_named(monkeypatch: pytest.MonkeyPatch, facts: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS", str(tmp_path / "gone"))
    with pytest.raises(NotConfigured, match="DILIGENCE_FACTS"):
        company_facts("alpha.example")

    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", ",")
    with pytest.raises(NotConfigured, match="DILIGENCE_FACT_SOURCES"):
        company_facts("alpha.example")


@cases(
    ("error", "again"),
    [
        (SourceFailed("x"), True),
        (TooManyRequests("x"), True),
        (NotFound("x"), False),
        (BadRequest("x"), False),
        (NotConfigured("x"), False),
    ],
)
def test_only_temporary_failures_are_tried_again(error: DiligenceError, again: bool) -> None:
    assert source_failed(company_facts.task, None, Failed(data=error)) is again


class NetworkSource:
    """A source that is asked over a network."""

    def __init__(self, name: str, year: int) -> None:
        self.name = name
        self.origin = f"http://{name}.example"
        self.year = year

    def facts(self, domain: str) -> SourceClaims | None:
        return SourceClaims([Claim(field="founded_year", value=self.year, source=self.name, retrieved_at=now())])

    def domains(self, name: str) -> Sequence[str]:
        return []


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Claim]]:
    """The claims of each merge."""
    merged: list[Sequence[Claim]] = []

    def merge(claims: Sequence[Claim]) -> CompanyProfile:
        merged.append(claims)
        return merge_claims(claims)

    monkeypatch.setattr(facts_module, "merge", merge)
    return merged


def test_a_change_of_any_kind_shows_at_once(ask: Ask, write: Write) -> None:
    one, two = NetworkSource("one", 1902), NetworkSource("two", 1929)
    files = FileSource(write("alpha.example", name="Alpha").parent)

    def facts_of(*sources: FactSource) -> tuple[int | None, str | None]:
        ask(sources)
        profile_id, facts = fetch_facts("alpha.example")
        assert load_facts(profile_id).profile == facts.profile
        return facts.profile.founded_year, facts.profile.name

    assert facts_of(one, two, files) == (1902, "Alpha")
    assert facts_of(two, one, files) == (1929, "Alpha")  # the precedence
    write("alpha.example", name="Alpha Renamed")
    assert facts_of(two, one, files) == (1929, "Alpha Renamed")  # the files
    store_answer(two, "alpha.example", NetworkSource("two", 1964).facts(""))
    assert facts_of(two, one, files) == (1964, "Alpha Renamed")  # a source's answer
    assert facts_of(one, files) == (1902, "Alpha Renamed")  # the sources
    assert facts_of(files) == (None, "Alpha Renamed")


def test_a_profile_that_an_earlier_release_merged_differently_is_replaced(write: Write) -> None:
    write("alpha.example", founded_year=1902)
    first = fetch_facts("alpha.example")[0]
    with writing() as session:
        get_profile(session, first).profile = {"founded_year": 1}

    second, facts = fetch_facts("alpha.example")

    assert second != first
    assert load_facts(second).profile == facts.profile


def test_an_answer_that_comes_when_the_run_is_over_changes_nothing_stored_and_is_used_the_next_time(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, stored = Event(), Event()

    class LateSource(NetworkSource):
        def facts(self, domain: str) -> SourceClaims | None:
            assert go_on.wait(20)
            return super().facts(domain)

    def store(source: FactSource, domain: str, claims: SourceClaims | None) -> None:
        store_answer(source, domain, claims)
        if source is late:
            stored.set()

    late = LateSource("late", 1929)
    monkeypatch.setenv("DILIGENCE_FACTS_TIMEOUT", "0.5")
    monkeypatch.setattr(asking, "store_answer", store)
    ask([NetworkSource("one", 1902), late])

    profile_id, facts = fetch_facts("alpha.example")
    go_on.set()
    assert stored.wait(20)

    assert [claim.source for claim in facts.claims] == ["one"]
    assert "late took longer" in facts.warnings[0]
    assert load_facts(profile_id) == facts
    assert {claim.source for claim in fetch_facts("alpha.example").facts.claims} == {"one", "late"}
