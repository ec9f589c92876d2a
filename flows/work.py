"""The work of a run: its pending companies, each examined by the process that gets its lock first.

The queue of a run is its pending companies. The leader and its helpers do the same work. Nothing is assigned, so
nothing has to be taken back: when a process is killed, its companies are still pending and their locks are free.
Nothing here imports Prefect, which takes 1.2 s and shows nothing of a few companies that changed.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from threading import BoundedSemaphore, Lock
from typing import Final, NamedTuple

from flows.batch_file import Batch, BatchSettings
from flows.prefect_server import is_embedded
from flows.run import (
    NoRoom,
    OpenRun,
    add_warnings,
    check_room,
    close_company,
    conclude,
    count_pdfs,
    find_run_company,
    judged_criteria,
    reopen_companies,
    resume_or_start,
)
from flows.steps import PLAIN, Steps, assign_room, recognise_rest
from flows.unchanged import CaughtUp, ListedRoom
from storage import database, documents, runs
from storage.documents import RunDocument
from storage.errors import ConnectionLost, DatabaseUnavailable
from storage.runs import CompanyStatus, RunCompany
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.cancellation import Cancellation, Cancelled, FanOut, Leave, cancelled_by
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.kinds.room import run_kinds
from tasks.errors import DiligenceError
from tasks.evidence.company import draw_evidence
from tasks.figures.ledger import build_ledger
from tasks.operation import concerning, operation
from tasks.prefect_setup import untracked
from tasks.remote.rate_limit import ranked
from tasks.table.cells import ask_table

log = logging.getLogger(__name__)

_POLL: Final = 0.5
"""Seconds between two looks at companies that other processes have."""
_TRIES: Final = 3
"""How often a company is begun whose database connection breaks."""
_TOGETHER: Final = 20  # companies that are looked at for the next one: a process has fewer at once
_READ_AT_ONCE: Final = 2
"""Companies whose rooms are read at the same time: one is listed and fetched while the readers have the other's."""
_DRAWN_AT_ONCE: Final = 2
"""Companies besides, whose pages are drawn while the others are read and scored."""
_SMALL: Final = 100, 5_000_000
"""Documents, and bytes of all of them, that are read and scored without a model in some two seconds."""
_FEW_PDFS: Final = 20
"""PDFs whose cited pages are drawn in less than a second."""


class Turns(NamedTuple):
    """Limits for how many companies are examined at the same time, and how many of them are being read.

    Reading needs cores, judging needs the model's time. When rooms are read one after the other, the first can be
    judged while the next are read; read side by side, all would be ready late and at once. Drawing pages happens in
    its own processes and holds up no other company. `run` is the run that it is done for.
    """

    examining: AbstractContextManager[object]
    reading: AbstractContextManager[object]
    run: OpenRun | None = None


