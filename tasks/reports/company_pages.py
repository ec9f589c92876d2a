"""Where a company is shown: in the report itself, or, where there are many, on a page of its own beside it."""

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

FOLDER: Final = "companies"
MOST_IN_ONE_PAGE: Final = 20
"""With more companies than these, each is on a page of its own."""
_OWN_FILE: Final = re.compile(r"[0-9a-f]{12}\.html")


def page_path(domain: str) -> str:
    """The path of a company's own page, relative to the report; the same in every run."""
    return f"{FOLDER}/{_digest(domain)}.html"


def company_anchor(domain: str) -> str:
    """The id of a company on its page: the same in every run, whatever its rank is."""
    return f"c-{_digest(domain)[:8]}"


def _digest(domain: str) -> str:
    return sha256(domain.encode(errors="surrogatepass")).hexdigest()[:12]


class CompanyPages:
    """Where the companies of a report are shown, relative to the report's folder.

    Args:
        domains: those of its companies, in its order. Companies are counted from 1.
    """

    def __init__(self, domains: Sequence[str]) -> None:
        self._domains = domains

    @property
    def are_apart(self) -> bool:
        """Whether each company is on a page of its own."""
        return len(self._domains) > MOST_IN_ONE_PAGE

    def path(self, number: int) -> str:
        """The path of a company's own page."""
        return page_path(self._domains[number - 1])

    def company(self, number: int) -> str:
        """Where a company is shown."""
        return (self.path(number) if self.are_apart else "report.html") + f"#{self.anchor(number)}"

    def anchor(self, number: int) -> str:
        """The id of a company on the page on which it is shown."""
        return company_anchor(self._domains[number - 1])

    def criterion(self, number: int, position: int) -> str:
        """Where the criterion at that position (from 1) of a company is shown."""
        return f"{self.company(number)}-{position}"


def is_own_file(name: str) -> bool:
    """Whether a file in the folder has a name of ours, so that a later report may take it away."""
    return _OWN_FILE.fullmatch(name) is not None
