"""The Searcher seam: one file a provider of web search.

`DILIGENCE_SEARCH` names the provider, and so the module, whose `open_searcher()` gives it with the settings in
force. What a provider answers is where to look; what a page says is taken from the page alone.
"""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final, Protocol

from tasks.companies.settings import CompanySettings
from tasks.companies.web.response import WebResponse
from tasks.errors import NotConfigured, SourceFailed
from tasks.text.normalise import plain_line

_LONGEST: Final = 400
"""Characters of a query that Brave and Tavily take."""
_MOST_WORDS: Final = 50
"""Words of a query that Brave takes."""


@dataclass(frozen=True)
class Hit:
    """A page that was found. `content` is what the provider shows of it, plain and perhaps empty."""

    title: str
    url: str
    content: str


class Searcher(Protocol):
    """Searches the web. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """The module's name."""

    def search(self, query: str, count: int) -> Sequence[Hit]:
        """At most `count` pages that speak to the query, best first; none where nothing was found.

        Raises:
            NotConfigured: the provider does not take the key, or wants another setting of its own.
            tasks.errors.DiligenceError: it could not be asked, or answered wrongly.
        """


def configured() -> Searcher | None:
    """The provider that `DILIGENCE_SEARCH` names; None where it names none.

    Raises:
        NotConfigured: it needs a setting that is missing; the message names it.
    """
    name = CompanySettings.current().search
    if name is None:
        return None
    searcher: Searcher = import_module(f"{__name__}.{name}").open_searcher()
    return searcher


def key_of(provider: str) -> str:
    """The key of `DILIGENCE_SEARCH_KEY`.

    Raises:
        NotConfigured: there is none, or it can be none.
    """
    given = CompanySettings.current().search_key
    key = given.get_secret_value().strip() if given else ""
    if not key:
        raise NotConfigured(f"{provider} needs a key, and there is none. Set DILIGENCE_SEARCH_KEY.")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise NotConfigured("DILIGENCE_SEARCH_KEY holds characters that no key has. Set it again.")
    return key


def check(answer: WebResponse) -> None:
    """Do nothing where the provider answered.

    Raises:
        NotConfigured: it does not take the key.
        SourceFailed: the account is used up.
    """
    if answer.status in {401, 403, 422}:  # Brave says 422 to a key that is none of its own
        raise NotConfigured(f"{answer.name} does not accept the key. Check DILIGENCE_SEARCH_KEY.")
    if answer.status >= 400:
        raise SourceFailed(f"The account with {answer.name} is used up (HTTP {answer.status}). Top it up, or wait.")


def shortened(query: str) -> str:
    """A query as long as every provider takes it, cut between words."""
    words = plain_line(query).split()[:_MOST_WORDS]
    while len(" ".join(words)) > _LONGEST and len(words) > 1:
        words.pop()
    return " ".join(words)[:_LONGEST]


def hits(results: Any, content: str, count: int) -> list[Hit]:
    """The hits in a list of results; `content` is the key of what is shown. What has no address is left out.

    Raises:
        SourceFailed: it is no list of results.
    """
    if not isinstance(results, list):
        raise SourceFailed("The search provider sent something else than the results that it should have.")
    found: dict[str, Hit] = {}
    for result in results:
        url = result.get("url") if isinstance(result, Mapping) else None
        if isinstance(url, str) and url.startswith(("http://", "https://")) and len(found) < count:
            found.setdefault(url, Hit(_words(result.get("title")), url, _words(result.get(content))))
    return list(found.values())


def _words(given: Any) -> str:
    """Text without the marks that providers put around the words that were found."""
    text = given[:4000] if isinstance(given, str) else ""
    return plain_line(html.unescape(re.sub(r"</?\w{1,10}[^<>]{0,100}>", "", text)))
