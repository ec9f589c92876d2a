"""`diligence facts` over every public source at once, each a server on loopback that speaks its protocol."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.companies_servers import gleif, sec, site, wikidata
from tests.deployments.test_command_line import DILIGENCE, call, clean_environment
from tests.homes import make_home
from tests.matrices import quick_cases
from tests.web.behaviours import dripping, silent
from tests.web.server import LoopbackServer, Reply

CIK, LEI = "0000000001", "529900K9B0N5BT694847"
Settings = dict[str, str]


@pytest.fixture
def servers() -> Iterator[ExitStack]:
    """The servers of a test; closing it ends them."""
    with ExitStack() as servers:
        yield servers


@pytest.fixture
def settings(tmp_path: Path, servers: ExitStack) -> Settings:
    """The settings that lead to the servers of these tests, and a profile of the team's own."""
    alpha: dict[str, Any] = {"P5531": [CIK], "P1278": [LEI], "P571": [wikidata.moment("1902")]}
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "alpha.example.json").write_text('{"founded_year": 1929}', encoding="utf-8")

    def serve(pages: Any) -> LoopbackServer:
        return servers.enter_context(LoopbackServer(pages))

    items = [wikidata.item("Q1", "Alpha", P856=["https://www.alpha.example/"], **alpha)]
    return {
        **wikidata.addresses(serve(wikidata.wikidata(*items))),
        "DILIGENCE_SEC_DATA_URL": serve(sec.sec(sec.submission("1", "ALPHA INC"))).url,
        "DILIGENCE_GLEIF_URL": serve(gleif.gleif(gleif.record(LEI, "Alpha Inc."))).url,
        "DILIGENCE_WEBSITE_URL": serve({"/alpha.example": site.document("<p>Pumps</p>", site.ALPHA)}).url + "/{domain}",
        "DILIGENCE_CONTACT": "mailto:us@example.com",
        "DILIGENCE_HOME": str(make_home(tmp_path / "home")),
        "DILIGENCE_FACTS": str(tmp_path / "facts"),
    }


def facts(settings: Settings, domain: str = "alpha.example") -> subprocess.CompletedProcess[str]:
    return call(["facts", domain, "--claims"], Path(settings["DILIGENCE_HOME"]).parent, **settings)


def test_every_source_has_its_say_and_their_conflict_is_shown(settings: Settings) -> None:
    told = facts(settings)
    assert (told.returncode, told.stderr) == (0, "")
    answer = json.loads(told.stdout)
    assert {claim["source"] for claim in answer["claims"]} == {"files", "wikidata", "sec", "gleif", "website"}
    assert all(claim["url"] for claim in answer["claims"] if claim["source"] != "files")
    assert answer["profile"]["founded_year"] == 1929
    (founded,) = [each for each in answer["conflicts"] if each["field"] == "founded_year"]
    assert {1929, 1902} <= {claim["value"] for claim in founded["claims"]}


def test_when_nobody_answers_what_was_said_last_is_used_and_told(settings: Settings, servers: ExitStack) -> None:
    first = json.loads(facts(settings).stdout)
    servers.close()
    remembered = facts(settings)
    assert (remembered.returncode, remembered.stderr) == (0, "")
    lost = facts({**settings, "DILIGENCE_FACTS_MAX_AGE": "0"})
    assert lost.returncode == 0
    assert "Wikidata cannot be reached. What sec said on " in lost.stderr
    for told in (remembered, lost):
        profile = json.loads(told.stdout)["profile"] | {"last_updated": first["profile"]["last_updated"]}
        assert profile == first["profile"]


def test_a_company_that_no_source_knows_is_not_found(settings: Settings) -> None:
    told = facts(settings, "unknown.example")
    assert (told.returncode, told.stdout) == (1, "")
    assert "Company not found" in told.stderr


@pytest.mark.parametrize("silence", quick_cases([silent(), dripping()], quick=(1,)), ids=["silent", "dripping"])
def test_a_source_that_hangs_does_not_keep_the_command_from_ending(
    settings: Settings, servers: ExitStack, tmp_path: Path, silence: Reply
) -> None:
    hanging = servers.enter_context(LoopbackServer(lambda _: silence))

    environment = (
        clean_environment(tmp_path) | settings | wikidata.addresses(hanging) | {"DILIGENCE_FACTS_TIMEOUT": "1"}
    )
    words = [*DILIGENCE, "facts", "alpha.example", "--claims"]  # a process of its own, whose end is what is tested
    told = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=19, check=False)

    assert told.returncode == 0
    assert json.loads(told.stdout)["profile"]["founded_year"] == 1929
    assert "The source wikidata took longer than 1 s (DILIGENCE_FACTS_TIMEOUT)." in told.stderr


def test_what_nobody_could_be_asked_about_is_told_as_such(settings: Settings, servers: ExitStack) -> None:
    servers.close()
    told = facts(settings, "unknown.example")
    assert (told.returncode, told.stdout) == (1, "")
    assert "No facts about unknown.example could be fetched. Wikidata cannot be reached." in told.stderr


def test_which_setting_is_missing_is_told(settings: Settings) -> None:
    told = facts({**settings, "DILIGENCE_FACT_SOURCES": "profile_api"})
    assert (told.returncode, told.stdout) == (1, "")
    assert "DILIGENCE_PROFILE_API_KEY" in told.stderr
