"""Which pages are read for a question: Wikipedia's article, and nothing that lies in a private network."""

import logging
import time
from collections.abc import Iterator

import pytest

from tasks.companies.company_match import Identity
from tasks.companies.pages import read_pages
from tasks.companies.search import SearxngSearcher
from tasks.companies.sources import sec as edgar_module
from tasks.language.quotations import verify
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.companies_servers.search import SearchPages
from tests.companies_servers.sec import filing, filing_path, sec, submission
from tests.companies_servers.site import SITE, document
from tests.companies_servers.wikidata import article, forget, item, lead_to, wikidata
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
    page_set = read_pages("Who is the largest customer?", ALPHA, searcher, time.monotonic() + seconds)
    return [page.url for page in page_set.pages]


def test_the_article_is_that_of_the_company_with_the_domain(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    known = item("Q1", "Alpha", wikipedia="Alpha (pumps)", P856=["https://alpha.example/"])
    with LoopbackServer(wikidata(known)) as base, LoopbackServer({"/wiki/Alpha_%28pumps%29": ARTICLE}) as wikipedia:
        lead_to(base, monkeypatch)
        monkeypatch.setenv("DILIGENCE_WIKIPEDIA_URL", wikipedia.url)
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website,wikidata")

        assert f"{wikipedia.url}/wiki/Alpha_%28pumps%29" in _urls()


def test_a_hit_in_a_private_network_is_not_fetched(server: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    with LoopbackServer({"/secret": document("<p>alpha.example is a customer.</p>")}) as private:
        hits = [("x", f"{private.url}/secret", ""), ("y", "http://169.254.169.254/latest/meta-data/", "")]
        with LoopbackServer(SearchPages(hits)) as engine, caplog.at_level(logging.INFO):
            urls = _urls(SearxngSearcher(engine.url))

    assert private.asked == []
    assert not [url for url in urls if not url.startswith(server.url)]
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


def test_where_the_article_cannot_be_had_its_summary_is_taken(
    server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(monkeypatch)
    known = item("Q1", "Alpha", wikipedia="Alpha (pumps)", P856=["https://alpha.example/"])
    summary_of_article = article("Alpha (pumps)", "Alpha is the largest customer of steel in Brandenburg.", "Q1")
    with LoopbackServer(wikidata(known, articles=(summary_of_article,))) as base:
        lead_to(base, monkeypatch)
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "website,wikidata")

        page_set = read_pages("Who is the largest customer?", ALPHA, None, time.monotonic() + 20)

    (summary,) = [page for page in page_set.pages if page.url == f"{base.url}/wiki/Alpha_%28pumps%29"]
    assert (summary.title, summary.text) == (
        "Alpha (pumps)",
        "Alpha is the largest customer of steel in Brandenburg.",
    )


@pytest.fixture
def filed(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackServer]:
    """The SEC, with an annual report of Alpha's; Wikidata knows its CIK."""
    forget(monkeypatch)
    monkeypatch.setitem(edgar_module.SEC, "limiter", RateLimiter(RateLimit(at_once=10)))
    edgar_module.fetch_report.cache_clear()
    report = filing(
        *(f"Risk {number}: demand for pumps may fall." for number in range(400)),
        "Our largest customer, the city of Kiel, accounted for 31% of net sales.",
        rows=[("Customer", "2025"), ("City of Kiel", "$", "4,235")],
    )
    with (
        LoopbackServer(wikidata(item("Q1", "Alpha", P856=["https://alpha.example/"], P5531=["1"]))) as base,
        LoopbackServer(
            sec(submission("1", "ALPHA INC", filed=["2026-02-03"]), filings={filing_path("1", "2026-02-03"): report})
        ) as edgar,
    ):
        lead_to(base, monkeypatch)
        monkeypatch.setenv("DILIGENCE_SEC_URL", edgar.url)
        monkeypatch.setenv("DILIGENCE_SEC_DATA_URL", edgar.url)
        monkeypatch.setenv("DILIGENCE_CONTACT", "mailto:us@example.com")
        monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "sec")
        yield edgar


def test_without_a_search_the_newest_report_to_the_sec_is_read(filed: LoopbackServer) -> None:
    page_set = read_pages("Who is the largest customer?", ALPHA, None, time.monotonic() + 20)

    (report,) = page_set.pages
    assert report.title == "10-K of 2026-02-03 (ALPHA INC)"
    assert report.url == filed.url + filing_path("1", "2026-02-03")
    assert any(
        "Our largest customer, the city of Kiel, accounted for 31% of net sales." in it for it in report.passages
    )
    assert verify("City of Kiel $4,235", report.text)
    assert page_set.notes == []


def test_that_the_sec_wants_a_contact_is_told(filed: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DILIGENCE_CONTACT")
    monkeypatch.delenv("DILIGENCE_SEC_DATA_URL")

    page_set = read_pages("Who is the largest customer?", ALPHA, None, time.monotonic() + 20)

    assert [note for note in page_set.notes if "DILIGENCE_CONTACT" in note]
    assert filed.asked == []


def test_filings_are_left_alone_where_the_sec_is_no_source(
    filed: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DILIGENCE_FACT_SOURCES", "wikidata")

    read_pages("Who is the largest customer?", ALPHA, None, time.monotonic() + 20)

    assert filed.asked == []
