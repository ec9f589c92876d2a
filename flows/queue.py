"""The queue of a run: its pending companies, each examined by the process that gets its lock first.

The leader of a run and its helpers do the same work. Nothing is assigned, so nothing has to be taken back: when a
process is killed, its companies are still pending and their locks are free.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Final

from flows.run import OpenRun, close_company
from storage import database, runs
from storage.errors import ConnectionLost
from storage.runs import CompanyStatus, RunCompany
from tasks.cancellation import Cancellation, Cancelled, cancelled_by
from tasks.remote.fan_out import FanOut, Leave

_POLL: Final = 0.5
"""Seconds between two looks at companies that other processes have."""
_TRIES: Final = 3
"""How often a company is begun whose database connection breaks."""
_TOGETHER: Final = 100


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
        """Examine companies one after the other."""
        while (claimed := database.retry_if_cut(self._next)) is not None:
            company, cancellation = claimed
            try:
                with cancelled_by(cancellation):
                    examine(company)
            except Cancelled:
                if not cancellation.is_cancelled:
                    raise
            except ConnectionLost as error:  # what it had stored stands, and it is pending
                if self._begun[company.id or 0] >= _TRIES:
                    close_company(company.id or 0, CompanyStatus.FAILED, str(error))
            finally:
                self._mine.discard(company.id or 0)
                self._run.claims.release(self._lock_of(company))

    def _next(self) -> tuple[RunCompany, Cancellation] | None:
        """Take the next company; None if only those of this process are pending.

        While other processes have everything that is left, it waits, because one of them may be killed.
        """
        with self._turn:
            while True:
                is_elsewhere = False
                for company in self._pending():
                    cancellation, claimed = Cancellation(), None
                    if not self._run.claims.take(self._lock_of(company), cancellation.cancel):
                        is_elsewhere = True
                        continue
                    try:
                        claimed = self._still_pending(company)
                    finally:
                        if claimed is None:
                            self._run.claims.release(self._lock_of(company))
                    if claimed is not None:
                        self._mine.add(claimed.id or 0)
                        self._begun[claimed.id or 0] += 1
                        return claimed, cancellation
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

    def _still_pending(self, company: RunCompany) -> RunCompany | None:
        """The company's present state, now that we hold its lock: another process may just have finished it."""
        with database.reading() as session:
            now = runs.get_company(session, company.id or 0)
        return now if now.status is CompanyStatus.PENDING else None

    def _lock_of(self, company: RunCompany) -> str:
        return f"company {self._run.id} {company.domain}"
