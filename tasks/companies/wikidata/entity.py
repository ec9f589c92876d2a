"""Entity resolution: the Wikidata item for a company's domain, and the ids under which other sources know it.

Items are matched by their official website (P856), exactly, and never by name. The website's host must be the domain,
with or without `www.`, and its path that of a home page (`/`, `/en/`, `/global/en/home.html`); both schemes count.
Among several items, the one with the better-ranked statement is preferred, then the top parent (P749, P127), then one
that still exists, that has identifiers of a legal entity, and that has properties of a company. If two items are still
equal, two companies claim the domain and none is taken: `claimants` names them.

An answer is reused for some minutes, and callers that ask at the same time share one search.
"""

import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from locale import locale_alias
from threading import Lock
from typing import Final

import idna

from tasks.cancellation import uncancelled
from tasks.companies.budget import counted_as_wait
from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.web.transport import Address
from tasks.companies.wikidata.client import Site, fetch_items, find_items, link_entry
from tasks.companies.wikidata.item import Item, ItemStatement, read_website_language, text
from tasks.errors import NotAllowed

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
_NO_COMPANY: Final = frozenset(
    "Q5 Q571 Q7397 Q7889 Q11424 Q35127 Q166142 Q193424 Q620615 Q1668024 Q4167410 Q4182287 Q5398426".split()  # noqa: SIM905 - a list of words reads best as words
)
"""A human, book, software, video game, film, website, application, web service, mobile app, service on the internet,
disambiguation page, search engine, television series: these have websites and are not companies."""
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
    if not sites or (kinds and _NO_COMPANY.issuperset(kinds)):
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
