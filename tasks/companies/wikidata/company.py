"""Which item is the company of a domain: the join by the official website (P856), exact and never by a name.

The website's host must be the domain, with or without `www.`; both schemes count, and a slash at the end does
not. Of several items the one is taken whose website it is by the better rank, then the top parent (P749, P127)
among those found; those that are still equal are named.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import idna

from tasks.companies.web.addresses import Address
from tasks.companies.wikidata.item import END, Item, Statement, language_of, text
from tasks.companies.wikidata.server import Site, fetch_items, items_of
from tasks.errors import NotAllowed

WEBSITE: Final = "P856"
_HOMES: Final = ("", "/", "/en", "/en/", "/en-us/", "/us/", "/us/en/", "/de/", "/index.html")
"""Where a home page is said to be. The query service finds whole addresses only; other paths would take a scan."""
_HOME: Final = re.compile(r"/?(?:[a-z]{2}(?:[-_/][a-z]{2})?|index\.html?)?/?", re.IGNORECASE)
_MOST: Final = 20
"""Items that are looked at; those with the lowest numbers, which are the oldest and best known."""
_NO_COMPANY: Final = frozenset(
    "Q5 Q571 Q7397 Q7889 Q11424 Q35127 Q166142 Q193424 Q620615 Q1668024 Q4167410 Q4182287 Q5398426".split()  # noqa: SIM905 - a list of words reads best as words
)
"""A human, book, software, video game, film, website, application, web service, mobile app, service on the internet,
disambiguation page, search engine, television series: what has a website and is nobody's employer."""
_OF_A_COMPANY: Final = ("P1454", "P159", "P452", "P1128", "P414", "P169", "P1278", "P5531")


@dataclass(frozen=True)
class Company:
    """The item taken for a domain, its statement on that website, and the names of those that were as good.

    `unseen` further items have that website and were not looked at.
    """

    item: Item
    website: Statement
    others: tuple[str, ...] = ()
    unseen: int = 0

    @property
    def name(self) -> str | None:
        """Its label, in English where there is one."""
        return self.item.label(language_of(self.website))


def company_of(domain: str) -> Company | None:
    """The company with that registrable domain; None: Wikidata knows none.

    Raises:
        DiligenceError: Wikidata cannot be asked, or answered wrongly.
    """
    found = [site for site in items_of(_addresses(domain)) if not site.url or is_at(site.url, domain)]
    ids = _ordered(found)
    items = {item.id: item for item in fetch_items(ids[:_MOST]).values()}  # a merged one comes under its new id
    companies = [each for item in items.values() if (each := _company(item, domain)) is not None]
    best = min((_standing(each, domain) for each in companies), default=None)
    equal = _top([each for each in companies if _standing(each, domain) == best], companies)
    if not equal:
        return None
    taken, *others = sorted(equal, key=_likeliness)
    return Company(taken.item, taken.website, tuple(_named(each) for each in others), len(ids[_MOST:]))


def is_at(url: str, domain: str) -> bool:
    """Whether the address lies on the domain itself or its `www.`, at the usual port."""
    try:
        address = Address.parse(url)
    except NotAllowed:
        return False
    return address.host in {domain, f"www.{domain}"} and address.port in {80, 443}


def is_home(url: str) -> bool:
    """Whether the address is that of a home page, be it of one language; not that of a page deeper in the site."""
    try:
        return _HOME.fullmatch(Address.parse(url).target) is not None
    except NotAllowed:
        return False


def _addresses(domain: str) -> list[str]:
    """Every way to write the address of its home page; an international name in both of its forms."""
    try:
        readable = idna.decode(domain)
    except idna.IDNAError:
        readable = domain
    written = {domain: _HOMES, readable: ("", "/")} if readable != domain else {domain: _HOMES}
    return [
        f"{scheme}://{www}{name}{path}"
        for name, paths in written.items()
        for path in paths
        for www in ("www.", "")
        for scheme in ("https", "http")
    ]


def _ordered(sites: Iterable[Site]) -> list[str]:
    """The items, each once, those to look at first."""
    ordered = sorted(sites, key=lambda site: (not is_home(site.url), len(site.item), site.item))
    return list(dict.fromkeys(site.item for site in ordered))


def _company(item: Item, domain: str) -> Company | None:
    """The item with the statement that speaks best for this website; None where none does, or it is no company."""
    sites = [each for each in item.all(WEBSITE) if is_at(text(each.value) or "", domain)]
    kinds = item.items("P31")
    if not sites or (kinds and _NO_COMPANY.issuperset(kinds)):
        return None
    return Company(item, min(sites, key=lambda site: _standing(Company(item, site), domain)))


def _standing(company: Company, domain: str) -> tuple[bool, bool, int]:
    """How well the domain is its official website, best first: its home page, today, and by rank."""
    site = company.website
    elsewhere = any(each.preferred and not is_at(text(each.value) or "", domain) for each in company.item.all(WEBSITE))
    return not is_home(text(site.value) or ""), END in site.qualifiers, 0 if site.preferred else 2 if elsewhere else 1


def _top(equal: Sequence[Company], found: Sequence[Company]) -> list[Company]:
    """Those that do not belong to another of them, be it by way of a third one that was found."""
    owners = {each.item.id: {*each.item.items("P749"), *each.item.items("P127")} for each in found}
    ids = {each.item.id for each in equal}
    top = [each for each in equal if not (_above(each.item.id, owners) & ids - {each.item.id})]
    return top or list(equal)  # each belongs to the other: nothing is above


def _above(item: str, owners: Mapping[str, set[str]]) -> set[str]:
    """Every owner of the item, and every owner of an owner."""
    above: set[str] = set()
    ahead = [item]
    while ahead:
        new = owners.get(ahead.pop(), set()) - above
        above |= new
        ahead += new
    return above


def _likeliness(company: Company) -> tuple[int, bool, int, str]:
    """Which of several that are as good is taken: what looks like a company, exists, and is known for longest."""
    item = company.item
    signs = sum(bool(item.all(name)) for name in _OF_A_COMPANY)
    return -min(signs, 1), bool(item.all("P576")), len(item.id), item.id


def _named(company: Company) -> str:
    return f"{(company.name or 'an item without a name')[:100]} ({company.item.id})"
