"""Facts from the company's own site: its home page (at `www.` if the domain itself does not answer) and its feed.

If the home page lacks the company's address or founding year, at most two more pages are read: about, contact, the
imprint. Pages that robots.txt excludes are not fetched.
"""

import logging
import re
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import date
from typing import Any, Final
from urllib.parse import urlsplit

from tasks.cancellation import FanOut
from tasks.companies.claims import ClaimCollector, SourceClaims, one_text
from tasks.companies.company_match import (
    Identity,
    find_wall,
    is_default_text,
    is_empty,
    own_organization,
    read_organization,
    web_address,
)
from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.sources import FactSource
from tasks.companies.web.site import FeedUpdate, Page, feed_updates, fetch_home, fetch_page, read_following, website
from tasks.companies.web.transport import Address, registrable_domain
from tasks.errors import DiligenceError, NotFound, SourceFailed, UnsupportedFormat

log = logging.getLogger(__name__)

_MAX_UPDATES: Final = 10
_MAX_MORE_PAGES: Final = 2
_ABOUT: Final = re.compile(
    r"\b(?:about(?:[ -]?us)?|company|contact(?:[ -]?us)?|impressum|imprint|legal[ -]notice|kontakt|unternehmen|"
    r"(?:ü|ue)ber[ -]uns|mentions[ -]l[ée]gales|qui[ -]sommes[ -]nous|contacto|chi[ -]siamo|over[ -]ons|om[ -]oss)\b",
    re.IGNORECASE,
)


def open_source() -> "WebsiteSource":
    """The source as configured by `DILIGENCE_WEBSITE_URL`."""
    return WebsiteSource()


class WebsiteSource(FactSource):
    """Facts from the company's own site. An empty site, or one that is for sale, has none."""

    name = "website"

    @property
    def origin(self) -> str:
        return CompanySettings.current().website_url

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims on the site's pages, with their addresses; None if there is no page, or nothing on it.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotAllowed: the site does not let programs fetch its home page.
            DiligenceError: it cannot be reached, its home page cannot be read, or a wall stands before it.
        """
        domain = registrable(domain)
        url, trusted = website(domain)
        identity = Identity(None, (domain,), (url,))
        try:
            home = read_following(fetch_home(domain), trusted)
        except (NotFound, UnsupportedFormat):
            return None
        if trusted and Address.parse(home.url).origin == Address.parse(url).origin:
            identity = replace(identity, sites=(url, home.url))  # the server of the setting leads within itself
        if not identity.owns(home.url):
            other = registrable_domain(home.url) or "another address"
            warning = f"The website of {domain} leads to {other}, which was not read. Ask for that one."
            return SourceClaims([], [warning])
        wall = find_wall(home, domain)
        if wall is not None and wall.shuts_out:
            raise SourceFailed(wall.sentence(domain))
        if is_empty(home):
            return None
        if wall is not None:
            return SourceClaims([], [wall.sentence(domain)])
        claims = ClaimCollector(self.name)
        for field, (value, page_url) in _read_site(home, domain, identity, trusted).items():
            claims.add(field, value, url=page_url)
        return claims.result()


_Values = dict[str, tuple[Any, str]]
"""By field what a site says, and the address of the page that says it."""


def _read_site(home: Page, domain: str, identity: Identity, trusted: bool) -> _Values:
    """What the home page says, its feed and, if it lacks some, the pages about the company."""
    threads = FanOut(1 + _MAX_MORE_PAGES, "website")
    feed = threads.submit(_updates, home, identity, trusted)
    values = _read_values(home, domain, identity, is_home=True)
    if not {"hq", "founded_year"} <= values.keys():
        futures = [threads.submit(_page, link, trusted) for link in _about_pages(home, identity)]
        for page in filter(None, (_result(future, "page") for future in futures)):
            if identity.owns(page.url) and find_wall(page, domain, is_home=False) is None:
                values = _read_values(page, domain, identity, is_home=False) | values
    updates: tuple[Any, str] | None = _result(feed, "feed")
    return values | {"updates": updates} if updates else values


def _page(url: str, trusted: bool) -> Page:
    return read_following(fetch_page(url, trusted=trusted), trusted)


def _result(future: Future[Any], what: str) -> Any:
    """The result; None if the page or feed could not be read."""
    try:
        return future.result()
    except DiligenceError as error:
        log.info("a %s of the company's site was left out: %s", what, error)
        return None


def _read_values(page: Page, domain: str, identity: Identity, *, is_home: bool) -> _Values:
    values: dict[str, Any] = {}
    organization = own_organization(page.schema_org, domain)
    if organization is not None:
        for field, value in read_organization(organization, page.url, domain):
            if value is not None:
                values.setdefault(field, value)
    if is_home:
        for field, value in _home_values(page, organization or {}, identity):
            if value is not None and not is_default_text(value, page, domain):
                values.setdefault(field, value)
    return {field: (value, page.url) for field, value in values.items()}


def _home_values(page: Page, organization: Any, identity: Identity) -> Iterator[tuple[str, Any]]:
    """What a home page says about the company outside its schema.org data."""
    meta = page.metadata
    opengraph = meta.get("og:description")
    description = page.description or one_text(organization.get("description"))
    yield "description", description
    yield "tagline", opengraph if opengraph != description and len(opengraph or "") <= 200 else None
    yield "name", meta.get("og:site_name")
    picture = meta.get("og:image:secure_url") or meta.get("og:image") or meta.get("og:image:url")
    yield "profile_pic_url", web_address(picture, page.url) if picture else None
    own = [url for url in (page.canonical, page.url) if url and registrable_domain(url) in identity.domains]
    yield "website", next(iter(own), None)


def _about_pages(home: Page, identity: Identity) -> list[str]:
    """The pages about the company that the home page links to, first those whose address says so in its last step."""
    ranked = []
    for url, words in home.links:
        path = urlsplit(url).path.rstrip("/")
        last = path.rpartition("/")[2].replace("_", " ")
        if identity.owns(url) and path and url.rstrip("/") != home.url.rstrip("/") and path.count("/") <= 3:
            by_path, by_words = _ABOUT.search(last), _ABOUT.search(words) if len(words) <= 40 else None
            if by_path or by_words:
                ranked.append((not by_path, len(path), url))
    return [url for *_, url in sorted(ranked)[:_MAX_MORE_PAGES]]


def _updates(home: Page, identity: Identity, trusted: bool) -> tuple[Any, str] | None:
    """The latest entries of the site's feed, and its address; None if there is no feed or it is empty."""
    url = next((feed for feed in home.feeds if identity.owns(feed) and "comment" not in feed.lower()), None)
    if url is None:
        return None
    answer = fetch_page(url, trusted=trusted)
    entries = [update for update in feed_updates(answer.content, answer.url) if update.text or update.link]
    entries.sort(key=lambda entry: entry.date or date.min, reverse=True)
    return ([_update(entry) for entry in entries[:_MAX_UPDATES]], answer.url) if entries else None


def _update(entry: FeedUpdate) -> dict[str, Any]:
    day = entry.date
    return {
        "article_link": entry.link,
        "image": entry.image,
        "posted_on": {"day": day.day, "month": day.month, "year": day.year} if day else None,
        "text": entry.text or None,
    }
