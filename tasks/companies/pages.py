"""Retrieval for questions about a company: searches the web, fetches public pages, and selects the passages that fit.

The pages are the company's home page with linked pages that fit the question, its Wikipedia article (CC BY-SA), its
newest report to the SEC, and the results of a web search. At most 8 pages and the report are read; a page that takes
too long is left out. Only pages about this company count (`company_match`).

`SEARCHERS` are the providers of search; the settings name one. A provider only says which pages to read; what a page
says is taken from the page alone.
"""

import html
import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol
from urllib.parse import quote, urlsplit

from tasks.ai.prompt_injection import find_orders, without_injections
from tasks.cancellation import FanOut
from tasks.companies.company_match import Identity, find_wall
from tasks.companies.profile import CompanySettings, SearcherName
from tasks.companies.sources.sec import newest_report
from tasks.companies.web.client import Web, WebResponse
from tasks.companies.web.site import Page, read_public, website
from tasks.companies.wikidata.client import fetch_summary
from tasks.companies.wikidata.entity import Entity, find_entity
from tasks.errors import DiligenceError, NotConfigured, SourceFailed
from tasks.language.normalise import plain_line
from tasks.language.sentences import sentences
from tasks.offload import offload
from tasks.ranking import WordIndex
from tasks.remote.rate_limit import RateLimit, RateLimiter

log = logging.getLogger(__name__)

_MAX_CHARACTERS: Final = 400
"""Characters of a query that Brave and Tavily take."""
_MAX_WORDS: Final = 50
"""Words of a query that Brave takes."""
_MOST_HITS: Final = 20
"""Results of one request to Brave or Tavily."""


@dataclass(frozen=True)
class Hit:
    """A page among the results. `content` is what the provider shows of it, plain and perhaps empty."""

    title: str
    url: str
    content: str


class Searcher(Protocol):
    """Searches the web. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """What `DILIGENCE_SEARCH` calls it."""

    def search(self, query: str, count: int) -> Sequence[Hit]:
        """At most `count` pages that match the query, best first.

        Raises:
            NotConfigured: the provider does not accept the key, or needs another setting of its own.
            DiligenceError: it cannot be reached, or its answer cannot be used.
        """


class BraveSearcher:
    """Brave with a key, which stands in a header of its own: `GET /res/v1/web/search`."""

    name: Final = "brave"
    limiter: ClassVar = RateLimiter(RateLimit(at_once=1, per_second=1))
    """The smallest plan takes one request a second."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits; errors are those of `Searcher`."""
        response = Web.current().get(
            f"{self._url}/res/v1/web/search",
            {"q": shorten_query(query), "count": str(min(count, _MOST_HITS)), "text_decorations": "false"},
            headers={"X-Subscription-Token": self._key, "Accept": "application/json"},
            trusted=True,
            limiter=self.limiter,
            expect=(401, 402, 403, 422),
            name="Brave",
        )
        web = _read_answer(response).get("web")  # absent where there are no results
        return hits(web.get("results", []) if isinstance(web, dict) else [], "description", count)


class TavilySearcher:
    """Tavily with a key, sent as a bearer token: `POST /search`."""

    name: Final = "tavily"
    limiter: ClassVar = RateLimiter(RateLimit(at_once=4))

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits; errors are those of `Searcher`."""
        response = Web.current().post(
            f"{self._url}/search",
            {"query": shorten_query(query), "max_results": min(count, _MOST_HITS)},
            headers={"Authorization": f"Bearer {self._key}"},
            trusted=True,
            limiter=self.limiter,
            expect=(401, 403, 432, 433),  # the last two: the plan's and the account's limit
            name="Tavily",
        )
        return hits(_read_answer(response).get("results"), "content", count)


class SearxngSearcher:
    """SearXNG at an address of ours, which queries other engines: `GET /search?format=json`."""

    name: Final = "searxng"
    limiter: ClassVar = RateLimiter(RateLimit(at_once=4))

    def __init__(self, url: str) -> None:
        self._url = url

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits; engines that did not answer are named in the log. Errors are those of `Searcher`."""
        params = {"q": shorten_query(query), "format": "json"}
        response = Web.current().get(
            f"{self._url}/search", params, trusted=True, limiter=self.limiter, expect=(403,), name="The SearXNG server"
        )
        if response.status == 403:
            raise NotConfigured(
                "The SearXNG server refuses to answer in JSON (HTTP 403). Enable the format: `json` among "
                "`search.formats` in its settings.yml."
            )
        results = _read_answer(response)
        unresponsive = results.get("unresponsive_engines")
        if isinstance(unresponsive, list) and unresponsive:
            names = [str(engine[0] if isinstance(engine, list) and engine else engine)[:40] for engine in unresponsive]
            log.warning("search engines that did not answer the SearXNG server: %s", ", ".join(map(ascii, names[:10])))
        return hits(results.get("results"), "content", count)


