"""SearXNG, a search engine that one runs oneself and that queries others: `GET /search?format=json`."""

import logging
from typing import Final

from tasks.companies.search import Hit, hits, json_object, shorten_query
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web
from tasks.errors import NotConfigured
from tasks.remote.rate_limit import RateLimit, RateLimiter

log = logging.getLogger(__name__)

_LIMITER: Final = RateLimiter(RateLimit(at_once=4))


class SearxngSearcher:
    """SearXNG at an address of ours."""

    name = "searxng"

    def __init__(self, url: str) -> None:
        self._url = url

    def search(self, query: str, count: int) -> list[Hit]:
        """The hits; engines that did not answer are named in the log.

        Raises:
            NotConfigured: the server does not give JSON.
            DiligenceError: it cannot be reached, or its answer cannot be used.
        """
        params = {"q": shorten_query(query), "format": "json"}
        response = Web.current().get(
            f"{self._url}/search", params, trusted=True, limiter=_LIMITER, expect=(403,), name="The SearXNG server"
        )
        if response.status == 403:
            raise NotConfigured(
                "The SearXNG server refuses to answer in JSON (HTTP 403). Enable the format: `json` among "
                "`search.formats` in its settings.yml."
            )
        results = json_object(response)
        unresponsive = results.get("unresponsive_engines")
        if isinstance(unresponsive, list) and unresponsive:
            names = [
                str(engine[0] if isinstance(engine, list) and engine else engine)[:40] for engine in unresponsive[:10]
            ]
            log.warning("search engines that did not answer the SearXNG server: %s", ", ".join(map(ascii, names)))
        return hits(results.get("results"), "content", count)


def open_searcher() -> SearxngSearcher:
    """The server of `DILIGENCE_SEARCH_URL`.

    Raises:
        NotConfigured: there is none.
    """
    url = CompanySettings.current().search_url
    if url is None:
        raise NotConfigured("DILIGENCE_SEARCH is searxng, which has no address of its own. Set DILIGENCE_SEARCH_URL.")
    return SearxngSearcher(url)
