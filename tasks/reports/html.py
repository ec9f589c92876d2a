"""The report as self-contained web pages: no network, no font, no script from elsewhere.

Words of documents, names and answers are data: the templates escape them, links only lead to http(s) addresses and to
the evidence beside the report, and each page's policy allows no script and no style but its own two.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from inspect import isfunction
from math import ceil, inf
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from storage.runs import CompanyStatus
from storage.scores import ScoreStatus
from tasks.companies.profile import field_name
from tasks.files import code_version
from tasks.language.normalise import escape_text
from tasks.reports import company as companies
from tasks.reports import criteria, findings, key_figures, wording
from tasks.reports.company import CompanyPages
from tasks.reports.findings import CompanyInOverview, falls_short, heat, in_overview
from tasks.reports.models import CompanyReport, CriterionReport, Report, ReportInParts, RunSummary
from tasks.reports.wording import NOTHING, Tally, number, outcome_in_words
from tasks.table.columns import value_in_words

TEMPLATES = Path(__file__).parent / "templates"

OPEN_UP_TO = 5
"""With more companies than these their sections start closed: the matrix is the way in."""

_SECTION_BEGINS: Final = '<h2 class="hidden">The company in full</h2>\n'
_SECTION_ENDS: Final = "  <section>\n    <h4>Since the last run</h4>"
"""Around what `company_findings.html` shows on a page: words of documents are escaped, and contain neither."""

_PIECE: Final = 200
"""Outputs of a template that are one piece of a page: a piece is written as one, and small beside a long page."""

_ON_A_PAGE: Final = 1200
"""Scores on a page of the service, about: it has some 250 KB then."""
_TITLE: Final = 240
"""Characters of a reason that shows over a cell of the matrix."""


class HtmlReport:
    """Collects the pages of a report while it goes through the companies one by one.

    Args:
        run: the run.
        listed: the names and the domains of its companies, in their order.
        most_in_one_page: with more companies than these, each is on a page of its own.
    """

    def __init__(
        self, run: RunSummary, listed: Sequence[tuple[str, str]], *, most_in_one_page: float | None = None
    ) -> None:
        self._run = run
        self._names = [name for name, _ in listed]
        self._pages = CompanyPages([domain for _, domain in listed], most_in_one_page)
        self.are_apart: Final = self._pages.are_apart
        self._companies: list[CompanyInOverview] = []
        self._sections: list[Markup] = []

    def add(self, company: CompanyReport) -> None:
        """Add the next company; if it has no page of its own, with everything about it."""
        self._companies.append(in_overview(company))
        if not self.are_apart:
            shown = self._share_values() | {
                "company": company,
                "n": len(self._companies),
                "open_sections": len(self._names) <= OPEN_UP_TO,
            }
            section = fill_template("company_section.html", **shown)
            self._sections.append(Markup(section))  # noqa: S704 - the template has escaped it

    @property
    def path(self) -> str:
        """The path of the page of the company that was added last."""
        return self._pages.path(len(self._companies))

    def own_page(self, company: CompanyReport, section: Markup | None = None) -> tuple[str, str]:
        """The page of the company that was added last, with its path; `section` is what `cut_section` gave of it."""
        number = len(self._companies)
        return self.path, render_company(self._run, company, number, self._names, self._pages, section=section)

    def hash_section(self, company: CompanyReport) -> str:
        """A hash of everything that `cut_section` gives of the company that was added last, and of how it is made."""
        # Behind the section: changes since the last run, and which documents that run had read.
        documents = [
            document.model_copy(update={"status": "read"}) if document.status == "unchanged" else document
            for document in company.documents
        ]
        alike = company.model_copy(update={"documents": documents, "changes": [], "compared_with": None})
        beside = alike.figure_conflicts, alike.decisions  # of which pages show what is not in their JSON
        how = code_version("tasks"), len(self._companies), self._run.scale, beside
        return sha256(f"{how}\n{alike.model_dump_json()}".encode()).hexdigest()

    def first_page(self, leads: Sequence[tuple[str, str]] = (), page: int = 0) -> Iterator[str]:
        """The page report.html in pieces: for a thousand companies it is some MB.

        Args:
            leads: addresses and names of other pages of the service, for the page's head.
            page: with which part of the companies, from 1; 0 for all of them.
        """
        companies = [shown.company for shown in self._companies]
        most = max(1, _ON_A_PAGE // (len(self._run.criteria) + 15)) if page else len(companies)
        pages = max(1, ceil(len(companies) / (most or 1)))
        start = (min(max(page, 1), pages) - 1) * most
        template = environment().get_template("report.html")
        pieces = template.stream(
            **self._share_values(),
            leads=leads,
            page=start // (most or 1) + 1,
            pages=pages,
            start=start,
            end=start + most,
            shown=self._companies,
            companies=companies,
            sections=self._sections,
            failed=[company for company in companies if company.status is CompanyStatus.FAILED],
            documents=Tally(*map(sum, zip(NOTHING, *(shown.documents for shown in self._companies), strict=True))),
            across=key_figures.figures_across([(shown.company.name, shown.newest) for shown in self._companies]),
        )
        pieces.enable_buffering(_PIECE)
        return pieces

    def _share_values(self) -> dict[str, Any]:
        return _share_run_values(self._run, self._pages, apart=self.are_apart, base="")


def render(report: Report) -> str:
    """The whole report as one page, UTF-8 when written."""
    return render_overview(report, most_in_one_page=inf)


def render_overview(
    report: Report, leads: Sequence[tuple[str, str]] = (), *, most_in_one_page: float | None = None, page: int = 0
) -> str:
    """The page report.html: if there are many companies, without what is on their own pages.

    For the arguments see `HtmlReport` and its `first_page`.
    """
    html = HtmlReport(report.run, ReportInParts.of(report).listed, most_in_one_page=most_in_one_page)
    for company in report.companies:
        html.add(company)
    return "".join(html.first_page(leads, page))


def render_company(
    run: RunSummary,
    company: CompanyReport,
    number: int,
    names: Sequence[str | None],
    pages: CompanyPages,
    elsewhere: Mapping[str, str] | None = None,
    section: Markup | None = None,
) -> str:
    """A company's own page, one folder below the report.

    Args:
        run: the run.
        company: the company.
        number: its place among those of the report, from 1.
        names: what these are called; None for those that it does not lead to.
        pages: where they are shown.
        elsewhere: the addresses of the pages of the service that show its `table` and its `documents`; None if there
            are no such pages.
        section: what the page shows of the company, if it was made before.
    """
    beside = [other if 1 <= other <= len(names) and names[other - 1] else None for other in (number - 1, number + 1)]
    return fill_template(
        "company_page.html",
        **_share_run_values(run, pages, apart=True, base="../") | {"elsewhere": elsewhere, "section": section},
        company=company,
        n=number,
        open_sections=True,
        neighbours=[(names[other - 1], pages.path(other)) if other else None for other in beside],
    )


def cut_section(page: str) -> Markup:
    """What a company's own page shows of it down to its changes since the last run."""
    section = page.partition(_SECTION_BEGINS)[2].rpartition(_SECTION_ENDS)[0]
    return Markup(section)  # noqa: S704 - the template has escaped it


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
        "elsewhere": None,
        "section": None,
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
    if not isinstance(value, str) or value.isprintable():  # which most are
        return value
    shown = escape_text(value)
    return Markup(shown) if isinstance(value, Markup) and shown is not value else shown  # noqa: S704 - it was one before