def finish_here(caught_up: CaughtUp, screen: Batch, out: Path, *, retry_failed: bool) -> str:
    """Examine the companies that `catch_up` has left, and finish the run. Prefect is not told, nor imported.

    Returns:
        The run's id: another run's than `catch_up` told, if another process has finished that one meanwhile.

    Raises:
        As `resume_or_start`. CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    with untracked(), override_settings(screen.settings), resume_or_start(screen, retry_failed=retry_failed) as run:
        reopen_companies(run.id, retry_failed=retry_failed)
        examine_companies(run, screen, caught_up.taken.others)
        conclude(run, out)
        return run.id


def examine_companies(run: OpenRun, screen: Batch, listed: Mapping[int, ListedRoom]) -> None:
    """Examine the companies of a run until none is left; see `flows.batch.work`."""
    at_once = BatchSettings.current().at_once(judged=judged_criteria(screen))

    turns = Turns(BoundedSemaphore(at_once), BoundedSemaphore(_READ_AT_ONCE), run)

    def examine(company: RunCompany) -> None:
        company_id = company.id or 0
        examine_company.tracked(company.name, company_id, turns, listed.get(company_id))

    examine_pending(run, at_once + _DRAWN_AT_ONCE, examine)


def examine_pending(run: OpenRun, at_once: int, examine: Callable[[RunCompany], None]) -> None:
    """Examine pending companies of a run, alongside other processes, until none is pending.

    Args:
        run: the run.
        at_once: how many companies this process examines at the same time.
        examine: examines one, and stores how that ended.
    """
    queue = _Queue(run)
    with FanOut(at_once, "company", Leave.ON_INTERRUPT) as threads:
        for done in [threads.submit(queue.work, examine) for _ in range(at_once)]:
            done.result()


class _Queue:
    """What is left to do in a run, for the threads of this process."""

    def __init__(self, run: OpenRun) -> None:
        self._run = run
        self._mine: set[int] = set()
        self._begun: Counter[int] = Counter()
        self._turn = Lock()

    def work(self, examine: Callable[[RunCompany], None]) -> None:
        """Examine companies one after the other.

        Raises:
            NoRoom: this machine's disk is full, and others can go on with the run.
        """
        while (claimed := database.retry_if_cut(self._next)) is not None:
            company, cancellation = claimed
            try:
                _check_worker_room(self._run)
                with cancelled_by(cancellation), ranked(company.ordinal + 1):
                    examine(company)
            except Cancelled:
                if not cancellation.is_cancelled:
                    raise
            except ConnectionLost as error:  # what it had stored stands, and it is pending
                if self._begun[company.id or 0] >= _TRIES:
                    close_company(company.id or 0, CompanyStatus.FAILED, str(error))
            finally:
                self._mine.discard(company.id or 0)
                self._run.claims.release(company.lock)

    def _next(self) -> tuple[RunCompany, Cancellation] | None:
        """Take the next company; None if only those of this process are pending.

        While other processes have everything that is left, it waits, because one of them may be killed.
        """
        with self._turn:
            while True:
                is_elsewhere = False
                for company in self._pending():
                    cancellation, is_pending = Cancellation(), False
                    if not self._run.claims.take(company.lock, cancellation.cancel):
                        is_elsewhere = True
                        continue
                    try:
                        with database.reading() as session:  # another process may just have finished it
                            is_pending = runs.is_pending(session, company.id or 0)
                    finally:
                        if not is_pending:
                            self._run.claims.release(company.lock)
                    if is_pending:
                        self._mine.add(company.id or 0)
                        self._begun[company.id or 0] += 1
                        return company, cancellation
                if not is_elsewhere:
                    return None
                time.sleep(_POLL)

    def _pending(self) -> Iterator[RunCompany]:
        after = -1
        while True:
            with database.reading() as session:
                some = runs.pending_companies(session, self._run.id, after, _TOGETHER)
            yield from (company for company in some if company.id not in self._mine)
            if len(some) < _TOGETHER:
                return
            after = some[-1].ordinal


@operation(name="company", task_run_name="{name}")
def examine_company(name: str, company_id: int, turns: Turns, listed: ListedRoom | None = None) -> None:
    """Examine a company with that name: one Prefect task, if Prefect is told. A failure is stored with the company.

    `listed` is the listing of its folder, if this run has made it already.
    """
    try:
        with concerning(name):
            examine(company_id, PLAIN, listed.room_id if listed and listed.is_new else None, turns)
    except (ConnectionLost, NoRoom):
        raise  # the queue has it examined again, or others do
    except Exception as error:  # noqa: BLE001 - an error in the program must not end the run for all companies
        log.error("The company %r failed: %s", name, type(error).__name__)  # noqa: TRY400
        is_told = isinstance(error, DiligenceError | DatabaseUnavailable)
        problem = str(error) if is_told else f"An internal error: {type(error).__name__}."
        _check_worker_room(turns.run)
        close_company(company_id, CompanyStatus.FAILED, problem)


def examine(company_id: int, steps: Steps, room_id: int | None = None, turns: Turns | None = None) -> None:
    """Index, extract, fetch facts and score one company of a run. A failure is stored with the company.

    Args:
        company_id: the company.
        steps: the steps, as flows or as plain functions.
        room_id: the room as it was indexed just now; without it, it is indexed first.
        turns: those of a batch, in which small rooms are not shown by a server that ends with it.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
    # A step that finds its work done, or next to none, costs Prefect more than it costs us: Prefect is not told of it.
    # Nor is it told of those of a small room where its server ends with this command, so that nobody looks at them.
    try:
        with turns.examining if turns else nullcontext(), ExitStack() as small, ExitStack() as reading:
            # A source of facts may be waited for: mostly its answer is stored.
            if turns and is_embedded() and not current_answerer().judges and not open_run_drive().remote:
                small.enter_context(untracked())
            if turns:
                reading.enter_context(turns.reading)
            if room_id is None:
                room_id = steps.index_folder(company.folder, company_id=company_id)
            else:
                assign_room(company_id, room_id)
            if not _is_small(room_id):
                small.close()  # its steps take long enough to be looked at
            steps.extract_all(company.folder, room_id=room_id, company_id=company_id, scans=False)
            listed = _read_documents(company_id)
            if any(row.pages_read != row.pages for row in listed):
                reading.close()  # a page takes seconds: other rooms are read meanwhile
                small.close()
                recognise_rest(room_id, company_id)
                listed = _read_documents(company_id)
            add_warnings(company_id, build_ledger.tracked(company_id))
            run_kinds(listed)  # for its scoring and its report
            reading.close()
            steps.company_facts(company.domain, company_id=company_id)
            is_complete = steps.score_company(company.domain, run=company.run_id, company_id=company_id)
            add_warnings(company_id, ask_table(company_id))
        pdfs = count_pdfs(listed)
        if pdfs:
            is_quick = pdfs <= _FEW_PDFS or find_run_company(company.run_id, company.domain).carried_from is not None
            add_warnings(company_id, (draw_evidence if is_quick else draw_evidence.tracked)(company_id))
        problem = None if is_complete else "A judgement failed; the criteria marked unscored say why."
    except DiligenceError as error:
        problem = error.message
    _check_worker_room(turns.run if turns else None)
    close_company(company_id, CompanyStatus.FINISHED if problem is None else CompanyStatus.FAILED, problem)


def _read_documents(company_id: int) -> Sequence[RunDocument]:
    with database.reading() as session:
        return documents.company_documents(session, company_id)


def _is_small(room_id: int) -> bool:
    most, most_bytes = _SMALL
    with database.reading() as session:
        count, size = documents.measure_room(session, room_id)
    return count <= most and size <= most_bytes


def _check_worker_room(run: OpenRun | None) -> None:
    """Have a worker whose disk is full leave while its companies are pending: the leader concludes once none is.

    Nobody else could go on where a command leads; a deployed run goes on with its helpers, or when it is next due.
    """
    if run is not None and (run.is_deployed or not run.is_led_here):
        check_room()
