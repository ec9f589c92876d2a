"""Get Company Facts: merged, dated, kept with its claims; and it tells unknown from unreachable."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from prefect.states import Failed

from storage.companies import get_profile, latest_profile, profile_claims
from storage.database import now, reading, writing
from tasks.companies import facts as facts_module
from tasks.companies import facts as room
from tasks.companies.claims import merge as merge_claims
from tasks.companies.facts import ask_all, company_facts, fetch_facts, stored_facts
from tasks.companies.profile import CompanyProfile
from tasks.companies.sources import Claim, FactSource, Finding
from tasks.companies.sources.files import FileSource
from tasks.errors import BadRequest, DiligenceError, NotConfigured, NotFound, SourceFailed, TooManyRequests
from tasks.operation import source_failed

Write = Callable[..., Path]
Ask = Callable[[Sequence[FactSource]], None]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Lets these sources be the configured ones."""

    def ask(sources: Sequence[FactSource]) -> None:
        monkeypatch.setattr(room, "configured", lambda: sources)

    return ask


class BrokenSource:
    """A source with a mistake of its own."""

    name = "broken"
    origin = None

    def facts(self, domain: str) -> Finding | None:
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

    assert list(answer) == ["profile", "claims", "conflicts"]
    assert [list(claim) for claim in answer["claims"]] == [
        ["field", "value", "source", "url", "retrieved_at", "as_of"]
    ] * 2
    assert [(claim["field"], claim["value"]) for claim in answer["claims"]] == [
        ("founded_year", 2015),
        ("extra.ipo_status", "Private"),
    ]
    assert answer["claims"][0]["retrieved_at"].endswith("Z")
    assert answer["conflicts"] == []


def test_profile_and_claims_are_kept(write: Write) -> None:
    write("alpha.example", name="Alpha", company_size=[51, None], founded_yaer=2015)

    profile_id, facts = fetch_facts("alpha.example")

    with reading() as session:
        kept = get_profile(session, profile_id)
        claims = profile_claims(session, profile_id)
    assert kept.domain == "alpha.example"
    assert kept.profile == facts.profile.model_dump()
    assert kept.sources == ["files"]
    assert [claim.field for claim in claims] == ["company_size", "name"]
    assert claims[0].value == [51, None]
    assert stored_facts(profile_id) == facts
    assert len(facts.warnings) == 1


def test_facts_as_they_were_are_kept_once(write: Write) -> None:
    write("alpha.example", name="Alpha", hq={"city": "Aarhus"})
    first = fetch_facts("alpha.example")[0]

    assert fetch_facts("alpha.example")[0] == first

    write("alpha.example", name="Alpha", hq={"city": "Malmö"})
    second, facts = fetch_facts("alpha.example")
    assert second != first
    assert facts.profile.hq is not None
    assert facts.profile.hq.city == "Malmö"
    earlier = stored_facts(first).profile.hq
    assert earlier is not None
    assert earlier.city == "Aarhus"


@pytest.mark.usefixtures("facts")
def test_an_id_under_which_nothing_is_kept_is_not_found() -> None:
    with pytest.raises(NotFound):
        stored_facts(17)


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

    found = company_facts("alpha.example")

    assert found.profile.name == "Alpha"
    assert len(found.warnings) == 2
    assert "DILIGENCE_FACTS" in found.warnings[0]
    assert "broken" in found.warnings[1]
    assert "secret" not in found.warnings[1]


