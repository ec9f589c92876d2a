"""Facts from the SEC's EDGAR: what companies with securities in the US file about themselves, and their newest report.

A company is found by the CIK that Wikidata has for its website, never by its name. The data is in the public domain.

The SEC asks for a contact in the User-Agent and for at most 10 requests a second to all of its servers together, from
all machines of a user; anyone who exceeds that is refused for ten minutes ("Accessing EDGAR Data", "Fair access",
https://www.sec.gov/os/accessing-edgar-data; the APIs: https://www.sec.gov/edgar/sec-api-documentation).

The newest report is the annual one (10-K, 20-F, 40-F), otherwise a quarterly one: 2 to 15 MB of inline XBRL, mostly
with 300,000 to 500,000 characters of text. Filings never change, so the last reports are cached in the process.

Addresses have EDGAR's own codes for states and countries, which are not ISO's ("EDGAR state and country codes"): `CA`
is California and `A6` Ontario. No foreign code consists of two letters, so the two cannot be confused.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tasks.companies.claims import ClaimCollector, SourceClaims, a_day, dig, one_text
from tasks.companies.company_match import international
from tasks.companies.profile import AnnualRevenue, CompanySettings, registrable
from tasks.companies.sources import FactSource
from tasks.companies.web.client import USUAL, FetchLimits, FetchOptions, Web, WebResponse
from tasks.companies.web.site import Page, read_filing
from tasks.companies.wikidata.entity import find_entity
from tasks.errors import DiligenceError, NotConfigured, NotFound, SourceFailed
from tasks.remote.rate_limit import Budget, RateLimit, SourceLimiter

SEC: Final[FetchOptions] = {
    "trusted": True,
    "limiter": SourceLimiter(Budget("sec", 0.14, 2), RateLimit(at_once=10), unnamed_hold=15),
    "expect": (403, 404),
    "name": "The SEC",
}
"""How the SEC is asked: at most nine requests in any second, for all processes together."""
REPORT_LIMITS: Final = FetchLimits(
    total=40, patience=60, packed=20 << 20, unpacked=24 << 20, cut=True, attempts=2, longest_pause=5
)
_MAX_REGISTRANTS: Final = 5
"""Registrants requested for one company; nearly all companies have one."""
_CACHED_REPORTS: Final = 8
"""Reports, some 1 MB each."""
_FORMS: Final = ({"10-K", "10-KT", "20-F", "40-F"}, {"10-Q"})
"""The forms that are reports, the better ones first; amendments (10-K/A) mostly hold a part only."""
_ACCESSION_NUMBER: Final = re.compile(r"\d{10}-\d{2}-\d{6}")
_DOCUMENT_NAME: Final = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?", re.ASCII)
_PLACES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("edgar.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Registrant:
    """A company in EDGAR: `submissions` is the answer of the submissions API, `url` its address."""

    cik: str
    url: str
    submissions: dict[str, Any]

    @property
    def name(self) -> str | None:
        return one_text(self.submissions.get("name"))

    @property
    def tickers(self) -> list[str]:
        """The tickers in EDGAR's order, the main one first."""
        tickers = self.submissions.get("tickers")
        return [text for ticker in tickers if (text := one_text(ticker))] if isinstance(tickers, list) else []

    @property
    def filed(self) -> str | None:
        """The date of the newest filing."""
        return max((day for filing in self.filings("filingDate") if (day := a_day(filing[0]))), default=None)

    def filings(self, *columns: str) -> list[tuple[Any, ...]]:
        """These columns of the recent filings, newest first; empty if one is missing."""
        values = [dig(self.submissions, "filings", "recent", column) for column in columns]
        lists = [column for column in values if isinstance(column, list)]
        return list(zip(*lists, strict=False)) if len(lists) == len(columns) else []


@dataclass(frozen=True)
class Filing:
    """A report: the form it was filed under, the day (ISO), who filed it, and its address."""

    form: str
    day: str
    company: str | None
    url: str

    @property
    def title(self) -> str:
        """`10-K of 2026-02-03 (ALPHA INC)`."""
        return f"{self.form} of {self.day}" + (f" ({self.company})" if self.company else "")


def registrants(ciks: Iterable[str]) -> list[Registrant]:
    """The registrants with these CIKs (ten digits), the company itself first.

    A listed company comes before its subsidiaries and predecessors, and one that still files before those that no
    longer do.

    Raises:
        NotConfigured: the SEC wants a contact.
        DiligenceError: it cannot be asked, or answered wrongly.
    """
    unique = list(dict.fromkeys(ciks))[:_MAX_REGISTRANTS]
    if unique and (missing := contact_missing()):
        raise missing
    companies = [registrant for cik in unique if (registrant := _fetch_registrant(cik)) is not None]
    return sorted(companies, key=lambda registrant: (bool(registrant.tickers), registrant.filed or ""), reverse=True)


def contact_missing() -> DiligenceError | None:
    """Why the SEC cannot be asked: its servers refuse callers who give no contact. None if one is set."""
    settings = CompanySettings.current()
    if settings.contact or settings.sec_data_url != CompanySettings.model_fields["sec_data_url"].default:
        return None
    return NotConfigured("The SEC requires a contact. Set DILIGENCE_CONTACT to your e-mail or web address.")


def _ask(url: str, limits: FetchLimits) -> WebResponse | None:
    """The SEC's answer; None if it has nothing at that address.

    Raises:
        DiligenceError: it refuses, or cannot be asked.
    """
    answer = Web.current().get(url, **SEC | {"limits": limits})
    if answer.status == 403:  # for too many requests, or for an unknown contact
        raise SourceFailed(
            "The SEC refuses the request (HTTP 403). It requires a contact (DILIGENCE_CONTACT), and blocks callers "
            "that ask too often for ten minutes."
        )
    return None if answer.status == 404 else answer