class HostedSearcher:
    """The search of the AI server itself. What the model writes is not used, only the pages that it names."""

    name: Final = "hosted"

    def __init__(self) -> None:
        hosted = import_module("tasks.companies.hosted_search")  # `openai` takes 0.7 s to import
        self._find = partial(hosted.find_pages, hosted.choose_endpoint())

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits: the pages that the model cites first, then the others. Errors are those of `Searcher`."""
        return hits(self._find(shorten_query(query)), "content", count)


def _open_searxng(url: str | None) -> SearxngSearcher:
    if url is None:
        raise NotConfigured("DILIGENCE_SEARCH is searxng, which has no address of its own. Set DILIGENCE_SEARCH_URL.")
    return SearxngSearcher(url)


SEARCHERS: Final[Mapping[SearcherName, Callable[[str | None], Searcher]]] = {
    "searxng": _open_searxng,
    "brave": lambda url: BraveSearcher(url or "https://api.search.brave.com", _read_key("Brave")),
    "tavily": lambda url: TavilySearcher(url or "https://api.tavily.com", _read_key("Tavily")),
    "hosted": lambda _: HostedSearcher(),
}
"""The providers by the names that `DILIGENCE_SEARCH` takes, each made for the address of `DILIGENCE_SEARCH_URL`."""


def choose_searcher() -> Searcher | None:
    """The provider that `DILIGENCE_SEARCH` names; None where it names none.

    Raises:
        NotConfigured: it needs a setting that is missing; the message names it.
    """
    settings = CompanySettings.current()
    return None if settings.search is None else SEARCHERS[settings.search](settings.search_url)


def _read_key(provider: str) -> str:
    """The key set in `DILIGENCE_SEARCH_KEY`.

    Raises:
        NotConfigured: there is none, or it holds characters that no key has.
    """
    secret = CompanySettings.current().search_key
    key = secret.get_secret_value().strip() if secret else ""
    if not key:
        raise NotConfigured(f"{provider} needs a key, and there is none. Set DILIGENCE_SEARCH_KEY.")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise NotConfigured("DILIGENCE_SEARCH_KEY holds characters that no key has. Set it again.")
    return key


def _read_answer(response: WebResponse) -> dict[str, Any]:
    """The JSON object in the provider's answer.

    Raises:
        NotConfigured: it does not accept the key.
        SourceFailed: the account is used up, or it answered with something else.
    """
    if response.status in {401, 403, 422}:  # Brave answers 422 to a key that is not one of its own
        raise NotConfigured(f"{response.name} does not accept the key. Check DILIGENCE_SEARCH_KEY.")
    if response.status >= 400:
        raise SourceFailed(f"The account with {response.name} is used up (HTTP {response.status}). Top it up, or wait.")
    answer = response.json()
    if not isinstance(answer, dict):
        raise SourceFailed(f"{response.name} did not return search results.")
    return answer


def shorten_query(query: str) -> str:
    """The query no longer than every provider accepts, cut between words."""
    words = plain_line(query).split()[:_MAX_WORDS]
    while len(" ".join(words)) > _MAX_CHARACTERS and len(words) > 1:
        words.pop()
    return " ".join(words)[:_MAX_CHARACTERS]


def hits(results: Any, content: str, count: int) -> list[Hit]:
    """The hits in a list of results; `content` is the key of the excerpt. A result without an address is left out.

    Raises:
        SourceFailed: it is not a list.
    """
    if not isinstance(results, list):
        raise SourceFailed("The search provider did not return search results.")
    by_url: dict[str, Hit] = {}
    for result in results:
        url = result.get("url") if isinstance(result, Mapping) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")) and len(by_url) < count:
            by_url.setdefault(url, Hit(_words(result.get("title")), url, _words(result.get(content))))
    return list(by_url.values())


def _words(markup: Any) -> str:
    """The text without the tags that providers put around the words of the query."""
    text = markup[:4000] if isinstance(markup, str) else ""
    return plain_line(html.unescape(re.sub(r"</?\w{1,10}[^<>]{0,100}>", "", text)))


_MAX_PAGES: Final = 8
_MAX_LINKED: Final = 4
"""Pages of the company's own site besides its home page; 2 where a search has results."""
_MAX_RESULTS: Final = 12
"""Results of a search."""
_SECONDS_FOR_FIRST: Final = 30.0
"""For the home page, the search and the company's entity; the rest of the time is for the pages that they lead to."""
_AT_ONCE: Final = 6
_PASSAGE_LENGTH: Final = 1000
"""Characters."""
_MAX_PASSAGES: Final = 12
"""Passages that an answer is taken from; at 1,000 characters they fit a small model's window."""
_WEIGHTS: Final = (1.3, 1.15, 1.0)
"""The weight of a passage's score: on the company's own page, a registry's, any other."""


