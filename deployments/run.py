"""`diligence run` and `diligence demo`: run a batch, showing progress on stderr, or estimate what it would cost."""

import gc
import logging
import logging.config
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from deployments import pause_garbage_collection
from deployments.terminal import align, echo
from flows import prefect_server
from flows.batch_file import Batch, read_batch
from flows.run import CompaniesFailed, count_unfinished, judged_criteria
from storage import context, database, documents, logs, runs
from storage.columns import now
from storage.errors import DatabaseUnavailable
from storage.runs import is_to_stop
from storage.settings import override_settings
from storage.texts import scans_done
from tasks.ai.registry import current_answerer
from tasks.documents.drive.registry import open_run_drive
from tasks.errors import BadRequest, DiligenceError, Unavailable
from tasks.files import check_writable
from tasks.language.normalise import escape_line, escape_text
from tasks.prefect_setup import TRACKING_LOG, untracked
from tasks.ranking.embedders import embedder
from tasks.ranking.semantic import under_way
from tasks.reading.configuration import ReadingSettings
from tasks.reading.ocr.page import FAILED
from tasks.reading.pool.process import load_readers
from tasks.remote.environment import usable_environment
from tasks.reports.report import list_warnings, load_results, result_lines
from tasks.reports.wording import trial_in_words
from tasks.scoring.judge import find_standing
from tasks.spending.budget import cap_and_price
from tasks.spending.money import Usage, dollars, duration

if TYPE_CHECKING:
    from flows.batch import Estimate
    from flows.work import CaughtUp

SAMPLE = Path(__file__).parent / "sample" / "batch.yaml"

_REFRESH = 0.5  # seconds between two updates of the progress bars
_REFRESH_IN_A_FILE = 5.0  # where nobody sees them before their end


def demo(out: Annotated[Path, typer.Option(help="The folder for the report.")] = Path("reports/demo")) -> None:
    """Run the sample batch from start to report, without a network."""
    raise SystemExit(_run(SAMPLE, None, out))


def run(
    batch: Annotated[Path, typer.Argument(help="A batch file: YAML, or CSV with name, domain, folder.")],
    criteria: Annotated[Path | None, typer.Option(help="The criteria file; needed with a CSV.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder for the report; by default reports/<batch name>.")
    ] = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Print calls, tokens, cost and time; call no model and write no report.")
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Read documents again that could not be read before.")
    ] = False,
    processes: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            metavar="N",
            help="Processes that examine the companies; 1 with a model, else up to one for every two cores.",
        ),
    ] = None,
) -> None:
    """Run a batch, continuing where an earlier run stopped."""
    raise SystemExit(
        _estimate(batch, criteria)
        if estimate
        else _run(batch, criteria, out, processes=processes, retry_failed=retry_failed)
    )


