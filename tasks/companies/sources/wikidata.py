"""Facts from Wikidata (CC0), and Wikipedia's first paragraph, of the company whose official website a domain is.

Each claim leads to the item's page, the description to the article. A company takes three requests to Wikidata:
which items have that website, what the item says, and what the items are called that it refers to.
"""

import logging
from collections.abc import Iterator, Sequence
from typing import Final

from pydantic import ValidationError

from tasks.companies.claims import Claim, SourceClaims
from tasks.companies.domain import registrable
from tasks.companies.settings import CompanySettings
from tasks.companies.web.safe_addresses import Address
from tasks.companies.wikidata.claims import Company, Said, claims_of, is_at, is_home, referred
from tasks.companies.wikidata.client import Summary, Term, fetch_items, named, page_of, summary_of, terms
from tasks.companies.wikidata.entity import known_company
from tasks.companies.wikidata.item import Item
from tasks.errors import BadRequest, DiligenceError, NotAllowed, TooManyRequests
from tasks.remote.fan_out import FanOut
from tasks.text.normalise import one_line, same_name

log = logging.getLogger(__name__)

_LONGEST_NAME: Final = 200
_LANGUAGES: Final = ("en", "mul", "de", "fr", "es", "it", "nl", "sv")
"""In which a name is looked up; most companies have the same one in each."""
_FETCHED: Final = 8
"""Items fetched for their name alone, where the query service does not give it."""


def open_source() -> "WikidataSource":
    """The source; the settings say where Wikidata is."""
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
        """What the item says, in at most one claim a field; None where no item has that website.

        Raises:
            BadRequest: `domain` is no registrable domain.
            DiligenceError: Wikidata cannot be asked, or answered wrongly.
        """
        company = known_company(registrable(domain))
        if company is None:
            return None
        asked = FanOut(1, "wikipedia").submit(_summary, company.item)
        known, gaps = _terms(referred(company.item))
        summary, silence = asked.result()
        said, doubts = claims_of(company, known)
        claims = [claim for each in said if (claim := _claim(each, company.item)) is not None]
        claims += _description(company, summary)
        return SourceClaims(claims, [*_choice(company, domain), *doubts, *gaps, *silence])

    def domains(self, name: str) -> Sequence[str]:
        """The domains of the official websites of the companies of exactly that name.

        Raises:
            DiligenceError: Wikidata cannot be asked.
        """
        name = one_line(name)
        if not name or len(name) > _LONGEST_NAME:
            return []
        found = named(_spellings(name), _LANGUAGES)
        domains = [_domain(site.url) for site, names in found if any(same_name(name, each) for each in names)]
        return list(dict.fromkeys(filter(None, domains)))


def _terms(ids: Sequence[str]) -> tuple[dict[str, Term], list[str]]:
    """What the items are called, and a warning where that could not be asked.

    Where the query service names none of them, the first ones are fetched themselves.
    """
    try:
        if known := terms(ids):
            return known, []
    except TooManyRequests as error:
        return {}, [_unnamed(error)]
    except DiligenceError as error:
        log.info("Wikidata's query service does not tell names: %s", error.message)
    try:
        return {each: _term(item) for each, item in fetch_items(ids[:_FETCHED]).items()}, []
    except DiligenceError as error:
        return {}, [_unnamed(error)]


def _unnamed(error: DiligenceError) -> str:
    return f"What the places and companies are called that Wikidata refers to could not be asked. {error.message}"


def _term(item: Item) -> Term:
    return Term(item.label(), next(iter(item.texts("P297")), None))


def _summary(item: Item) -> tuple[Summary | None, list[str]]:
    """The first paragraph of the item's article, and a warning where that could not be asked."""
    if item.wikipedia is None:
        return None, []
    try:
        return summary_of(item.wikipedia, item.id), []
    except DiligenceError as error:
        return None, [error.message]


def _claim(said: Said, item: Item) -> Claim | None:
    """The claim; None where a value does not fit its field, which is no reason to lose the others."""
    try:
        return Claim(
            field=said.field,
            value=said.value,
            source=WikidataSource.name,
            url=page_of(item.id),
            retrieved_at=item.retrieved_at,
            as_of=said.statement.as_of if said.statement else None,
        )
    except ValidationError:
        return None


def _description(company: Company, summary: Summary | None) -> Iterator[Claim]:
    item = company.item
    if summary is not None:
        yield Claim(
            field="description",
            value=summary.text,
            source=WikidataSource.name,
            url=summary.url,
            retrieved_at=item.retrieved_at,
            as_of=summary.as_of,
        )
    elif (text := item.description()) and (claim := _claim(Said("description", text), item)):
        yield claim


def _choice(company: Company, domain: str) -> Iterator[str]:
    """Which of several was taken."""
    if company.others:
        yield (
            f"Several items of Wikidata have {domain} as their official website, and nothing tells them apart: "
            f"{company.name or 'one without a name'} ({company.item.id}) is taken, not {', '.join(company.others)}."
        )
    if company.unseen:
        yield (
            f"{company.unseen} more items of Wikidata have {domain} as their official website and were not looked at: "
            f"{company.name or 'one without a name'} ({company.item.id}) was taken among those with the lowest numbers."
        )


def _spellings(name: str) -> list[str]:
    """The name as given and as names are mostly written, with and without its last word, which may be a legal form."""
    shorter = name.rpartition(" ")[0].rstrip(" ,")
    return list(dict.fromkeys(filter(None, (name, name.title(), name.upper(), shorter, shorter.title()))))


def _domain(url: str) -> str | None:
    """The domain whose home page the address is; None for a page on somebody else's."""
    try:
        host = Address.parse(url).host.removeprefix("www.")
        domain = registrable(host)
    except (BadRequest, NotAllowed):
        return None
    return domain if is_at(url, domain) and is_home(url) else None
