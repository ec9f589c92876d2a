"""Facts from the SEC's EDGAR: what companies with securities in the US file about themselves.

A company is found by the CIK that Wikidata has for its website, never by its name. The SEC asks for a contact in
the User-Agent and for 10 requests a second at most. Its data is in the public domain.
"""

import re
from collections.abc import Sequence

from tasks.companies.claims import ClaimCollector, SourceClaims, dig, one_text
from tasks.companies.edgar import Registrant, headquarters, registrant_facts, registrants
from tasks.companies.profile import registrable
from tasks.companies.schema_org import international
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import FactSource
from tasks.companies.wikidata.entity import find_entity
from tasks.errors import DiligenceError


def open_source() -> "SecSource":
    """The source as configured by `DILIGENCE_SEC_DATA_URL` and `DILIGENCE_CONTACT`."""
    return SecSource()


class SecSource(FactSource):
    """Facts from the submissions API; revenue and employees from the registrant's XBRL."""

    name = "sec"

    @property
    def origin(self) -> str:
        return CompanySettings.current().sec_data_url

    def facts(self, domain: str) -> SourceClaims | None:
        """The claims about the registrant with that website, as of its newest filing; None if EDGAR has none.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: the SEC asks for a contact, and none is set.
            DiligenceError: Wikidata, which knows the CIK, or the SEC could not be asked.
        """
        entity = find_entity(registrable(domain))
        companies = registrants(entity.ciks) if entity else []
        if not companies:
            return None
        first, *others = companies
        claims = _claims(first)
        failures = _add_reported(first, claims)
        return claims.result(*_others(first, others), *failures)


def _claims(registrant: Registrant) -> ClaimCollector:
    submissions = registrant.submissions
    claims = ClaimCollector("sec", registrant.url, registrant.filed)
    place = headquarters(dig(submissions, "addresses", "business"))
    website = one_text(submissions.get("website")) or ""  # empty for nearly all companies
    claims.add("name", registrant.name)
    claims.add("website", website if re.match(r"https?://", website) else None)
    claims.add("description", submissions.get("description"))
    claims.add("industry", one_text(submissions.get("sicDescription")))
    claims.add("hq", place)
    claims.add("extra.phone_number", international(submissions.get("phone"), place["country"] if place else None))
    if registrant.tickers:
        claims.add("company_type", "PUBLIC_COMPANY")
        claims.add("extra.ipo_status", "Public")
        claims.add("extra.stock_symbol", registrant.tickers[0])
    return claims


def _add_reported(registrant: Registrant, claims: ClaimCollector) -> list[str]:
    """Add the claims from the company's own statements; returns a warning if these could not be retrieved."""
    try:
        facts = registrant_facts(registrant.cik)
    except DiligenceError as error:
        return [f"The SEC did not give the company's figures: {error.message}"]
    if facts is not None and (revenue := facts.annual_revenue):
        years = [year.model_dump() for year in revenue]
        claims.add("extra.annual_revenue", years, url=facts.url, as_of=revenue[0].end)
    if facts is not None and (employees := facts.employees):
        claims.add("extra.employee_count", employees[0], url=facts.url, as_of=employees[1])
    return []


def _others(first: Registrant, others: Sequence[Registrant]) -> list[str]:
    if not others:
        return []
    names = ", ".join(map(_read_name, others))
    return [f"The SEC has several companies of this website: {_read_name(first)} was taken; others: {names}."]


def _read_name(registrant: Registrant) -> str:
    return f"{registrant.name or 'a company'} (CIK {registrant.cik})"
