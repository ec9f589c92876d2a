"""What every search provider keeps to, and what each has of its own."""

import logging
from collections.abc import Callable, Iterator

import pytest

from tasks.companies.search import BraveSearcher, Hit, Searcher, SearxngSearcher, TavilySearcher, choose_searcher
from tasks.errors import DiligenceError, NotConfigured, SourceFailed
from tests.companies_servers.search import KEY, SearchPages
from tests.web.behaviours import json_reply
from tests.web.server import LoopbackServer

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
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(SearchPages(RESULTS)) as server:
        yield server


def test_hits_are_plain_and_each_page_is_one(opened: Open, server: LoopbackServer) -> None:
    assert opened(server.url).search("alpha pumps", 10) == [
        Hit("Alpha & pumps", "https://alpha.example/", "Makes pumps."),
        Hit("News", "https://news.example/alpha", "Alpha wins."),
    ]


def test_no_more_hits_than_were_asked_for(opened: Open, server: LoopbackServer) -> None:
    assert len(opened(server.url).search("alpha", 1)) == 1


def test_nothing_found_is_no_error(opened: Open, server: LoopbackServer) -> None:
    server.pages = SearchPages()

    assert opened(server.url).search("alpha", 5) == []


def test_a_long_question_is_cut_between_words(opened: Open, server: LoopbackServer) -> None:
    pages = SearchPages(RESULTS)
    server.pages = pages
    opened(server.url).search("What does it make? " * 100, 5)

    assert len(pages.queries[0]) <= 400
    assert len(pages.queries[0].split()) <= 50
    assert pages.queries[0].startswith("What does it make?")


@pytest.mark.parametrize("answer", [[], {"results": "none", "web": {"results": 3}}, "hello"])
def test_another_shape_is_a_failure_of_the_source(opened: Open, server: LoopbackServer, answer: object) -> None:
    server.pages = lambda _: json_reply(answer)

    with pytest.raises(SourceFailed):
        opened(server.url).search("alpha", 5)


def test_a_provider_out_of_reach_is_an_error_without_the_key(
    opened: Open, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.pages = lambda asked: json_reply({"detail": str(asked.headers)}, 400)

    with pytest.raises(DiligenceError) as failed:
        opened(server.url).search("alpha", 5)
    assert KEY not in str(failed.value)


@pytest.mark.parametrize("searcher", [BraveSearcher, TavilySearcher])
def test_a_key_that_is_not_accepted_names_the_setting(
    server: LoopbackServer, searcher: type[BraveSearcher | TavilySearcher]
) -> None:
    with pytest.raises(NotConfigured, match="DILIGENCE_SEARCH_KEY") as refused:
        searcher(server.url, "wrong-key").search("alpha", 5)
    assert "wrong-key" not in str(refused.value)


@pytest.mark.parametrize("status", [432, 433])
def test_an_account_that_is_used_up_says_so(server: LoopbackServer, status: int) -> None:
    server.pages = lambda _: json_reply({"detail": {"error": "limit"}}, status)

    with pytest.raises(SourceFailed, match="used up"):
        TavilySearcher(server.url, KEY).search("alpha", 5)


def test_searxng_without_its_json_format_says_what_to_enable(server: LoopbackServer) -> None:
    server.pages = SearchPages(RESULTS, json_enabled=False)

    with pytest.raises(NotConfigured, match=r"`json` among `search\.formats`"):
        SearxngSearcher(server.url).search("alpha", 5)


def test_searxng_tells_of_engines_that_did_not_answer(server: LoopbackServer, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        SearxngSearcher(server.url).search("alpha", 5)

    assert "'somewhere'" in caplog.text


@pytest.mark.usefixtures("home")
def test_without_a_provider_there_is_none() -> None:
    assert choose_searcher() is None


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("name", ["brave", "tavily", "searxng"])
def test_the_setting_names_the_provider(monkeypatch: pytest.MonkeyPatch, server: LoopbackServer, name: str) -> None:
    monkeypatch.setenv("DILIGENCE_SEARCH", name)
    monkeypatch.setenv("DILIGENCE_SEARCH_URL", server.url)
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
