"""The flows over all companies of a batch file: `batch` examines and ranks them, `estimate` counts the model calls.

`batch` writes the report too. Companies are examined in parallel, also by helpers: processes on this machine, or runs
of the batch's other deployment on the work pool. A helper takes companies from the queue and ends with the run. If the
leader is killed, a helper finishes the run. Stopping the run stops its helpers.

`estimate` is a dry run that counts model calls, tokens and cost without calling the model. The data rooms are indexed
and read as in the run, and their texts are stored, so that the run does not read them again. The prompts are those of
the run. Cached answers are not counted, and no outcome is stored.
"""

import atexit
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.context import ForkProcess
from pathlib import Path
from tempfile import TemporaryFile
from types import MappingProxyType, NoneType
from typing import IO, Annotated, Final
from uuid import UUID

from prefect import get_client, settings, states, tags
from prefect.artifacts import create_markdown_artifact
from prefect.client.schemas.objects import StateType
from prefect.context import TagsContext
from prefect.exceptions import ObjectNotFound
from prefect.runtime import deployment

from flows.artifacts import batch_key, escape, make_slug, prefix_keys, write_ranking
from flows.batch_definition import DeployedBatch, in_its_folder, load_batch
from flows.batch_file import Batch, BatchSettings, read_batch
from flows.engine import (
    IfGiven,
    flow,
    name_batch_run,
    name_those_to_come,
    set_worker_secrets,
    show_outcome,
    tell,
    without_a_line_a_task,
)
from flows.extract_all import extract_all
from flows.index_folder import index_folder
from flows.run import (
    OpenRun,
    companies_to_do,
    conclude,
    judged_criteria,
    pending,
    reopen_companies,
    resume_or_start,
    temporary_run,
)
from flows.work import CaughtUp, ListedRoom, TakenOver, examine_companies, going_on, take_over_if_possible
from storage import database, runs
from storage.context import holding
from storage.runs import RunCompany
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.documents.drive.archives.archive import open_archives
from tasks.errors import DiligenceError
from tasks.reports.report import load_results
from tasks.scoring.ask import BRIEF_ANSWER, CountingAnswerer, Width, search_plans
from tasks.scoring.evidence import Evidence
from tasks.scoring.isolation import JudgementAlone, PortionReading
from tasks.scoring.score import Inputs, criterion_results
from tasks.spending.budget import LONGEST_ANSWER, cap_and_price, find_ledger
from tasks.spending.money import Cap, Pace, Price, Usage
from tasks.table.cells import ask_company
from tasks.tracking import show, wait_for_server

HELPER: Final = "help_run"
"""The name of the flow that helpers on a work pool run."""
log = logging.getLogger(__name__)

_LEFT_AFTER: Final = 20.0
"""Seconds after which a run that still has companies gets helpers from the pool: one takes 4 s of work to start."""
_END: Final = 5.0
"""Seconds in which a helper notices that the run is over."""
_SETTINGS: Final = (
    settings.PREFECT_API_URL,
    settings.PREFECT_API_AUTH_STRING,
    settings.PREFECT_API_SSL_CERT_FILE,
    settings.PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
)


def helping(
    run_id: str, batch: Batch, out: Path | None, processes: int | None, *, is_deployed: bool, is_quick: bool
) -> AbstractContextManager[None]:
    """Let helpers examine companies of a run while the block does.

    Args:
        run_id: the run.
        batch: its batch, whose settings are in force.
        out: the folder for the report, which a helper writes where the process that leads has gone.
        processes: how many processes of this machine there are to be, this one among them; None for what the settings
            say.
        is_deployed: whether the run is that of a deployment, which has its helpers on the work pool.
        is_quick: whether what is left takes less time than a helper takes to start.
    """
    configured = BatchSettings.current()
    left = pending(run_id)
    count = processes or configured.processes_for(left, judged=judged_criteria(batch), is_quick=is_quick)
    if not is_deployed or configured.processes is not None:
        return _processes(run_id, out, min(count, left) - 1)
    return _runs_on_pool(run_id, batch.name) if deployment.id is not None else nullcontext()


