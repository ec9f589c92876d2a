"""Whether a page is about the company that is meant, and not about another company of the same name.

The domain says which company is meant, so a page must show it: it is on the domain, names it, links to it, or is a
trusted registry's page on this company. Where a domain is known, a name alone proves nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from tasks.companies.settings import CompanySettings
from tasks.companies.web.page import Page
from tasks.companies.web.safe_addresses import domain_of
from tasks.text.normalise import same_name


@dataclass(frozen=True)
class Identity:
    """The company that is meant: its name and domains (several where companies share the name), and what it owns.

    `sites` are the addresses that its own pages begin with, `article` the address of its Wikipedia article, `ciks` its
    numbers with the SEC in ten digits.
    """

    name: str | None
    domains: tuple[str, ...] = ()
    sites: tuple[str, ...] = field(default=())
    article: str | None = None
    ciks: tuple[str, ...] = ()

    def owns(self, url: str) -> bool:
        """Whether the address is on the company's own site."""
        return domain_of(url) in self.domains or any(_below(url, site) for site in self.sites)

    def filed(self, url: str) -> bool:
        """Whether the address is that of a filing of the company with the SEC."""
        if domain_of(url) != "sec.gov" and not _below(url, CompanySettings.current().sec_url):
            return False
        return any(re.search(rf"(?<!\d)0*{cik.lstrip('0')}(?!\d)", url) for cik in self.ciks)

    def standing(self, url: str) -> int:
        """How near a page is to the company, by its address: 0 its own, 1 a registry's, 2 any other."""
        return 0 if self.owns(url) else 1 if self.filed(url) or url == self.article else 2

    def is_shown_by(self, page: Page, url: str) -> bool:
        """Whether the page, found at `url`, is about this company."""
        if self.standing(url) < 2:
            return True
        if not self.domains:
            return self.name is not None and names_exactly(self.name, page)
        if self._is_site_of_namesake(page, url):
            return False
        if any(_domain_in(link) in self.domains for link, _ in page.links):
            return True
        return any(_mentioned(domain).search(page.text) for domain in self.domains)

    def _is_site_of_namesake(self, page: Page, url: str) -> bool:
        """Whether the page is on the site of another company of that name, by its schema.org data."""
        host = domain_of(url)
        if self.name is None or host is None:
            return False
        return any(
            domain_of(address) == host and any(same_name(*pair) for pair in ((self.name, name), (name, self.name)))
            for thing in page.schema_org
            for name, address in _names_and_urls(thing)
        )


def names_exactly(name: str, page: Page) -> bool:
    """Whether the page names a company of exactly that name: `Alpha`, `Alpha GmbH`, and not `Alpha Industries`."""
    words = re.findall(r"\w+", name)
    if not words:
        return False
    phrase = r"(?<!\w)" + r"\W{1,3}".join(map(re.escape, words)) + r"(?!\w)(?P<more>(?:[ ,]{1,2}[\w.&/]+)?)"
    for match in re.finditer(phrase, f"{page.title or ''}\n{page.text}", re.IGNORECASE):
        more = match["more"].strip(" ,")
        if not more or not more[0].isupper() or same_name(name, f"{name} {more}"):
            return True
    return False


def _domain_in(link: str) -> str | None:
    return domain_of(link) if link.startswith(("http://", "https://")) else None


def _mentioned(domain: str) -> re.Pattern[str]:
    """The domain as a word of its own, or the end of a host's name or an e-mail address."""
    return re.compile(rf"(?<![\w-]){re.escape(domain)}(?![\w-]|\.\w)", re.IGNORECASE)


def _names_and_urls(thing: object) -> Iterator[tuple[str, str]]:
    if isinstance(thing, dict) and isinstance(thing.get("name"), str) and isinstance(thing.get("url"), str):
        yield thing["name"], thing["url"]


def _below(url: str, site: str) -> bool:
    one, other = urlsplit(url), urlsplit(site)
    folder = unquote(other.path).rstrip("/") + "/"
    return (one.scheme, one.netloc) == (other.scheme, other.netloc) and (unquote(one.path) + "/").startswith(folder)
