"""The report as self-contained web pages: no network, no font, no script from elsewhere.

Words of documents, names and answers are data: the templates escape them, links only lead to http(s) addresses and to
the evidence beside the report, and each page's policy allows no script and no style but its own two.
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
from tasks.companies.profile import field_name
from tasks.language.escaped import escape_text
from tasks.reports.company import CompanyPages, company_anchor, in_words, profile_facts
from tasks.reports.criteria import trim_passage, whole
from tasks.reports.evidence_links import is_evidence
from tasks.reports.findings import (
    CompanyInOverview,
    by_criterion,
    count_missing,
    falls_short,
    find_red_flags,
    flags_by_severity,
    heat,
    in_overview,
    place_flags,
    possible_ranks,
    strengths,
)
from tasks.reports.key_figures import figures_across, in_full, key_figures, rule_in_words
from tasks.reports.models import CompanyReport, CriterionReport, Report, ReportInParts, RunSummary
from tasks.reports.request_files import remark, tally_in_words
from tasks.reports.wording import (
    NOTHING,
    Tally,
    by_urgency,
    day,
    decision_in_words,
    describe_contest,
    describe_standing,
    find_shared_reason,
    is_passage,
    is_unreached,
    judge,
    list_contested_criteria,
    list_contradicting_criteria,
    moment,
    money,
    not_read,
    number,
    open_gates,
    openable,
    outcome_in_words,
    percent,
    place_link,
    range_in_words,
    rectangles,
    tally,
    thousands,
    to_request,
    trial_in_words,
    weblink,
    words,
)
from tasks.table.values import value_in_words

TEMPLATES = Path(__file__).parent / "templates"

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""

_PIECE: Final = 200
"""Outputs of a template that are one piece of a page: a piece is written as one, and small beside a long page."""

_SIGNS: Final = {ScoreStatus.MISSING: "○", ScoreStatus.UNSCORED: "–"}


class HtmlReport:
    """Collects the pages of a report while it goes through the companies one by one.

    Args:
        run: the run.
        listed: the names and the domains of its companies, in their order.
        is_one_page: whether all is one page, however many companies there are.
    """

    def __init__(self, run: RunSummary, listed: Sequence[tuple[str, str]], *, is_one_page: bool = False) -> None:
        self._run = run
        self._names = [name for name, _ in listed]
        self._pages = CompanyPages([domain for _, domain in listed])
        self.are_apart: Final = self._pages.are_apart and not is_one_page
        self._companies: list[CompanyInOverview] = []
        self._sections: list[Markup] = []
        self.leads: Sequence[tuple[str, str]] = ()

    def add(self, company: CompanyReport) -> None:
        """Add the next company; if it has no page of its own, with everything about it."""
        self._companies.append(in_overview(company))
        if not self.are_apart:
            shown = self._share_values() | {
                "company": company,
                "n": len(self._companies),
                "open_sections": len(self._names) <= OPEN_UP_TO,
            }
            section = environment().get_template("company_section.html").render(**shown)
            self._sections.append(Markup(section))  # noqa: S704 - the template has escaped it

    def own_page(self, company: CompanyReport) -> tuple[str, str]:
        """The page of the company that was added last, with its path."""
        number = len(self._companies)
        return self._pages.path(number), render_company(self._run, company, number, self._names, self._pages)

    def first_page(self) -> Iterator[str]:
        """The page report.html with all companies that were added, in pieces: for a thousand
        companies it is some MB.
        """
        companies = [shown.company for shown in self._companies]
        pieces = (
            environment()
            .get_template("report.html")
            .stream(
                **self._share_values(),
                leads=self.leads,
                shown=self._companies,
                companies=companies,
                sections=self._sections,
                failed=[company for company in companies if company.status is CompanyStatus.FAILED],
                documents=Tally(*map(sum, zip(NOTHING, *(shown.documents for shown in self._companies), strict=True))),
                across=figures_across([(shown.company.name, shown.newest) for shown in self._companies]),
            )
        )
        pieces.enable_buffering(_PIECE)
        return pieces

    def _share_values(self) -> dict[str, Any]:
        return _share_run_values(self._run, self._pages, apart=self.are_apart, base="")


def render(report: Report) -> str:
    """The whole report as one page, UTF-8 when written."""
    return _render_report(report, is_one_page=True)


def render_overview(report: Report, leads: Sequence[tuple[str, str]] = ()) -> str:
    """The page report.html of a folder: if there are many companies, without what is on their own pages.

    `leads` are the addresses and names of other pages of the service, for the page's head.
    """
    return _render_report(report, is_one_page=False, leads=leads)


def _render_report(report: Report, *, is_one_page: bool, leads: Sequence[tuple[str, str]] = ()) -> str:
    html = HtmlReport(report.run, ReportInParts.of(report).listed, is_one_page=is_one_page)
    html.leads = leads
    for company in report.companies:
        html.add(company)
    return "".join(html.first_page())


def render_company(
    run: RunSummary, company: CompanyReport, number: int, names: Sequence[str | None], pages: CompanyPages
) -> str:
    """A company's own page, one folder below the report.

    Args:
        run: the run.
        company: the company.
        number: its place among those of the report, from 1.
        names: what these are called; None for those that it does not lead to.
        pages: where they are shown.
    """
    beside = [other if 1 <= other <= len(names) and names[other - 1] else None for other in (number - 1, number + 1)]
    return (
        environment()
        .get_template("company_page.html")
        .render(
            **_share_run_values(run, pages, apart=True, base="../"),
            company=company,
            n=number,
            open_sections=True,
            neighbours=[(names[other - 1], pages.path(other)) if other else None for other in beside],
        )
    )


def _share_run_values(run: RunSummary, pages: CompanyPages, *, apart: bool, base: str) -> dict[str, Any]:
    """The values that every page of a report gets. `apart`: companies are on pages of their own.

    `base` leads from the page to the report's folder.
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
            f"default-src 'none'; style-src {allow_source(style)}; script-src {allow_source(script)}; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        "style": Markup(style),  # noqa: S704 - our own file
        "script": Markup(script),  # noqa: S704 - our own file
    }


