"""The four steps of examining a company, as plain functions: each is also a flow, in the module of its name.

Nothing here imports Prefect, which takes 1.2 s, before it shows something.
"""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Final, NamedTuple
from uuid import UUID

from flows.artifacts import company_key, escape, scorecard
from flows.run import find_run_company, list_room_warnings
from storage import database, documents, runs, scores
from storage.columns import now
from storage.documents import DocumentOutcome, RoomDocument
from tasks.cancellation import FanOut, Leave, take_finished
from tasks.companies import facts
from tasks.documents.batch import load_known_outcomes, read_documents, recognise_scans
from tasks.documents.index import index_room
from tasks.operation import is_shown, show
from tasks.reports.company import profile_facts
from tasks.reports.report import build
from tasks.scoring.score import score_criteria, take_over
from tasks.telemetry import traced

_SIDE_BY_SIDE = 2  # batches: one is fetched while the other is read
REFRESH_SECONDS = 1.0  # between two updates of the progress, 15 ms each
_SHOWN = 1000  # rows of the table of documents; a report shows them all


def index_folder(folder: str, recursive: bool = True, company_id: int | None = None) -> int:
    """Index a folder of the drive.

    Args:
        folder: its path under the drive's root, its id or its URL.
        recursive: whether subfolders are indexed too.
        company_id: the company of a run whose data room it is.

    Returns:
        The id of the room, as storage keeps it.

    Raises:
        NotFound: no such folder for the account in force.
    """
    room_id = index_room.tracked(folder, recursive)
    if company_id is not None:
        assign_room(company_id, room_id)
    return room_id


def assign_room(company_id: int, room_id: int) -> None:
    """Assign an indexed room to a company of a run: documents become pending unless they already have an outcome."""
    with database.writing() as session:
        room = documents.get_room(session, room_id)
        listed = documents.room_documents(session, room_id)
        found: dict[str, object] = {"room_id": room_id, "folder_id": room.folder_id}
        runs.change_company(session, company_id, **found, warnings=list_room_warnings(room, listed))
        documents.place_documents(session, company_id, listed)


def extract_all(
    folder: str, room_id: int | None = None, company_id: int | None = None, scans: bool = True
) -> dict[str, int]:
    """Read every document of a folder whose content has not been read before.

    Args:
        folder: its path under the drive's root, its id or its URL.
        room_id: the room that it was indexed as; without it, it is indexed first.
        company_id: the company of a run that the outcomes are written down for.
        scans: whether scanned pages are recognised, once all other documents are read. Without it they are left to
            `recognise_rest`.

    Returns:
        How many documents ended with which status: read, unchanged, empty, failed, unsupported.
    """
    if room_id is None:
        room_id = index_folder(folder)
    with database.reading() as session:
        listed = documents.room_documents(session, room_id)
        company, run = runs.company_and_run(session, company_id) if company_id else (None, None)
    since = run.started_at if run else now()
    outcomes = load_known_outcomes(listed, company_id, since)
    known = {outcome.document_id for outcome in outcomes}
    to_read = [document for document in listed if document.document_id not in known]
    if to_read or company is None:
        key, whose = (company_key("documents", company.domain), company.name) if company else ("documents", folder)
        read = partial(read_documents.tracked, company_id=company_id, since=since)
        outcomes += _read(key, whose, to_read, read, room_id)
        others = f" ({len(known):,} more were known)" if known else ""
        show(
            "create_table_artifact",
            _rows(to_read, outcomes),
            key=f"{key}-read",
            description=f"{escape(whose)}: what happened to the documents{others}",
        )
    by_id = {outcome.document_id: outcome for outcome in outcomes}
    if scans and any(outcome.pages != outcome.pages_read for outcome in outcomes):
        scanned = recognise_scans.tracked(room_id, company_id=company_id, since=since)
        by_id |= {outcome.document_id: outcome for outcome in scanned}
    return dict(Counter(outcome.status.value for outcome in by_id.values()))


def recognise_rest(room_id: int, company_id: int) -> None:
    """Recognise the scanned pages of a company of a run that `extract_all` has left."""
    with database.reading() as session:
        _, run = runs.company_and_run(session, company_id)
    recognise_scans.tracked(room_id, company_id=company_id, since=run.started_at)


def _read(
    key: str, whose: str, to_read: Sequence[RoomDocument], read: Callable[..., list[DocumentOutcome]], room_id: int
) -> Iterator[DocumentOutcome]:
    """Read the documents in batches with `read`, some in parallel; yields their outcomes as batches end.

    In Prefect, an artifact with that key shows the progress if it takes longer than a moment.
    """
    _freeze_garbage_collector()
    all_ids = [[document.document_id for document in batch] for batch in batches(to_read)]
    progress: object = None
    updated_at = time.monotonic()
    # Not Prefect's task runner: what became of a batch must not depend on what Prefect knows of it.
    with FanOut(_SIDE_BY_SIDE, "extract_all", Leave.ON_INTERRUPT) as threads:
        under_way = {threads.submit(read, room_id, ids): ids for ids in all_ids}
        for done, (_ids, future) in enumerate(take_finished(under_way), 1):
            yield from future.result()
            is_last = done == len(all_ids)
            if time.monotonic() - updated_at > REFRESH_SECONDS or (is_last and progress is not None):
                updated_at = time.monotonic()
                if progress is None:
                    progress = show("create_progress_artifact", 0.0, key=key, description=f"{escape(whose)}: documents")
                if isinstance(progress, UUID):  # else Prefect could not make it
                    show("update_progress_artifact", progress, 100.0 * done / len(all_ids))


