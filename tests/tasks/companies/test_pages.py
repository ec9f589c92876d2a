"""Which pages are read for a question, what every provider of search keeps to, and what each has of its own."""

import logging
import time
from collections.abc import Callable, Iterator

import pytest

from tasks.companies.company_match import Identity
from tasks.companies.pages import (
    BraveSearcher,
    Hit,
    Searcher,
    SearxngSearcher,
    TavilySearcher,
    choose_searcher,
    read_pages,
)
from tasks.companies.sources import sec as edgar_module
from tasks.errors import DiligenceError, NotConfigured, SourceFailed
from tasks.language.quotations import verify
from tasks.remote.rate_limit import RateLimit, RateLimiter
from tests.companies_servers.search import KEY, SearchPages
from tests.companies_servers.sec import filing, filing_path, sec, submission
from tests.companies_servers.site import SITE, document
from tests.companies_servers.wikidata import article, forget, item, lead_to, wikidata
from tests.web.behaviours import json_reply, silent
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


RESULTS = [
    ("Alpha &amp; <strong>pumps</strong>", "https://alpha.example/", "Makes <strong>pumps</strong>."),
    ("Twice", "https://alpha.example/", "The same page."),
    ("No page", "ftp://alpha.example/", "Not of the web."),
    ("News", "https://news.example/alpha", "Alpha wins."),
]

Open = Callable[[str], Searcher]
OPEN: list[Open] = [
    lambda url: BraveSearcher(url, KEY),
    lambda url: TavilySearcher(url, KEY),
    SearxngSearcher,
]


@pytest.fixture(params=OPEN, ids=["brave", "tavily", "searxng"])
def opened(request: pytest.FixtureRequest) -> Open:
    made: Open = request.param
    return made


@pytest.fixture
def engine() -> Iterator[LoopbackServer]:
    with LoopbackServer(SearchPages(RESULTS)) as engine:
        yield engine


def test_hits_are_plain_and_each_page_is_one(opened: Open, engine: LoopbackServer) -> None:
    assert opened(engine.url).search("alpha pumps", 10) == [
        Hit("Alpha & pumps", "https://alpha.example/", "Makes pumps."),
        Hit("News", "https://news.example/alpha", "Alpha wins."),
    ]


def test_no_more_hits_than_were_asked_for(opened: Open, engine: LoopbackServer) -> None:
    assert len(opened(engine.url).search("alpha", 1)) == 1


def test_nothing_found_is_no_error(opened: Open, engine: LoopbackServer) -> None:
    engine.pages = SearchPages()

    assert opened(engine.url).search("alpha", 5) == []


def test_a_long_question_is_cut_between_words(opened: Open, engine: LoopbackServer) -> None:
    pages = SearchPages(RESULTS)
    engine.pages = pages
    opened(engine.url).search("What does it make? " * 100, 5)

    assert len(pages.queries[0]) <= 400
    assert len(pages.queries[0].split()) <= 50
    assert pages.queries[0].startswith("What does it make?")


@pytest.mark.parametrize("answer", [[], {"results": "none", "web": {"results": 3}}, "hello"])
def test_another_shape_is_a_failure_of_the_source(opened: Open, engine: LoopbackServer, answer: object) -> None:
    engine.pages = lambda _: json_reply(answer)

    with pytest.raises(SourceFailed):
        opened(engine.url).search("alpha", 5)


def test_a_provider_out_of_reach_is_an_error_without_the_key(
    opened: Open, engine: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.pages = lambda asked: json_reply({"detail": str(asked.headers)}, 400)

    with pytest.raises(DiligenceError) as failed:
        opened(engine.url).search("alpha", 5)
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("searcher", [BraveSearcher, TavilySearcher])
def test_a_key_that_is_not_accepted_names_the_setting(
    engine: LoopbackServer, searcher: type[BraveSearcher | TavilySearcher]
) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_SEARCH_KEY") as refused:
        searcher(engine.url, "wrong-key").search("alpha", 5)
    assert "wrong-key" not in str(refused.value)


@pytest.mark.parametrize("status", [432, 433])
def test_an_account_that_is_used_up_says_so(engine: LoopbackServer, status: int) -> None:
    engine.pages = lambda _: json_reply({"detail": {"error": "limit"}}, status)

    with pytest.raises(SourceFailed, match="used up"):
        TavilySearcher(engine.url, KEY).search("alpha", 5)


def test_searxng_without_its_json_format_says_what_to_enable(engine: LoopbackServer) -> None:
    engine.pages = SearchPages(RESULTS, json_enabled=False)

    with pytest.raises(NotConfigured, match=r"`json` among `search\.formats`"):
        SearxngSearcher(engine.url).search("alpha", 5)


def test_searxng_tells_of_engines_that_did_not_answer(engine: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        SearxngSearcher(engine.url).search("alpha", 5)

    assert "'somewhere'" in caplog.text


@pytest.mark.usefixtures("home")
def test_without_a_provider_there_is_none() -> None:
    assert choose_searcher() is None


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["brave", "tavily", "searxng"])
def test_the_setting_names_the_provider(monkeypatch: pytest.MonkeyPatch, engine: LoopbackServer, name: str) -> None:
    monkeypatch.setenv("DILIGENCE_SEARCH", name)
    monkeypatch.setenv("DILIGENCE_SEARCH_URL", engine.url)
    monkeypatch.setenv("DILIGENCE_SEARCH_KEY", KEY)

    opened = choose_searcher()

    assert opened is not None
    assert opened.name == name
    assert [hit.title for hit in opened.search("alpha", 5)] == ["Alpha & pumps", "News"]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("brave", "DILIGENCE_SEARCH_KEY"),
        ("tavily", "DILIGENCE_SEARCH_KEY"),
        ("searxng", "DILIGENCE_SEARCH_URL"),
        ("hosted", "DILIGENCE_AI_MODEL"),
    ],
)
def test_a_missing_setting_is_named(monkeypatch: pytest.MonkeyPatch, name: str, setting: str) -> None:
    monkeypatch.setenv("DILIGENCE_SEARCH", name)

    with pytest.raises(NotConfigured, match=setting):
        choose_searcher()


@pytest.mark.usefixtures("home")
def test_a_key_with_a_line_break_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DILIGENCE_SEARCH", "brave")
    monkeypatch.setenv("DILIGENCE_SEARCH_KEY", "half\nother")

    with pytest.raises(NotConfigured, match="DILIGENCE_SEARCH_KEY") as refused:
        choose_searcher()
    assert "half" not in str(refused.value)
