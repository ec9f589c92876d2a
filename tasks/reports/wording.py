"""How every report for people writes figures, times and addresses, and which documents and items it lists first."""

import json
import re
from datetime import datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from storage.scores import ScoreStatus
from tasks.reports.models import CompanyReport, ContradictingQuote, CriterionReport, DocumentReport, ReportedQuote

_OPENABLE: Final = re.compile(r"file:///[^/\s][^\s]*|/runs/[^/?#\s]+/documents/[^/?#\s]+/original")
"""Local files, on no other machine, and the documents of runs in the service."""


def number(value: float) -> str:
    """At most two decimals, and none that say nothing: 4, 3.5, 2.25."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def percent(share: float) -> str:
    """A share of 1 as a whole percentage, with a narrow space that does not break."""
    return f"{share:.0%}".replace("%", "\u202f%")


def money(usd: float) -> str:
    """US dollars with two decimals, small sums with four: 12.50, 0.0042."""
    return f"{usd:.4f}" if 0 < usd < 0.1 else f"{usd:,.2f}"


def thousands(count: int) -> str:
    """Digits in groups of three, with a narrow space that does not break."""
    return f"{count:,}".replace(",", "\u202f")


def plain(value: Any) -> str:
    """A claim's value as a reader would write it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:  # below that it may be a year
        return thousands(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def day(time: datetime) -> str:
    """21 November 2025."""
    return f"{time.day} {time:%B %Y}"


def moment(time: datetime) -> str:
    """21 November 2025, 06:15 UTC."""
    return f"{day(time)}, {time:%H:%M} UTC"


def weblink(url: str | None) -> str | None:
    """The address, if a report may link to it (http or https with a host), else None."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def openable(url: str | None) -> str | None:
    """The address of a document, if a page may link to it: a web address, a local file, or our own service's."""
    return url if url is not None and _OPENABLE.fullmatch(url) else weblink(url)


def shown_at(quote: ReportedQuote | ContradictingQuote) -> str | None:
    """Where the quote can be looked at: its page in the folder beside the report, else the document's own address."""
    return quote.evidence_url or place_link(quote)


def place_link(quote: ReportedQuote | ContradictingQuote) -> str | None:
    """The address at which the quote can be read; for a PDF, with the quote's page."""
    url = openable(quote.document_url)
    page = re.match(r"page (\d+)\b", quote.place or "", re.IGNORECASE)
    if url and page and "#" not in url and (quote.document_name or "").lower().endswith(".pdf"):
        return f"{url}#page={page[1]}"
    return url


def judge(answerer: str) -> str:
    """The name of the model that judged, for people."""
    return "no model (none is configured)" if answerer == "extractive" else answerer


class Tally(NamedTuple):
    """How many documents there are, how many were read, have no text, could not be read, have no reader."""

    total: int
    read: int
    empty: int
    failed: int
    unsupported: int


def tally(documents: list[DocumentReport]) -> Tally:
    """These documents, counted by status."""
    statuses = [document.status for document in documents]
    return Tally(
        total=len(statuses),
        read=statuses.count("read") + statuses.count("unchanged"),
        empty=statuses.count("empty"),
        failed=statuses.count("failed"),
        unsupported=statuses.count("unsupported"),
    )


def by_urgency(documents: list[DocumentReport]) -> list[DocumentReport]:
    """Documents that could not be read first, then those with a warning; otherwise in the same order."""
    order = {"failed": 0, "empty": 1, "unsupported": 2}
    return sorted(documents, key=lambda document: (order.get(document.status, 3), document.warning is None))


def not_read(documents: list[DocumentReport]) -> list[DocumentReport]:
    """The documents whose text the scores do not include."""
    return [document for document in by_urgency(documents) if document.status not in ("read", "unchanged")]


def is_unreached(company: CompanyReport) -> bool:
    """Whether no criterion has a result, all for the same reason: the reason is then shown once."""
    return len({criterion.reason for criterion in company.criteria}) == 1 and not any(
        criterion.quotes or criterion.status is not ScoreStatus.UNSCORED for criterion in company.criteria
    )


def to_request(company: CompanyReport) -> list[CriterionReport]:
    """The criteria for which something is missing, one for each missing item."""
    return list(
        {
            criterion.missing: criterion for criterion in reversed(company.criteria) if criterion.missing is not None
        }.values()
    )[::-1]
