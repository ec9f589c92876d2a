"""Company operations over HTTP where the sources know nothing, fail, hang, or are not configured."""

from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.api.test_problems import problem
from tests.companies_servers import profile_api, wikidata
from tests.web.behaviours import silent
from tests.web.server import Asked, LoopbackServer, Reply

FACTS, ASK = "/v1/companies/get-core-fields", "/v1/companies/get-answer"
ALPHA, UNKNOWN = {"domain": "alpha.example"}, {"domain": "unknown.example"}
Serve = Callable[[Callable[[Asked], Reply]], LoopbackServer]


@pytest.fixture
def wikidata_says(room: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Lets Wikidata be asked beside the files, and answer so."""
    wikidata.forget(monkeypatch)
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files,wikidata")
    with LoopbackServer() as server:
        wikidata.lead_to(server, monkeypatch)

        def says(answer: Callable[[Asked], Reply]) -> LoopbackServer:
            server.pages = answer
            return server

        yield says


def test_a_company_is_unknown_only_where_every_source_was_reached(service: httpx.Client, wikidata_says: Serve) -> None:
    wikidata_says(lambda _: Reply(status=400))
    said = problem(service.post(FACTS, json=UNKNOWN), 502, "source-failed")["detail"]
    assert "Wikidata" in said
    assert service.post(FACTS, json=ALPHA).status_code == 200, "one that fails takes no other with it"

    wikidata_says(wikidata.wikidata())
    assert "files, wikidata" in problem(service.post(FACTS, json=UNKNOWN), 404, "not-found")["detail"]


def test_a_source_out_of_reach_is_told(service: httpx.Client, room: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wikidata.forget(monkeypatch)
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "wikidata")
    with LoopbackServer() as gone:
        wikidata.lead_to(gone, monkeypatch)

    assert "cannot be reached" in problem(service.post(FACTS, json=ALPHA), 502, "source-failed")["detail"]


def test_a_source_that_hangs_is_left_behind(
    service: httpx.Client, wikidata_says: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACTS_TIMEOUT", "0.3")
    wikidata_says(lambda _: silent())

    assert service.post(FACTS, json=ALPHA, timeout=15).status_code == 200
    told = problem(service.post(FACTS, json=UNKNOWN, timeout=15), 502, "source-failed")["detail"]
    assert "DILIGENCE_FACTS_TIMEOUT" in told
    named = service.post(ASK, json={"question": "Who owns it?", "company_name": "Gamma"}, timeout=15)
    assert "DILIGENCE_FACTS_TIMEOUT" in problem(named, 504, "took-too-long")["detail"]


@pytest.mark.parametrize(
    ("sources", "setting"),
    [
        ("profile_api", "DILIGENCE_PROFILE_API_KEY"),
        ("sec,nowhere", "DILIGENCE_FACT_SOURCES"),
        (",", "DILIGENCE_FACT_SOURCES"),
    ],
)
def test_a_setting_that_is_missing_is_named(
    service: httpx.Client, room: Path, monkeypatch: pytest.MonkeyPatch, sources: str, setting: str
) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", sources)

    assert setting in problem(service.post(FACTS, json=ALPHA), 503, "not-configured")["detail"]


def test_when_its_credits_are_spent_the_provider_is_left_alone_and_the_others_are_asked(
    service: httpx.Client, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = profile_api.ProfileApi({"alpha.example": profile_api.profile("Alpha")}, key="spent-in-this-test")
    provider.credits = 0
    with LoopbackServer(provider) as server:
        monkeypatch.setenv("DILIGENCE_PROFILE_API_URL", server.url)
        monkeypatch.setenv("DILIGENCE_PROFILE_API_KEY", "spent-in-this-test")
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "profile_api,files")
        answers = [service.post(FACTS, json=ALPHA) for _ in range(3)]
        asked = len(server.asked)
        unknown = problem(service.post(FACTS, json=UNKNOWN), 502, "source-failed")["detail"]

    assert [answer.json()["profile"]["founded_year"] for answer in answers] == [2011] * 3
    assert asked == len(server.asked), "nobody is asked again"
    assert "credits" in unknown
    assert "spent-in-this-test" not in unknown
