"""`diligence run` and `diligence demo`: a batch with its progress on stderr, or an estimate of what it costs."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from flows import prefect_server
from flows.batch_file import Batch, read_batch
from flows.run import CompaniesFailed, unscored_for_the_budget
from storage import database, runs
from storage.columns import now
from storage.errors import DatabaseUnavailable
from storage.runs import DocumentStatus
from storage.settings import override_settings
from tasks.ai.budget import cap_and_price
from tasks.ai.money import Usage, dollars
from tasks.ranking.embedders import embedder

if TYPE_CHECKING:
    from flows.estimate import Estimate

SAMPLE = Path(__file__).parent / "sample" / "batch.yaml"

_REFRESH = 0.5  # seconds between two updates of the progress bars


def demo(out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("reports/demo")) -> None:
    """Run the sample batch, start to report, without any network."""
    raise SystemExit(_run(SAMPLE, None, out))


def run(
    batch: Annotated[Path, typer.Argument(help="A batch file: YAML, or CSV with name, domain, folder.")],
    criteria: Annotated[Path | None, typer.Option(help="The criteria file; needed with a CSV.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the report; by default reports/<batch name>.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print calls, tokens and cost; ask no model, write no report.")
    ] = False,
) -> None:
    """Run a batch, going on where an earlier run of it stopped."""
    raise SystemExit(_estimate(batch, criteria) if estimate else _run(batch, criteria, out))


def _run(batch_file: Path, criteria: Path | None, out: Path | None) -> int:
    """Run a batch; print the run's id and the report's path. Gives the exit status.

    Judgements that the budget left unscored are reported on stderr; they are no failure.

    Raises:
        As `_checked_batch`, before anything runs.
    """
    screen = _checked_batch(batch_file, criteria)
    out = out or Path("reports") / "".join(c if c.isalnum() or c in " -_." else "_" for c in screen.name)
    console = Console(stderr=True)
    console.print(f"{screen.name}: {len(screen.companies)} companies, {len(screen.criteria.criteria)} criteria")
    failed: CompaniesFailed | None = None
    with _prefect(console):
        # Prefect takes 1.2 s to import, and reads then where its home is.
        from flows.batch import batch  # noqa: PLC0415

        with _progress(screen.name, console):
            try:
                run_id = batch(batch_file.absolute(), criteria and criteria.absolute(), out.absolute())
            except CompaniesFailed as error:
                failed, run_id = error, error.run_id
    if failed is not None:
        console.print(failed.message, style="bold")
    if unscored := unscored_for_the_budget(run_id):
        judgements = f"{unscored} judgements are" if unscored > 1 else "1 judgement is"
        console.print(
            f"The budget is spent: {judgements} left unscored. Raise the budget (DILIGENCE_AI_BUDGET, or ai_budget "
            "in the batch file) and run the batch again; no answer is paid for twice."
        )
    typer.echo(f"run     {run_id}")
    typer.echo(f"report  {out / 'report.html'}")
    return 1 if failed else 0


def _estimate(batch_file: Path, criteria: Path | None) -> int:
    """Print what a batch would ask of the model and what that costs.

    Gives the exit status: 1 when a data room could not be read.

    Raises:
        As `_checked_batch`, before anything is read.
    """
    screen = _checked_batch(batch_file, criteria)
    console = Console(stderr=True)
    console.print(
        f"{screen.name}: reading the data rooms. The texts are stored, so the run does not read them again. "
        "No model is asked."
    )
    with _prefect(console):
        from flows.estimate import estimate  # noqa: PLC0415 - Prefect: see `_run`

        with _progress(screen.name, console):
            result = estimate(batch_file.absolute(), criteria and criteria.absolute())
    for line in estimate_lines(result):
        typer.echo(line)
    return 1 if any(company.problem for company in result.companies) else 0


def _checked_batch(batch_file: Path, criteria: Path | None) -> Batch:
    """The batch, checked before a server is started: its files, its settings and what it may cost.

    Raises:
        BadRequest: a file is wrong.
        pydantic.ValidationError: a setting of the environment is wrong.
        NotConfigured: the budget is in USD and the model's price is not known, or the configured embedding
            model is not installed.
    """
    batch = read_batch(batch_file, criteria)
    with override_settings(batch.settings):
        cap_and_price()
        embedder()
    return batch


@contextmanager
def _prefect(console: Console) -> Iterator[None]:
    """A Prefect server for the block, its start shown on the console."""
    with ExitStack() as stack:
        with console.status("Starting Prefect …"):
            stack.enter_context(prefect_server.server())
        yield


@contextmanager
def _progress(batch: str, console: Console) -> Iterator[None]:
    """Bars on stderr, one a company, that follow the run in the database."""
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
        last = ended.wait(_REFRESH)
        try:
            counts = _document_counts(batch, since)
        except DatabaseUnavailable:
            return  # the run itself reports it
        for company_id, (name, done, total) in counts.items():
            if company_id not in bars:
                bars[company_id] = progress.add_task(name, total=None)
            progress.update(bars[company_id], completed=done, total=total or None)


def _document_counts(batch: str, since: datetime) -> dict[int, tuple[str, int, int]]:
    """How far the run is: by company id the name, how many documents are done, and how many there are.

    A run that finished before `since` is an earlier one, and gives nothing.
    """
    counts: dict[int, tuple[str, int, int]] = {}
    with database.reading() as session:
        run = runs.find_run(session, batch)
        if run is None or (run.finished_at is not None and run.finished_at < since):
            return counts
        for company in runs.run_companies(session, run.id):
            assert company.id is not None
            statuses = runs.count_documents(session, company.id)
            total = sum(statuses.values())
            counts[company.id] = (company.name, total - statuses.get(DocumentStatus.PENDING, 0), total)
    return counts


def estimate_lines(estimate: "Estimate") -> list[str]:
    """An estimate in lines of plain text: a table of companies, then price, spent cost and budget."""
    problems = [f"{company.name}: {company.problem}" for company in estimate.companies if company.problem]
    if estimate.model is None:
        return ["No model is configured (DILIGENCE_AI_MODEL), so the run would cost nothing.", *problems]
    rows: list[tuple[str, ...]] = [("", "calls", "tokens in", "tokens out", "usual cost", "at most")]
    rows += [
        (company.name, *_figures(estimate, company.usual, company.most))
        for company in estimate.companies
        if not company.problem
    ]
    rows += [("all", *_figures(estimate, estimate.usual, estimate.most))]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    table = [
        "  ".join([name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))])
        for name, *cells in rows
    ]
    most = f"at most  {estimate.longest:,} tokens an answer, and every judgement asked for twice"
    return [*table, "", *problems, _price(estimate), most, *_spent(estimate), *_budget(estimate)]


def _figures(estimate: "Estimate", usual: Usage, most: Usage) -> tuple[str, ...]:
    cost, highest = (dollars(estimate.price.of(usage)) if estimate.price else "?" for usage in (usual, most))
    return str(usual.calls), f"{usual.input_tokens:,}", f"{usual.output_tokens:,}", cost, highest


def _price(estimate: "Estimate") -> str:
    if estimate.price is None:
        return (
            f"price    not known for {estimate.model}: add it to a price file and name that file in DILIGENCE_AI_PRICES"
        )
    price = estimate.price
    return f"price    {estimate.model}: {price.input:g} USD in, {price.output:g} USD out, for a million tokens"


def _spent(estimate: "Estimate") -> list[str]:
    if not estimate.spent.calls:
        return []
    usd = "" if estimate.spent_usd is None else f", {dollars(estimate.spent_usd)}"
    return [f"spent    {estimate.spent.calls} calls{usd}, by the interrupted run that would go on"]


def _budget(estimate: "Estimate") -> list[str]:
    if estimate.cap is None:
        return []
    if estimate.fits(estimate.most):
        verdict = "enough in any case"
    elif estimate.fits(estimate.usual):
        verdict = "enough, unless answers are unusually long"
    else:
        verdict = "not enough; some criteria would stay unscored"
    return [f"budget   {estimate.cap}: {verdict}"]
