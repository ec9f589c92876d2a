"""The report as one web page that needs nothing beside it: no network, no font, no script from elsewhere.

What stands in documents, names and answers is data: the templates escape all of it, links go to
http(s) addresses only, and the page's policy runs no script and no style but the two it was built with.
"""

import json
import re
from base64 import b64encode
from datetime import datetime
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from flows.reports.shape import Company, Contradicting, Criterion, Document, Quote, Report
from storage.runs import CompanyStatus
from storage.scores import ScoreStatus

TEMPLATES = Path(__file__).parent / "templates"

HEAT_STEPS = 10
"""The heat scale of report.css runs from `heat-0` to `heat-10`."""

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""


class Tally(NamedTuple):
    """How many documents there are, how many were read, have no text, could not be read, have no reader."""

    total: int
    read: int
    empty: int
    failed: int
    unsupported: int


def render(report: Report) -> str:
    """The page as text, UTF-8 when written."""
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; style-src {_allowed(style)}; script-src {_allowed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        _environment()
        .get_template("report.html")
        .render(
            report=report,
            run=report.run,
            companies=report.companies,
            failed=[company for company in report.companies if company.status is CompanyStatus.FAILED],
            documents=tally([document for company in report.companies for document in company.documents]),
            open_sections=len(report.companies) <= OPEN_UP_TO,
            policy=policy,
            style=Markup(style),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
        )
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        day=day,
        moment=moment,
        money=money,
        number=number,
        percent=percent,
        plain=plain,
        thousands=thousands,
        weblink=weblink,
    )
    environment.globals.update(
        by_urgency=by_urgency,
        heat=heat,
        not_come_to=not_come_to,
        not_read=not_read,
        place_link=place_link,
        tally=tally,
        to_ask=to_ask,
    )
    return environment


@lru_cache(maxsize=4)
def _part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def _allowed(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def heat(score: float, scale: tuple[float, float]) -> int:
    """The step of the heat scale for a score; a score beyond the scale gets its end."""
    low, high = scale
    share = (score - low) / (high - low) if high > low else 1.0
    return round(HEAT_STEPS * min(max(share, 0.0), 1.0))


def weblink(url: str | None) -> str | None:
    """The address if a reader may be sent there: http or https with a host; None for any other."""
    try:
        parts = urlsplit(url or "")
    except ValueError:
        return None
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def place_link(quote: Quote | Contradicting) -> str | None:
    """Where the quote can be read: the document's address, for a PDF opened at the quote's page."""
    url = weblink(quote.document_url)
    page = re.fullmatch(r"page (\d+)(?: \(OCR\))?", quote.place or "", re.IGNORECASE)
    if url and page and "#" not in url and (quote.document_name or "").lower().endswith(".pdf"):
        return f"{url}#page={page[1]}"
    return url


def tally(documents: list[Document]) -> Tally:
    """What became of these documents, in figures."""
    statuses = [document.status for document in documents]
    return Tally(
        total=len(statuses),
        read=statuses.count("read") + statuses.count("unchanged"),
        empty=statuses.count("empty"),
        failed=statuses.count("failed"),
        unsupported=statuses.count("unsupported"),
    )


def by_urgency(documents: list[Document]) -> list[Document]:
    """What could not be read first, then what was read with a warning; otherwise in the order given."""
    order = {"failed": 0, "empty": 1, "unsupported": 2}
    return sorted(documents, key=lambda document: (order.get(document.status, 3), document.warning is None))


def not_read(documents: list[Document]) -> list[Document]:
    """The documents whose text is not in the scores."""
    return [document for document in by_urgency(documents) if document.status not in ("read", "unchanged")]


def not_come_to(company: Company) -> bool:
    """Whether no criterion has anything to show, all for one reason: said once instead of a dozen times."""
    return len({criterion.reason for criterion in company.criteria}) == 1 and not any(
        criterion.quotes or criterion.status is not ScoreStatus.UNSCORED for criterion in company.criteria
    )


def to_ask(company: Company) -> list[Criterion]:
    """The criteria for which something is missing, each missing thing once."""
    return list({each.missing: each for each in reversed(company.criteria) if each.missing is not None}.values())[::-1]


def breakable(identifier: str) -> Markup:
    """An identifier that may break after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first


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
