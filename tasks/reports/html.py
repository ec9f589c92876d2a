"""The report as web pages that need nothing else: no network, no font, no script from elsewhere.

Words of documents, names and answers are data: the templates escape them, links go to http(s) addresses and to the
evidence beside the report only, and each page's policy allows no script and no style but its own two.
"""

import re
from base64 import b64encode
from collections.abc import Iterator
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from storage.runs import CompanyStatus
from storage.scores import ScoreStatus
from tasks.companies.field_names import field_name
from tasks.reports import company_pages
from tasks.reports.findings import (
    by_criterion,
    falls_short,
    flags_by_severity,
    flags_of,
    heat,
    main_changes,
    missing_most,
    possible_range,
    possible_ranks,
    red_flags,
    strengths,
)
from tasks.reports.models import CompanyReport, CriterionReport, Report
from tasks.reports.passages import trimmed, whole
from tasks.reports.profile import in_words, profile_facts
from tasks.reports.wording import (
    by_urgency,
    contradicting_criteria,
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
    shared_reason,
    tally,
    thousands,
    to_request,
    weblink,
)

TEMPLATES = Path(__file__).parent / "templates"

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""

_SIGNS: Final = {ScoreStatus.MISSING: "○", ScoreStatus.UNSCORED: "–"}


def render(report: Report) -> str:
    """The whole report as one page, UTF-8 when written."""
    return _render_report(report, apart=False)


def render_pages(report: Report) -> Iterator[tuple[str, str]]:
    """The pages of a report in a folder, each with its path there: report.html, and of many companies each its own."""
    if company_pages.are_apart(report):
        yield from _render_companies(report)
    yield "report.html", render_overview(report)


def render_overview(report: Report) -> str:
    """The page report.html of a folder: of many companies without what stands on their own pages."""
    return _render_report(report, apart=company_pages.are_apart(report))


def _render_companies(report: Report) -> Iterator[tuple[str, str]]:
    template = environment().get_template("company_page.html")
    links = [(company.name, company_pages.page_path(company)) for company in report.companies]
    for n, company in enumerate(report.companies, 1):
        page = template.render(
            **_shared(report, base="../", apart=True),
            company=company,
            n=n,
            open_sections=True,
            neighbours=(links[n - 2] if n > 1 else None, links[n] if n < len(links) else None),
        )
        yield company_pages.page_path(company), page


def _render_report(report: Report, *, apart: bool) -> str:
    return (
        environment()
        .get_template("report.html")
        .render(
            **_shared(report, base="", apart=apart),
            companies=report.companies,
            failed=[company for company in report.companies if company.status is CompanyStatus.FAILED],
            documents=tally([document for company in report.companies for document in company.documents]),
            open_sections=len(report.companies) <= OPEN_UP_TO,
        )
    )


def _shared(report: Report, *, base: str, apart: bool) -> dict[str, Any]:
    """What every page of a report is given. `base` leads from the page to the folder that the report is in."""
    style, script = part("report.css"), part("report.js")

    def to_company(n: int) -> str:
        return base + company_pages.company_link(report, n) if apart else f"#company-{n}"

    return {
        "run": report.run,
        "base": base,
        "apart": apart,
        "to_company": to_company,
        "to_criterion": lambda n, position: f"{to_company(n)}-{position}",
        "policy": (
            f"default-src 'none'; style-src {allowed(style)}; script-src {allowed(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
    }


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
        thousands=thousands,
        weblink=weblink,
    )
    environment.globals.update(
        by_criterion=by_criterion,
        by_urgency=by_urgency,
        contradicting_criteria=contradicting_criteria,
        falls_short=falls_short,
        flags_by_severity=flags_by_severity,
        flags_of=flags_of,
        heat=heat,
        in_words=in_words,
        is_unreached=is_unreached,
        main_changes=main_changes,
        matrix_cells=matrix_cells,
        missing_most=missing_most,
        not_read=not_read,
        place_link=place_link,
        possible_range=possible_range,
        possible_ranks=possible_ranks,
        profile_facts=profile_facts,
        red_flags=red_flags,
        shared_reason=shared_reason,
        strengths=strengths,
        tally=tally,
        to_request=to_request,
        trimmed=trimmed,
        whole=whole,
    )
    return environment


@lru_cache(maxsize=4)
def part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def allowed(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def matrix_cells(company: CompanyReport, scale: tuple[float, float], link: str, unreached: bool) -> Markup:
    """A row of the matrix in as few bytes as can be, for many companies: the page's size is mostly these cells."""
    cells = [
        _cell(criterion, scale, link if unreached else f"{link}-{position}")
        for position, criterion in enumerate(company.criteria, 1)
    ]
    return Markup("".join(cells))  # noqa: S704 - numbers, our own signs and our own links


def _cell(criterion: CriterionReport, scale: tuple[float, float], link: str) -> str:
    flag = " data-flag" if falls_short(criterion, scale) else ""
    if criterion.status is ScoreStatus.SCORED and criterion.score is not None:
        shown = number(criterion.score)
        exact = "" if float(shown) == criterion.score else f" data-score={criterion.score}"
        return f"<td><a class=heat-{heat(criterion.score, scale)} href={link}{exact}{flag}>{shown}</a>"
    sign = _SIGNS.get(criterion.status) or ("?" if criterion.score is None else f"({number(criterion.score)})")
    return f"<td><a class={criterion.status} href={link} aria-label={criterion.status}{flag}>{sign}</a>"


def breakable(identifier: str) -> Markup:
    """An identifier that may break after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first