def _run(
    batch_file: Path,
    criteria: Path | None,
    out: Path | None,
    *,
    processes: int | None = None,
    retry_failed: bool = False,
) -> int:
    """Run a batch, print the run's id and the report's path, and return the exit status.

    Judgements that were not reached within the budget or in time are reported on stderr; they are not failures.

    Raises:
        As `_check_batch`, before anything runs.
    """
    gc.set_threshold(20_000)  # new objects: rows and reports make next to no cycles, and 700 took 0.25 s of such a run
    console = _console()
    screen = _check_batch(batch_file, criteria)
    out = out or Path("reports") / "".join(c if c.isalnum() or c in " -_." else "_" for c in screen.name)
    check_writable(out, "report.html", "report.json")
    console.print(f"{screen.name}: {screen.extent}")
    with override_settings(screen.settings):
        if trial := trial_in_words(find_standing(current_answerer())):
            console.print(trial, soft_wrap=True)
        judged = judged_criteria(screen)
    failed: CompaniesFailed | None = None
    caught_up = None
    with _warnings_shown(console):
        if prefect_server.is_embedded():
            with console.status("Looking for what has changed …"):
                from flows.work import catch_up  # noqa: PLC0415 - 0.5 s, while Prefect's server would be starting

                caught_up = catch_up(screen, out.absolute(), retry_failed=retry_failed)
        if caught_up is not None and (not caught_up.left or (caught_up.is_quick and not judged and processes is None)):
            run_id = caught_up.run_id
            try:
                if caught_up.left:
                    with pause_garbage_collection():
                        from flows.work import finish_here  # noqa: PLC0415 - 0.1 s, which few runs need before Prefect
                    with _progress(screen.name, console):
                        run_id = finish_here(caught_up, screen, out.absolute(), retry_failed=retry_failed)
            except CompaniesFailed as error:
                failed, run_id = error, error.run_id
        else:
            try:
                run_id = _run_with_prefect(
                    batch_file,
                    criteria,
                    out,
                    screen,
                    caught_up,
                    console,
                    processes=processes,
                    retry_failed=retry_failed,
                    # a run that goes on has listed rooms: two processes must not share its connections
                    may_fork=caught_up is None and (processes is not None or not judged),
                )
            except CompaniesFailed as error:
                failed, run_id = error, error.run_id
    if failed is not None:
        console.print(failed.message, style="bold")
    unfinished, has_cap = count_unfinished(run_id)
    if unfinished:
        console.print(_explain_unfinished(unfinished, has_cap=has_cap), soft_wrap=True)
    results = load_results(run_id)
    for warning in list_warnings(results):
        console.print(warning, soft_wrap=True)
    if contested := [line for result in results.companies for line in result.contested]:
        console.print("Words in documents may have moved these scores, which differ with and without them:")
        for line in contested:
            console.print(f"  {line}", soft_wrap=True)
    echo(f"run     {run_id}")
    for line in result_lines(results):
        echo(line)
    echo(f"report  {out / 'report.html'}")
    return 1 if failed else 0


def _run_with_prefect(
    batch_file: Path,
    criteria: Path | None,
    out: Path,
    screen: Batch,
    caught_up: "CaughtUp | None",
    console: Console,
    *,
    processes: int | None,
    retry_failed: bool,
    may_fork: bool,
) -> str:
    """Run a batch as a flow and return the run's id; `caught_up` is what was taken over from an earlier run, if any.

    Raises:
        CompaniesFailed: some companies failed; all the rest is done.
    """
    with _prefect(console):
        from flows import batch, help_run  # noqa: PLC0415 - Prefect: 1.2 s, and it reads then where its home is

        with (
            batch.ready(help_run.fork) if may_fork else nullcontext(),
            batch.continuing(caught_up, screen.name),
            _progress(screen.name, console),
        ):
            return batch.batch(
                batch_file.absolute(),
                criteria and criteria.absolute(),
                out.absolute(),
                retry_failed=retry_failed,
                processes=processes,
            )


def _explain_unfinished(count: int, *, has_cap: bool) -> str:
    """Why some judgements were not made in this run, and how to have them made."""
    judgements = f"{count} judgements are" if count > 1 else "1 judgement is"
    why, raised = "The AI server was too slow", "DILIGENCE_AI_TIMEOUT"
    if has_cap:
        why = "The budget is spent, or the AI server was too slow"
        raised = f"the budget (DILIGENCE_AI_BUDGET, or ai_budget in the batch file) or {raised}"
    return f"{why}: {judgements} left unscored. Raise {raised} and run the batch again; no answer is paid for twice."


def _estimate(batch_file: Path, criteria: Path | None) -> int:
    """Print what a batch would ask of the model and what that costs.

    Returns the exit status: 1 if a data room could not be read.

    Raises:
        As `_check_batch`, before anything is read.
    """
    console = _console()
    screen = _check_batch(batch_file, criteria)
    console.print(
        f"{screen.name}: reading the data rooms. The texts are stored, so the run will not read them again. No model "
        "is called."
    )
    with _warnings_shown(console), _prefect(console):
        from flows.batch import estimate  # noqa: PLC0415 - Prefect: see `_run`

        with _progress(screen.name, console):
            result = estimate(batch_file.absolute(), criteria and criteria.absolute())
    for line in estimate_lines(result):
        echo(line)
    return 1 if any(company.problem for company in result.companies) else 0


