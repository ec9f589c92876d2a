"""What an item of Wikidata says about a company, field by field of the profile.

A property may have several values: the preferred ones count, the latest first, and a warning says where nothing decides
between them. Things that Wikidata refers to by id (an industry, a town) get their names from `terms`; those without a
name there are left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from tasks.companies.profile import AnnualRevenue, Location, RelatedCompany, head_count_range
from tasks.companies.wikidata.client import ItemTerms, page_address
from tasks.companies.wikidata.entity import Entity
from tasks.companies.wikidata.item import (
    END,
    MOMENT,
    PART,
    START,
    Item,
    ItemStatement,
    day,
    iso,
    money,
    number,
    read_id,
    read_text_language,
    read_website_language,
    text,
)

_TYPES: Final = {
    "Q891723": "PUBLIC_COMPANY",
    "Q5621421": "PRIVATELY_HELD",  # private company
    "Q1589009": "PRIVATELY_HELD",  # privately held company
    "Q163740": "NON_PROFIT",
    "Q327333": "GOVERNMENT_AGENCY",
    "Q728646": "PARTNERSHIP",
    "Q3918": "EDUCATIONAL",  # university
    "Q2385804": "EDUCATIONAL",  # educational institution
}
"""Unambiguous values of P31 and P1454; most legal forms are used by listed companies and by others."""
_MAX_RELATED: Final = 50
_MOST_YEARS: Final = 5
"""Years of revenue that are taken, the newest first."""
_SOCIAL: Final = "https://www.linkedin.com/company/"
_FUNDING: Final = "https://www.crunchbase.com/organization/"
_IMAGES: Final = "https://commons.wikimedia.org/wiki/Special:FilePath/"


class FieldValue(NamedTuple):
    """A value for a field of the profile, and the statement that it comes from, if any."""

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
        *_type(item),
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
    if labels:
        yield FieldValue("industry", labels[0])
        yield FieldValue("categories", labels)


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
    if any((location.country, location.city, location.postal_code, location.line_1)):
        yield FieldValue("hq", location.model_dump(), hq)


def _type(item: Item) -> Iterator[FieldValue]:
    company_type = _company_type(item)
    if company_type is not None:
        yield FieldValue("company_type", company_type)


def _company_type(item: Item) -> str | None:
    """A listed company, whatever other types it has; otherwise its type, if there is only one."""
    if item.best("P414"):
        return "PUBLIC_COMPANY"
    types = {_TYPES[id_] for id_ in (*item.items("P31"), *item.items("P1454")) if id_ in _TYPES}
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
    if companies:
        yield FieldValue("affiliated_companies", companies)


def _read_stock_listing(item: Item) -> Iterator[FieldValue]:
    listings = item.best("P414")
    if listings:
        yield FieldValue("extra.ipo_status", "Public", listings[0])
    elif _company_type(item) == "PRIVATELY_HELD":
        yield FieldValue("extra.ipo_status", "Private")
    symbols = _symbols(item)
    if symbols:
        yield FieldValue("extra.stock_symbol", *next(iter(symbols.items())))


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