class _Fork(ForkProcess):
    """A fork of this process that waits for a run to help with; it ends like a `subprocess.Popen`."""

    def __init__(self, helping: Callable[[str, int, Path | None], int]) -> None:
        super().__init__()
        self._helping, self.errors = helping, TemporaryFile()  # noqa: SIM115 - `_end` closes it
        self._order, self.orders = Pipe(duplex=False)

    def run(self) -> None:
        signal.set_wakeup_fd(-1)  # a pipe that is shared with the process that leads
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to all
        self.orders.close()
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 1)
        os.dup2(self.errors.fileno(), 2)
        with suppress(EOFError):  # there is no run
            told = self._order.recv()
            signal.signal(signal.SIGINT, signal.default_int_handler)
            try:
                sys.exit(self._helping(*told))
            finally:
                atexit._run_exitfuncs()  # noqa: SLF001 - multiprocessing leaves them out

    def wait(self, timeout: float | None = None) -> int:
        self.orders.close()
        self.join(timeout)
        if self.exitcode is None:
            raise subprocess.TimeoutExpired("fork", timeout or 0.0)
        return self.exitcode


_IDLE: Final = {threading.main_thread().name, "interrupt"}
"""The threads of a command that is about to run a batch; the second one does nothing but wait for a signal."""
_ready: ContextVar[_Fork | None] = ContextVar("ready", default=None)


@contextmanager
def ready(helping: Callable[[str, int, Path | None], int]) -> Iterator[None]:
    """Let a run in the block have its helpers from a fork of this process, which shares no connection with it.

    Where other threads are at work there is no fork, as nothing there would release their locks. Nor does it share an
    archive that checking the folders has opened: the first of two to end would delete what was unpacked.
    """
    if any(thread.name not in _IDLE for thread in threading.enumerate()):
        yield
        return
    open_archives.close()
    database.close()
    fork = _Fork(helping)
    fork.start()
    try:
        with holding(_ready, fork):
            yield
    finally:
        _stop(fork, _END)


@contextmanager
def _processes(run_id: str, out: Path | None, count: int) -> Iterator[None]:
    if count < 1:
        yield
        return
    process, errors = _start(run_id, count, out)
    try:
        yield
    finally:
        _end(process, errors, 0.0 if _is_interrupted() else _END)


def _is_interrupted() -> bool:
    """Whether the block ends by an interrupt; with failed companies, the run is over."""
    return not isinstance(sys.exception(), Exception | NoneType)


def _start(run_id: str, count: int, out: Path | None) -> tuple[subprocess.Popen[bytes] | _Fork, IO[bytes]]:
    if (fork := _ready.get()) is not None:
        with suppress(OSError):  # somebody has ended it, which `_end` tells
            fork.orders.send((run_id, count, out))
        return fork, fork.errors
    values = {setting.name: setting.value() for setting in _SETTINGS}
    given = {name: str(value) for name, value in values.items() if value is not None}
    errors = TemporaryFile()  # noqa: SIM115 - `_end` closes it
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-P", "-m", "flows.help_run", run_id, str(count), *([out] if out else [])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=errors,
        env=dict(os.environ) | given | {"PYTHONSAFEPATH": "1"},
    )
    return process, errors


def _end(process: subprocess.Popen[bytes] | _Fork, errors: IO[bytes], patience: float) -> None:
    with errors:
        if _stop(process, patience) != 0:
            errors.seek(0)
            said = _last_words(errors.read().decode(errors="replace"))
            log.warning("A process that was helping with the run ended early: %s", said)


def _stop(process: subprocess.Popen[bytes] | _Fork, patience: float) -> int:
    """The status of a process that ends in time; 0 if it has to be stopped."""
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_END)
    process.kill()
    process.wait()
    return 0


def _last_words(errors: str) -> str:
    """What a process said at its end: its sentence, or the type of an error whose message may contain foreign text."""
    lines = errors.strip().splitlines() or ["it said nothing"]
    return lines[-1].partition(":")[0] if any(line.startswith("Traceback") for line in lines) else lines[-1]


@contextmanager
def _runs_on_pool(run_id: str, batch: str) -> Iterator[None]:
    ended, started = threading.Event(), list[UUID]()
    name = f"{HELPER}/{deployment.name}"

    def start() -> None:
        if not ended.wait(_LEFT_AFTER):
            show(_start_on_pool, name, batch, run_id, BatchSettings.current().helpers_for(pending(run_id)), started)

    starting = threading.Thread(target=copy_context().run, args=(start,), name="helpers", daemon=True)
    starting.start()
    try:
        yield
    finally:
        ended.set()
        starting.join(_END)
        show(_cancel, started, are_stopped=_is_interrupted())


