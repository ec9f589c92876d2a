"""The work of a run: which of its companies are taken over unchanged, and who examines the others.

The queue of a run is its pending companies, each examined by the process that gets its lock first. The leader and its
helpers do the same work. Nothing is assigned, so nothing has to be taken back: when a process is killed, its companies
are still pending and their locks are free.

The results of companies that have not changed since the last run are copied, all in one Prefect task or before Prefect:
a task run costs Prefect and its server more than such a company costs us. A company that has changed, or whose folder
cannot be listed, gets its own task run; a folder that was just listed is not listed again. Nothing here imports
Prefect, which takes 1.2 s and shows nothing of a few companies that changed.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
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
    list_room_warnings,
    pending,
    reopen_companies,
    resume_or_start,
)
from flows.steps import PLAIN, Steps, assign_room, recognise_rest
from storage import database, documents, runs, scores, texts
from storage.context import holding
from storage.documents import (
    DocumentOutcome,
    Room,
    RoomDocument,
    RunDocument,
    add_documents,
    documents_done,
    get_room,
    load_company_documents,
    room_documents,
)
from storage.errors import ConnectionLost, DatabaseUnavailable
from storage.runs import CompanyStatus, RunCompany
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.cancellation import Cancellation, Cancelled, FanOut, Leave, cancelled_by
from tasks.companies.facts import fetch_facts
from tasks.documents.batch import load_known_outcomes
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.index import index_room
from tasks.documents.kinds.room import run_kinds
from tasks.errors import DiligenceError, NotConfigured, NotFound, SourceFailed
from tasks.evidence.company import draw_evidence, is_pdf
from tasks.figures.ledger import build_ledger, ledger_limits, ledger_version, not_looked_for
from tasks.operation import concerning, operation
from tasks.prefect_setup import untracked
from tasks.remote.rate_limit import ranked
from tasks.scoring.criteria import Criteria
from tasks.scoring.results import stand
from tasks.scoring.score import Inputs, keep_unchanged, place_criteria
from tasks.table.cells import ask_table

_FEW: Final = 24
"""Companies that are examined without a model in less time than Prefect and a server of our own take to start."""
_FEW_DOCUMENTS: Final = 100
"""Documents that are usually read in some two seconds."""
_NEW: Final = 600.0
"""Seconds for which a listing is as good as one of now: as long as a large room is read after it was listed."""
_TAKEN_TOGETHER: Final = 50
_DOCUMENTS_TOGETHER: Final = 10_000
"""Companies that are looked up and taken over together, at most, and their documents, which are in memory meanwhile."""


@dataclass(slots=True)
class _Company:
    """A company of this run, its counterpart in the run before, and the present state of its folder and sources."""

    now: RunCompany
    earlier: RunCompany
    room: Room
    listed: Sequence[RoomDocument]
    profile_id: int | None
    warnings: list[str]
    outcomes: Sequence[DocumentOutcome] = ()

    @property
    def ids(self) -> tuple[int, int]:
        """Its ids in the run before and in this one."""
        assert self.earlier.id is not None
        assert self.now.id is not None
        return self.earlier.id, self.now.id

    @property
    def names(self) -> dict[int, str]:
        """The names of its documents by their texts."""
        pairs = zip(self.listed, self.outcomes, strict=True)
        return {outcome.text_id: row.name for row, outcome in pairs if outcome.text_id is not None}

    @property
    def text_ids(self) -> set[int]:
        """The texts of its documents."""
        return {outcome.text_id for outcome in self.outcomes if outcome.text_id is not None}

    def has_the_same(self, documents: Sequence[RunDocument]) -> bool:
        """Whether its documents are exactly these: each in the same place, with the same name and the same complete
        text.
        """
        if any(outcome.pages != outcome.pages_read for outcome in self.outcomes):
            return False  # the run may go on with its scans
        return len(self.outcomes) == len(self.listed) and [
            (row.document_id, row.path, row.name, row.url, outcome.content_hash, outcome.text_id)
            for row, outcome in zip(self.listed, self.outcomes, strict=True)
        ] == [(row.document_id, row.path, row.name, row.url, row.content_hash, row.text_id) for row in documents]


class ListedRoom(NamedTuple):
    """A room of the drive that was listed and stored, and when, by the monotonic clock."""

    room_id: int
    at: float

    @property
    def is_new(self) -> bool:
        """Whether it was listed so recently that the drive need not be asked again."""
        return time.monotonic() - self.at < _NEW


class TakenOver(NamedTuple):
    """The companies whose results were copied, and of the others by company id: the listed rooms, and how many of their
    documents have no known text.
    """

    companies: Sequence[RunCompany] = ()
    others: Mapping[int, ListedRoom] = {}
    unread: Mapping[int, int] = {}


class CaughtUp(NamedTuple):
    """A run that has taken over what has not changed, and how many companies are left. With none left, it is over."""

    run_id: str
    left: int
    taken: TakenOver

    @property
    def is_quick(self) -> bool:
        """Whether what is left takes less time than Prefect to start, if no model is asked: few companies, each of
        which was examined before and has few documents to read.
        """
        unread = self.taken.unread
        return self.left <= min(_FEW, len(unread)) and sum(unread.values()) <= _FEW_DOCUMENTS


_caught_up: ContextVar[CaughtUp | None] = ContextVar("caught_up", default=None)


def going_on(caught_up: CaughtUp | None) -> AbstractContextManager[None]:
    """Let the flow `batch` in the block go on with that run, without looking again for what has changed."""
    return holding(_caught_up, caught_up)


def catch_up(screen: Batch, out: Path, *, retry_failed: bool) -> CaughtUp | None:
    """Begin a run of a batch that was run before, take over what has not changed, and finish the run if that is all.

    Prefect is not told: with a server of our own, which nobody else can ask, it takes longer to start than this lasts.

    Args:
        screen: the batch.
        out: the folder for the report.
        retry_failed: as of `resume_or_start`.

    Returns:
        The run, with which the flow `batch` goes on where companies are left; None for a batch of which no run has
        come to its report.

    Raises:
        As `resume_or_start`.
    """
    with database.reading() as session:
        latest = runs.find_run(session, screen.name)
        if latest is None or (latest.reported_at is None and runs.previous_run(session, latest) is None):
            return None
    with untracked(), override_settings(screen.settings), resume_or_start(screen, retry_failed=retry_failed) as run:
        reopen_companies(run.id, retry_failed=retry_failed)
        taken = take_over_if_possible(run.id, BatchSettings.current().at_once(judged=judged_criteria(screen)))
        left = pending(run.id)
        if not left:
            conclude(run, out)
    return CaughtUp(run.id, left, taken)


def take_over_if_possible(run_id: str, at_once: int, *, tracked: bool = False) -> TakenOver:
    """`take_over_unchanged`, in Prefect if `tracked`, or what was found just before this; a failure takes nothing
    over.
    """
    found = _caught_up.get()
    if found is not None and found.run_id == run_id:
        return found.taken
    try:
        return (take_over_unchanged.tracked if tracked else take_over_unchanged)(run_id, at_once)
    except Exception as error:  # noqa: BLE001 - each company is then examined by itself
        log.error("Companies that have not changed are examined again: %s", type(error).__name__)  # noqa: TRY400
        return TakenOver()


@operation(name="take_over_unchanged", task_run_name="Companies that have not changed")
def take_over_unchanged(run_id: str, at_once: int) -> TakenOver:
    """Copy the results of a run's unchanged companies; returns them, and the listed rooms of the others.

    Each company is copied in one transaction: after a kill it is either copied or still pending.

    Args:
        run_id: the run.
        at_once: how many folders are listed side by side.
    """
    with database.reading() as session:
        run = runs.get_run(session, run_id)
        pairs = runs.with_earlier(session, run)
        documents_before = documents_done(session, pairs[0][1].run_id) if pairs else {}
    criteria = Criteria.from_json(run.criteria)
    taken: list[RunCompany] = []
    others: dict[int, ListedRoom] = {}
    unread: dict[int, int] = {}
    sizes = {place: documents_before.get(earlier.id or 0, (0, 0))[1] for place, (_, earlier) in enumerate(pairs)}
    for places in texts.group_sizes(sizes, _DOCUMENTS_TOGETHER, _TAKEN_TOGETHER):
        with FanOut(at_once, "unchanged", Leave.ON_INTERRUPT) as threads:
            looking = [threads.submit(_look_at, *pairs[place]) for place in places]
        listed_at = time.monotonic()
        listed = [company for future in looking if (company := future.result()) is not None]
        unchanged = _find_unchanged(criteria, run.started_at, listed)
        if unchanged:
            taken += _take_over(criteria, unchanged)
        ids = {company.id for company in taken}
        for company in listed:
            if (company_id := company.now.id) is not None and company_id not in ids:
                others[company_id] = ListedRoom(company.room.id or 0, listed_at)
                unread[company_id] = len(company.listed) - len(company.outcomes)
    return TakenOver(taken, others, unread)


def _look_at(now: RunCompany, earlier: RunCompany) -> _Company | None:
    """List a company's folder and ask its sources; None if that fails, which its own task run will report."""
    if earlier.status is not CompanyStatus.FINISHED or earlier.evidence_warnings is None:
        return None
    try:
        room_id = index_room(now.folder)
        with database.reading() as session:
            room, listed = get_room(session, room_id), room_documents(session, room_id)
        try:
            stored = fetch_facts(now.domain, patient=True)
        except (NotFound, SourceFailed, NotConfigured) as error:
            return _Company(now, earlier, room, listed, None, [error.message])
    except Exception as error:  # noqa: BLE001 - whatever it is, it must stop no other company
        log.info("The company %s is examined by itself: %s", now.domain, type(error).__name__)
        return None
    return _Company(now, earlier, room, listed, stored.profile_id, stored.facts.warnings)


