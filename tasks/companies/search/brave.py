"""Brave's web search: `GET /res/v1/web/search`, with the key in a header of its own."""

from typing import Final

from tasks.companies.search import Hit, check_status, hits, json_object, read_key, shorten_query
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web
from tasks.remote.rate_limit import RateLimit, RateLimiter

_URL: Final = "https://api.search.brave.com"
_LIMITER: Final = RateLimiter(RateLimit(at_once=1, per_second=1))
"""The smallest plan takes one request a second."""
_MAX_RESULTS: Final = 20


class BraveSearcher:
    """Brave with a key."""

    name = "brave"

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits.

        Raises:
            NotConfigured: the key is not accepted.
            DiligenceError: it cannot be reached, or its answer cannot be used.
        """
        params = {"q": shorten_query(query), "count": str(min(count, _MAX_RESULTS)), "text_decorations": "false"}
        headers = {"X-Subscription-Token": self._key, "Accept": "application/json"}
        response = Web.current().get(
            f"{self._url}/res/v1/web/search",
            params,
            headers=headers,
            trusted=True,
            limiter=_LIMITER,
            expect=(401, 402, 403, 422),
            name="Brave",
        )
        check_status(response)
        results = json_object(response)
        web = results.get("web")  # absent where there are no results
        return hits(web.get("results", []) if isinstance(web, dict) else [], "description", count)


def open_searcher() -> BraveSearcher:
    """Brave with `DILIGENCE_SEARCH_KEY`, at `DILIGENCE_SEARCH_URL` where that is set.

    Raises:
        NotConfigured: there is no key.
    """
    return BraveSearcher(CompanySettings.current().search_url or _URL, read_key("Brave"))
