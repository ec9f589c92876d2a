"""Entity resolution: the Wikidata item for a company's domain, what it says, and its ids in other sources.

Items are matched by their official website (P856), exactly, and never by name. The website's host must be the domain,
with or without `www.`, and its path that of a home page (`/`, `/en/`, `/global/en/home.html`); both schemes count.
Among several items, the one with the better-ranked statement is preferred, then the top parent (P749, P127), then one
that still exists, that has identifiers of a legal entity, and that has properties of a company. If two items are still
equal, two companies claim the domain and none is taken: `claimants` names them.

An answer is reused for some minutes, and callers that ask at the same time share one search.

What an item says is returned field by field of the profile. A property may have several values: the preferred ones
count, the latest first, and a warning says where nothing decides between them. Things that Wikidata refers to by id (an
industry, a town) get their names from `terms`; those without a name there are left out.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from locale import locale_alias
from threading import Lock
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import idna

from tasks.cancellation import uncancelled
from tasks.companies.profile import (
    AnnualRevenue,
    CompanySettings,
    Location,
    RelatedCompany,
    head_count_range,
    registrable,
)
from tasks.companies.web.transport import Address
from tasks.companies.wikidata.client import (
    END,
    KNOWN,
    MOMENT,
    PART,
    START,
    Item,
    ItemStatement,
    ItemTerms,
    Site,
    day,
    fetch_items,
    find_items,
    iso,
    link_entry,
    money,
    number,
    page_address,
    read_id,
    read_text_language,
    read_website_language,
    text,
)
from tasks.errors import NotAllowed
from tasks.remote.rate_limit import counted_as_wait

_MAX_AGE: Final = 300.0
"""Seconds that an answer is used, unless DILIGENCE_FACTS_MAX_AGE is less."""
_MAX_ANSWERS: Final = 512
"""Answers in memory, some 20 KB each."""
_MAX_ITEMS: Final = 20
"""Items that are fetched: those with the lowest numbers, which are the oldest and best known."""
_WEBSITE: Final = "P856"
_HOMES: Final = ("", "/", "/en", "/en/", "/en-us/", "/us/", "/us/en/", "/de/", "/index.html")
"""Usual paths of home pages. The query service finds whole addresses only; other paths would take a scan."""
_LOCALES: Final = frozenset(name for name in locale_alias if re.fullmatch("[a-z]{2}_[a-z]{2}", name))
"""Languages with the countries in which they are written, as Python knows them of glibc: `de_at`."""
_CODES: Final = "|".join(sorted({code for name in _LOCALES for code in name.split("_")}))
_PAIRS: Final = "|".join(sorted(f"{name[:2]}[-_]{name[3:]}|{name[3:]}[-_]{name[:2]}" for name in _LOCALES))
_STEP: Final = (
    rf"(?:{_CODES}|{_PAIRS}|en[-_][a-z]{{2}}|[a-z]{{2}}[-_]en|"
    r"global|international|worldwide|corporate|group|web|site|portal|"
    rf"(?:home|index|default|main|start|welcome|{_CODES})(?:\.(?:[a-z]{{2}}\.)?(?:s?html?|aspx?|php|jsp|do))?|home-?page)"
)
_HOME: Final = re.compile(rf"(?:/{_STEP}){{0,3}}/?(?:\?(?:lang|language|locale|hl|l)=[\w-]{{2,5}})?", re.IGNORECASE)
"""The target of a home page: at most three steps that are a language, a country or the page's usual name.

Not any two letters: `tepco.co.jp/pg/` is TEPCO's power grid, `tu.berlin/ub/` a university's library."""
_COMPANY_PROPERTIES: Final = ("P1454", "P159", "P452", "P1128", "P414", "P169", "P1278", "P5531")
"""Properties that hardly anything but a company has."""
_LEGAL_IDENTIFIERS: Final = ("P1278", "P5531", "P414")
"""LEI, CIK and stock exchange: a legal entity's, and not a brand's or a division's."""