def _start_on_pool(name: str, batch: str, run_id: str, count: int, started: list[UUID]) -> None:
    with get_client(sync_client=True) as client:
        try:
            found = client.read_deployment_by_name(name)
        except ObjectNotFound:  # deployed by an earlier release
            return
        for number in range(1, count + 1):
            run = client.create_flow_run_from_deployment(
                found.id, parameters={"run": run_id}, name=f"{batch} · helper {number}"
            )
            started.append(run.id)


def _cancel(started: Sequence[UUID], *, are_stopped: bool) -> None:
    """Cancel helpers that have not begun, which have nothing to do; with `are_stopped`, also the others."""
    with get_client(sync_client=True) as client:
        for run_id in started:
            state = client.read_flow_run(run_id).state_type
            if state in {StateType.SCHEDULED, StateType.PENDING}:
                client.set_flow_run_state(
                    run_id, states.Cancelled(message="The run was over before this helper began.")
                )
            elif are_stopped and state is StateType.RUNNING:
                client.set_flow_run_state(run_id, states.Cancelling())


@contextmanager
def continuing(caught_up: CaughtUp | None, name: str) -> Iterator[None]:
    """Let `batch` in the block continue that run, if there is one; its flow run has the batch's name as a tag."""
    with tags(make_slug(name)), going_on(caught_up):
        yield


@flow(name="batch", flow_run_name=name_batch_run)
def batch(
    batch_file: Path,
    criteria: Annotated[Path | None, IfGiven] = None,
    out: Annotated[Path | None, IfGiven] = None,
    reports: Annotated[Path | None, IfGiven] = None,
    definition: DeployedBatch | None = None,
    retry_failed: bool = False,
    processes: int | None = None,
) -> str:
    """Examine every company of a batch, continuing where an interrupted run stopped.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.
        out: the folder for report.html and report.json.
        reports: a folder in which each run gets its own folder, named by its id; without it and without `out`, the
            report is kept in storage alone.
        definition: the batch as it was deployed, which then counts; `batch_file` says where it came from.
        retry_failed: whether documents that could not be read in earlier runs of the batch are read again.
        processes: how many processes of this machine examine the companies; by default as the settings say.

    Returns:
        The run's id.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run elsewhere.
        NotConfigured, NotLoggedIn: the drive's account or the model's server is missing. Nothing is begun.
        CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    without_a_line_a_task()
    with in_its_folder(definition), set_worker_secrets(is_deployed=definition is not None):
        screen = load_batch(batch_file, criteria, definition)
        try:
            return _run(screen, out, reports, processes, retry_failed=retry_failed, is_deployed=definition is not None)
        finally:
            if definition is not None:
                show(name_those_to_come, screen.name)


def _run(
    screen: Batch,
    out: Path | None,
    reports: Path | None,
    processes: int | None,
    *,
    retry_failed: bool,
    is_deployed: bool,
) -> str:
    with (
        override_settings(screen.settings),
        TagsContext(current_tags=set()),  # the run has them; of each task they would be a request more
        resume_or_start(screen, retry_failed=retry_failed, is_deployed=is_deployed) as run,
        prefix_keys(screen.name),
    ):
        if out is None and reports is not None:
            out = reports / run.id
        tell([f"The run {run.id} begins: {screen.extent}."])
        reopen_companies(run.id, retry_failed=retry_failed)
        at_once = BatchSettings.current().at_once(judged=judged_criteria(screen))
        taken = _take_over(run, at_once)
        is_quick = CaughtUp(run.id, pending(run.id), taken).is_quick
        with helping(run.id, screen, out, processes, is_deployed=is_deployed, is_quick=is_quick):
            work(run, screen, out, taken.others)
    return run.id


def work(
    run: OpenRun, screen: Batch, out: Path | None, listed: Mapping[int, ListedRoom] = MappingProxyType({})
) -> None:
    """Examine the companies of a run until none is left, and finish the run if this process is its leader by then.

    The companies in one process share its reader processes and the rate limits of the model, the drive and each source;
    all processes share the run's budget. A failure is stored with its company and stops no other.

    Args:
        run: the run.
        screen: its batch, whose settings are in force.
        out: the folder for the report.
        listed: the rooms that this process has listed already, by the companies' ids.

    Raises:
        CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    examine_companies(run, screen, listed)
    try:
        conclude(run, out)
    finally:
        if run.is_led_here:
            _show_ranking(run, screen, out)


def _show_ranking(run: OpenRun, screen: Batch, out: Path | None) -> None:
    if run.is_deployed:
        wait_for_server()
    results = database.retry_if_cut(lambda: load_results(run.id))
    show(
        create_markdown_artifact,
        write_ranking(results),
        key=batch_key("ranking", screen.name),
        description=f"{escape(screen.name)}: the companies ranked",
    )
    show_outcome(results, out, run.unwritten)


