"""What the Prefect UI shows of a company's run: its scorecard and its ranking in Markdown.

Pure functions that give text; the flows make artifacts of it.
"""

import re
from textwrap import shorten

from tasks.reports.models import CompanyReport, CriterionReport, Report

REASON_CHARACTERS = 160
"""A scorecard is for a glance; the whole reason stands in the report."""

_MARKS = re.compile(
    r"""
      [&<>]                         # HTML
    | [\\`*\[\]|~@]                 # anywhere
    | (?<!\w)_ | _(?!\w)            # within a word an underscore is only itself
    | (?<=www)\. | :(?=//)          # bare addresses
    | ^[#+-] | (?<=\d)[.)](?=\s|$)  # headings and lists
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def scorecard(company: CompanyReport, scale: tuple[float, float]) -> str:
    """The company's scorecard in Markdown: its figures, a table of the criteria, and what is missing.

    Args:
        company: the company as the report has it.
        scale: the lowest and the highest score.
    """
    parts = [f"# {escape(company.name)}", _figures(company)]
    if company.problem:
        parts.append(f"**This company's run failed.** {escape(company.problem)}")
    if company.criteria:
        parts.append("\n".join([_HEAD, *(_row(criterion, scale) for criterion in _by_weight(company))]))
    if company.missing:
        parts.append("## To ask the company for\n\n" + "\n".join(f"- {escape(item)}" for item in company.missing))
    if company.warnings:
        parts.append("## To be aware of\n\n" + "\n".join(f"- {escape(item)}" for item in company.warnings))
    return "\n\n".join(parts) + "\n"


def ranking(report: Report) -> str:
    """The batch's companies in the order of their ranks, in Markdown, with their totals and what they lack."""
    rows = [
        f"| {company.rank or '–'} | {escape(company.name)} | {_percent(company.total)} | {_percent(company.coverage)} "
        f"| {len(company.missing)} | {escape(company.problem or '')} |"
        for company in report.companies
    ]
    head = "| Rank | Company | Total | Coverage | Missing | Problem |\n|---:|---|---:|---:|---:|---|"
    return "\n".join([f"# {escape(report.run.name)}", "", head, *rows]) + "\n"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"


def escape(text: str) -> str:
    """Text from elsewhere as Markdown that shows it and does nothing else, on one line.

    Every mark that could begin a link (a bare address too), an image, emphasis, code, a cell, a list,
    a heading or HTML is escaped where it could; the rest stays legible as it is.
    """
    return _MARKS.sub(_escaped, " ".join(text.split()))


def _escaped(mark: re.Match[str]) -> str:
    return _ENTITIES.get(mark[0], f"\\{mark[0]}")


_HEAD = "| Criterion | Weight | Score | Status | Reason |\n|---|---:|---:|---|---|"


def _row(criterion: CriterionReport, scale: tuple[float, float]) -> str:
    score = "–" if criterion.score is None else f"{criterion.score:g} / {scale[1]:g}"
    if criterion.score is not None and criterion.status != "scored":
        score = f"({score})"  # judged, but it does not count
    reason = shorten(criterion.reason, REASON_CHARACTERS, placeholder=" …")
    cells = (escape(criterion.id), f"{criterion.weight:g}", score, criterion.status.value, escape(reason))
    return f"| {' | '.join(cells)} |"


def _by_weight(company: CompanyReport) -> list[CriterionReport]:
    """The weightiest first; among equals the order of the criteria."""
    return sorted(company.criteria, key=lambda criterion: -criterion.weight)


def _figures(company: CompanyReport) -> str:
    total = "nothing could be scored" if company.total is None else f"**{company.total:.0%}** of what could be scored"
    figures = [escape(company.domain), total]
    if company.rank is not None:
        figures.insert(1, f"rank {company.rank}")
    if company.coverage is not None:
        figures.append(f"coverage {company.coverage:.0%}")
    return " · ".join(figures)