@dataclass(frozen=True)
class Entity:
    """The item chosen for a domain, its statement about that website, and the names of other items that claim it.

    `others` were less likely to be the company, `rivals` could not be told apart from it, and `not_fetched` further
    items with that website were not compared.
    """

    item: Item
    website: ItemStatement
    others: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    not_fetched: int = 0

    @property
    def id(self) -> str:
        """Wikidata's id, such as `Q42`."""
        return self.item.id

    @property
    def name(self) -> str | None:
        """The item's label, in English where there is one."""
        return self.item.label(read_website_language(self.website))

    @property
    def wikipedia(self) -> str | None:
        """The title of its article in the English Wikipedia."""
        return self.item.wikipedia

    @property
    def ciks(self) -> tuple[str, ...]:
        """Its ten-digit numbers with the SEC, best first."""
        return tuple(cik.zfill(10) for cik in self.item.texts("P5531") if re.fullmatch("[0-9]{1,10}", cik))

    @property
    def leis(self) -> tuple[str, ...]:
        """Its LEIs (GLEIF), best first."""
        return tuple(lei.upper() for lei in self.item.texts("P1278") if re.fullmatch("[0-9A-Za-z]{20}", lei))


def find_entity(domain: str) -> Entity | None:
    """The company with that registrable domain; None if Wikidata answered and knows none, or several equally likely
    ones.

    Raises:
        BadRequest: it is not a registrable domain.
        DiligenceError: Wikidata cannot be asked, or sent invalid data.
    """
    entity = _likeliest(domain)
    return None if entity is None or entity.rivals else entity


def claimants(domain: str) -> Sequence[str]:
    """The names of items that claim the domain equally, so that none was taken; empty otherwise.

    Raises:
        DiligenceError: as `find_entity`.
    """
    entity = _likeliest(domain)
    return (_describe_entity(entity), *entity.rivals) if entity is not None and entity.rivals else ()


def _likeliest(domain: str) -> Entity | None:
    domain = registrable(domain)
    settings = CompanySettings.current()
    max_age = min(_MAX_AGE, settings.facts_max_age * 3600)
    return ENTITIES.get((domain, settings.wikidata_url, settings.wikidata_sparql_url), max_age)


class EntityCache:
    """The latest answers by domain and servers, and searches under way."""

    def __init__(self) -> None:
        self._searches: OrderedDict[tuple[str, str, str], tuple[Future[Entity | None], float]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: tuple[str, str, str], max_age: float) -> Entity | None:
        """The answer of a search that is under way or at most `max_age` seconds old, otherwise of a new one.

        Raises:
            DiligenceError: the search failed; the failure is not kept.
        """
        with self._lock:
            search, begun = self._searches.get(key, (None, 0.0))
            new: Future[Entity | None] | None = None
            if search is None or (search.done() and time.monotonic() - begun >= max_age):
                search = new = Future()
                self._searches[key] = new, time.monotonic()
                self._searches.move_to_end(key)
                if len(self._searches) > _MAX_ANSWERS:
                    self._searches.popitem(last=False)
        if new is not None:
            self._search(key, new)
        with counted_as_wait():  # another source's thread is asking, by its own limits
            return search.result()

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._searches.clear()

    def _search(self, key: tuple[str, str, str], search: Future[Entity | None]) -> None:
        try:
            with uncancelled():
                search.set_result(_search(key[0]))
        except BaseException as error:  # noqa: BLE001 - every caller that waits must get it, whatever it is
            with self._lock:
                if self._searches.get(key, (None, 0.0))[0] is search:
                    del self._searches[key]
            search.set_exception(error)


ENTITIES: Final = EntityCache()


def _search(domain: str) -> Entity | None:
    ids = _order_items(site for site in find_items(_addresses(domain)) if not site.url or is_at(site.url, domain))
    entities = _entities(ids, domain)
    if not any(_is_legal(entity.item) for entity in entities):
        # Another path of a home page, a host in capitals, or another rank than the query service has: a part of the
        # company, or a brand, may state its address in a usual form, and the company in another.
        sites = [site for host in (f"www.{domain}", domain) for site in link_entry(host) if is_home(site.url)]
        more = [id_ for id_ in _order_items(sites) if id_ not in ids]
        entities += _entities(more[: max(0, _MAX_ITEMS - len(ids))], domain)
        ids += more
    best = min((_rank_domain(entity, domain) for entity in entities), default=None)
    equal = _top([entity for entity in entities if _rank_domain(entity, domain) == best], entities)
    if not equal:
        return None
    first, *others = sorted(equal, key=lambda entity: (_likeliness(entity), len(entity.id), entity.id))
    rivals = [_describe_entity(other) for other in others if _likeliness(other) == _likeliness(first)]
    less_likely = [_describe_entity(other) for other in others if _likeliness(other) != _likeliness(first)]
    return Entity(first.item, first.website, tuple(less_likely), tuple(rivals), len(ids[_MAX_ITEMS:]))


