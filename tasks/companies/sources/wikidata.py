"""Facts from Wikidata (CC0), and Wikipedia's first paragraph, about the company whose official website a domain is.

The claims have the item's page as their address, the description has the article's. A company takes three requests to
Wikidata: which items have that website, what the item says, and the names of the items that it refers to.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from tasks.cancellation import FanOut
from tasks.companies.claims import ClaimCollector, SourceClaims
from tasks.companies.profile import CompanySettings, registrable
from tasks.companies.web.transport import Address
from tasks.companies.wikidata.client import (
    Item,
    ItemTerms,
    Summary,
    fetch_items,
    fetch_summary,
    find_named_items,
    page_address,
    terms,
)
from tasks.companies.wikidata.entity import (
    Entity,
    claimants,
    find_entity,
    is_at,
    is_home,
    list_references,
    read_values,
)
from tasks.errors import BadRequest, DiligenceError, NotAllowed, TooManyRequests
from tasks.language.normalise import plain_line, same_name

log = logging.getLogger(__name__)

_MAX_NAME: Final = 200
"""Characters of a name that is looked up."""
_LANGUAGES: Final = ("en", "mul", "de", "fr", "es", "it", "nl", "sv")
"""In which a name is looked up; most companies have the same name in all of them."""
_MAX_FETCHED_FOR_NAME: Final = 8
"""Items fetched only for their names, where the query service does not give them."""


def open_source() -> "WikidataSource":
    """The source, with the addresses in the settings."""
    return WikidataSource()


class WikidataSource:
    """Facts from Wikidata and Wikipedia, at the addresses of the settings in force."""

    name = "wikidata"

    @property
    def origin(self) -> str:
        """The addresses of Wikidata, its query service and Wikipedia."""
        settings = CompanySettings.current()
        return f"{settings.wikidata_url} {settings.wikidata_sparql_url} {settings.wikipedia_url}"

    def facts(self, domain: str) -> SourceClaims | None:
        """What the item says, in at most one claim per field; None if no item has that website.

        Raises:
            BadRequest: `domain` is no registrable domain.
            DiligenceError: Wikidata cannot be asked, or sent invalid data.
        """
        domain = registrable(domain)
        entity = find_entity(domain)
        if entity is None:
            rivals = claimants(domain)
            return SourceClaims([], [_explain_undecided(domain, rivals)]) if rivals else None
        summary_and_warnings = FanOut(1, "wikipedia").submit(_summary, entity.item)
        names, name_warnings = _names(list_references(entity.item))
        summary, summary_warnings = summary_and_warnings.result()
        values, choices = read_values(entity, names)
        claims = ClaimCollector(self.name, page_address(entity.id), retrieved_at=entity.item.retrieved_at)
        for field, value, statement in values:
            claims.add(field, value, as_of=statement.as_of if statement else None)
        if summary is not None:
            claims.add("description", summary.text, url=summary.url, as_of=summary.as_of)
        else:
            claims.add("description", entity.item.description())
        return claims.result(*_choice(entity, domain), *choices, *name_warnings, *summary_warnings)

    def domains(self, name: str) -> Sequence[str]:
        """The domains of the official websites of the companies of exactly that name.

        Raises:
            DiligenceError: Wikidata cannot be asked.
        """
        name = plain_line(name)
        if not name or len(name) > _MAX_NAME:
            return []
        candidates = find_named_items(_spellings(name), _LANGUAGES)
        domains = [_domain(site.url) for site, names in candidates if any(same_name(name, other) for other in names)]
        return list(dict.fromkeys(filter(None, domains)))


def _names(ids: Sequence[str]) -> tuple[dict[str, ItemTerms], list[str]]:
    """The names of the items, and a warning if they could not be requested.

    If the query service has none of them, the first items themselves are fetched.
    """
    try:
        if names := terms(ids):
            return names, []
    except TooManyRequests as error:
        return {}, [_without_names(error)]
    except DiligenceError as error:
        log.info("Wikidata's query service gives no names: %s", error.message)
    try:
        items = fetch_items(ids[:_MAX_FETCHED_FOR_NAME])
    except DiligenceError as error:
        return {}, [_without_names(error)]
    return {id_: ItemTerms(item.label(), next(iter(item.texts("P297")), None)) for id_, item in items.items()}, []


def _without_names(error: DiligenceError) -> str:
    return f"The names of places and companies that Wikidata refers to could not be fetched. {error.message}"


def _summary(item: Item) -> tuple[Summary | None, list[str]]:
    """The first paragraph of the item's article, and a warning if it could not be fetched."""
    if item.wikipedia is None:
        return None, []
    try:
        return fetch_summary(item.wikipedia, item.id), []
    except DiligenceError as error:
        return None, [error.message]


def _choice(entity: Entity, domain: str) -> Iterator[str]:
    """Warnings that one item was chosen among several."""
    name = entity.name or "one without a name"
    if entity.others:
        yield (
            f"Several items of Wikidata have {domain} as their official website: {name} ({entity.id}) is taken as the "
            f"likeliest, not {', '.join(entity.others)}."
        )
    if entity.not_fetched:
        yield (
            f"{entity.not_fetched} more items of Wikidata have {domain} as their official website and were not looked "
            f"at: {name} ({entity.id}) was taken among those with the lowest numbers."
        )


def _explain_undecided(domain: str, rivals: Sequence[str]) -> str:
    return (
        f"Possible matches, none used: several items of Wikidata have {domain} as their official website, and nothing "
        f"tells them apart: {', '.join(rivals)}. Mark the company's own website there as preferred, or give its facts "
        "in a facts file."
    )


def _spellings(name: str) -> list[str]:
    """The name in its usual spellings, with and without the last word, which may be a legal form."""
    shorter = name.rpartition(" ")[0].rstrip(" ,")
    return list(dict.fromkeys(filter(None, (name, name.title(), name.upper(), shorter, shorter.title()))))


def _domain(url: str) -> str | None:
    """The domain whose home page is at this address; None for a page on another company's site."""
    try:
        host = Address.parse(url).host.removeprefix("www.")
        domain = registrable(host)
    except (BadRequest, NotAllowed):
        return None
    return domain if is_at(url, domain) and is_home(url) else None
