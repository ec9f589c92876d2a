"""Where a company is shown: in the report itself, or, where there are many, on a page of its own beside it."""

import re
from hashlib import sha256
from typing import Final

from tasks.reports.models import CompanyReport, Report

FOLDER: Final = "companies"
MOST_IN_ONE_PAGE: Final = 20
"""With more companies than these, each is on a page of its own."""
_OWN_FILE: Final = re.compile(r"[0-9a-f]{12}\.html")


def are_apart(report: Report) -> bool:
    """Whether the companies of this report are on pages of their own when it is written to a folder."""
    return len(report.companies) > MOST_IN_ONE_PAGE


def page_path(company: CompanyReport) -> str:
    """The path of a company's own page, relative to the report; the same in every run."""
    name = sha256(company.domain.encode(errors="surrogatepass")).hexdigest()[:12]
    return f"{FOLDER}/{name}.html"


def company_link(report: Report, number: int) -> str:
    """Where the company of this number (from 1, as the report lists them) is shown, relative to the report's folder."""
    apart = are_apart(report)
    return (page_path(report.companies[number - 1]) if apart else "report.html") + f"#company-{number}"


def criterion_link(report: Report, number: int, position: int) -> str:
    """Where a company's criterion is shown (both numbers from 1), relative to the report's folder."""
    return f"{company_link(report, number)}-{position}"


def is_own_file(name: str) -> bool:
    """Whether a file in the folder has a name of ours, so that a later report may take it away."""
    return _OWN_FILE.fullmatch(name) is not None
