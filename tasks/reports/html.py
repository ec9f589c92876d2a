"""The report as one web page that needs nothing else: no network, no font, no script from elsewhere.

Words of documents, names and answers are data: the templates escape them, links go to http(s) addresses
only, and the page's policy allows no script and no style but its own two.
"""

import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from storage.runs import CompanyStatus
from tasks.companies.field_names import field_name
from tasks.reports.findings import possible_range, red_flags, strengths
from tasks.reports.models import Report
from tasks.reports.wording import (
    by_urgency,
    day,
    is_unreached,
    judge,
    moment,
    money,
    not_read,
    number,
    openable,
    percent,
    place_link,
    plain,
    tally,
    thousands,
    to_request,
    weblink,
)

TEMPLATES = Path(__file__).parent / "templates"

HEAT_STEPS = 10
"""The heat scale of report.css runs from `heat-0` to `heat-10`."""

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""


def render(report: Report) -> str:
    """The page as text, UTF-8 when written."""
    style, script = part("report.css"), part("report.js")
    policy = (
        f"default-src 'none'; style-src {allowed(style)}; script-src {allowed(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        environment()
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
def environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        field_name=field_name,
        day=day,
        judge=judge,
        moment=moment,
        money=money,
        number=number,
        openable=openable,
        percent=percent,
        plain=plain,
        thousands=thousands,
        weblink=weblink,
    )
    environment.globals.update(
        by_urgency=by_urgency,
        heat=heat,
        possible_range=possible_range,
        red_flags=red_flags,
        strengths=strengths,
        is_unreached=is_unreached,
        not_read=not_read,
        place_link=place_link,
        tally=tally,
        to_request=to_request,
    )
    return environment


@lru_cache(maxsize=4)
def part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def allowed(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def heat(score: float, scale: tuple[float, float]) -> int:
    """The step of the heat scale for a score; a score beyond the scale gets its end."""
    low, high = scale
    share = (score - low) / (high - low) if high > low else 1.0
    return round(HEAT_STEPS * min(max(share, 0.0), 1.0))


def breakable(identifier: str) -> Markup:
    """An identifier that may break after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first