def _show_value(value: Any) -> Any:
    """A value as a page shows it: names and words of documents cannot control the display."""
    if not isinstance(value, str):
        return value
    return Markup(escape_text(value)) if isinstance(value, Markup) else escape_text(value)  # noqa: S704 - it was one before


@lru_cache(maxsize=1)
def environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_show_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        breakable=breakable,
        company_anchor=company_anchor,
        rule_in_words=rule_in_words,
        field_name=field_name,
        css_name=css_name,
        day=day,
        decision_in_words=decision_in_words,
        is_evidence=is_evidence,
        judge=judge,
        trial_in_words=trial_in_words,
        moment=moment,
        money=money,
        number=number,
        openable=openable,
        percent=percent,
        thousands=thousands,
        weblink=weblink,
    )
    environment.globals.update(
        any_overridden=lambda companies: any(
            criterion.override is not None for company in companies for criterion in company.criteria
        ),
        any_contested=lambda companies: any(map(list_contested_criteria, companies)),
        any_withheld=lambda companies: any(
            criterion.status is ScoreStatus.WITHHELD for company in companies for criterion in company.criteria
        ),
        by_criterion=by_criterion,
        by_urgency=by_urgency,
        contested_criteria=list_contested_criteria,
        contested_in_words=describe_contest,
        contradicting_criteria=list_contradicting_criteria,
        falls_short=falls_short,
        flags_by_severity=flags_by_severity,
        flags_of=place_flags,
        heat=heat,
        in_full=in_full,
        in_words=in_words,
        is_unreached=is_unreached,
        key_figures=key_figures,
        matrix_cells=matrix_cells,
        missing_most=count_missing,
        not_read=not_read,
        outcome_in_words=outcome_in_words,
        is_passage=is_passage,
        place_link=place_link,
        possible_ranks=possible_ranks,
        profile_facts=profile_facts,
        range_in_words=range_in_words,
        rectangles=rectangles,
        red_flags=find_red_flags,
        shared_reason=find_shared_reason,
        strengths=strengths,
        tally=tally,
        to_request=to_request,
        standing_in_words=describe_standing,
        open_gates=open_gates,
        tally_in_words=tally_in_words,
        value_in_words=value_in_words,
        remark=remark,
        trimmed=trim_passage,
        whole=whole,
        words=words,
    )
    return environment


@lru_cache(maxsize=4)
def part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


def allow_source(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def matrix_cells(company: CompanyReport, scale: tuple[float, float], link: str, unreached: bool) -> Markup:
    """A row of the matrix, as compact as possible, as these cells make up most of the page if there are many companies.

    A cell links to the place of its first verified quotation, whose page names the criterion, the score and the reason;
    without one it links to the criterion on the company's own page.
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
    score = criterion.counted
    if score is not None:
        shown = number(score)
        exact = "" if float(shown) == score else f" data-score={score}"
        if criterion.override is not None:
            exact, shown = f" data-score={score} aria-label='{outcome_in_words(criterion, scale)}'", f"{shown}*"
        elif criterion.status is ScoreStatus.CONTESTED:
            exact, shown = f" data-score={score} aria-label='{shown}, contested'", f"{shown}!"
        return f"<td><a class=heat-{heat(score, scale)} href={link}{exact}{flag}>{shown}</a>"
    name = outcome_in_words(criterion, scale)
    decided = "" if criterion.open else " data-closed"
    sign = _SIGNS.get(criterion.status) or ("?" if criterion.score is None else f"({number(criterion.score)})")
    return f"<td><a class={criterion.status} href={link} aria-label='{name}'{flag}{decided}>{sign}</a>"


def css_name(identifier: str) -> str:
    """An identifier in the form that ids and selectors may have: other characters as their code in hex."""
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_{ord(match[0]):x}", identifier)


def breakable(identifier: str) -> Markup:
    """An identifier that may be broken after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first