def _check_batch(batch_file: Path, criteria: Path | None) -> Batch:
    """Read a batch and check its files, settings, folders and budget before a server is started.

    Raises:
        BadRequest: a file is wrong, or a folder of the local drive is not there.
        pydantic.ValidationError: a setting of the environment is wrong.
        NotConfigured: the budget is in USD and the model's price is not known, the configured embedding model is
            not installed, or a variable that the model needs to be reached cannot be used.
    """
    batch = read_batch(batch_file, criteria)
    with override_settings(batch.settings):
        cap_and_price()
        current_answerer()
        embedder()
        _check_folders(batch, batch_file)
    return batch


def _check_folders(batch: Batch, batch_file: Path) -> None:
    """Check that the folders of a batch on the local drive exist. Other drives, and scheduled runs, may get them later.

    Raises:
        BadRequest: one is not there.
    """
    drive = open_run_drive()
    missing = []
    for company in batch.companies:
        try:
            if not drive.remote:
                drive.find_folder(company.folder)
        except DiligenceError as error:
            missing.append(f"{batch_file.name}, {company.name}: {error.message}")
    if missing:
        raise BadRequest("\n".join(missing))


def _console() -> Console:
    """The user's view: stderr. With DILIGENCE_LOG_FORMAT=json it is a log with one JSON object per line.

    Names of batches, companies and documents are never markup.
    """
    if not logs.LogSettings.current().is_json:
        return _Console(stderr=True, markup=False, emoji=False, highlight=False)
    logging.config.dictConfig(logs.log_config(context.begin_request()))
    log_stream = cast("IO[str]", logs.LogStream(logging.getLogger(__name__)))
    return Console(file=log_stream, width=10_000, markup=False, emoji=False, highlight=False)


class _Console(Console):
    """Rich's console, which bypasses the escaping of stderr: here nothing in a line can control the terminal."""

    def print(self, *shown: Any, **options: Any) -> None:
        super().print(*(escape_text(one) if isinstance(one, str) else one for one in shown), **options)


def _is_log(console: Console) -> bool:
    return isinstance(console.file, logs.LogStream)


_WRITES_REPORTS: Final = "tasks.reports.files"
"""What cannot be written beside a report stands in no report: its warnings go to the console too."""


