"""Fetches pages from sites that allow it: a company's own, search results, and linked pages.

robots.txt is interpreted according to RFC 9309 and remembered for a day.
"""

import time
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache, partial
from threading import Lock
from typing import Final

from cachetools import TLRUCache
from protego import Protego

from tasks.companies.profile import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import USUAL, FetchLimits, SiteChallenge, Web, WebResponse
from tasks.companies.web.page import Page, read_page, shorten_page
from tasks.companies.web.transport import Address
from tasks.errors import DiligenceError, NotAllowed, SourceFailed, TookTooLong, Unavailable

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
        self._known: TLRUCache[str, Protego | None] = TLRUCache(
            _MAX_SITES,
            ttu=lambda _site, rules, now: now + (_RETRY_AFTER if rules is None else _ONE_DAY),
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
        if rules is None:
            raise SiteSilent("The site's robots.txt could not be fetched, so its pages are not read for now.")
        if not rules.can_fetch(str(address), NAME):
            raise NotAllowed("The site's robots.txt asks programs not to fetch that page.")

    def _rules(self, site: str, *, trusted: bool) -> Protego | None:
        with self._lock, suppress(KeyError):
            return self._known[site]
        rules = self._fetch(site, trusted=trusted)
        with self._lock:
            self._known[site] = rules
        return rules

    def _fetch(self, site: str, *, trusted: bool) -> Protego | None:
        """The rules; None if the site cannot be reached or is out of order. Without a robots.txt all is allowed."""
        try:
            answer = self._web.get(
                f"{site}/robots.txt", trusted=trusted, limits=ROBOTS_LIMITS, expect=[*range(400, 429), *range(430, 500)]
            )
        except SiteChallenge:  # unavailable, as a 4xx: RFC 9309, 2.3.1.3
            return Protego.parse("")
        except DiligenceError:
            return None
        text = answer.content.decode("utf-8-sig", "replace") if answer.status < 300 else ""
        return Protego.parse(text)


_robots: Final = lru_cache(maxsize=8)(Robots)


def _permit(robots: Robots, trusted: tuple[str, str, int] | None, url: str) -> None:
    robots.check(url, trusted=Address.parse(url).origin == trusted)
