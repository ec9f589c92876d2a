"""A company's newest report to the SEC, as a page: the annual one (10-K, 20-F, 40-F), or else a quarterly one.

A report is 2 to 15 MB of inline XBRL and mostly has 300,000 to 500,000 characters of text. What was filed never
changes, so the reports read of late are kept in the process.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from tasks.companies.claiming import a_day, one_text
from tasks.companies.edgar.submissions import NAME, PACE, Registrant, refusal, registrants
from tasks.companies.settings import CompanySettings
from tasks.companies.web.exchange import Limits
from tasks.companies.web.fetch import Web
from tasks.companies.web.page import Page, read_filing

_FORMS: Final = ({"10-K", "10-KT", "20-F", "40-F"}, {"10-Q"})
"""The forms looked for, the better ones first; amendments (10-K/A) mostly hold a part only."""
_LIMITS: Final = Limits(
    total=40, patience=60, packed=20 << 20, unpacked=24 << 20, cut=True, attempts=2, longest_pause=5
)
_NUMBER: Final = re.compile(r"\d{10}-\d{2}-\d{6}")
_DOCUMENT: Final = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?", re.ASCII)
_MOST: Final = 8
"""Reports kept, some 1 MB each."""


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


def newest_report(ciks: Sequence[str]) -> Page | None:
    """The newest report of the company with those CIKs (ten digits); None where it filed none.

    Raises:
        NotConfigured: the SEC wants a contact.
        DiligenceError: the SEC cannot be asked, or the report cannot be read.
    """
    for registrant in registrants(ciks):
        filing = newest_filing(registrant)
        if filing is not None:
            return _read(filing)
    return None


def newest_filing(registrant: Registrant) -> Filing | None:
    """The registrant's newest report, by the day of filing: an annual one however old, or else a quarterly one."""
    rows = registrant.filings("form", "filingDate", "accessionNumber", "primaryDocument")
    for forms in _FORMS:
        found = [
            (day, form, number.replace("-", ""), document)
            for form, filed, number, document in rows
            if form in forms and (day := a_day(filed)) and _fits(_NUMBER, number) and _fits(_DOCUMENT, document)
        ]
        if found:
            day, form, number, document = max(found)
            folder = f"{CompanySettings.current().sec_url}/Archives/edgar/data/{registrant.cik.lstrip('0')}/{number}"
            return Filing(form, day, one_text(registrant.name), f"{folder}/{document}")
    return None


def _fits(pattern: re.Pattern[str], given: object) -> bool:
    return isinstance(given, str) and len(given) <= 200 and pattern.fullmatch(given) is not None


@lru_cache(maxsize=_MOST)
def _read(filing: Filing) -> Page:
    answer = Web.current().get(filing.url, trusted=True, pace=PACE, limits=_LIMITS, expect=(403,), name=NAME)
    if answer.status == 403:
        raise refusal()
    return read_filing(answer.content, answer.content_type, answer.url, filing.title)
