"""How flows run in Prefect: the decorator `flow`, and what the Prefect UI shows of a run.

A `flow` is a Prefect flow that completes even if the Prefect server fails or does not answer (`tasks/tracking.py` says
how). A Prefect worker that runs a deployment sees an ordinary flow.

A run has a name, and scorecards and a ranking in Markdown, with links to the report. The flows turn these texts into
artifacts. Links lead to the service (DILIGENCE_BASE_URL), which shows the report, its evidence and the run under the
viewer's own rights.
"""

import hashlib
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from textwrap import shorten
from typing import Any, Final, ParamSpec, TypeVar, cast

from prefect import Flow, get_client, get_run_logger
from prefect.artifacts import create_link_artifact
from prefect.runtime import flow_run
from pydantic import BeforeValidator

from flows.batch_file import read_batch
from flows.prefect_server import TAG
from flows.scheduling import make_slug
from storage import database, runs
from storage.context import holding
from tasks.documents.settings import DocumentSettings
from tasks.errors import BadRequest
from tasks.language.normalise import escape_text
from tasks.reports.models import CompanyReport, CriterionReport, RunSummary
from tasks.reports.report import RunResults, list_warnings, result_lines
from tasks.reports.wording import describe_standing, outcome_in_words, percent
from tasks.scoring.results import Standing
from tasks.tracing import traced
from tasks.tracking import outcome_told, run_tracked, show

WARNINGS: Final = "warnings"
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


def _key(kind: str, names: Sequence[tuple[str, str]]) -> str:
    """The key made of these names, each with the hash of what a dash stands for in it."""
    key = f"{kind}-{'--'.join(make_slug(name) for name, _ in names)}"
    if len(key) <= _LONGEST_KEY and all(make_slug(name).replace("-", dash) == name.lower() for name, dash in names):
        return key
    digest = hashlib.sha256("\n".join(name for name, _ in names).encode()).hexdigest()[:8]
    return f"{key[: _LONGEST_KEY - len(digest) - 1].rstrip('-')}-{digest}"


def name_batch_run() -> str:
    """The name for the current flow run: the batch's name."""
    return _batch_name(flow_run.parameters)


def name_company_run() -> str:
    """The name for the current flow run: the batch's and the company's, `Autumn screen · Alpha`."""
    company = str(flow_run.parameters.get("company") or flow_run.parameters.get("name"))
    run = flow_run.parameters.get("run")
    if run is None:
        batch = _batch_name(flow_run.parameters) if flow_run.parameters.get("batch_file") else None
    else:
        with database.reading() as session:
            stored = runs.find_run(session, run)
        batch = stored.batch if stored else None
    return f"{batch} · {company}" if batch and batch != company else company


def show_outcome(results: RunResults, out: Path | None) -> None:
    """Show how a run ended, for a batch or one company: the link to its report, then its log and its tags.

    The link is made last: it is the newest artifact. The tag `diligence` marks our runs for
    `prune`; `warnings` marks those whose report has any.
    """
    run = results.run
    show(
        create_link_artifact,
        report_address(run.id),
        link_text=f"The report: {run.batch}",
        key=batch_key("report", run.batch),
        description=f"{run.batch}: the report and its evidence",
    )
    warnings = list_warnings(results)
    tell(warnings, logging.WARNING)
    where = f"The report is at {report_address(run.id)}{f' and in {out}' if out else ''}."
    tell([*result_lines(results), where])
    show(_add_tags, {TAG, WARNINGS} if warnings else {TAG})


def _add_tags(tags: set[str]) -> None:
    with get_client(sync_client=True) as client:
        client.update_flow_run(flow_run.id, tags={*flow_run.tags, *tags})


def tell(lines: Iterable[str], level: int = logging.INFO) -> None:
    """Write lines into the log of the current flow run, as Prefect shows it."""
    show(_log, list(lines), level)


def _log(lines: list[str], level: int) -> None:
    logger = get_run_logger()
    for line in lines:
        logger.log(level, "%s", line)


def _batch_name(parameters: dict[str, Any]) -> str:
    """The name of the deployed batch, otherwise the one in its file; for an invalid file the file's name."""
    definition = parameters.get("definition")
    if definition is not None:
        return str(definition["name"] if isinstance(definition, dict) else definition.name)
    file = Path(parameters["batch_file"])
    try:
        return read_batch(file, parameters.get("criteria")).name
    except BadRequest:
        return file.stem


def scorecard(company: CompanyReport, run: RunSummary) -> str:
    """The company's scorecard in Markdown: its figures, a table of the criteria, and what is missing.

    Args:
        company: the company as the report has it.
        run: the run that it is part of.
    """
    address = _address(run.id)
    parts = [f"# {escape(company.name)}", _figures(company), _links(run.id)]
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
    return _MARKS.sub(_escape, escape_text(" ".join(text.split())))


def _escape(mark: re.Match[str]) -> str:
    return _ENTITIES.get(mark[0], f"\\{mark[0]}")


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


def _figures(company: CompanyReport) -> str:
    rank = "not ranked" if company.rank is None else f"rank {company.rank}"
    return " · ".join((escape(company.domain), rank, escape(describe_standing(company))))


P = ParamSpec("P")
R = TypeVar("R")


IfGiven = BeforeValidator(lambda value: None if value == "" else value)
"""For a parameter that may be left out: a field that was emptied in Prefect's form is as good as left out."""

_as_steps: ContextVar[bool] = ContextVar("as_steps", default=False)


def as_steps() -> AbstractContextManager[None]:
    """Run flows that are called in the block as plain functions within the calling task, without flow runs of their
    own.

    A flow run costs Prefect 0.15 s of work, and a batch has five flows a company.
    """
    return holding(_as_steps, True)


class TrackedFlow(Flow[P, R]):
    """A Prefect flow; calling it returns or raises what its function does."""

    def __init__(self, fn: Callable[P, R], **options: Any) -> None:
        super().__init__(cast("Callable[P, R]", outcome_told(fn)), **options)
        self._function = fn

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it; see `run_tracked` and `as_steps`."""
        if _as_steps.get():
            return self._function(*args, **kwargs)
        return run_tracked(super().__call__, self._function, *args, **kwargs)


def without_a_line_a_task() -> None:
    """Silence the line that Prefect logs for each finished task run; the state is on the task's own page.

    A hundred companies would give hundreds of lines saying "Finished in state Completed()", each stored by the server.
    """
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)


def flow(*, name: str, **options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function as a flow; `options` are those of `prefect.flow`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        return cast("Callable[P, R]", TrackedFlow(traced("flow", name, function), name=name, **options))

    return decorate
