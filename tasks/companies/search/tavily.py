"""Tavily's search: `POST /search`, with the key as a bearer token."""

from typing import Final

from tasks.companies.search import Hit, check_status, hits, json_object, read_key, shorten_query
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web
from tasks.remote.rate_limit import RateLimit, RateLimiter

_URL: Final = "https://api.tavily.com"
_LIMITER: Final = RateLimiter(RateLimit(at_once=4))
_MAX_RESULTS: Final = 20


class TavilySearcher:
    """Tavily with a key."""

    name = "tavily"

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits.

        Raises:
            NotConfigured: the key is not accepted.
            DiligenceError: it cannot be reached, or its answer cannot be used.
        """
        response = Web.current().post(
            f"{self._url}/search",
            {"query": shorten_query(query), "max_results": min(count, _MAX_RESULTS)},
            headers={"Authorization": f"Bearer {self._key}"},
            trusted=True,
            limiter=_LIMITER,
            expect=(401, 403, 432, 433),  # the last two: the plan's and the account's limit
            name="Tavily",
        )
        check_status(response)
        results = json_object(response)
        return hits(results.get("results"), "content", count)


def open_searcher() -> TavilySearcher:
    """Tavily with `DILIGENCE_SEARCH_KEY`, at `DILIGENCE_SEARCH_URL` where that is set.

    Raises:
        NotConfigured: there is no key.
    """
    return TavilySearcher(CompanySettings.current().search_url or _URL, read_key("Tavily"))