def _find_unchanged(criteria: Criteria, since: datetime, listed: Sequence[_Company]) -> list[_Company]:
    """The companies whose documents, figures and outcomes are what a run since then would find."""
    rows = [row for company in listed for row in company.listed]
    known = {outcome.document_id: outcome for outcome in load_known_outcomes(rows, since=since)}
    for company in listed:
        company.outcomes = [known[row.document_id] for row in company.listed if row.document_id in known]
    earlier_ids = [company.ids[0] for company in listed]
    with database.reading() as session:
        earlier = load_company_documents(session, earlier_ids)
        same = [company for company in listed if company.has_the_same(earlier[company.ids[0]])]
        text_ids = {text_id for company in same for text_id in company.text_ids}
        without_figures = set(texts.texts_without_ledger(session, text_ids, ledger_version(), ledger_limits()))
        outcomes = scores.load_company_outcomes(session, earlier_ids)
        cut_off = texts.cut_off_ledgers(session, text_ids)
        unchanged = []
        for company in same:
            its_cut_off = [text_id for text_id in cut_off if text_id in company.text_ids]
            inputs = Inputs(company.now, criteria, earlier[company.ids[0]], its_cut_off)
            hashes = inputs.with_profile(session, company.profile_id).hashes(current_answerer())
            rest_on_the_same = len(keep_unchanged(outcomes[company.ids[0]], hashes)) == len(hashes)
            if rest_on_the_same and without_figures.isdisjoint(company.text_ids):
                unchanged.append(company)
    return unchanged


