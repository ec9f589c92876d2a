"""The report as web pages that need nothing else: no network, no font, no script from elsewhere.

Words of documents, names and answers are data: the templates escape them, links go to http(s) addresses and to the
evidence beside the report only, and each page's policy allows no script and no style but its own two.
"""

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from storage.runs import CompanyStatus
from storage.scores import ScoreStatus
from tasks.companies.field_names import field_name
from tasks.reports.company_pages import CompanyPages, company_anchor, pages_of
from tasks.reports.evidence_links import is_evidence
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
from tasks.reports.key_figures import contradicted_in_words, figures_across, in_full, key_figures, rule_in_words
from tasks.reports.models import CompanyReport, CriterionReport, Report, RunSummary
from tasks.reports.passages import trimmed, whole
from tasks.reports.profile import in_words, profile_facts
from tasks.reports.wording import (
    by_urgency,
    contested_criteria,
    contested_in_words,
    contradicting_criteria,
    day,
    is_unreached,
    judge,
    moment,
    money,
    not_read,
    number,
    openable,
    outcome_in_words,
    percent,
    place_link,
    range_in_words,
    shared_reason,
    tally,
    thousands,
    to_request,
    total_share,
    weblink,
)
from tasks.reports.words import words

TEMPLATES = Path(__file__).parent / "templates"

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""

_SIGNS: Final = {ScoreStatus.MISSING: "○", ScoreStatus.UNSCORED: "–"}


def render(report: Report) -> str:
    """The whole report as one page, UTF-8 when written."""
    return _render_report(report, apart=False)


def render_pages(report: Report) -> Iterator[tuple[str, str]]:
    """The pages of a report in a folder, each with its path there: report.html, and of many companies each its own."""
    pages = pages_of(report)
    if pages.are_apart:
        names = [company.name for company in report.companies]
        for number, company in enumerate(report.companies, 1):
            yield pages.path(number), render_company(report.run, company, number, names, pages)
    yield "report.html", render_overview(report)


def render_overview(report: Report) -> str:
    """The page report.html of a folder: of many companies without what stands on their own pages."""
    return _render_report(report, apart=pages_of(report).are_apart)


def render_company(
    run: RunSummary, company: CompanyReport, number: int, names: Sequence[str], pages: CompanyPages
) -> str:
    """A company's own page, one folder below the report.

    Args:
        run: the run.
        company: the company.
        number: its place among those of the report, from 1.
        names: what these are called.
        pages: where they are shown.
    """
    links = [None, *((name, pages.path(other)) for other, name in enumerate(names, 1)), None]
    return (
        environment()
        .get_template("company_page.html")
        .render(
            **_shared(run, pages, apart=True, base="../"),
            company=company,
            n=number,
            open_sections=True,
            neighbours=(links[number - 1], links[number + 1]),
        )
    )


def _render_report(report: Report, *, apart: bool) -> str:
    return (
        environment()
        .get_template("report.html")
        .render(
            **_shared(report.run, pages_of(report), apart=apart, base=""),
            companies=report.companies,
            failed=[company for company in report.companies if company.status is CompanyStatus.FAILED],
            documents=tally([document for company in report.companies for document in company.documents]),
            open_sections=len(report.companies) <= OPEN_UP_TO,
        )
    )


def _shared(run: RunSummary, pages: CompanyPages, *, apart: bool, base: str) -> dict[str, Any]:
    """What every page of a report is given. `apart`: whether companies are on pages of their own.

    `base` leads from the page to the folder that the report is in.
    """
    style, script = part("report.css"), part("report.js")

    def to_company(n: int) -> str:
        return base + pages.company(n) if apart else f"#{pages.anchor(n)}"

    return {
        "run": run,
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
        company_anchor=company_anchor,
        contradicted_in_words=contradicted_in_words,
        rule_in_words=rule_in_words,
        field_name=field_name,
        day=day,
        is_evidence=is_evidence,
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
        any_contested=lambda companies: any(map(contested_criteria, companies)),
        by_criterion=by_criterion,
        by_urgency=by_urgency,
        contested_criteria=contested_criteria,
        contested_in_words=contested_in_words,
        contradicting_criteria=contradicting_criteria,
        falls_short=falls_short,
        figures_across=figures_across,
        flags_by_severity=flags_by_severity,
        flags_of=flags_of,
        heat=heat,
        in_full=in_full,
        in_words=in_words,
        is_unreached=is_unreached,
        key_figures=key_figures,
        main_changes=main_changes,
        matrix_cells=matrix_cells,
        missing_most=missing_most,
        not_read=not_read,
        outcome_in_words=outcome_in_words,
        place_link=place_link,
        possible_range=possible_range,
        possible_ranks=possible_ranks,
        profile_facts=profile_facts,
        range_in_words=range_in_words,
        red_flags=red_flags,
        shared_reason=shared_reason,
        strengths=strengths,
        tally=tally,
        to_request=to_request,
        total_share=total_share,
        trimmed=trimmed,
        whole=whole,
        words=words,
    )
    return environment


@lru_cache(maxsize=4)
def part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def allowed(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def matrix_cells(company: CompanyReport, scale: tuple[float, float], link: str, unreached: bool) -> Markup:
    """A row of the matrix in as few bytes as can be, for many companies: the page's size is mostly these cells.

    A cell leads to the place of its first verified quotation, whose page names the criterion, the score and the reason;
    without one it leads to the criterion on the company's own page.
    """
    cells = [
        _cell(criterion, scale, _proof(criterion) or (link if unreached else f"{link}-{position}"))
        for position, criterion in enumerate(company.criteria, 1)
    ]
    return Markup("".join(cells))  # noqa: S704 - numbers, our own signs and our own links


def _proof(criterion: CriterionReport) -> str | None:
    return next((quote.evidence_url for quote in criterion.quotes if quote.verified and quote.evidence_url), None)


def _cell(criterion: CriterionReport, scale: tuple[float, float], link: str) -> str:
    flag = " data-flag" if falls_short(criterion, scale) else ""
    if criterion.status.counts and criterion.score is not None:
        shown = number(criterion.score)
        exact = "" if float(shown) == criterion.score else f" data-score={criterion.score}"
        if criterion.status is ScoreStatus.CONTESTED:
            exact, shown = f" data-score={criterion.score} aria-label='{shown}, contested'", f"{shown}!"
        return f"<td><a class=heat-{heat(criterion.score, scale)} href={link}{exact}{flag}>{shown}</a>"
    sign = _SIGNS.get(criterion.status) or ("?" if criterion.score is None else f"({number(criterion.score)})")
    return f"<td><a class={criterion.status} href={link} aria-label={criterion.status}{flag}>{sign}</a>"


def breakable(identifier: str) -> Markup:
    """An identifier that may break after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first