def _take_over(run: OpenRun, at_once: int) -> TakenOver:
    """Copy the results of unchanged companies from the run before, if there was one."""
    with database.reading() as session:
        if runs.previous_run(session, runs.get_run(session, run.id)) is None:
            return TakenOver()
    taken = take_over_if_possible(run.id, at_once, tracked=True)
    if taken.companies:
        show(
            create_markdown_artifact,
            "\n".join(f"- {escape(company.name)} ({escape(company.domain)})" for company in taken.companies),
            key=batch_key("unchanged", run.batch),
            description=f"{escape(run.batch)}: companies that have not changed since the run before",
        )
    return taken


@dataclass(frozen=True)
class CompanyEstimate:
    """What one company would cost. `problem` says why that could not be estimated.

    `most` is an upper limit: every prompt and answer at its longest, every judgement requested twice because the first
    answer did not fit the schema, a second look at each document that was read by itself, and all of that again with
    another search plan because nothing was found.
    """

    name: str
    usual: Usage = field(default_factory=Usage)
    most: Usage = field(default_factory=Usage)
    problem: str | None = None


@dataclass(frozen=True)
class Estimate:
    """What a batch would still cost. `model` is None where no model is configured.

    `longest` is the length of an answer, in tokens, that `most` counts with: the budget's limit, or an assumption
    without a budget. `spent` and `spent_usd` are what the interrupted run has cost so far. `pace` is the measured speed
    of the model, if it was measured.
    """

    model: str | None
    price: Price | None
    cap: Cap | None
    longest: int
    spent: Usage
    spent_usd: float | None
    companies: Sequence[CompanyEstimate]
    pace: Pace | None = None

    @property
    def usual(self) -> Usage:
        """What all companies together would typically use."""
        return sum((company.usual for company in self.companies), Usage())

    @property
    def most(self) -> Usage:
        """The most that all companies together could use."""
        return sum((company.most for company in self.companies), Usage())

    def fits(self, usage: Usage) -> bool:
        """Whether `usage`, on top of what was spent, stays within the budget; always true without one."""
        if self.cap is None:
            return True
        if self.cap.tokens is not None:
            total = self.spent + usage
            return total.input_tokens + total.output_tokens <= self.cap.tokens
        assert self.cap.usd is not None
        return self.price is None or (self.spent_usd or 0.0) + self.price.of(usage) <= self.cap.usd


@flow(name="estimate")
def estimate(batch_file: Path, criteria: Path | None = None) -> Estimate:
    """Estimate what a batch would cost; for an interrupted run, the part that is left.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run.
        NotConfigured: the budget is in USD and the model's price is not known.
    """
    screen = read_batch(batch_file, criteria)
    with override_settings(screen.settings):
        cap, price = cap_and_price()
        with temporary_run(screen) as run:
            longest = find_ledger(run).answer_limit or LONGEST_ANSWER
            planned: set[str] = set()
            companies = [_count(company, longest, planned) for company in companies_to_do(run)]
            with database.reading() as session:
                row = runs.get_run(session, run)
            spent = Usage(row.calls, row.input_tokens, row.output_tokens)
            answerer = current_answerer()
            return Estimate(answerer.model, price, cap, longest, spent, row.usd, companies, answerer.pace)


def _count(company: RunCompany, longest: int, planned: set[str]) -> CompanyEstimate:
    """Read a company's data room and count what would be asked.

    `longest` is the most tokens of one answer; `planned` are the search plans that earlier companies asked for.
    """
    assert company.id is not None
    answerer = CountingAnswerer(current_answerer(), planned, reading=PortionReading, second_look=JudgementAlone)
    try:
        room_id = index_folder(company.folder, company_id=company.id)
        extract_all(company.folder, room_id=room_id, company_id=company.id)
        with database.reading() as session:
            inputs = Inputs.of(session, company.id)
        evidence = Evidence(company.id, inputs.documents)
        plans = search_plans(evidence.open_to(answerer), answerer, None)
        for _result in criterion_results(inputs, evidence, answerer, None, plans):
            pass
        ask_company(company.id, answerer, None)
    except DiligenceError as error:
        return CompanyEstimate(company.name, problem=error.message)
    usual = min(longest, BRIEF_ANSWER) if Width.of(answerer).is_narrow else longest
    return CompanyEstimate(company.name, usual=answerer.usual(usual), most=answerer.most(longest))