def _entities(ids: Sequence[str], domain: str) -> list[Entity]:
    """The items whose official website is that domain; if there are many, the first of `ids`."""
    items = {item.id: item for item in fetch_items(ids[:_MAX_ITEMS]).values()}  # a merged one has its new id
    return [entity for item in items.values() if (entity := _entity(item, domain)) is not None]


def _addresses(domain: str) -> list[str]:
    """All ways to write the address of the domain's home page; an international name in both of its forms."""
    try:
        unicode = idna.decode(domain)
    except idna.IDNAError:
        unicode = domain
    paths_of = {domain: _HOMES, unicode: ("", "/")} if unicode != domain else {domain: _HOMES}
    return [
        f"{scheme}://{www}{name}{path}"
        for name, paths in paths_of.items()
        for path in paths
        for www in ("www.", "")
        for scheme in ("https", "http")
    ]


def is_at(url: str, domain: str) -> bool:
    """Whether the address is on the domain or its `www.`, at the default port."""
    try:
        address = Address.parse(url)
    except NotAllowed:
        return False
    return address.host in {domain, f"www.{domain}"} and address.port in {80, 443}


def is_home(url: str) -> bool:
    """Whether the address is that of a home page, perhaps in one language, rather than of a page deeper in the site."""
    try:
        return _HOME.fullmatch(Address.parse(url).target) is not None
    except NotAllowed:
        return False


def _order_items(sites: Iterable[Site]) -> list[str]:
    """The ids of the items without duplicates, in the order in which to fetch them."""
    ordered = sorted(sites, key=lambda site: (not is_home(site.url), len(site.item), site.item))
    return list(dict.fromkeys(site.item for site in ordered))


def _entity(item: Item, domain: str) -> Entity | None:
    """The item with its best statement about this website; None if it has none or is not a company."""
    addresses = [(text(statement.value) or "", statement) for statement in item.all(_WEBSITE)]
    # A page deeper in the site is a product's or a division's.
    sites = [statement for address, statement in addresses if is_at(address, domain) and is_home(address)]
    kinds = item.items("P31")
    if not sites or (kinds and set(kinds) <= {*KNOWN["no_company"]}):
        return None
    return Entity(item, min(sites, key=lambda site: _rank_domain(Entity(item, site), domain)))


def _rank_domain(entity: Entity, domain: str) -> tuple[bool, bool, int]:
    """How well the domain serves as the item's official website, best first: by home page, being current, and rank."""
    site = entity.website
    prefers_another = any(
        statement.preferred and not is_at(text(statement.value) or "", domain)
        for statement in entity.item.all(_WEBSITE)
    )
    return not is_home(text(site.value) or ""), site.ended, 0 if site.preferred else 2 if prefers_another else 1


def _top(equal: Sequence[Entity], entities: Sequence[Entity]) -> list[Entity]:
    """Those that none of the others owns, whether directly or through another of `entities`."""
    owners = {entity.id: {*entity.item.items("P749"), *entity.item.items("P127")} for entity in entities}
    ids = {entity.id for entity in equal}
    top = [entity for entity in equal if not (_all_owners(entity.id, owners) & ids - {entity.id})]
    return top or list(equal)  # where they own each other, none is at the top


def _all_owners(item: str, owners: Mapping[str, set[str]]) -> set[str]:
    """All direct and indirect owners of the item."""
    all_owners: set[str] = set()
    ahead = [item]
    while ahead:
        new = owners.get(ahead.pop(), set()) - all_owners
        all_owners |= new
        ahead += new
    return all_owners


def _likeliness(entity: Entity) -> tuple[bool, bool, bool]:
    """How likely one of several equal items is the company, best first: identifiers, properties, not dissolved."""
    item = entity.item
    is_company = any(item.best(name) for name in _COMPANY_PROPERTIES)
    return bool(item.all("P576")), not _is_legal(item), not is_company


def _is_legal(item: Item) -> bool:
    return any(item.best(name) for name in _LEGAL_IDENTIFIERS)


def _describe_entity(entity: Entity) -> str:
    return f"{(entity.name or 'an item without a name')[:100]} ({entity.id})"


_MAX_RELATED: Final = 50
_MOST_YEARS: Final = 5
"""Years of revenue that are taken, the newest first."""
_SOCIAL: Final = "https://www.linkedin.com/company/"
_FUNDING: Final = "https://www.crunchbase.com/organization/"
_IMAGES: Final = "https://commons.wikimedia.org/wiki/Special:FilePath/"


