"""Servers on loopback for a source to ask."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tasks.companies.claims import SourceClaims
from tasks.companies.sources import FactSource, sec
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.companies_servers.wikidata import forget, item, lead_to, wikidata
from tests.web.server import LoopbackServer

COUNTRIES = (item("Q183", "Germany", P297=["DE"]), item("Q668", "India", P297=["IN"]), item("Q1726", "Munich"))


def claimed(source: FactSource, domain: str = "alpha.example") -> SourceClaims:
    """What a source claims of a company that it knows."""
    answer = source.facts(domain)
    assert answer is not None
    return answer


def values_of(answer: SourceClaims) -> dict[str, Any]:
    return {claim.field: claim.value for claim in answer.claims}


@pytest.fixture
def in_wikidata(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Lets Wikidata know the company of alpha.example: `in_wikidata("Alpha", P5531=["0000320193"])`."""
    forget(monkeypatch)
    with ExitStack() as servers:

        def in_wikidata(name: str | None, **claims: Any) -> None:
            alpha = item("Q1", name, P856=["https://www.alpha.example/"], **claims)
            server = servers.enter_context(LoopbackServer(wikidata(alpha, *COUNTRIES)))
            lead_to(server, monkeypatch)

        yield in_wikidata


@pytest.fixture
def edgar(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> LoopbackServer:
    """The server, as that of the SEC; ten calls at a time are allowed to it."""
    monkeypatch.setenv("DILIGENCE_SEC_URL", server.url)
    monkeypatch.setenv("DILIGENCE_SEC_DATA_URL", server.url)
    monkeypatch.setenv("DILIGENCE_CONTACT", "mailto:us@example.com")
    monkeypatch.setitem(sec.SEC, "limiter", RateLimiter(RateLimit(at_once=10)))
    return server
