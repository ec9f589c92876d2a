"""Entity disambiguation: whether a page is about the right company, and not about a namesake.

The domain identifies the company, so a page must be connected with it: it is on the domain, names it, links to it, or
is a trusted registry's page about this company. If a domain is known, a name alone proves nothing; neither does a page
that sets its own company apart from ours, or that lists companies including ours.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import unquote, urlsplit

from tasks.companies.settings import CompanySettings
from tasks.companies.web.page import Page
from tasks.companies.web.transport import registrable_domain
from tasks.language.normalise import same_name

_APART: Final = re.compile(
    r"(?:not (?:to be )?(?:confused|mistaken|affiliated|associated|connected|related)|unrelated|"
    r"(?:no|any) (?:relation|connection|affiliation)|distinguish(?:ed)?|different (?:company|firm)|"
    r"nicht (?:zu )?verwechseln|ne pas confondre|no confundir)\b(?:(?![.!?]\s|\n).){0,120}$",
    re.IGNORECASE,
)
"""Words with which a page names a company that it is not about; the rest of the sentence is before the name."""
_PARKED: Final = re.compile(
    r"domain (?:name )?(?:is|may be|might be) (?:available )?for sale|buy this domain|domain parking|"
    r"(?:domain|page|site) (?:is|has been) (?:parked|reserved)|domain (?:is|has been) registered|"
    r"parked (?:free|domain)|(?:sedo|dan|afternic|hugedomains|bodis|parkingcrew|godaddy)(?:\.com)? (?:domain )?park|"
    r"(?:domain|website) (?:has )?expired|this domain (?:was|has been) recently registered|"
    r"inquire about this domain|get this domain|diese domain (?:steht zum verkauf|ist geparkt|wurde registriert)|"
    r"ce (?:nom de )?domaine est (?:à vendre|en vente)|este dominio est[áa] (?:en venta|a la venta)|"
    r"make an offer on this domain|related searches.{0,80}privacy policy",
    re.IGNORECASE | re.DOTALL,
)
_MAX_PARKED: Final = 2000
"""Characters; a longer page is not a parked one, whatever it says about domains."""
_MAX_OTHER_COMPANIES: Final = 8
"""Other domains that a page on one company names in its text; a directory names dozens."""
_DOMAIN: Final = re.compile(
    r"(?<![\w@.-])(?:https?://)?(?:www\.)?((?:[a-z0-9-]{1,63}\.){1,3}[a-z]{2,18})(?![\w-])", re.IGNORECASE
)


@dataclass(frozen=True)
class Identity:
    """The company that is meant: its name and domains (several if companies share the name), and what belongs to it.

    `sites` are the prefixes of its own pages' addresses, `article` is the address of its Wikipedia article, `ciks` are
    its ten-digit numbers with the SEC.
    """

    name: str | None
    domains: tuple[str, ...] = ()
    sites: tuple[str, ...] = field(default=())
    article: str | None = None
    ciks: tuple[str, ...] = ()

    def owns(self, url: str) -> bool:
        """Whether the address is on the company's own site."""
        return registrable_domain(url) in self.domains or any(_below(url, site) for site in self.sites)

    def filed(self, url: str) -> bool:
        """Whether the address is that of a filing by the company with the SEC."""
        if registrable_domain(url) != "sec.gov" and not _below(url, CompanySettings.current().sec_url):
            return False
        return any(re.search(rf"(?<!\d)0*{cik.lstrip('0')}(?!\d)", url) for cik in self.ciks)

    def standing(self, url: str) -> int:
        """How close a page is to the company, judging by its address: 0 its own, 1 a registry's, 2 any other."""
        return 0 if self.owns(url) else 1 if self.filed(url) or url == self.article else 2

    def is_shown_by(self, page: Page, url: str) -> bool:
        """Whether the page, found at `url`, is about this company."""
        if self.standing(url) < 2:
            return True
        if not self.domains:
            return self.name is not None and names_exactly(self.name, page)
        if self._is_namesakes_site(page, url):
            return False
        if _lists_companies(page) and not self._is_in_title(page):
            return False
        mentions = [
            (mention.start(), page.text)
            for domain in self.domains
            for mention in _match_domain(domain).finditer(page.text)
        ]
        if mentions:
            return not all(_APART.search(text[max(0, at - 200) : at]) for at, text in mentions)
        links = [words for link, words in page.links if _domain_in(link) in self.domains]
        return bool(links) and not all(_is_told_apart(words, page.text) for words in links)

    def _is_in_title(self, page: Page) -> bool:
        """Whether the page's title names the company, as the title of an article about it does."""
        title = replace(page, paragraphs=[])
        return any(_match_domain(domain).search(page.title or "") for domain in self.domains) or (
            self.name is not None and names_exactly(self.name, title)
        )

    def _is_namesakes_site(self, page: Page, url: str) -> bool:
        """Whether the page's schema.org data show that its site belongs to another company of that name."""
        host = registrable_domain(url)
        if self.name is None or host is None:
            return False
        return any(
            registrable_domain(address) == host
            and any(same_name(*pair) for pair in ((self.name, name), (name, self.name)))
            for thing in page.schema_org
            for name, address in _names_and_urls(thing)
        )


def is_parked(page: Page) -> bool:
    """Whether a home page is the placeholder of a domain that is for sale or unused."""
    text = f"{page.title or ''}\n{page.description or ''}\n{page.text}"
    return len(text) <= _MAX_PARKED and bool(_PARKED.search(text))


def is_empty(page: Page) -> bool:
    """Whether a page says nothing at all."""
    return not any((page.title, page.description, page.text.strip(), page.schema_org))


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
    return registrable_domain(link) if link.startswith(("http://", "https://")) else None


def _lists_companies(page: Page) -> bool:
    """Whether the page's text names so many other domains that the page is a list."""
    return len({match[1].casefold() for match in _DOMAIN.finditer(page.text)}) > _MAX_OTHER_COMPANIES


def _is_told_apart(words: str, text: str) -> bool:
    """Whether a link's words occur in the text only where the text says what it is not about."""
    starts = [match.start() for match in re.finditer(re.escape(words.strip()), text)] if words.strip() else []
    return bool(starts) and all(_APART.search(text[max(0, at - 200) : at]) for at in starts)


def _match_domain(domain: str) -> re.Pattern[str]:
    """A pattern for the domain as a word of its own, or at the end of a host name or e-mail address."""
    return re.compile(rf"(?<![\w-]){re.escape(domain)}(?![\w-]|\.\w)", re.IGNORECASE)


def _names_and_urls(thing: object) -> Iterator[tuple[str, str]]:
    if isinstance(thing, dict) and isinstance(thing.get("name"), str) and isinstance(thing.get("url"), str):
        yield thing["name"], thing["url"]


def _below(url: str, site: str) -> bool:
    one, other = urlsplit(url), urlsplit(site)
    folder = unquote(other.path).rstrip("/") + "/"
    return (one.scheme, one.netloc) == (other.scheme, other.netloc) and (unquote(one.path) + "/").startswith(folder)