def newest_report(ciks: Sequence[str]) -> Page | None:
    """The newest report of the company with these CIKs (ten digits); None if it has filed none.

    Raises:
        NotConfigured: the SEC wants a contact.
        DiligenceError: the SEC cannot be asked, or the report cannot be read.
    """
    for registrant in registrants(ciks):
        filing = newest_filing(registrant)
        if filing is not None:
            return fetch_report(filing)
    return None


def newest_filing(registrant: Registrant) -> Filing | None:
    """The registrant's newest report by filing date: the annual one, however old, otherwise a quarterly one."""
    rows = registrant.filings("form", "filingDate", "accessionNumber", "primaryDocument")
    for forms in _FORMS:
        candidates = [
            (day, form, number.replace("-", ""), document)
            for form, filed, number, document in rows
            if form in forms
            and (day := a_day(filed))
            and _matches(_ACCESSION_NUMBER, number)
            and _matches(_DOCUMENT_NAME, document)
        ]
        if candidates:
            day, form, number, document = max(candidates)
            folder = f"{CompanySettings.current().sec_url}/Archives/edgar/data/{registrant.cik.lstrip('0')}/{number}"
            return Filing(form, day, one_text(registrant.name), f"{folder}/{document}")
    return None


@lru_cache(maxsize=_CACHED_REPORTS)
def fetch_report(filing: Filing) -> Page:
    """A report as a page, from the cache if it was fetched recently.

    Raises:
        DiligenceError: the SEC cannot be asked, or the report cannot be read.
    """
    answer = _ask(filing.url, REPORT_LIMITS)
    if answer is None:
        raise NotFound("The SEC has nothing at the address of that report.")
    return read_filing(answer.content, answer.content_type, answer.url, filing.title)


def headquarters(address: Any) -> dict[str, Any] | None:
    """The profile's `hq` from a business address of the submissions API; None if that does not tell.

    Foreign addresses have `countryCode` and `country` and no `stateOrCountry`; older ones have the country's code in
    `stateOrCountry`. An unknown code gives no country.
    """
    if not isinstance(address, Mapping):
        return None
    fields = {key: one_text(value) for key, value in address.items()}
    country, state = _place(fields, foreign=bool(address.get("isForeignLocation")))
    place = {
        "country": country,
        "city": fields.get("city"),
        "postal_code": fields.get("zipCode"),
        "line_1": ", ".join(filter(None, (fields.get("street1"), fields.get("street2")))) or None,
        "state": state,
    }
    return {**place, "is_hq": True} if any(place.values()) else None


def _fetch_registrant(cik: str) -> Registrant | None:
    url = f"{CompanySettings.current().sec_data_url}/submissions/CIK{cik}.json"
    answer = _ask(url, USUAL)
    if answer is None:
        return None
    submissions = answer.json()
    if not isinstance(submissions, dict):
        raise SourceFailed("The SEC's answer is not a company's submissions.")
    return Registrant(cik, url, submissions)


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and len(value) <= 200 and pattern.fullmatch(value) is not None


def _place(fields: Mapping[str, str | None], *, foreign: bool) -> tuple[str | None, str | None]:
    """The country and, if there is one, the state or province."""
    abroad, at_home = ((fields.get(key) or "").upper() for key in ("countryCode", "stateOrCountry"))
    code = (abroad or at_home) if foreign else (at_home or abroad)
    territory = fields.get("foreignStateTerritory") or ""
    # A foreign address may carry a state's code that is left over from an older one (Shell's, in London, has "DC").
    region = territory if len(territory) > 2 else None
    if code in _PLACES["provinces"]:
        return "CA", _PLACES["provinces"][code]
    if code in _PLACES["countries"]:
        return _PLACES["countries"][code], region
    if code == abroad:  # an ISO code, should the SEC come to send those
        return (code if len(code) == 2 and code.isalpha() and code != "XX" else None), region
    return ("US", code) if code in _PLACES["states"] and not foreign else (None, None)


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
    """The facts of a registrant, and the address that they came from."""

    url: str
    facts: Mapping[str, Any]

    @property
    def annual_revenue(self) -> Sequence[AnnualRevenue]:
        """The revenue of its last fiscal years, each from the newest annual report that includes the year."""
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
        """The latest number of its employees, and the day to which it refers."""
        counts = [
            (end, fact["val"])
            for _, fact in self._of(_EMPLOYEES)
            if (end := a_day(fact.get("end"))) and isinstance(fact.get("val"), int) and fact["val"] > 0
        ]
        return max(counts)[::-1] if counts else None

    def _of(self, tag: tuple[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The facts of a tag with their units; anything of another shape is skipped."""
        content = dig(self.facts, *tag, "units")
        for unit, facts in content.items() if isinstance(content, Mapping) else ():
            yield from ((unit, fact) for fact in facts if isinstance(fact, Mapping)) if isinstance(facts, list) else ()


def registrant_facts(cik: str) -> RegistrantFacts | None:
    """The facts of the registrant with that CIK (ten digits); None if EDGAR has none.

    Raises:
        DiligenceError: the SEC cannot be asked, or answered wrongly.
    """
    url = f"{CompanySettings.current().sec_data_url}/api/xbrl/companyfacts/CIK{cik}.json"
    answer = _ask(url, _LIMITS)
    if answer is None:
        return None
    content = answer.json()
    if not isinstance(content, dict) or not isinstance(content.get("facts"), dict):
        raise SourceFailed("The SEC's answer is not a company's facts.")
    return RegistrantFacts(url, content["facts"])


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 10**15


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