@dataclass(frozen=True)
class RelevantPage:
    """A page about the company: its passages that fit the question, and its full text."""

    title: str
    url: str
    passages: Sequence[str]
    text: str


@dataclass(frozen=True)
class PageSet:
    """The pages, the company's own first; what is known about the company; and sentences about what went wrong.

    `has_injection`: words on the pages give orders to a model.
    """

    pages: Sequence[RelevantPage]
    identity: Identity
    notes: Sequence[str] = ()
    has_injection: bool = False


@dataclass(frozen=True)
class Article:
    """A Wikipedia article by title and address; `item` is the company's in Wikidata."""

    title: str
    url: str
    item: str

    def read(self) -> Page | None:
        """The article's page, otherwise its summary, which is on another server; None if there is neither.

        Raises:
            DiligenceError: neither can be fetched.
        """
        try:
            return read_public(self.url, trusted=True)
        except DiligenceError as error:
            log.info("the company's article is taken from its summary: %s", error)
        summary = fetch_summary(self.title, self.item)
        return Page(url=self.url, paragraphs=[summary.text], title=self.title) if summary else None


def read_pages(question: str, identity: Identity, searcher: Searcher | None, until: float) -> PageSet:
    """The pages about that company that fit the question, read before `until` (`time.monotonic`).

    Its own site is only read if `website` is a source of facts, Wikipedia if `wikidata` is, the report if `sec` is:
    with the source `files` alone nothing is fetched.

    Raises:
        NotConfigured: the search provider needs another setting.
    """
    sources = CompanySettings.current().fact_sources
    sites = [website(domain) for domain in identity.domains[:3]] if "website" in sources else []
    identity = replace(identity, sites=tuple(url for url, _ in sites))
    trusted = {_origin(url) for url, is_trusted in sites if is_trusted}
    notes: list[str] = []
    threads = FanOut(_AT_ONCE, "pages")
    try:
        # First who the company is, its home pages and the search.
        search = threads.submit(_search, searcher, question, identity) if searcher else None
        needs_entity = not {"wikidata", "sec"}.isdisjoint(sources)
        entities = [threads.submit(find_entity, domain) for domain in identity.domains[:1] if needs_entity]
        homes = {url: threads.submit(read_public, url, _origin(url) in trusted) for url, _ in sites}
        until_first = min(until, time.monotonic() + _SECONDS_FOR_FIRST)
        entity = next(
            iter(_results(entities, until_first, notes, "The company's article and filings were not read.")), None
        )
        article = _article(entity) if "wikidata" in sources else None
        identity = _with_entity(identity, entity, article)
        report = threads.submit(newest_report, identity.ciks) if "sec" in sources and identity.ciks else None
        search_results = _search_results(search, until_first, notes) if search else []
        pages = dict(zip(homes, _results(homes.values(), until_first, notes), strict=True))
        notes += _drop_walls(pages, dict(zip((url for url, _ in sites), identity.domains, strict=False)))
        # Then the pages that these lead to.
        urls = _choose_linked(pages, search_results, question, identity)[: _MAX_PAGES - len(pages) - bool(article)]
        futures = {article.url: threads.submit(article.read)} if article else {}
        futures |= {url: threads.submit(read_public, url, _origin(url) in trusted) for url in urls}
        pages |= dict(zip(futures, _results(futures.values(), until, notes), strict=True))
        reports = _results([report] if report else [], until, notes, "The company's filings were not read.")
        pages |= {filing.url: filing for filing in reports if filing is not None}
    finally:
        threads.close()
    domain = next(iter(identity.domains), "")
    read = [page for page in pages.values() if page is not None and find_wall(page, domain, is_home=False) is None]
    about = [page for page in read if identity.is_shown_by(page, page.url)]
    log.info("%d of %d pages are about the company", len(about), len(pages))
    relevant, has_injection = offload(_read, question, about, identity)
    if has_injection:
        log.warning("words on a public page give orders to a model")
    return PageSet(relevant, identity, notes, has_injection)


