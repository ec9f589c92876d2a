"""The Searcher seam, its providers, and the one that the settings ask for.

A provider only says which pages to read; what a page says is taken from the page alone.
"""

import html
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol

from tasks.companies.profile import CompanySettings, SearcherName
from tasks.companies.web.client import Web, WebResponse
from tasks.errors import NotConfigured, SourceFailed
from tasks.language.normalise import plain_line
from tasks.remote.rate_limit import RateLimit, RateLimiter

log = logging.getLogger(__name__)

_MAX_CHARACTERS: Final = 400
"""Characters of a query that Brave and Tavily take."""
_MAX_WORDS: Final = 50
"""Words of a query that Brave takes."""
_MAX_RESULTS: Final = 20
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
            {"q": shorten_query(query), "count": str(min(count, _MAX_RESULTS)), "text_decorations": "false"},
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
            {"query": shorten_query(query), "max_results": min(count, _MAX_RESULTS)},
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
