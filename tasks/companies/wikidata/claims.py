"""What an item of Wikidata says of a company, field by field of its profile.

A property may have several values: the preferred ones count, of those the latest, and a warning tells where the
choice is nobody's. What Wikidata says by reference (an industry, a town) is called as `terms` has it; what is
called nothing there is left out.

Which item is the company of a domain: the join by the official website (P856), exact and never by a name.

The website's host must be the domain, with or without `www.`; both schemes count, and a slash at the end does
not. Of several items the one is taken whose website it is by the better rank, then the top parent (P749, P127)
among those found; those that are still equal are named.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import idna

from tasks.companies.profile import Location, RelatedCompany
from tasks.companies.web.safe_addresses import Address
from tasks.companies.wikidata.client import Site, Term, fetch_items, items_of, page_of
from tasks.companies.wikidata.item import (
    END,
    PART,
    Item,
    Statement,
    day,
    id_of,
    language_of,
    language_of_text,
    number,
    text,
)
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
    best = min((_standing(company, domain) for company in companies), default=None)
    equal = _top([company for company in companies if _standing(company, domain) == best], companies)
    if not equal:
        return None
    taken, *others = sorted(equal, key=_likeliness)
    return Company(taken.item, taken.website, tuple(_named(other) for other in others), len(ids[_MOST:]))


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


_SIZES: Final = ((1, 1), (2, 10), (11, 50), (51, 200), (201, 500), (501, 1000), (1001, 5000), (5001, 10000))
"""The ranges of head-counts that profiles know; above them is 10001 and more."""
_KINDS: Final = {
    "Q891723": "PUBLIC_COMPANY",
    "Q5621421": "PRIVATELY_HELD",  # private company
    "Q1589009": "PRIVATELY_HELD",  # privately held company
    "Q163740": "NON_PROFIT",
    "Q327333": "GOVERNMENT_AGENCY",
    "Q728646": "PARTNERSHIP",
    "Q3918": "EDUCATIONAL",  # university
    "Q2385804": "EDUCATIONAL",  # educational institution
}
"""What P31 and P1454 say for certain; most legal forms are those of listed companies and of others."""
_MOST_RELATED: Final = 50
_SOCIAL: Final = "https://www.linkedin.com/company/"
_FUNDING: Final = "https://www.crunchbase.com/organization/"
_IMAGES: Final = "https://commons.wikimedia.org/wiki/Special:FilePath/"


class Said(NamedTuple):
    """A value for a field, and the statement that it is read from, where it is one."""

    field: str
    value: Any
    statement: Statement | None = None


def referred(item: Item) -> list[str]:
    """The items that this one refers to by id, and whose names its claims need; the most telling first."""
    hq = _latest(item.best("P159"))
    places = [id_of(hq.value), id_of(hq.qualifier("P17")), *item.items("P17")[:3]] if hq else []
    ids = [*places, *item.items("P452")[:10], *_related(item)]
    return list(dict.fromkeys(id_ for id_ in ids if id_ is not None))


def claims_of(company: Company, terms: Mapping[str, Term]) -> tuple[list[Said], list[str]]:
    """What the item says, and a warning for each choice between values that are equally good."""
    item = company.item
    said = [
        *_name(company),
        Said("website", text(company.website.value), company.website),
        *_industry(item, terms),
        *_size(item),
        *_hq(item, terms),
        *_kind(item),
        *_founding(item),
        *_ids(item),
        *_affiliates(item, terms),
        *_listing(item),
    ]
    return said, list(_doubts(item))


def _name(company: Company) -> Iterator[Said]:
    """The official name in English or the website's language, where just one holds now; else the label."""
    item = company.item
    english, own = (
        [each for each in item.best("P1448") if language_of_text(each.value) in languages]
        for languages in ({"en", "mul"}, {language_of(company.website)})
    )
    official = english or own
    latest = _latest(official)
    if latest is not None and len({text(each.value) for each in official if each.since == latest.since}) == 1:
        yield Said("name", text(latest.value), latest)
    elif company.name is not None:
        yield Said("name", company.name)
    elif names := item.texts("P1448"):
        yield Said("name", names[0])


def _industry(item: Item, terms: Mapping[str, Term]) -> Iterator[Said]:
    labels = [label for each in item.items("P452") if (label := terms.get(each, Term()).label)]
    if labels:
        yield Said("industry", labels[0])
        yield Said("categories", labels)


def _size(item: Item) -> Iterator[Said]:
    """By the latest head-count of the whole company, whatever its rank: the preferred one is at times years old."""
    counts = [each for each in item.all("P1128") if PART not in each.qualifiers and number(each.value)]
    latest = _latest(sorted(counts, key=lambda count: not count.preferred))
    if latest is not None and (count := number(latest.value)):
        sizes = (list(each) for each in _SIZES if each[0] <= count <= each[1])
        yield Said("company_size", next(sizes, [10001, None]), latest)


