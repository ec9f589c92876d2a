"""Facts from the SEC's EDGAR: what companies with securities in the US say of themselves in their filings.

A company is found by the CIK that Wikidata has for its website, never by its name. The SEC asks for a contact in
the User-Agent and for 10 requests a second at most. Its data is in the public domain.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks.companies.claiming import Claiming, a_day, one_text
from tasks.companies.domain import registrable
from tasks.companies.edgar import headquarters, international
from tasks.companies.entity import entity_of
from tasks.companies.settings import CompanySettings
from tasks.companies.sources import Finding
from tasks.companies.web.fetch import Web
from tasks.companies.web.pace import Pace
from tasks.errors import NotConfigured, SourceFailed

_PACE: Final = Pace(10, 10)
_MOST: Final = 5
"""Registrants looked at for one domain; nearly all companies have one."""


@dataclass(frozen=True)
class _Registrant:
    """A company as EDGAR has it: the answer of the submissions API, and where it was found."""

    cik: str
    url: str
    said: dict[str, Any]

    @property
    def name(self) -> str | None:
        return one_text(self.said.get("name"))

    @property
    def tickers(self) -> list[str]:
        """The main one first, as EDGAR has them."""
        given = self.said.get("tickers")
        return [text for each in given if (text := one_text(each))] if isinstance(given, list) else []

    @property
    def filed(self) -> str | None:
        """The day of the newest filing."""
        filings = self.said.get("filings")
        recent = filings.get("recent") if isinstance(filings, dict) else None
        days = recent.get("filingDate") if isinstance(recent, dict) else None
        return max((day for each in days if (day := a_day(each))), default=None) if isinstance(days, list) else None


def open_source() -> "SecSource":
    """The source as `DILIGENCE_SEC_DATA_URL` and `DILIGENCE_CONTACT` have it."""
    settings = CompanySettings.current()
    public = settings.sec_data_url == CompanySettings.model_fields["sec_data_url"].default
    return SecSource(settings.sec_data_url, contact_missing=public and settings.contact is None)


class SecSource:
    """Facts from the submissions API at `address`. With `contact_missing` it is not asked: the SEC would refuse."""

    name = "sec"

    def __init__(self, address: str, *, contact_missing: bool = False) -> None:
        self._address = address
        self._contact_missing = contact_missing

    @property
    def origin(self) -> str:
        return self._address

    def facts(self, domain: str) -> Finding | None:
        """The claims of the registrant with that website, as of its newest filing; None where EDGAR has none.

        Raises:
            BadRequest: `domain` is no registrable domain.
            NotConfigured: the SEC wants a contact.
            DiligenceError: Wikidata, which knows the CIK, or the SEC could not be asked.
        """
        entity = entity_of(registrable(domain))
        ciks = [cik.zfill(10) for cik in entity.ciks if re.fullmatch(r"[0-9]{1,10}", cik)] if entity else []
        if not ciks:
            return None
        if self._contact_missing:
            raise NotConfigured(
                "The SEC wants to know who asks. Set DILIGENCE_CONTACT to an e-mail or web address of yours."
            )
        found = [found for cik in dict.fromkeys(ciks[:_MOST]) if (found := self._fetch(cik)) is not None]
        if not found:
            return None
        # A listed company before its subsidiaries and predecessors, and a living one before those.
        taken = max(found, key=lambda each: (bool(each.tickers), each.filed or ""))
        return _claims(taken).finding(*_others(taken, found))

    def domains(self, name: str) -> Sequence[str]:  # noqa: ARG002 - the seam's
        """None: EDGAR does not keep websites."""
        return []

    def _fetch(self, cik: str) -> _Registrant | None:
        url = f"{self._address}/submissions/CIK{cik}.json"
        answer = Web.current().get(url, trusted=True, pace=_PACE, expect=(403, 404), name="The SEC")
        if answer.status == 404:
            return None
        if answer.status == 403:  # too often, or by somebody whom it does not know
            raise SourceFailed(
                "The SEC refuses the request (HTTP 403). It wants a contact that it can write to "
                "(DILIGENCE_CONTACT), and stops who asks too often for ten minutes."
            )
        said = answer.json()
        if not isinstance(said, dict):
            raise SourceFailed("The SEC sent something else than a company's submissions.")
        return _Registrant(cik, url, said)


def _claims(registrant: _Registrant) -> Claiming:
    said = registrant.said
    claims = Claiming("sec", registrant.url, registrant.filed)
    addresses = said.get("addresses")
    place = headquarters(addresses.get("business") if isinstance(addresses, dict) else None)
    website = one_text(said.get("website")) or ""  # empty for nearly everyone
    claims.add("name", registrant.name)
    claims.add("website", website if re.match(r"https?://", website) else None)
    claims.add("description", said.get("description"))
    claims.add("industry", one_text(said.get("sicDescription")))
    claims.add("hq", place)
    claims.add("extra.phone_number", international(said.get("phone"), place["country"] if place else None))
    if registrant.tickers:
        claims.add("company_type", "PUBLIC_COMPANY")
        claims.add("extra.ipo_status", "Public")
        claims.add("extra.stock_symbol", registrant.tickers[0])
    return claims


def _others(taken: _Registrant, found: Sequence[_Registrant]) -> list[str]:
    others = [_named(each) for each in found if each is not taken]
    if not others:
        return []
    return [f"The SEC has several companies of this website: {_named(taken)} was taken; others: {', '.join(others)}."]


def _named(registrant: _Registrant) -> str:
    return f"{registrant.name or 'a company'} (CIK {registrant.cik})"
