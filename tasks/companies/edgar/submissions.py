"""EDGAR's submissions API: a registrant by its CIK, with the list of what it filed.

The SEC asks for a contact in the User-Agent and for 10 requests a second at most, whichever of its servers is asked.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tasks.companies.claiming import a_day, one_text
from tasks.companies.settings import CompanySettings
from tasks.companies.web.fetch import Web
from tasks.companies.web.pace import Pace
from tasks.errors import DiligenceError, NotConfigured, SourceFailed

PACE: Final = Pace(10, 10)
NAME: Final = "The SEC"
_MOST: Final = 5
"""Registrants looked at for one company; nearly all companies have one."""


@dataclass(frozen=True)
class Registrant:
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
        return max((day for each in self.filings("filingDate") if (day := a_day(each[0]))), default=None)

    def filings(self, *columns: str) -> list[tuple[Any, ...]]:
        """Those columns of the recent filings, the newest first; none where one is missing."""
        filings = self.said.get("filings")
        recent = filings.get("recent") if isinstance(filings, dict) else None
        given = [recent.get(column) if isinstance(recent, dict) else None for column in columns]
        lists = [each for each in given if isinstance(each, list)]
        return list(zip(*lists, strict=False)) if len(lists) == len(columns) else []


def registrants(ciks: Iterable[str]) -> list[Registrant]:
    """The registrants with those CIKs (ten digits), the one that is the company first.

    A listed company comes before its subsidiaries and predecessors, and one that files before those that did.

    Raises:
        NotConfigured: the SEC wants a contact.
        DiligenceError: it cannot be asked, or answered wrongly.
    """
    wanted = list(dict.fromkeys(ciks))[:_MOST]
    if wanted and (missing := contact_missing()):
        raise missing
    found = [each for cik in wanted if (each := _fetch(cik)) is not None]
    return sorted(found, key=lambda each: (bool(each.tickers), each.filed or ""), reverse=True)


def contact_missing() -> DiligenceError | None:
    """Why the SEC cannot be asked: its own servers refuse whoever gives no contact."""
    settings = CompanySettings.current()
    if settings.contact or settings.sec_data_url != CompanySettings.model_fields["sec_data_url"].default:
        return None
    return NotConfigured("The SEC wants to know who asks. Set DILIGENCE_CONTACT to an e-mail or web address of yours.")


def refusal() -> SourceFailed:
    """What a 403 of the SEC means."""
    return SourceFailed(  # too often, or by somebody whom it does not know
        "The SEC refuses the request (HTTP 403). It wants a contact that it can write to "
        "(DILIGENCE_CONTACT), and stops who asks too often for ten minutes."
    )


def _fetch(cik: str) -> Registrant | None:
    url = f"{CompanySettings.current().sec_data_url}/submissions/CIK{cik}.json"
    answer = Web.current().get(url, trusted=True, pace=PACE, expect=(403, 404), name=NAME)
    if answer.status == 404:
        return None
    if answer.status == 403:
        raise refusal()
    said = answer.json()
    if not isinstance(said, dict):
        raise SourceFailed("The SEC sent something else than a company's submissions.")
    return Registrant(cik, url, said)