def test_a_mistake_of_a_source_does_not_show_its_words_in_the_log(
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

    profile_id, found = fetch_facts("alpha.example")

    assert (found.profile.founded_year, found.profile.name) == (1902, "Alpha")
    assert [(conflict.field, [claim.value for claim in conflict.claims]) for conflict in found.conflicts] == [
        ("founded_year", [1902, 1929])
    ]
    assert stored_facts(profile_id).conflicts == found.conflicts


def test_unknown_is_not_said_while_a_source_could_not_be_asked(ask: Ask, facts: Path) -> None:
    ask([BrokenSource(), FileSource(facts)])

    with pytest.raises(SourceFailed, match="broken"):
        company_facts("unknown.example")


def test_a_bad_file_is_the_sources_failure(facts: Path) -> None:
    (facts / "alpha.example.json").write_text('{"founded_year": "2015"}', encoding="utf-8")

    with pytest.raises(SourceFailed, match=r"alpha\.example\.json is no Company profile: founded_year") as failed:
        company_facts("alpha.example")

    assert failed.value.status == 502


def test_a_missing_setting_is_told_as_such(monkeypatch: pytest.MonkeyPatch, facts: Path, tmp_path: Path) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS", str(tmp_path / "gone"))
    with pytest.raises(NotConfigured, match="DILIGENCE_FACTS"):
        company_facts("alpha.example")

    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", ",")
    with pytest.raises(NotConfigured, match="DILIGENCE_FACT_SOURCES"):
        company_facts("alpha.example")


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (SourceFailed("x"), True),
        (TooManyRequests("x"), True),
        (NotFound("x"), False),
        (BadRequest("x"), False),
        (NotConfigured("x"), False),
    ],
)
def test_only_what_may_pass_is_tried_again(error: DiligenceError, again: bool) -> None:
    assert source_failed(company_facts.task, None, Failed(data=error)) is again


class RememberedSource:
    """A source of the network."""

    def __init__(self, name: str, year: int) -> None:
        self.name = name
        self.origin = f"http://{name}.example"
        self.year = year

    def facts(self, domain: str) -> Finding | None:
        return Finding([Claim(field="founded_year", value=self.year, source=self.name, retrieved_at=now())])

    def domains(self, name: str) -> Sequence[str]:
        return []


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[Claim]]:
    """The claims of each merge."""
    merged: list[Sequence[Claim]] = []

    def merge(claims: Sequence[Claim]) -> CompanyProfile:
        merged.append(claims)
        return merge_claims(claims)

    monkeypatch.setattr(room, "merge", merge)
    return merged


def test_what_is_made_of_the_same_words_is_not_made_again(
    ask: Ask, write: Write, merged: list[Sequence[Claim]]
) -> None:
    write("alpha.example", name="Alpha")
    ask([FileSource(write("beta.example").parent), RememberedSource("one", 1902)])

    first = fetch_facts("alpha.example")

    assert fetch_facts("alpha.example") == first
    assert len(merged) == 1


def test_a_change_of_any_kind_shows_at_once(ask: Ask, write: Write) -> None:
    one, two = RememberedSource("one", 1902), RememberedSource("two", 1929)
    files = FileSource(write("alpha.example", name="Alpha").parent)

    def found(*sources: FactSource) -> tuple[int | None, str | None]:
        ask(sources)
        profile_id, facts = fetch_facts("alpha.example")
        assert stored_facts(profile_id).profile == facts.profile
        return facts.profile.founded_year, facts.profile.name

    assert found(one, two, files) == (1902, "Alpha")
    assert found(two, one, files) == (1929, "Alpha")  # the precedence
    write("alpha.example", name="Alpha Renamed")
    assert found(two, one, files) == (1929, "Alpha Renamed")  # the files
    facts_module.remember(two, "alpha.example", RememberedSource("two", 1964).facts(""))
    assert found(two, one, files) == (1964, "Alpha Renamed")  # a source's word
    assert found(one, files) == (1902, "Alpha Renamed")  # the sources
    assert found(files) == (None, "Alpha Renamed")


def test_facts_that_another_run_kept_since_are_not_hidden_by_those_made_here(ask: Ask, write: Write) -> None:
    one, two = RememberedSource("one", 1902), RememberedSource("two", 1929)
    ask([one, two])
    first = fetch_facts("alpha.example")[0]
    ask([two, one])
    fetch_facts("alpha.example")
    room._made.put("alpha.example", ask_all([one, two], "alpha.example"), (first, fetch_facts("alpha.example")[1]))
    ask([one, two])

    again = fetch_facts("alpha.example")[0]

    assert again > first
    with reading() as session:
        newest = latest_profile(session, "alpha.example")
    assert newest is not None
    assert newest.id == again


def test_a_profile_that_an_earlier_release_merged_otherwise_is_not_taken_for_this_one(write: Write) -> None:
    write("alpha.example", founded_year=1902)
    first = fetch_facts("alpha.example")[0]
    with writing() as session:
        get_profile(session, first).profile = {"founded_year": 1}
    room._made._made.clear()

    second, facts = fetch_facts("alpha.example")

    assert second != first
    assert stored_facts(second).profile == facts.profile
