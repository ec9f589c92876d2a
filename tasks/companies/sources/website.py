"""Facts from the company's own site: what its home page says of itself, and what its feed tells.

Where the home page leaves the company's address or founding open, at most two more pages are read, those on which
sites tell it (about, contact, the imprint). What robots.txt leaves to people is left to them.
"""

import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from datetime import date
from typing import Any, Final
from urllib.parse import urlsplit

from tasks.companies.claims import Claim, ClaimCollector, SourceClaims, left_out, one_text
from tasks.companies.company_match import Identity
from tasks.companies.domain import domain_of, registrable
from tasks.companies.schema_org import own_organization, read_organization, web_address
from tasks.companies.settings import CompanySettings
from tasks.companies.web.feed import FeedUpdate, feed_updates
from tasks.companies.web.page import Page, read_page
from tasks.companies.web.site import fetch_page, website
from tasks.errors import DiligenceError, NotFound, UnsupportedFormat
from tasks.remote.fan_out import FanOut

log = logging.getLogger(__name__)

_UPDATES: Final = 10
_MORE: Final = 2
_TELLING: Final = re.compile(
    r"\b(?:about(?:[ -]?us)?|company|contact(?:[ -]?us)?|impressum|imprint|legal[ -]notice|kontakt|unternehmen|"
    r"(?:ü|ue)ber[ -]uns|mentions[ -]l[ée]gales|qui[ -]sommes[ -]nous|contacto|chi[ -]siamo|over[ -]ons|om[ -]oss)\b",
    re.IGNORECASE,
)
_PARKED: Final = re.compile(
    r"domain (?:name )?(?:is|may be|might be) (?:available )?for sale|buy this domain|domain parking|"
    r"(?:domain|page|site) (?:is|has been) (?:parked|reserved)|parked (?:free|domain)|diese domain steht zum verkauf|"
    r"make an offer on this domain|related searches.{0,80}privacy policy",
    re.IGNORECASE | re.DOTALL,
)
_SMALL: Final = 2000
"""Characters; a page that says more is no parked one, whatever it says of domains."""


def open_source() -> "WebsiteSource":
    """The source as `DILIGENCE_WEBSITE_URL` has it."""
    return WebsiteSource()


class WebsiteSource:
    """Facts from the company's own site. A site that holds nothing, or is for sale, knows nothing."""

    name = "website"

    @property
    def origin(self) -> str:
        return CompanySettings.current().website_url

    def facts(self, domain: str) -> SourceClaims | None:
        """What the site's pages say, each claim with its page; None where there is no page, or nothing on it.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotAllowed: the site does not let programs fetch its home page.
            DiligenceError: it cannot be reached, or its home page cannot be read.
        """
        domain = registrable(domain)
        url, trusted = website(domain)
        identity = Identity(None, (domain,), (url,))
        try:
            home = _page(url, trusted=trusted)
        except (NotFound, UnsupportedFormat):
            return None
        if not identity.owns(home.url):
            other = domain_of(home.url) or "another address"
            return SourceClaims(
                [], [f"The website of {domain} leads to {other}, which was not read. Ask for that one."]
            )
        if _is_parked(home):
            return None
        threads = FanOut(1 + _MORE, "website")
        feed = threads.submit(_updates, home, identity, trusted)
        claims = dict(_claims(home, domain, identity, is_home=True))
        if not {"hq", "founded_year"} <= claims.keys():
            more = [threads.submit(_page, link, trusted) for link in _telling(home, identity)]
            for page in filter(None, (_result(each, "page") for each in more)):
                if identity.owns(page.url):
                    claims = {**dict(_claims(page, domain, identity, is_home=False)), **claims}
        told = _result(feed, "feed")
        if told is not None:
            claims["updates"] = told
        unfit = [field for field, claim in claims.items() if claim is None]
        found = [claim for claim in claims.values() if claim is not None]
        return SourceClaims(found, [left_out(self.name, unfit)] if unfit else []) if found or unfit else None

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - the seam's
        """None: sites are found by their domains."""
        return []


