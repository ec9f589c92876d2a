"""Pages and feeds of sites that allow them to be fetched: text, metadata and links, without markup.

They are a company's own pages, search results, and linked pages. robots.txt is interpreted according to RFC 9309 and
remembered for a day.
"""

import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache, partial
from itertools import accumulate
from threading import Lock
from typing import Any, Final

from cachetools import TLRUCache
from protego import Protego

from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.web.client import USUAL, FetchLimits, SiteChallenge, Web, WebResponse
from tasks.companies.web.parse import FEED, FILING, HTML, PDF, TEXT, parse
from tasks.companies.web.transport import Address
from tasks.errors import (
    DiligenceError,
    NotAllowed,
    SourceFailed,
    TookTooLong,
    Unavailable,
    UnsupportedFormat,
)
from tasks.language.normalise import plain

_MAX_MARKUP: Final = 100_000
_KINDS: Final = {
    **dict.fromkeys(("text/html", "application/xhtml+xml"), HTML),
    **dict.fromkeys(("application/pdf", "application/x-pdf"), PDF),
    **dict.fromkeys(("text/plain", "text/markdown", "text/csv", "application/json"), TEXT),
}
_UNSAID: Final = {"", "application/octet-stream", "binary/octet-stream", "text/xml", "application/xml"}


@dataclass(frozen=True)
class Page:
    """What a page says. Texts are plain: without markup, control characters or invisible characters.

    `paragraphs` are the main text, one line each, except tables, whose rows are lines and whose cells are separated by
    tabs. `metadata` holds its meta elements by lower-case name (`og:image`), `schema_org` its JSON-LD and microdata in
    JSON-LD's form. `feeds`, `links` (address and words), `canonical` and `refresh` (where a browser would go at once)
    are absolute. `markup` is the first 100 KB of HTML as it was sent.
    """

    url: str
    paragraphs: Sequence[str]
    title: str | None = None
    description: str | None = None
    language: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    schema_org: Sequence[Mapping[str, Any]] = ()
    feeds: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    canonical: str | None = None
    refresh: str | None = None
    markup: bytes = b""

    @property
    def text(self) -> str:
        """The main text, one paragraph a line."""
        return "\n".join(self.paragraphs)


def read_page(data: bytes, content_type: str, url: str) -> Page:
    """Read a page (HTML, PDF or plain text) by the server's Content-Type or, if that does not tell, its content.

    `url` is where it was found. Takes 0.1 s for 40 KB; the first call waits 1.4 s for its process.

    Raises:
        UnsupportedFormat: it is something else, a picture for example.
        Unreadable, TookTooLong: it cannot be read within the limits.
        Unavailable: there is no process to read it.
    """
    kind = _kind(data, content_type)
    if kind == HTML:
        fields = json.loads(parse(data, HTML, content_type, url))
        fields["links"] = [(address, words) for address, words in fields["links"]]
        return Page(url=url, markup=data[:_MAX_MARKUP], **fields)
    return Page(url=url, paragraphs=_blocks(data, kind))


def read_filing(data: bytes, content_type: str, url: str, title: str) -> Page:
    """Read a filing as `read_page` reads a page, with all of its text and tables; `title` is its name.

    Takes 2 s for 10 MB.

    Raises:
        DiligenceError: as `read_page`.
    """
    kind = _kind(data, content_type)
    if kind == HTML:
        return Page(url=url, paragraphs=json.loads(parse(data, FILING, content_type, url)), title=title)
    return Page(url=url, paragraphs=_blocks(data, kind), title=title)


def shorten_page(page: Page, most: int) -> Page:
    """The page with only its first paragraphs, up to that many characters."""
    ends = accumulate(map(len, page.paragraphs))
    return replace(
        page, paragraphs=[paragraph for paragraph, end in zip(page.paragraphs, ends, strict=True) if end <= most]
    )


