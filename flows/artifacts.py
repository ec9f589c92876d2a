"""What the Prefect UI shows of a run: scorecards and the ranking in Markdown, with links to the report.

The flows turn these texts into artifacts. Links lead to the service (DILIGENCE_BASE_URL), which shows the report, its
evidence and the run under the viewer's own rights.
"""

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from textwrap import shorten
from typing import Final

from slugify import slugify

from storage.context import holding
from tasks.documents.drive.drive import DocumentSettings
from tasks.language.normalise import escape_text
from tasks.reports.models import CompanyReport, CriterionReport, RunSummary
from tasks.reports.report import RunResults
from tasks.reports.wording import describe_standing, outcome_in_words, percent
from tasks.scoring.results import Standing

_LONGEST_KEY: Final = 100
"""Characters of an artifact's key, which Prefect shows as its title."""
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


_batch: ContextVar[str | None] = ContextVar("batch", default=None)


def prefix_keys(batch: str | None) -> AbstractContextManager[None]:
    """Prefix the keys of company artifacts made in the block with this batch's name; None means no prefix."""
    return holding(_batch, batch)


def batch_key(kind: str, batch: str) -> str:
    """The key of an artifact of a batch, by the batch's name: `ranking-autumn-screen`. See `company_key`."""
    return _key(kind, [(batch, " ")])


def company_key(kind: str, domain: str) -> str:
    """The key of a company's artifact, within the batch of `prefix_keys`: `scorecard-autumn-screen--alpha-example`.

    Prefect takes lower-case letters, digits and dashes, and shows artifacts with one key as versions of one thing. A
    hash is added where two names would give the same key (`a-b.example`, `a.b.example`), and replaces what would be too
    long.

    Args:
        kind: what the artifact is.
        domain: the company's.
    """
    batch = _batch.get()
    return _key(kind, [(domain, ".")] if batch is None else [(batch, " "), (domain, ".")])


def make_slug(name: str) -> str:
    """The name of a batch or company in the form that Prefect accepts in names and keys: "Autumn screen" is
    "autumn-screen".
    """
    return slugify(name) or hashlib.sha256(name.encode()).hexdigest()[:12]


def _key(kind: str, names: Sequence[tuple[str, str]]) -> str:
    """The key made of these names, each with the hash of what a dash stands for in it."""
    key = f"{kind}-{'--'.join(make_slug(name) for name, _ in names)}"
    if len(key) <= _LONGEST_KEY and all(make_slug(name).replace("-", dash) == name.lower() for name, dash in names):
        return key
    digest = hashlib.sha256("\n".join(name for name, _ in names).encode()).hexdigest()[:8]
    return f"{key[: _LONGEST_KEY - len(digest) - 1].rstrip('-')}-{digest}"


def scorecard(company: CompanyReport, run: RunSummary) -> str:
    """The company's scorecard in Markdown: its figures, a table of the criteria, and what is missing.

    Args:
        company: the company as the report has it.
        run: the run that it is part of.
    """
    address = _address(run.id)
    parts = [f"# {escape(company.name)}", _figures(company, run), _links(run.id)]
    if company.problem:
        parts.append(f"**This company's run failed.** {escape(company.problem)}")
    if company.criteria:
        weightiest_first = sorted(company.criteria, key=lambda criterion: -criterion.weight)
        rows = (_row(criterion, run.scale, address) for criterion in weightiest_first)
        parts.append("\n".join([_HEAD, *rows]))
    if company.missing:
        parts.append("## To ask the company for\n\n" + "\n".join(f"- {escape(item)}" for item in company.missing))
    if company.warnings:
        parts.append("## Notes\n\n" + "\n".join(f"- {escape(item)}" for item in company.warnings))
    return "\n\n".join(parts) + "\n"


def write_ranking(results: RunResults) -> str:
    """The companies of the batch in the order of their ranks, in Markdown, with their totals and what they lack."""
    rows = [
        f"| {company.rank or '–'} | {escape(company.name)} | {percent(standing.proven)} "
        f"| {percent(standing.high)} | {percent(standing.coverage)} | {len(result.missing)} "
        f"| {escape(company.problem or '')} |"
        for result in results.companies
        for company, standing in [(result.company, Standing.of(result.company))]
    ]
    head = "| Rank | Company | Proven | May reach | Scored | Missing | Problem |\n|---:|---|---:|---:|---:|---:|---|"
    return "\n".join([f"# {escape(results.run.batch)}", "", _links(results.run.id), "", head, *rows]) + "\n"


def _address(run_id: str) -> str:
    """Where the service shows the run."""
    return f"{DocumentSettings.current().base_url.rstrip('/')}/runs/{run_id}"


def report_address(run_id: str) -> str:
    """Where the service shows the report of a run."""
    return f"{_address(run_id)}/report.html"


def _links(run_id: str) -> str:
    return f"[Report and evidence]({report_address(run_id)}) · run `{run_id}`"


def escape(text: str) -> str:
    """Text from elsewhere as one line of inert Markdown.

    Any character that could begin a link (including a bare address), an image, emphasis, code, a cell, a list, a
    heading or HTML is escaped where it could do so; the rest stays readable.
    """
    return _MARKS.sub(lambda mark: _ENTITIES.get(mark[0], f"\\{mark[0]}"), escape_text(" ".join(text.split())))


_HEAD = "| Criterion | Weight | Score | Status | Reason | Evidence |\n|---|---:|---:|---|---|---|"


def _row(criterion: CriterionReport, scale: tuple[float, float], address: str) -> str:
    score = "–" if criterion.score is None else f"{criterion.score:g} / {scale[1]:g}"
    if criterion.score is not None and not criterion.status.counts:
        score = f"({score})"  # judged, but it does not count
    reason = shorten(criterion.reason, REASON_CHARACTERS, placeholder=" …")
    places = [quote.evidence_url for quote in criterion.quotes if quote.evidence_url]
    evidence = f"[{len(places)}]({address}/{places[0]})" if places else ""
    outcome = outcome_in_words(criterion, scale) if criterion.absence else criterion.status.value
    cells = (escape(criterion.name), f"{criterion.weight:g}", score, outcome, escape(reason), evidence)
    return f"| {' | '.join(cells)} |"


def _figures(company: CompanyReport, run: RunSummary) -> str:
    rank = "not ranked" if company.rank is None else f"rank {company.rank}"
    ranks = [rank] if run.finished_at else []  # until then no company has one
    return " · ".join((escape(company.domain), *ranks, escape(describe_standing(company))))
