"""The public pages that a question about a company is answered from: found, fetched, judged, and cut.

They are the company's own home page with those pages linked from it that fit the question, its Wikipedia article,
its newest report to the SEC, and what a search finds. At most 8 are read and the report, and what is not there when
the time is up is not waited for.

The Wikipedia article about a company: the whole of it, or else its first paragraph (CC BY-SA).
"""

import logging
import re
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, urlsplit

from tasks.ai.prompt_injection import find_orders, paragraphs_without_injections
from tasks.companies.company_match import Identity
from tasks.companies.edgar import newest_report
from tasks.companies.search import Searcher
from tasks.companies.settings import CompanySettings
from tasks.companies.web.page import Page
from tasks.companies.web.site import read_public, website
from tasks.companies.wikidata.client import summary_of
from tasks.companies.wikidata.entity import Entity, entity_of
from tasks.errors import DiligenceError, NotConfigured
from tasks.ranking import Index
from tasks.remote.fan_out import FanOut
from tasks.text.sentences import sentences


@dataclass(frozen=True)
class Article:
    """An article by its title and address; `item` is the company's in Wikidata."""

    title: str
    url: str
    item: str

    def read(self) -> Page | None:
        """The article's page. Where that cannot be had, its summary, which another server keeps; None without one.

        Raises:
            DiligenceError: neither can be had.
        """
        try:
            return read_public(self.url, trusted=True)
        except DiligenceError as error:
            log.info("the company's article is taken from its summary: %s", error)
        summary = summary_of(self.title, self.item)
        return Page(url=self.url, paragraphs=[summary.text], title=self.title) if summary else None


def article_of(entity: Entity | None) -> Article | None:
    """The article about that company; None where there is none."""
    if entity is None or entity.wikipedia is None:
        return None
    name = quote(entity.wikipedia.replace(" ", "_"), safe="")
    return Article(entity.wikipedia, f"{CompanySettings.current().wikipedia_url}/wiki/{name}", entity.id)


log = logging.getLogger(__name__)

_MOST: Final = 8
_LINKED: Final = 4
_HITS: Final = 12
_FIRST: Final = 30.0
"""Seconds for the home page, the search and who the company is: the rest of the time is for what they lead to."""
_SIDE_BY_SIDE: Final = 4
_PASSAGE: Final = 1000
"""Characters of a passage."""
_PASSAGES: Final = 12
"""Passages that an answer is taken from; at 1,000 characters they fit a small model's window."""
_PREFERRED: Final = (1.3, 1.15, 1.0)
"""What a passage's score counts: the company's own, a registry's, any other's."""


@dataclass(frozen=True)
class Reading:
    """A page that is about the company: the passages of it that speak to the question, and all of its text."""

    title: str
    url: str
    passages: Sequence[str]
    whole: str


@dataclass(frozen=True)
class Found:
    """The pages, those of the company first, who the company is, and sentences on what went wrong.

    `planted`: there are words in the pages that were meant for a model, and were left out.
    """

    readings: Sequence[Reading]
    identity: Identity
    notes: Sequence[str] = ()
    planted: bool = False


def read_pages(question: str, identity: Identity, searcher: Searcher | None, until: float) -> Found:
    """The pages that speak to the question about that company, read by `until` (`time.monotonic`).

    Its own site is read where `website` is a source of facts, Wikipedia where `wikidata` is, the report where `sec`
    is: who asks for files alone gets no network.

    Raises:
        NotConfigured: the search provider wants another setting.
    """
    sources = CompanySettings.current().fact_sources
    sites = [website(domain) for domain in identity.domains[:3]] if "website" in sources else []
    identity = replace(identity, sites=tuple(url for url, _ in sites))
    trusted = {_origin(url) for url, trust in sites if trust}
    notes: list[str] = []
    threads = FanOut(_SIDE_BY_SIDE + 2, "pages")
    try:
        search = threads.submit(_search, searcher, question, identity) if searcher else None
        asks_who = not {"wikidata", "sec"}.isdisjoint(sources)
        known = [threads.submit(entity_of, domain) for domain in identity.domains[:1] if asks_who]
        homes = {url: threads.submit(read_public, url, _origin(url) in trusted) for url, _ in sites}
        first = min(until, time.monotonic() + _FIRST)
        entity = next(iter(_done(known, first)), None)
        article = article_of(entity) if "wikidata" in sources else None
        identity = _known_as(identity, entity, article)
        report = threads.submit(newest_report, identity.ciks) if "sec" in sources and identity.ciks else None
        hits = _hits(search, first, notes) if search else []
        pages = dict(zip(homes, _done(homes.values(), first), strict=True))
        most = 2 if hits else _LINKED
        links = [url for page in pages.values() for url in _fitting(page, question, identity)[:most]]
        wanted = [url for url in dict.fromkeys([*links, *hits]) if url not in pages and url != identity.article]
        wanted = sorted(wanted, key=identity.standing)[: _MOST - len(pages) - bool(article)]
        begun = {article.url: threads.submit(article.read)} if article else {}
        begun |= {url: threads.submit(read_public, url, _origin(url) in trusted) for url in wanted}
        pages |= dict(zip(begun, _done(begun.values(), until), strict=True))
        if report is not None and (filed := _reported(report, until, notes)) is not None:
            pages[filed.url] = filed
    finally:
        threads.close()
    about = [page for page in pages.values() if page is not None and identity.is_shown_by(page, page.url)]
    log.info("%d of %d pages are about the company", len(about), len(pages))
    planted = any(find_orders(each) for page in about for each in (page.title or "", _whole(page)))
    if planted:
        log.warning("words meant for a model were left out of a public page")
    return Found(_passages(question, about, identity), identity, notes, planted)