def _blocks(data: bytes, kind: str) -> list[str]:
    """The blocks of text between blank lines and page breaks."""
    blocks = re.split(r"\n\s*\n|\f", plain(parse(data, kind).replace("\f", "\n\n")))
    return [block.strip("\n") for block in blocks if block.strip()]


def _kind(data: bytes, content_type: str) -> str:
    media_type = content_type.partition(";")[0].strip().lower()
    start = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n")
    if start.startswith(b"%PDF-"):
        return PDF
    if media_type in _KINDS:
        return _KINDS[media_type]
    if media_type in _UNSAID and b"\0" not in start:
        return HTML if start.startswith(b"<") else TEXT
    raise UnsupportedFormat("The page is neither HTML nor PDF nor plain text, and is not read.")


@dataclass(frozen=True)
class FeedUpdate:
    """An entry of a feed; missing values are None or an empty text. `text` is its title and summary."""

    link: str | None
    image: str | None
    date: date | None
    text: str


def feed_updates(data: bytes, url: str = "") -> list[FeedUpdate]:
    """The latest entries of the feed in `data`, at most 50, in its order; empty if it is not a feed.

    `url` is where it was found, because its links may be relative.

    Raises:
        Unreadable, TookTooLong: it cannot be read within the limits on a page.
        Unavailable: there is no process to read it.
    """
    entries = json.loads(parse(data, FEED, url=url))
    return [
        FeedUpdate(entry["link"], entry["image"], entry["date"] and date.fromisoformat(entry["date"]), entry["text"])
        for entry in entries
    ]


NAME: Final = "diligence"
"""What a robots.txt calls us."""
ROBOTS_LIMITS: Final = replace(
    USUAL,
    total=10,
    attempts=2,
    packed=500 << 10,
    unpacked=500 << 10,
    cut=True,
    longest_pause=5,
    again_when_slow=False,
)
"""RFC 9309 wants 500 KB to be read; what is beyond them is left."""
PAGE_LIMITS: Final = FetchLimits(
    total=10, patience=60, packed=20 << 20, attempts=2, longest_pause=5, again_when_slow=False
)
"""A page that takes longer, as one that comes byte by byte, is not waited for: there are others."""
_ONE_DAY: Final = 24 * 3600.0
_RETRY_AFTER: Final = 300.0
"""Seconds until a robots.txt that could not be had is asked for again."""
_MAX_SITES: Final = 2000
"""Sites that are remembered."""
_MAX_CHARACTERS: Final = 300_000
"""Characters of a page that are looked at; to look through them takes 0.3 s at the worst."""
_HEADERS: Final = {"Accept": "text/html, application/xhtml+xml, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5"}


def fetch_page(url: str, *, trusted: bool = False) -> WebResponse:
    """Fetch a page or feed, if its site allows that.

    `trusted`: the address comes from a setting (see `website`); its redirects are checked like any other.

    Raises:
        NotAllowed: it, or where it redirects to, is not fetched from, or its robots.txt asks for that.
        DiligenceError: as `Web.get`.
    """
    web = Web.current()
    permit = partial(_permit, _robots(web), Address.parse(url).origin if trusted else None)
    return web.get(url, headers=_HEADERS, trusted=trusted, limits=PAGE_LIMITS, permit=permit)


def fetch_home(domain: str) -> WebResponse:
    """Fetch the home page of a company's own site, at `www.` if the domain itself does not answer.

    Raises:
        BadRequest: it is not a registrable domain.
        DiligenceError: as `fetch_page`, for the domain itself where `www.` does not answer either.
    """
    url, trusted = website(domain)
    try:
        return fetch_page(url, trusted=trusted)
    except (Unavailable, TookTooLong, SiteSilent):
        address = Address.parse(url)
        if address.host != registrable(domain):
            raise
        with suppress(Unavailable, TookTooLong, SiteSilent):
            return fetch_page(url.replace(f"//{address.host}", f"//www.{address.host}", 1))
        raise