_freeze_garbage_collector: Final = cache(gc.freeze)
"""Exempts, once, everything loaded so far from garbage collection: with Prefect a full collection takes 0.14 s."""


def batches(listed: Sequence[RoomDocument]) -> list[list[RoomDocument]]:
    """The documents in batches of 25 to 500, largest first, so that no large one is left to the end.

    A task costs Prefect and its server 30 ms of work, as much as reading ten documents.
    """
    size = min(500, max(25, len(listed) // 8))
    by_size = sorted(listed, key=lambda document: -(document.size or 0))
    return [by_size[start : start + size] for start in range(0, len(by_size), size)]


def _rows(listed: Sequence[RoomDocument], outcomes: Sequence[DocumentOutcome]) -> list[dict[str, str | int]]:
    """One row a document, those that gave no text first."""
    by_id = {outcome.document_id: outcome for outcome in outcomes}
    rows: list[dict[str, str | int]] = [
        {
            "document": document.name,
            "folder": document.path,
            "outcome": by_id[document.document_id].status.value,
            "characters": by_id[document.document_id].characters,
            "warning": by_id[document.document_id].warning or "",
        }
        for document in listed
        if document.document_id in by_id
    ]
    return sorted(rows, key=lambda row: row["characters"] != 0)[:_SHOWN]


def company_facts(domain: str, company_id: int | None = None) -> int | None:
    """Ask the configured sources for facts about a company.

    Args:
        domain: its web domain, as registered.
        company_id: the company of a run that the facts are for. A run goes on without facts: there is a
            warning then, and the criteria that need facts are missing.

    Returns:
        The id of the stored profile; None when a run goes on without one.

    Raises:
        BadRequest: `domain` is not a domain. NotFound, SourceFailed, NotConfigured: there are no facts, outside a run.
    """
    answer = facts.company_facts.tracked(domain) if company_id is None else facts.facts_or_reason.tracked(domain)
    if isinstance(answer, str):
        assert company_id is not None
        _assign(company_id, None, [answer])
        return None
    with database.reading() as session:
        stored = scores.latest_profile(session, domain)
    assert stored is not None
    if company_id is not None:
        _assign(company_id, stored.id, answer.warnings)
    if not answer.claims:
        return stored.id
    rows = [
        f"| {escape(fact.name)} | {escape(fact.value)} | {escape(fact.claim.source)} |"
        for fact in profile_facts(answer.claims)
    ]
    name = next((str(claim.value) for claim in answer.claims if claim.field == "name"), domain)
    show(
        "create_markdown_artifact",
        "\n".join([f"# {escape(name)}", "", "| Fact | Value | Source |", "|---|---|---|", *rows]),
        key=company_key("facts", domain),
        description=f"{escape(name)}: what the sources say",
    )
    return stored.id


def _assign(company_id: int, profile_id: int | None, warnings: list[str]) -> None:
    with database.writing() as session:
        runs.change_company(session, company_id, *warnings, profile_id=profile_id)


def score_company(domain: str, run: str = "latest", company_id: int | None = None) -> bool:
    """Score one company of a run on all of the run's criteria.

    Args:
        domain: the company's domain.
        run: the run's id, its batch's name, or `latest`.
        company_id: the company itself, where it is known.

    Returns:
        Whether every judgement that was requested was made.

    Raises:
        NotFound: no such run, or the company is not in it.
    """
    company_id = company_id or find_run_company(run, domain).id
    assert company_id is not None
    if take_over(company_id):
        return True
    is_complete = score_criteria.tracked(company_id, is_new=True)
    if is_shown():
        with database.reading() as session:
            company = runs.get_company(session, company_id)
        report = build(company.run_id, company.domain, scores_alone=True)
        card = scorecard(report.companies[0], report.run)
        key = company_key("scorecard", company.domain)
        show("create_markdown_artifact", card, key=key, description=f"{escape(company.name)}: scores")
    return is_complete


class Steps(NamedTuple):
    """The steps, as flows or as plain functions."""

    index_folder: Callable[..., int]
    extract_all: Callable[..., object]
    company_facts: Callable[..., object]
    score_company: Callable[..., bool]


PLAIN: Final = Steps(
    traced("flow", "index_folder", index_folder),
    traced("flow", "extract_all", extract_all),
    traced("flow", "company_facts", company_facts),
    traced("flow", "score_company", score_company),
)
"""Without flow runs of their own: one costs Prefect 0.15 s of work."""