def _drop_walls(pages: dict[str, Page | None], domains: Mapping[str, str]) -> list[str]:
    """Remove the home pages that are walls from `pages`; returns a note for each."""
    walls = {url: (page, domain) for url, domain in domains.items() if (page := pages[url]) is not None}
    notes = []
    for url, (page, domain) in walls.items():
        if (wall := find_wall(page, domain)) is not None:
            notes.append(wall.sentence(domain))
            pages[url] = None
    return notes


def _choose_linked(
    pages: Mapping[str, Page | None], search_results: Sequence[str], question: str, identity: Identity
) -> list[str]:
    """The addresses to read next, from links and from the search results, closest to the company first."""
    most = 2 if search_results else _MAX_LINKED
    links = [url for page in pages.values() for url in _choose_links(page, question, identity)[:most]]
    urls = [url for url in dict.fromkeys([*links, *search_results]) if url not in pages and url != identity.article]
    return sorted(urls, key=identity.standing)


def _search(searcher: Searcher, question: str, identity: Identity) -> list[str]:
    words = [question, identity.name or "", " ".join(identity.domains[:1])]
    return [hit.url for hit in searcher.search(" ".join(filter(None, words)), _MAX_RESULTS)]


def _results(calls: Iterable["Future[Any]"], until: float, notes: list[str], missing: str = "") -> list[Any]:
    """The results available by `until`; None for each call that failed or takes longer.

    Where a setting is missing for one, `notes` is told, in a sentence that `missing` begins.
    """
    futures = list(calls)
    wait(futures, timeout=max(0.0, until - time.monotonic()))
    results = []
    for future in futures:
        result = None
        if not future.done():
            log.info("a public page was not read in time")
        elif isinstance(error := future.exception(), DiligenceError):
            log.info("a public page was left out: %s", error)
            if isinstance(error, NotConfigured):
                notes.append(f"{missing} {error}".strip())
        elif error is not None:
            log.warning("a public page was left out: %s", type(error).__name__)
        else:
            result = future.result()
        results.append(result)
    return results


def _search_results(search: "Future[list[str]]", until: float, notes: list[str]) -> list[str]:
    """The addresses found by the search. If the search fails, a note says so and the other pages are read."""
    wait([search], timeout=max(0.0, until - time.monotonic()))
    if not search.done():
        notes.append("The web search took too long.")
        return []
    try:
        return search.result()
    except NotConfigured:
        raise
    except DiligenceError as error:
        log.warning("the web search failed: %s", error)
        notes.append(f"The web search failed. {error}")
        return []


def _article(entity: Entity | None) -> Article | None:
    """The article about that company; None if there is none."""
    if entity is None or entity.wikipedia is None:
        return None
    name = quote(entity.wikipedia.replace(" ", "_"), safe="")
    return Article(entity.wikipedia, f"{CompanySettings.current().wikipedia_url}/wiki/{name}", entity.id)