def read_public(url: str, trusted: bool) -> Page:
    """Fetch a page and read as much of its main text as is used.

    Raises:
        DiligenceError: as `fetch_page` and `read_following`.
    """
    return shorten_page(read_following(fetch_page(url, trusted=trusted), trusted), _MAX_CHARACTERS)


def read_following(answer: WebResponse, trusted: bool) -> Page:
    """Read a page, or the one that it sends a browser to: a `meta refresh` is followed like a redirect.

    Raises:
        SourceFailed: it leads on too often.
        DiligenceError: as `fetch_page` and `read_page`.
    """
    first = Address.parse(answer.url).origin
    for _ in range(PAGE_LIMITS.redirects + 1):
        page = read_page(answer.content, answer.content_type, answer.url)
        if page.refresh is None or page.refresh == page.url:
            return page
        answer = fetch_page(page.refresh, trusted=trusted and Address.parse(page.refresh).origin == first)
    raise SourceFailed(f"{answer.name} redirects more than {PAGE_LIMITS.redirects} times.")


def website(domain: str) -> tuple[str, bool]:
    """The address of a company's own site, and whether a setting gave its host.

    `DILIGENCE_WEBSITE_URL` may put all sites on one server (`http://127.0.0.1:9000/{domain}`); if the domain itself is
    the host, it is data, and what it resolves to is checked.

    Raises:
        BadRequest: it is not a registrable domain.
    """
    domain = registrable(domain)
    template = CompanySettings.current().website_url
    address = Address.parse(template.replace("{domain}", domain))
    return str(address), address.host != domain


class SiteSilent(NotAllowed):
    """The robots.txt of a site could not be fetched, so its pages are left alone."""


class Robots:
    """The robots.txt files of the sites that are visited. Safe to use from many threads."""

    def __init__(self, web: Web) -> None:
        self._web = web
        self._known: TLRUCache[str, Protego | str] = TLRUCache(
            _MAX_SITES,
            ttu=lambda _site, rules, now: now + (_RETRY_AFTER if isinstance(rules, str) else _ONE_DAY),
            timer=lambda: time.monotonic(),  # noqa: PLW0108 - tests set the clock
        )
        self._lock = Lock()

    def check(self, url: str, *, trusted: bool = False) -> None:
        """Refuse an address that the site does not allow to be fetched. `trusted`: a setting gave its origin.

        Raises:
            NotAllowed: it does not, or its robots.txt could not be had just now.
        """
        address = Address.parse(url)
        rules = self._rules(address.base, trusted=trusted)
        if isinstance(rules, str):
            raise SiteSilent(f"{rules} Without the site's robots.txt, its pages are not read for now.")
        if not rules.can_fetch(str(address), NAME):
            raise NotAllowed("The site's robots.txt asks programs not to fetch that page.")

    def _rules(self, site: str, *, trusted: bool) -> Protego | str:
        with self._lock, suppress(KeyError):
            return self._known[site]
        rules = self._fetch(site, trusted=trusted)
        with self._lock:
            self._known[site] = rules
        return rules

    def _fetch(self, site: str, *, trusted: bool) -> Protego | str:
        """The rules, or why the site cannot be reached or is out of order. Without a robots.txt all is allowed."""
        try:
            answer = self._web.get(
                f"{site}/robots.txt", trusted=trusted, limits=ROBOTS_LIMITS, expect=[*range(400, 429), *range(430, 500)]
            )
        except SiteChallenge:  # unavailable, as a 4xx: RFC 9309, 2.3.1.3
            return Protego.parse("")
        except DiligenceError as error:
            return error.message
        text = answer.content.decode("utf-8-sig", "replace") if answer.status < 300 else ""
        return Protego.parse(text)


_robots: Final = lru_cache(maxsize=8)(Robots)


def _permit(robots: Robots, trusted: tuple[str, str, int] | None, url: str) -> None:
    robots.check(url, trusted=Address.parse(url).origin == trusted)