def _done(begun: Iterable["Future[Any]"], until: float) -> list[Any]:
    """What came of each by then; None where nothing did."""
    futures = list(begun)
    wait(futures, timeout=max(0.0, until - time.monotonic()))
    found = []
    for future in futures:
        result = None
        if not future.done():
            log.info("a public page was not read in time")
        elif isinstance(error := future.exception(), DiligenceError):
            log.info("a public page was left out: %s", error)
        elif error is not None:
            log.warning("a public page was left out: %s", type(error).__name__)
        else:
            result = future.result()
        found.append(result)
    return found


def _search(searcher: Searcher, question: str, identity: Identity) -> list[str]:
    words = [question, identity.name or "", " ".join(identity.domains[:1])]
    return [hit.url for hit in searcher.search(" ".join(filter(None, words)), _HITS)]


def _hits(search: "Future[Any]", until: float, notes: list[str]) -> list[str]:
    """The addresses found. A search that fails is told of, and the other pages are read."""
    wait([search], timeout=max(0.0, until - time.monotonic()))
    if not search.done():
        notes.append("The web search took too long.")
        return []
    try:
        found: list[str] = search.result()
    except NotConfigured:
        raise
    except DiligenceError as error:
        log.warning("the web search failed: %s", error)
        notes.append(f"The web search failed. {error}")
        return []
    return found


def _reported(report: "Future[Any]", until: float, notes: list[str]) -> Page | None:
    """The report; that a setting is wanting is told of."""
    (found,) = _done([report], until)
    if report.done() and isinstance(missing := report.exception(), NotConfigured):
        notes.append(f"The company's filings were not read. {missing}")
    return found if isinstance(found, Page) else None


def _known_as(identity: Identity, entity: Entity | None, article: Article | None) -> Identity:
    """The company with what Wikidata knows it by."""
    if entity is None:
        return identity
    return replace(
        identity, name=identity.name or entity.name, article=article.url if article else None, ciks=entity.ciks
    )


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _fitting(home: Page | None, question: str, identity: Identity) -> list[str]:
    """The pages of its own site that the home page links to in words of the question."""
    if home is None:
        return []
    links = [
        (url, words) for url, words in home.links if identity.owns(url) and url.rstrip("/") != home.url.rstrip("/")
    ]
    texts = [f"{words} {re.sub(r'[^0-9A-Za-z]+', ' ', urlsplit(url).path)}" for url, words in links]
    ranked = [links[at][0] for at, _ in Index(texts).rank(question, _LINKED)]
    about = [
        url for url, words in links if re.search(r"\b(?:about|company|unternehmen)\b", f"{words} {url}", re.IGNORECASE)
    ]
    return list(dict.fromkeys([*ranked, *about[:1]]))[:_LINKED]


def _passages(question: str, pages: Sequence[Page], identity: Identity) -> list[Reading]:
    """The pages with the passages that speak most to the question; without any, how its own home page begins."""
    cuts = [(page, _cut(paragraphs_without_injections(_paragraphs(page)))) for page in _each_once(pages)]
    cuts.sort(key=lambda cut: identity.standing(cut[0].url))
    candidates = [(at, passage) for at, (_, passages) in enumerate(cuts) for passage in passages]
    index = Index([f"{cuts[at][0].title or ''}\n{passage}" for at, passage in candidates])
    scored = [
        (score * _PREFERRED[identity.standing(cuts[candidates[position][0]][0].url)], position)
        for position, score in index.rank(question, len(candidates))
    ]
    best = sorted(position for _, position in sorted(scored, reverse=True)[:_PASSAGES])
    if not best and candidates and identity.standing(cuts[0][0].url) == 0:
        best = [0]
    readings = []
    for at, (page, passages) in enumerate(cuts):
        chosen = [candidates[position][1] for position in best if candidates[position][0] == at]
        if chosen:
            readings.append(Reading(_title(page), page.url, chosen, "\n".join(passages)))
    return readings


def _each_once(pages: Iterable[Page]) -> list[Page]:
    """Two addresses may lead to one page."""
    found: dict[str, Page] = {}
    for page in pages:
        found.setdefault(page.text or page.url, page)
    return list(found.values())


def _title(page: Page) -> str:
    """What a page is called; where its title is meant for a model, its host."""
    title = (page.title or "")[:200]
    return title if title and not find_orders(title) else urlsplit(page.url).netloc


def _paragraphs(page: Page) -> list[str]:
    return [page.description or "", *page.paragraphs]


def _whole(page: Page) -> str:
    return "\n\n".join(_paragraphs(page))


def _cut(paragraphs: Iterable[str]) -> list[str]:
    """Paragraphs in passages: short ones together, long ones parted between sentences."""
    found = [""]
    for paragraph in filter(None, map(str.strip, paragraphs)):
        pieces = [paragraph] if len(paragraph) <= _PASSAGE else sentences(paragraph)
        for at, piece in enumerate(pieces):
            joined = f"{found[-1]}{' ' if at else chr(10)}{piece}".strip()
            if len(joined) <= _PASSAGE:
                found[-1] = joined
            else:
                found.append(piece)
    return [each for each in found if each]
