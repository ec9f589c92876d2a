"""The Searcher seam, and what the providers of web search have in common. `registry.py` makes the configured one.

A provider only says which pages to read; what a page says is taken from the page alone.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tasks.companies.settings import CompanySettings
from tasks.companies.web.response import WebResponse
from tasks.errors import NotConfigured, SourceFailed
from tasks.language.normalise import plain_line

_MAX_CHARACTERS: Final = 400
"""Characters of a query that Brave and Tavily take."""
_MAX_WORDS: Final = 50
"""Words of a query that Brave takes."""


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
        """The module's name."""

    def search(self, query: str, count: int) -> Sequence[Hit]:
        """At most `count` pages that match the query, best first.

        Raises:
            NotConfigured: the provider does not accept the key, or needs another setting of its own.
            DiligenceError: it cannot be reached, or its answer cannot be used.
        """


def read_key(provider: str) -> str:
    """The key of `DILIGENCE_SEARCH_KEY`.

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


def check_status(response: WebResponse) -> None:
    """Check that the provider accepted the request.

    Raises:
        NotConfigured: it does not accept the key.
        SourceFailed: the account is used up.
    """
    if response.status in {401, 403, 422}:  # Brave answers 422 to a key that is not one of its own
        raise NotConfigured(f"{response.name} does not accept the key. Check DILIGENCE_SEARCH_KEY.")
    if response.status >= 400:
        raise SourceFailed(f"The account with {response.name} is used up (HTTP {response.status}). Top it up, or wait.")


def json_object(response: WebResponse) -> dict[str, Any]:
    """The JSON object that the provider answered with.

    Raises:
        SourceFailed: it answered with something else.
    """
    answer = response.json()
    if not isinstance(answer, dict):
        raise SourceFailed(f"{response.name} sent something else than the results that it should have.")
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
        raise SourceFailed("The search provider sent something else than the results that it should have.")
    by_url: dict[str, Hit] = {}
    for result in results:
        url = result.get("url") if isinstance(result, Mapping) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")) and len(by_url) < count:
            by_url.setdefault(url, Hit(_words(result.get("title")), url, _words(result.get(content))))
    return list(by_url.values())


def _words(markup: Any) -> str:
    """Text without the tags that providers put around the words of the query."""
    text = markup[:4000] if isinstance(markup, str) else ""
    return plain_line(html.unescape(re.sub(r"</?\w{1,10}[^<>]{0,100}>", "", text)))
