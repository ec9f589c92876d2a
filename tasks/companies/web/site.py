"""Fetching the pages of sites: a company's own, those that a search names, those that other pages link to."""

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Final

from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.web.addresses import Address
from tasks.companies.web.answers import Answer
from tasks.companies.web.exchange import Limits
from tasks.companies.web.fetch import Web
from tasks.companies.web.page import Page, read_page, shortened
from tasks.companies.web.robots import Robots

PAGE: Final = Limits(total=20, patience=60, packed=20 << 20, attempts=2, longest_pause=5)
"""A page that takes longer is not waited for: there are others."""
_LONGEST: Final = 300_000
"""Characters of a page that are looked at; to look through them takes 0.3 s at the worst."""
_ACCEPT: Final = {"Accept": "text/html, application/xhtml+xml, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.5"}


def fetch_page(
    url: str, *, trusted: bool = False, limits: Limits = PAGE, headers: Mapping[str, str] = _ACCEPT
) -> Answer:
    """Fetch a page, or a feed, that its site lets programs fetch.

    `trusted`: the address comes from a setting (see `website`); what it redirects to is checked like any other.

    Raises:
        NotAllowed: it, or where it redirects to, is not fetched from, or its robots.txt asks for that.
        DiligenceError: as `Web.get`.
    """
    web = Web.current()
    permit = partial(_permit, _robots(web), Address.parse(url).origin if trusted else None)
    return web.get(url, headers=headers, trusted=trusted, limits=limits, permit=permit)


def read_public(url: str, trusted: bool) -> Page:
    """Fetch a page and read it, as far as its main text is looked at.

    Raises:
        DiligenceError: as `fetch_page` and `read_page`.
    """
    answer = fetch_page(url, trusted=trusted)
    return shortened(read_page(answer.content, answer.content_type, answer.url), _LONGEST)


def website(domain: str) -> tuple[str, bool]:
    """The address of a company's own site, and whether a setting gave its host.

    `DILIGENCE_WEBSITE_URL` may put all sites on one server (`http://127.0.0.1:9000/{domain}`); where the domain
    itself is the host, it is data, and what it resolves to is checked.

    Raises:
        BadRequest: it is no registrable domain.
    """
    domain = registrable(domain)
    template = CompanySettings.current().website_url
    address = Address.parse(template.replace("{domain}", domain))
    return str(address), address.host != domain


def _permit(robots: Robots, trusted: tuple[str, str, int] | None, url: str) -> None:
    robots.check(url, trusted=Address.parse(url).origin == trusted)


@lru_cache(maxsize=8)
def _robots(web: Web) -> Robots:
    return Robots(web)