def fill_template(name: str, **values: Any) -> str:
    """A template of the reports, filled in."""
    return environment().get_template(name).render(**values)


def fill_plain_page(name: str, style: str, pictures: str, **values: Any) -> str:
    """A page without a script: its policy allows the style sheet of that name, and pictures from `pictures`."""
    sheet = part(style)
    policy = f"default-src 'none'; style-src {allow_source(sheet)}; img-src data: {pictures}; "
    policy += "base-uri 'none'; form-action 'none'"
    return fill_template(name, style=Markup(sheet), policy=policy, **values)  # noqa: S704 - our own file


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The templates of the reports: each may call the functions that put a report into words, as filters too."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        finalize=_show_value,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    rooms = (companies, criteria, wording, findings, key_figures)
    offered = {name: call for room in rooms for name, call in _functions(room)}
    own = (breakable, css_name, field_name, matrix_cells, shade, sign, value_in_words)
    offered |= {call.__name__: call for call in own}
    environment.filters.update(offered)
    environment.globals.update(offered)
    return environment


def _functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions that a module defines."""
    for name, value in vars(module).items():
        if isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            yield name, value


@lru_cache(maxsize=4)
def part(name: str) -> str:
    return (TEMPLATES / name).read_text("utf-8")


@lru_cache(maxsize=4)
def allow_source(part: str) -> str:
    """The source expression that allows exactly this inline style or script."""
    return f"'sha256-{b64encode(sha256(part.encode()).digest()).decode()}'"


def matrix_cells(company: CompanyReport, scale: tuple[float, float], link: str, *, apart: bool) -> Markup:
    """A row of the matrix, as compact as possible, as these cells make up most of the page if there are many companies.

    A cell links to the criterion on the company's page, whose address is `link`. If companies are `apart`, it links to
    the place of the first verified quotation, whose page names the criterion, the score and the reason.
    """
    unreached = wording.is_unreached(company)
    cells = [
        _cell(criterion, scale, (apart and _proof(criterion)) or (link if unreached else f"{link}-{at}"), apart=apart)
        for at, criterion in enumerate(company.criteria, 1)
    ]
    return Markup("".join(cells))  # noqa: S704 - numbers, our own signs and links, and reasons that were escaped


def _proof(criterion: CriterionReport) -> str | None:
    return next((quote.evidence_url for quote in criterion.quotes if quote.verified and quote.evidence_url), None)


def _cell(criterion: CriterionReport, scale: tuple[float, float], link: str, *, apart: bool) -> str:
    """A cell. Its label says what its sign does not, and where the reason is no click away, its title is the reason."""
    shown, score = sign(criterion), criterion.counted
    is_number = score is not None and shown == number(score)
    more = "" if score is None or (is_number and float(shown) == score) else f" data-score={score}"
    more += "" if is_number else f' aria-label="{outcome_in_words(criterion, scale)}"'
    more += "" if apart else f' title="{escape(escape_text(criterion.reason[:_TITLE]))}"'
    more += " data-flag" if falls_short(criterion, scale) else ""
    more += " data-closed" if score is None and not criterion.open else ""
    return f"<td><a class={shade(criterion, scale)} href={link}{more}>{shown}</a>"


def sign(criterion: CriterionReport) -> str:
    """What stands for the outcome of a criterion where there is little room: its score, or a sign."""
    if criterion.override is not None:
        return f"{number(criterion.override)}*"
    if criterion.score is not None and criterion.status.counts:
        return number(criterion.score) + ("!" if criterion.status is ScoreStatus.CONTESTED else "")
    if criterion.status is ScoreStatus.UNSUPPORTED:
        return "?" if criterion.score is None else f"({number(criterion.score)})"
    return "○" if criterion.status is ScoreStatus.MISSING else "–"


def shade(criterion: CriterionReport, scale: tuple[float, float]) -> str:
    """The class of a criterion's sign: the step of the heat scale, or why no score counts."""
    return criterion.status.value if criterion.counted is None else f"heat-{heat(criterion.counted, scale)}"


def css_name(identifier: str) -> str:
    """An identifier in the form that ids and selectors may have: other characters as their code in hex."""
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_{ord(match[0]):x}", identifier)


def breakable(identifier: str) -> Markup:
    """An identifier that may be broken after `_`, `-`, `.` and `/`."""
    return Markup(re.sub(r"([_./-]+)", r"\1<wbr>", str(escape(identifier))))  # noqa: S704 - escaped first
