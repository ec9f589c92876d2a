"""Telling what a batch would cost: a small table on stdout, the progress on stderr.

Running a batch from the command line: with its progress on stderr, ending with its report's path.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from flows import prefect_server
from flows.batch_file import Batch, read_batch
from storage import database, runs
from storage.database import now
from storage.runs import DocumentStatus
from storage.settings import given
from tasks.ai.money import Usage, dollars

if TYPE_CHECKING:
    from flows.estimate import Estimate


_GLANCE = 0.5  # seconds between two looks at the tables


def run_batch(batch_file: Path, criteria: Path | None, out: Path | None) -> int:
    """Run a batch; prints the run's id and the report's path. Gives the exit status.

    Judgements that the budget left unscored are told on stderr and are no failure.

    Raises:
        As `read_ready`, before anything runs.
    """
    asked = read_ready(batch_file, criteria)
    out = out or Path("reports") / "".join(c if c.isalnum() or c in " -_." else "_" for c in asked.name)
    console = Console(stderr=True)
    console.print(f"{asked.name}: {len(asked.companies)} companies, {len(asked.criteria.criteria)} criteria")
    with console.status("Starting Prefect …"):
        server = prefect_server.server()
        server.__enter__()
    try:
        from flows.batch import batch  # noqa: PLC0415 - Prefect settles where its home is when it is imported
        from flows.run import CompaniesFailed, left_for_the_budget  # noqa: PLC0415

        failed: CompaniesFailed | None = None
        with progress_of(asked.name, console):
            try:
                run = batch(batch_file.absolute(), criteria and criteria.absolute(), out.absolute())
            except CompaniesFailed as error:
                failed, run = error, error.run_id
    finally:
        server.__exit__(*sys.exc_info())
    if failed is not None:
        console.print(failed.message, style="bold")
    if left := left_for_the_budget(run):
        judgements = f"{left} judgements are" if left > 1 else "1 judgement is"
        again = "Raise it (DILIGENCE_AI_BUDGET, or ai_budget in the batch file) and run the batch again"
        console.print(f"The budget is spent: {judgements} left unscored. {again}; no answer is paid for twice.")
    print(f"run     {run}")  # noqa: T201 - the result
    print(f"report  {out / 'report.html'}")  # noqa: T201
    return 1 if failed else 0


def read_ready(batch_file: Path, criteria: Path | None) -> Batch:
    """The batch, looked at before a server is started: its files, its settings and what it may cost.

    Raises:
        BadRequest: what is wrong in a file.
        pydantic.ValidationError: a setting of the environment is wrong.
        NotConfigured: the budget is in USD and the model's price is not known, or the embedding model that is
            asked for is not there.
    """
    from tasks.ai.budget import cap_and_price  # noqa: PLC0415
    from tasks.ranking.semantic import embedder  # noqa: PLC0415 - only where a batch is run

    asked = read_batch(batch_file, criteria)
    with given(asked.settings):
        cap_and_price()
        embedder()
    return asked


@contextmanager
def progress_of(batch: str, console: Console) -> Iterator[None]:
    """Bars on stderr, one a company, that follow the run in our tables."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console) as progress:
        ended = threading.Event()
        watcher = threading.Thread(target=_watch, args=(batch, progress, ended), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()


def _watch(batch: str, progress: Progress, ended: threading.Event) -> None:
    bars: dict[int, TaskID] = {}
    since, last = now(), False
    while not last:
        last = ended.wait(_GLANCE)
        try:
            found = _counts(batch, since)
        except database.DatabaseUnavailable:
            return  # the run itself says so, in a sentence
        for company_id, (name, done, total) in found.items():
            if company_id not in bars:
                bars[company_id] = progress.add_task(name, total=None)
            progress.update(bars[company_id], completed=done, total=total or None)


def _counts(batch: str, since: datetime) -> dict[int, tuple[str, int, int]]:
    """How far the run has come: by company, its name, the documents come to, all of them.

    A run that was finished before `since` is an earlier one.
    """
    counts: dict[int, tuple[str, int, int]] = {}
    with database.reading() as session:
        run = runs.find_run(session, batch)
        ours = run is not None and (run.finished_at is None or run.finished_at >= since)
        for company in runs.run_companies(session, run.id) if run and ours else ():
            assert company.id is not None
            statuses = runs.count_documents(session, company.id)
            total = sum(statuses.values())
            counts[company.id] = (company.name, total - statuses.get(DocumentStatus.PENDING, 0), total)
    return counts


def print_estimate(batch_file: Path, criteria: Path | None) -> int:
    """Print what a batch would ask of the model and what that costs. Gives the exit status: 1 for unreadable rooms.

    Raises:
        BadRequest: what is wrong in the batch.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    asked = read_ready(batch_file, criteria)
    console = Console(stderr=True)
    console.print(f"{asked.name}: the data rooms are read, and what was read is kept for the run. No model is asked.")
    with console.status("Starting Prefect …"):
        server = prefect_server.server()
        server.__enter__()
    try:
        from flows.estimate import estimate  # noqa: PLC0415 - Prefect settles where its home is when it is imported

        with progress_of(asked.name, console):
            found = estimate(batch_file.absolute(), criteria and criteria.absolute())
    finally:
        server.__exit__(*sys.exc_info())
    for line in told(found):
        print(line)  # noqa: T201 - the result
    return 1 if any(company.problem for company in found.companies) else 0


def told(found: "Estimate") -> list[str]:
    """An estimate in lines of plain text."""
    problems = [f"{company.name}: {company.problem}" for company in found.companies if company.problem]
    if found.model is None:
        return ["No model is configured (DILIGENCE_AI_MODEL): nothing would be asked, and nothing paid.", *problems]
    rows: list[tuple[str, ...]] = [("", "calls", "tokens in", "tokens out", "usual cost", "at most")]
    rows += [
        (company.name, *_figures(found, company.usual, company.most))
        for company in found.companies
        if not company.problem
    ]
    rows += [("all", *_figures(found, found.usual, found.most))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in rows
    ]
    most = f"at most  {found.longest:,} tokens an answer, and every judgement asked for twice"
    return [*table, "", *problems, _priced(found), most, *_spent(found), *_budget(found)]


def _figures(found: "Estimate", usual: "Usage", most: "Usage") -> tuple[str, ...]:
    cost, highest = (dollars(found.price.of(usage)) if found.price else "?" for usage in (usual, most))
    return str(usual.calls), f"{usual.input_tokens:,}", f"{usual.output_tokens:,}", cost, highest


def _priced(found: "Estimate") -> str:
    if found.price is None:
        return f"no price known for {found.model}: write it into a file and name that in DILIGENCE_AI_PRICES"
    return f"price    {found.model}: {found.price.input:g} USD in, {found.price.output:g} USD out, for a million tokens"


def _spent(found: "Estimate") -> list[str]:
    if not found.spent.calls:
        return []
    usd = "" if found.spent_usd is None else f", {dollars(found.spent_usd)}"
    return [f"spent    {found.spent.calls} calls{usd}, by the run that was broken off and would go on"]


def _budget(found: "Estimate") -> list[str]:
    if found.cap is None:
        return []
    if found.fits(found.most):
        enough = "enough in any case"
    elif found.fits(found.usual):
        enough = "enough, unless answers are unusually long"
    else:
        enough = "not enough; the run would end with the rest unscored"
    return [f"budget   {found.cap}: {enough}"]