class FieldValue(NamedTuple):
    """A value for a field of the profile, None if it is unknown, and the statement that it comes from, if any."""

    field: str
    value: Any
    statement: ItemStatement | None = None


def list_references(item: Item) -> list[str]:
    """The ids of items whose names are needed for claims about this one; the most useful first."""
    hq = _latest(item.best("P159"))
    places = [read_id(hq.value), read_id(hq.qualifier("P17")), *item.items("P17")[:3]] if hq else []
    ids = [*places, *item.items("P452")[:10], *_read_relations(item)]
    return list(dict.fromkeys(id_ for id_ in ids if id_ is not None))


def read_values(entity: Entity, terms: Mapping[str, ItemTerms]) -> tuple[list[FieldValue], list[str]]:
    """What the item says, and a warning for each choice between equally good values."""
    item = entity.item
    values = [
        *_name(entity),
        FieldValue("website", text(entity.website.value), entity.website),
        *_industry(item, terms),
        *_size(item),
        *_revenue(item),
        *_hq(item, terms),
        FieldValue("company_type", _company_type(item)),
        *_read_founding(item),
        *_ids(item),
        *_affiliates(item, terms),
        *_read_stock_listing(item),
    ]
    return values, list(_choices(item))


def _name(entity: Entity) -> Iterator[FieldValue]:
    """The official name in English or the website's language if exactly one is current; otherwise the label."""
    item = entity.item
    english, own = (
        [statement for statement in item.best("P1448") if read_text_language(statement.value) in languages]
        for languages in ({"en", "mul"}, {read_website_language(entity.website)})
    )
    official = english or own
    latest = _latest(official)
    if latest is not None and len({text(name.value) for name in official if name.since == latest.since}) == 1:
        yield FieldValue("name", text(latest.value), latest)
    elif entity.name is not None:
        yield FieldValue("name", entity.name)
    elif names := item.texts("P1448"):
        yield FieldValue("name", names[0])


def _industry(item: Item, terms: Mapping[str, ItemTerms]) -> Iterator[FieldValue]:
    labels = [label for id_ in item.items("P452") if (label := terms.get(id_, ItemTerms()).label)]
    yield FieldValue("industry", next(iter(labels), None))
    yield FieldValue("categories", labels or None)


def _size(item: Item) -> Iterator[FieldValue]:
    """The size by the latest head-count of the whole company, of any rank: the preferred one may be years old."""
    counts = [count for count in item.all("P1128") if PART not in count.qualifiers and number(count.value)]
    latest = _latest(sorted(counts, key=lambda count: not count.preferred))
    if latest is not None and (count := number(latest.value)):
        yield FieldValue("company_size", head_count_range(count), latest)
        yield FieldValue("extra.employee_count", count, latest)


def _revenue(item: Item) -> Iterator[FieldValue]:
    """The total revenue (P2139) of the whole company in the last years that have one, with their ends (P585)."""
    years: dict[str, tuple[ItemStatement, AnnualRevenue]] = {}
    for statement in sorted(item.all("P2139"), key=lambda statement: not statement.preferred):
        end, amount = iso(statement.qualifier(MOMENT) or statement.qualifier(END)), money(statement.value)
        if end and amount and PART not in statement.qualifiers:
            start = iso(statement.qualifier(START))
            year = AnnualRevenue(amount=amount[0], currency=amount[1], start=start, end=end)
            years.setdefault(end[:4], (statement, year))
    newest = [years[year] for year in sorted(years, reverse=True)][:_MOST_YEARS]
    if newest:
        yield FieldValue("extra.annual_revenue", [year.model_dump() for _, year in newest], newest[0][0])


def _hq(item: Item, terms: Mapping[str, ItemTerms]) -> Iterator[FieldValue]:
    """The headquarters; its country is the statement's, else the town's, else the company's if it has only one."""
    hq = _latest(item.best("P159"))
    if hq is None:
        return
    town = terms.get(read_id(hq.value) or "", ItemTerms())
    country_term = terms.get(read_id(hq.qualifier("P17")) or "", ItemTerms())
    codes = {terms.get(id_, ItemTerms()).code for id_ in item.items("P17")}
    country = country_term.code or town.country or (codes.pop() if len(codes) == 1 else None)
    location = Location(
        country=country,
        city=town.label,
        postal_code=text(hq.qualifier("P281")),
        line_1=text(hq.qualifier("P6375")),
        is_hq=True,
    )
    yield FieldValue("hq", location.model_dump(), hq)