def _take_over(criteria: Criteria, unchanged: Sequence[_Company]) -> list[RunCompany]:
    """Store these companies as their own steps would have done; pages that were pruned meanwhile are drawn again."""
    with database.reading() as session:
        readers = texts.load_readers(session, [text_id for company in unchanged for text_id in company.text_ids])
    pdfs = {text_id for text_id, reader in readers.items() if is_pdf(reader)}
    for company in unchanged:
        now, warnings = company.now, company.earlier.evidence_warnings or []
        now.room_id, now.folder_id, now.profile_id = company.room.id, company.room.folder_id, company.profile_id
        now.carried_from = company.earlier.carried_from or company.earlier.run_id
        now.status, now.evidence_warnings = CompanyStatus.FINISHED, warnings
        told = [*list_room_warnings(company.room, company.listed), *not_looked_for(company.names), *company.warnings]
        drawn = [] if pdfs.isdisjoint(company.text_ids) else draw_evidence(company.ids[0])
        now.warnings = list(dict.fromkeys([*told, *warnings, *drawn]))
    ids = dict(company.ids for company in unchanged)
    with database.writing() as session:
        for company in unchanged:
            add_documents(session, company.ids[1], company.listed, company.outcomes)
        scores.carry_outcomes(session, ids, place_criteria(criteria, {criterion.id for criterion in criteria.criteria}))
        outcomes = scores.load_company_outcomes(session, list(ids.values()))
        for company in unchanged:
            stand(company.now, outcomes[company.ids[1]], criteria)
        runs.save_companies(session, [company.now for company in unchanged])
    return [company.now for company in unchanged]


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