def _with_entity(identity: Identity, entity: Entity | None, article: Article | None) -> Identity:
    """The company with its name, article and CIKs from Wikidata."""
    if entity is None:
        return identity
    return replace(
        identity, name=identity.name or entity.name, article=article.url if article else None, ciks=entity.ciks
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _choose_links(home: Page | None, question: str, identity: Identity) -> list[str]:
    """The pages of the company's own site that the home page links to with words of the question."""
    if home is None:
        return []
    links = [
        (url, words) for url, words in home.links if identity.owns(url) and url.rstrip("/") != home.url.rstrip("/")
    ]
    texts = [f"{words} {re.sub(r'[^0-9A-Za-z]+', ' ', urlsplit(url).path)}" for url, words in links]
    ranked = [links[at][0] for at, _ in WordIndex(texts).rank(question, _MAX_LINKED, guess=False)]
    about = [
        url for url, words in links if re.search(r"\b(?:about|company|unternehmen)\b", f"{words} {url}", re.IGNORECASE)
    ]
    return list(dict.fromkeys([*ranked, *about[:1]]))[:_MAX_LINKED]


def _read(question: str, pages: Sequence[Page], identity: Identity) -> tuple[list[RelevantPage], bool]:
    """The relevant parts of the pages, and whether the pages contain orders to a model."""
    has_orders = any(find_orders(text) for page in pages for text in (page.title or "", "\n\n".join(_paragraphs(page))))
    return _relevant(question, pages, identity), has_orders


def _relevant(question: str, pages: Sequence[Page], identity: Identity) -> list[RelevantPage]:
    """The pages with the best passages for the question; if none fits, the beginning of the company's own home page."""
    cut = [(page, _passages(_paragraphs(page))) for page in _without_copies(pages)]
    cut.sort(key=lambda page_and_passages: identity.standing(page_and_passages[0].url))
    candidates = [(at, passage) for at, (_, passages) in enumerate(cut) for passage in passages]
    index = WordIndex([f"{cut[at][0].title or ''}\n{passage}" for at, passage in candidates])
    scored = [
        (score * _WEIGHTS[identity.standing(cut[candidates[position][0]][0].url)], position)
        for position, score in index.rank(question, len(candidates), guess=False)
    ]
    best = sorted(position for _, position in sorted(scored, reverse=True)[:_MAX_PASSAGES])
    if not best and candidates and identity.standing(cut[0][0].url) == 0:
        best = [0]
    relevant = []
    for at, (page, passages) in enumerate(cut):
        chosen = [candidates[position][1] for position in best if candidates[position][0] == at]
        if chosen:
            relevant.append(RelevantPage(_title(page), page.url, chosen, "\n".join(passages)))
    return relevant


def _without_copies(pages: Iterable[Page]) -> list[Page]:
    """The pages without those that repeat another's text: two addresses may lead to one page."""
    by_text: dict[str, Page] = {}
    for page in pages:
        by_text.setdefault(page.text or page.url, page)
    return list(by_text.values())


def _title(page: Page) -> str:
    """The page's title without orders to a model; its host if nothing else is left."""
    title = without_injections((page.title or "")[:200])[0]
    return title if title.strip("[…] ") else urlsplit(page.url).netloc


def _paragraphs(page: Page) -> list[str]:
    return [page.description or "", *page.paragraphs]


def _passages(paragraphs: Iterable[str]) -> list[str]:
    """The paragraphs as passages: short ones are joined, long ones are cut between sentences."""
    passages = [""]
    for paragraph in filter(None, map(str.strip, paragraphs)):
        pieces = [paragraph] if len(paragraph) <= _PASSAGE_LENGTH else sentences(paragraph)
        for at, piece in enumerate(pieces):
            joined = f"{passages[-1]}{' ' if at else chr(10)}{piece}".strip()
            if len(joined) <= _PASSAGE_LENGTH:
                passages[-1] = joined
            else:
                passages.append(piece)
    return [passage for passage in passages if passage]