def _company_type(item: Item) -> str | None:
    """A listed company, whatever other types it has; otherwise its type, if there is only one."""
    if item.best("P414"):
        return "PUBLIC_COMPANY"
    types = {name for id_ in (*item.items("P31"), *item.items("P1454")) if (name := KNOWN["types"].get(id_))}
    return types.pop() if len(types) == 1 else None


def _read_founding(item: Item) -> Iterator[FieldValue]:
    founded = next((statement for statement in item.best("P571") if day(statement.value)), None)
    date = day(founded.value) if founded else None
    if date is not None:
        yield FieldValue("founded_year", date.year, founded)
        yield FieldValue("extra.founding_date", date.model_dump(), founded)


def _ids(item: Item) -> Iterator[FieldValue]:
    """The company's addresses, numbers and names on other sites."""
    social, logo, funding = (_latest(item.best(name)) for name in ("P4264", "P154", "P2088"))
    if social is not None and (slug := text(social.value)):
        numeric = slug.isascii() and slug.isdigit()
        yield FieldValue("social_internal_id" if numeric else "universal_name_id", slug, social)
        yield FieldValue("social_url", f"{_SOCIAL}{quote(slug, safe='%')}", social)
    if logo is not None and (file := text(logo.value)):
        yield FieldValue("profile_pic_url", _IMAGES + quote(file.replace(" ", "_"), safe=""), logo)
    if funding is not None and (slug := text(funding.value)):
        yield FieldValue("extra.funding_db_profile_url", _FUNDING + quote(slug, safe="%"), funding)
    for field, name in (("phone_number", "P1329"), ("network_a_id", "P2013"), ("network_b_id", "P2002")):
        statement = _latest(item.best(name))
        if statement is not None and (value := text(statement.value)):
            yield FieldValue(f"extra.{field}", value, statement)


def _affiliates(item: Item, terms: Mapping[str, ItemTerms]) -> Iterator[FieldValue]:
    """The company's parents and subsidiaries, by their names."""
    companies = [
        RelatedCompany(name=terms[id_].label, link=page_address(id_)).model_dump()
        for id_ in _read_relations(item)
        if id_ in terms and terms[id_].label
    ]
    yield FieldValue("affiliated_companies", companies or None)


def _read_stock_listing(item: Item) -> Iterator[FieldValue]:
    listings = item.best("P414")
    if listings:
        yield FieldValue("extra.ipo_status", "Public", listings[0])
    elif _company_type(item) == "PRIVATELY_HELD":
        yield FieldValue("extra.ipo_status", "Private")
    yield FieldValue("extra.stock_symbol", *next(iter(_symbols(item).items()), (None,)))


def _symbols(item: Item) -> dict[str, ItemStatement]:
    """The company's stock symbols, with their listings."""
    symbols: dict[str, ItemStatement] = {}
    for listing in item.best("P414"):
        if symbol := text(listing.qualifier("P249")):
            symbols.setdefault(symbol, listing)
    return symbols


def _read_relations(item: Item) -> list[str]:
    ids = dict.fromkeys((*item.items("P749"), *item.items("P355")))
    return [id_ for id_ in ids if id_ != item.id][:_MAX_RELATED]


def _choices(item: Item) -> Iterator[str]:
    """Warnings about choices that Wikidata leaves open."""
    years = [str(date.year) for statement in item.best("P571") if (date := day(statement.value))]
    yield from _several("founding years", years)
    yield from _several("stock symbols", list(_symbols(item)))
    hqs = item.best("P159")
    latest = _latest(hqs)
    if latest is not None and len({read_id(hq.value) for hq in hqs if hq.since == latest.since}) > 1:
        yield "Wikidata gives several headquarters with equal rank; the first is used."
    related = len({*item.items("P749"), *item.items("P355")} - {item.id})
    if related > _MAX_RELATED:
        yield f"Wikidata names {related} affiliated companies; the first {_MAX_RELATED} are taken."


def _several(what: str, values: Sequence[str]) -> Iterator[str]:
    first, *others = dict.fromkeys(values) or [""]
    if others:
        yield f"Wikidata gives several {what} with equal rank: {first} is used, not {' or '.join(others[:10])}."


def _latest(statements: Sequence[ItemStatement]) -> ItemStatement | None:
    """The latest statement, or the first of several from one day; a statement without a date counts as the oldest."""
    return max(statements, key=lambda statement: statement.since, default=None)
