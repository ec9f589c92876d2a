"""What a registrant's own statements say of its revenue and its employees: EDGAR's company facts, by their XBRL.

One answer has all facts of a company that are of a standard taxonomy (us-gaap, ifrs-full, dei) and of the entire filing
entity, by tag, unit and period ("EDGAR Application Programming Interfaces", `/api/xbrl/companyfacts/`,
https://www.sec.gov/search-filings/edgar-application-programming-interfaces). A fact stands there once for each filing
that gives it; `fy` and `fp` are the filing's and not the fact's, so its period is its `start` and `end` alone.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from tasks.companies.claims import a_day
from tasks.companies.edgar import LIMITER, NAME, refusal
from tasks.companies.profile import AnnualRevenue
from tasks.companies.settings import CompanySettings
from tasks.companies.web.client import Web
from tasks.companies.web.request import FetchLimits
from tasks.errors import SourceFailed

_LIMITS: Final = FetchLimits(packed=12 << 20, unpacked=64 << 20, attempts=2)
"""A large company's facts are 4 to 12 MB of JSON, some 500 KB as they are sent."""

_REVENUE: Final = (
    ("us-gaap", "Revenues"),
    ("us-gaap", "RevenueFromContractWithCustomerExcludingAssessedTax"),
    ("us-gaap", "SalesRevenueNet"),
    ("us-gaap", "RevenueFromContractWithCustomerIncludingAssessedTax"),
    ("ifrs-full", "Revenue"),
    ("ifrs-full", "RevenueFromContractsWithCustomers"),
)
"""Tags of the revenue of all, the widest first: a company may change from one to another in a year."""

_EMPLOYEES: Final = ("dei", "EntityNumberOfEmployees")
_ANNUAL_FORMS: Final = ("10-K", "20-F", "40-F")
_YEAR: Final = range(350, 381)
"""Days of a fiscal year, those of 52 and 53 weeks included."""

MOST_YEARS: Final = 5
"""Years of revenue that are taken, the newest first."""


@dataclass(frozen=True)
class RegistrantFacts:
    """The facts of a registrant, and the address that gave them."""

    url: str
    facts: Mapping[str, Any]

    @property
    def annual_revenue(self) -> Sequence[AnnualRevenue]:
        """The revenue of its last fiscal years, as its newest annual report with that year has it."""
        by_end: dict[str, AnnualRevenue] = {}
        for tag in _REVENUE:
            years: dict[str, tuple[str, AnnualRevenue]] = {}
            for unit, fact in self._of(tag):
                start, end, filed = (a_day(fact.get(key)) for key in ("start", "end", "filed"))
                amount, form = fact.get("val"), fact.get("form")
                if not (start and end and filed and re.fullmatch(r"[A-Z]{3}", unit)) or not _is_amount(amount):
                    continue
                days = (date.fromisoformat(end) - date.fromisoformat(start)).days
                if days not in _YEAR or not str(form).startswith(_ANNUAL_FORMS) or filed < years.get(end, ("",))[0]:
                    continue
                years[end] = filed, AnnualRevenue(amount=amount, currency=unit, start=start, end=end)
            by_end = {end: year for end, (_, year) in years.items()} | by_end
        return [by_end[end] for end in sorted(by_end, reverse=True)][:MOST_YEARS]

    @property
    def employees(self) -> tuple[int, str] | None:
        """The newest number of its employees, and the day that it is of."""
        counts = [
            (end, fact["val"])
            for _, fact in self._of(_EMPLOYEES)
            if (end := a_day(fact.get("end"))) and isinstance(fact.get("val"), int) and fact["val"] > 0
        ]
        return max(counts)[::-1] if counts else None

    def _of(self, tag: tuple[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The facts of a tag with their units; what has another shape is passed by."""
        content: Any = self.facts
        for step in (*tag, "units"):
            content = content.get(step) if isinstance(content, Mapping) else None
        for unit, facts in content.items() if isinstance(content, Mapping) else ():
            yield from ((unit, fact) for fact in facts if isinstance(fact, Mapping)) if isinstance(facts, list) else ()


def registrant_facts(cik: str) -> RegistrantFacts | None:
    """The facts of the registrant with that CIK (ten digits); None where EDGAR has none of it.

    Raises:
        DiligenceError: the SEC cannot be asked, or answered wrongly.
    """
    url = f"{CompanySettings.current().sec_data_url}/api/xbrl/companyfacts/CIK{cik}.json"
    answer = Web.current().get(url, trusted=True, limiter=LIMITER, limits=_LIMITS, expect=(403, 404), name=NAME)
    if answer.status == 404:
        return None
    if answer.status == 403:
        raise refusal()
    content = answer.json()
    if not isinstance(content, dict) or not isinstance(content.get("facts"), dict):
        raise SourceFailed("The SEC sent something else than a company's facts.")
    return RegistrantFacts(url, content["facts"])


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**15