def _page(url: str, trusted: bool) -> Page:
    answer = fetch_page(url, trusted=trusted)
    return read_page(answer.content, answer.content_type, answer.url)


def _result(begun: Future[Any], what: str) -> Any:
    """What came of it; None where nothing did, which a site's further pages may."""
    try:
        return begun.result()
    except DiligenceError as error:
        log.info("a %s of the company's site was left out: %s", what, error)
        return None


def _is_parked(page: Page) -> bool:
    said = f"{page.title or ''}\n{page.description or ''}\n{page.text}"
    return (not said.strip() and not page.schema_org) or (len(said) <= _SMALL and bool(_PARKED.search(said)))


def _claims(page: Page, domain: str, identity: Identity, *, is_home: bool) -> Iterator[tuple[str, Claim | None]]:
    """A claim for each field that the page speaks to; None where its value is of another kind."""
    values: dict[str, Any] = {}
    organization = own_organization(page.schema_org, domain)
    if organization is not None:
        for field, value in read_organization(organization, page.url, domain):
            if value is not None:
                values.setdefault(field, value)
    if is_home:
        for field, value in _of_home(page, organization or {}, identity):
            if value is not None:
                values.setdefault(field, value)
    for field, value in values.items():
        claiming = ClaimCollector("website", page.url)
        claiming.add(field, value)
        made = claiming.result()
        if made is not None:
            yield field, next(iter(made.claims), None)


def _of_home(page: Page, organization: Any, identity: Identity) -> Iterator[tuple[str, Any]]:
    """What a home page says of the company outside of schema.org's words."""
    meta = page.metadata
    opengraph = meta.get("og:description")
    description = page.description or one_text(organization.get("description"))
    yield "description", description
    yield "tagline", opengraph if opengraph != description and len(opengraph or "") <= 200 else None
    yield "name", meta.get("og:site_name")
    picture = meta.get("og:image:secure_url") or meta.get("og:image") or meta.get("og:image:url")
    yield "profile_pic_url", web_address(picture, page.url) if picture else None
    own = [each for each in (page.canonical, page.url) if each and domain_of(each) in identity.domains]
    yield "website", next(iter(own), None)


def _telling(home: Page, identity: Identity) -> list[str]:
    """The pages on which sites tell who they are, those first that say so in their address's last step."""
    found = []
    for url, words in home.links:
        path = urlsplit(url).path.rstrip("/")
        last = path.rpartition("/")[2].replace("_", " ")
        if identity.owns(url) and path and url.rstrip("/") != home.url.rstrip("/") and path.count("/") <= 3:
            by_path, by_words = _TELLING.search(last), _TELLING.search(words) if len(words) <= 40 else None
            if by_path or by_words:
                found.append((not by_path, len(path), url))
    return [url for *_, url in sorted(found)[:_MORE]]


def _updates(home: Page, identity: Identity, trusted: bool) -> Claim | None:
    """The latest entries of the site's feed as one claim; None where there is no feed, or nothing in it."""
    url = next((feed for feed in home.feeds if identity.owns(feed) and "comment" not in feed.lower()), None)
    if url is None:
        return None
    answer = fetch_page(url, trusted=trusted)
    entries = [update for update in feed_updates(answer.content, answer.url) if update.text or update.link]
    entries.sort(key=lambda entry: entry.date or date.min, reverse=True)
    claiming = ClaimCollector("website", answer.url)
    claiming.add("updates", [_update(entry) for entry in entries[:_UPDATES]] or None)
    made = claiming.result()
    return next(iter(made.claims), None) if made else None


def _update(entry: FeedUpdate) -> dict[str, Any]:
    day = entry.date
    return {
        "article_link": entry.link,
        "image": entry.image,
        "posted_on": {"day": day.day, "month": day.month, "year": day.year} if day else None,
        "text": entry.text or None,
    }
