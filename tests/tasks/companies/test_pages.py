"""Which pages are read for a question: Wikipedia's article, and nothing that lies in a private network."""

import logging
import time
from collections.abc import Iterator

import pytest

from tasks.companies.namesake import Identity
from tasks.companies.pages import read_pages
from tasks.companies.search.searxng import SearxngSearcher
from tests.companies_servers.search import SearchPages
from tests.companies_servers.site import SITE, document
from tests.companies_servers.wikidata import addresses, forget, item, wikidata
from tests.web.behaviours import silent
from tests.web.server import LoopbackServer

ALPHA = Identity("Alpha", ("alpha.example",))
ARTICLE = document("<p>Alpha is the largest customer of steel in Brandenburg.</p>", title="Alpha (pumps) - Wikipedia")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    with LoopbackServer(dict(SITE)) as server:
        monkeypatch.setenv("DILIGENCE_WEBSITE_URL", f"{server.url}/{{domain}}")
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website")
        monkeypatch.delenv("DILIGENCE_WEB_ALLOW", raising=False)
        yield server


def _urls(searcher: SearxngSearcher | None = None, seconds: float = 20) -> list[str]:
    found = read_pages("Who is the largest customer?", ALPHA, searcher, time.monotonic() + seconds)
    return [each.url for each in found.readings]


def test_the_article_is_that_of_the_company_with_the_domain(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    known = item("Q1", "Alpha", wikipedia="Alpha (pumps)", P856=["https://alpha.example/"])
    with LoopbackServer(wikidata(known)) as base, LoopbackServer({"/wiki/Alpha_%28pumps%29": ARTICLE}) as wikipedia:
        for name, value in addresses(base).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("DILIGENCE_WIKIPEDIA_URL", wikipedia.url)
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website,wikidata")

        assert f"{wikipedia.url}/wiki/Alpha_%28pumps%29" in _urls()


def test_a_hit_in_a_private_network_is_not_fetched(server: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    with LoopbackServer({"/secret": document("<p>alpha.example is a customer.</p>")}) as private:
        hits = [("x", f"{private.url}/secret", ""), ("y", "http://169.254.169.254/latest/meta-data/", "")]
        with LoopbackServer(SearchPages(hits)) as engine, caplog.at_level(logging.INFO):
            found = _urls(SearxngSearcher(engine.url))

    assert private.asked == []
    assert not [url for url in found if not url.startswith(server.url)]
    assert caplog.text.count("a public page was left out") == 2


def test_what_does_not_answer_in_time_is_not_waited_for(server: LoopbackServer) -> None:
    server.pages = {**SITE, "/alpha.example/customers": silent()}
    begun = time.monotonic()

    assert _urls(seconds=3) == [f"{server.url}/alpha.example"]
    assert time.monotonic() - begun < 15


def test_without_the_source_website_no_site_is_read(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "files")

    assert _urls() == []
    assert server.asked == []