def _hq(item: Item, terms: Mapping[str, Term]) -> Iterator[Said]:
    """The country is the one said beside the town, or the town's, or the company's if it has but one."""
    hq = _latest(item.best("P159"))
    if hq is None:
        return
    town = terms.get(id_of(hq.value) or "", Term())
    beside = terms.get(id_of(hq.qualifier("P17")) or "", Term())
    own = {terms.get(each, Term()).code for each in item.items("P17")}
    country = beside.code or town.country or (own.pop() if len(own) == 1 else None)
    location = Location(
        country=country,
        city=town.label,
        postal_code=text(hq.qualifier("P281")),
        line_1=text(hq.qualifier("P6375")),
        is_hq=True,
    )
    if any((location.country, location.city, location.postal_code, location.line_1)):
        yield Said("hq", location.model_dump(), hq)


def _kind(item: Item) -> Iterator[Said]:
    kind = _listed_or(item)
    if kind is not None:
        yield Said("company_type", kind)


def _listed_or(item: Item) -> str | None:
    """The kind of company: a listed one whatever else is said, or the one kind that is said."""
    if item.best("P414"):
        return "PUBLIC_COMPANY"
    kinds = {_KINDS[each] for each in (*item.items("P31"), *item.items("P1454")) if each in _KINDS}
    return kinds.pop() if len(kinds) == 1 else None


def _founding(item: Item) -> Iterator[Said]:
    founded = next((each for each in item.best("P571") if day(each.value)), None)
    known = day(founded.value) if founded else None
    if known is not None:
        yield Said("founded_year", known.year, founded)
        yield Said("extra.founding_date", known.model_dump(), founded)


def _ids(item: Item) -> Iterator[Said]:
    """Addresses, numbers and names of the company elsewhere."""
    social, logo, funding = (_latest(item.best(name)) for name in ("P4264", "P154", "P2088"))
    if social is not None and (slug := text(social.value)):
        numeric = slug.isascii() and slug.isdigit()
        yield Said("social_internal_id" if numeric else "universal_name_id", slug, social)
        yield Said("social_url", f"{_SOCIAL}{quote(slug, safe='%')}", social)
    if logo is not None and (file := text(logo.value)):
        yield Said("profile_pic_url", _IMAGES + quote(file.replace(" ", "_"), safe=""), logo)
    if funding is not None and (slug := text(funding.value)):
        yield Said("extra.funding_db_profile_url", _FUNDING + quote(slug, safe="%"), funding)
    for field, name in (("phone_number", "P1329"), ("network_a_id", "P2013"), ("network_b_id", "P2002")):
        one = _latest(item.best(name))
        if one is not None and (value := text(one.value)):
            yield Said(f"extra.{field}", value, one)


def _affiliates(item: Item, terms: Mapping[str, Term]) -> Iterator[Said]:
    """Its parents and its subsidiaries, by their names."""
    companies = [
        RelatedCompany(name=terms[each].label, link=page_of(each)).model_dump()
        for each in _related(item)
        if each in terms and terms[each].label
    ]
    if companies:
        yield Said("affiliated_companies", companies)


def _listing(item: Item) -> Iterator[Said]:
    listings = item.best("P414")
    if listings:
        yield Said("extra.ipo_status", "Public", listings[0])
    elif _listed_or(item) == "PRIVATELY_HELD":
        yield Said("extra.ipo_status", "Private")
    symbols = _symbols(item)
    if symbols:
        yield Said("extra.stock_symbol", *next(iter(symbols.items())))


def _symbols(item: Item) -> dict[str, Statement]:
    """Its symbols, each with the listing that has it."""
    symbols: dict[str, Statement] = {}
    for listing in item.best("P414"):
        if symbol := text(listing.qualifier("P249")):
            symbols.setdefault(symbol, listing)
    return symbols


def _related(item: Item) -> list[str]:
    own = {item.id}
    return [each for each in dict.fromkeys((*item.items("P749"), *item.items("P355"))) if each not in own][
        :_MOST_RELATED
    ]


def _doubts(item: Item) -> Iterator[str]:
    """What Wikidata leaves open, in sentences."""
    years = [str(known.year) for each in item.best("P571") if (known := day(each.value))]
    yield from _several("founding years", years)
    yield from _several("stock symbols", list(_symbols(item)))
    hqs = item.best("P159")
    latest = _latest(hqs)
    if latest is not None and len({id_of(each.value) for each in hqs if each.since == latest.since}) > 1:
        yield "Wikidata gives several headquarters that are equally good; the first one is taken."
    related = len({*item.items("P749"), *item.items("P355")} - {item.id})
    if related > _MOST_RELATED:
        yield f"Wikidata names {related} affiliated companies; the first {_MOST_RELATED} are taken."


def _several(what: str, values: Sequence[str]) -> Iterator[str]:
    taken, *others = dict.fromkeys(values) or [""]
    if others:
        yield f"Wikidata gives several {what} that are equally good: {taken} is taken, not {' or '.join(others[:10])}."


def _latest(statements: Sequence[Statement]) -> Statement | None:
    """The latest, of those of the same day the first; one without a date counts as the oldest."""
    return max(statements, key=lambda statement: statement.since, default=None)
