"""Copies the results of companies that have not changed since the last run, all in one Prefect task or before Prefect.

A task run costs Prefect and its server more than such a company costs us. A company that has changed, or whose folder
cannot be listed, gets its own task run; a folder that was just listed is not listed again.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from flows.batch_file import Batch, BatchSettings
from flows.run import conclude, judged_criteria, list_room_warnings, pending, reopen_companies, resume_or_start
from storage import database, figures, runs, scores, texts
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
from storage.runs import CompanyStatus, RunCompany
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.cancellation import FanOut, Leave
from tasks.companies.facts import fetch_facts
from tasks.documents.batch import load_known_outcomes
from tasks.documents.index import index_room
from tasks.errors import NotConfigured, NotFound, SourceFailed
from tasks.evidence.company import draw_evidence, is_pdf
from tasks.figures.ledger import ledger_limits, ledger_version, not_looked_for
from tasks.operation import operation
from tasks.prefect_setup import untracked
from tasks.scoring.criteria import Criteria
from tasks.scoring.results import stand
from tasks.scoring.score import Inputs, keep_unchanged, place_criteria

log = logging.getLogger(__name__)

_FEW: Final = 24
"""Companies that are examined without a model in less time than Prefect and a server of our own take to start."""
_FEW_DOCUMENTS: Final = 100
"""Documents that are usually read in some two seconds."""
_NEW: Final = 600.0
"""Seconds for which a listing is as good as one of now: as long as a large room is read after it was listed."""
_TOGETHER: Final = 50
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
    for places in texts.group_sizes(sizes, _DOCUMENTS_TOGETHER, _TOGETHER):
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
        without_figures = set(figures.texts_without_ledger(session, text_ids, ledger_version(), ledger_limits()))
        outcomes = scores.load_company_outcomes(session, earlier_ids)
        cut_off = figures.cut_off_ledgers(session, text_ids)
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