class _OnConsole(logging.Handler):
    """Prints warnings on a console, above the progress bars."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        self._console.print(record.getMessage(), soft_wrap=True)


@contextmanager
def _warnings_shown(console: Console) -> Iterator[None]:
    """Print warnings about Prefect, and about files that cannot be written beside a report, on the console."""
    handler = _OnConsole(console)
    names = [] if _is_log(console) else [TRACKING_LOG, _WRITES_REPORTS]  # a log has them already
    for logger in map(logging.getLogger, names):
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in map(logging.getLogger, names):
            logger.removeHandler(handler)


@contextmanager
def _prefect(console: Console) -> Iterator[None]:
    """Start a Prefect server for the block; the block runs untracked if it does not start."""
    logging.raiseExceptions = False  # Prefect prints that way what it could not log
    with ExitStack() as stack:
        stack.enter_context(usable_environment())
        try:
            with console.status("Starting Prefect …"):
                prefect_server.prepare()
                started = stack.enter_context(prefect_server.starting())
                with pause_garbage_collection():
                    import flows.batch  # noqa: F401, PLC0415 - 1.5 s with Prefect, while its server starts
                load_readers()  # 1 s, likewise
                if started is not None:
                    stack.enter_context(started.used())
        except Unavailable as error:
            stack.enter_context(untracked())
            logging.getLogger(TRACKING_LOG).warning(
                "%s The run continues without it, and its report is complete.", error.message
            )
        yield


@contextmanager
def _progress(batch: str, console: Console) -> Iterator[None]:
    """Show a progress bar for each company, polled from the database; if stderr is a file, only their final state.

    Rich redraws ten times a second even into a file, which took a tenth of the time of a run of 100 companies.
    """
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=console, refresh_per_second=1 / _REFRESH)
    if _is_log(console):
        yield
        return
    with progress if console.is_terminal else nullcontext():
        ended = threading.Event()
        pause = _REFRESH if console.is_terminal else _REFRESH_IN_A_FILE
        watcher = threading.Thread(target=_watch, args=(batch, progress, ended, pause), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
            if not console.is_terminal:
                console.print(progress)


def _watch(batch: str, progress: Progress, ended: threading.Event, pause: float) -> None:
    bars: dict[int, TaskID] = {}
    told: dict[int, tuple[int, int]] = {}  # pages, and how many tenths of them were read
    since, last = now(), False
    while not last:
        last = ended.wait(pause)
        try:
            counts, scans = _document_counts(batch, since)
        except DatabaseUnavailable:
            return  # the run itself reports it
        for company_id, (name, done, total) in counts.items():
            if company_id not in bars:
                bars[company_id] = progress.add_task(escape_line(name), total=None)
            embedded, passages = under_way.get(company_id, (done, total))
            scanned = ""
            if company_id in scans:
                read, pages = scans[company_id]
                scanned, reached = f", scans: {read:,} of {pages:,} pages", (pages, 10 * read // pages)
                is_news = reached != told.setdefault(company_id, reached)  # the first may be of an earlier start
                told[company_id] = reached
                if is_news and not progress.console.is_terminal:
                    progress.console.print(f"{name}{scanned}")
            what = ", passages by meaning" if company_id in under_way else scanned
            progress.update(
                bars[company_id], description=escape_line(name) + what, completed=embedded, total=passages or None
            )


def _document_counts(batch: str, since: datetime) -> tuple[dict[int, tuple[str, int, int]], dict[int, tuple[int, int]]]:
    """How far the run is: by company id the name, the documents done and all; and the scanned pages, read and all.

    A run that finished before `since` is an earlier one and counts for nothing.
    """
    counts: dict[int, tuple[str, int, int]] = {}
    scans: dict[int, tuple[int, int]] = {}
    are_read = ReadingSettings.current().ocr != "off"
    with database.reading() as session:
        run = runs.find_run(session, batch)
        if run is None or (run.finished_at is not None and run.finished_at < since):
            return counts, scans
        if is_to_stop(session, run.id, since):
            os.kill(os.getpid(), signal.SIGINT)  # somebody pressed Stop in the service: as Ctrl-C does
            return counts, scans
        done = documents.documents_done(session, run.id)
        for company_id, name in runs.company_names(session, run.id):
            counts[company_id] = (name, *done.get(company_id, (0, 0)))
        if are_read:
            done_pages = scans_done(session, run.id, FAILED)
            scans = {company: (read, pages) for company, (read, pages) in done_pages.items() if 0 < read < pages}
    return counts, scans


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
    table = align(rows, range(1, len(rows[0])))
    most = f"at most  {estimate.longest:,} tokens an answer, every judgement asked for twice, and searched for again"
    return [*table, "", *problems, _time(estimate), _price(estimate), most, *_spent(estimate), *_budget(estimate)]


def _figures(estimate: "Estimate", usual: Usage, most: Usage) -> tuple[str, ...]:
    cost, highest = (dollars(estimate.price.of(usage)) if estimate.price else "?" for usage in (usual, most))
    return str(usual.calls), f"{usual.input_tokens:,}", f"{usual.output_tokens:,}", cost, highest


def _price(estimate: "Estimate") -> str:
    if estimate.price is None:
        return (
            f"price    unknown for {estimate.model}: add it to a price file and name that file in DILIGENCE_AI_PRICES"
        )
    price = estimate.price
    return f"price    {estimate.model}: {price.input:g} USD in, {price.output:g} USD out, per million tokens"


def _time(estimate: "Estimate") -> str:
    """How long the calls are expected to take."""
    pace = estimate.pace
    if pace is None:
        return "time     unknown: `diligence doctor` measures how fast the model reads and writes"
    least, most = map(duration, pace.seconds(estimate.usual))
    lasts = least if least == most else f"{least} to {most}"
    return (
        f"time     {lasts}, at {pace.reading:,.0f} tokens a second read and {pace.writing:,.0f} written, as measured, "
        f"and at most {pace.at_once} calls at once"
    )


def _spent(estimate: "Estimate") -> list[str]:
    if not estimate.spent.calls:
        return []
    usd = "" if estimate.spent_usd is None else f", {dollars(estimate.spent_usd)}"
    return [f"spent    {estimate.spent.calls} calls{usd}, by the interrupted run, which would continue"]


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
