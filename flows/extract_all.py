"""The flow `extract_all`: extracts the text of every new or changed document of a folder, in batches, two at a time."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from uuid import UUID

from prefect.artifacts import create_progress_artifact, create_table_artifact, update_progress_artifact

from flows.artifacts import company_key, flow
from flows.index_folder import index_folder
from storage import database, documents, runs
from storage.columns import now
from storage.documents import DocumentOutcome, RoomDocument
from tasks.documents.batch import load_known_outcomes, read_documents, recognise_scans
from tasks.remote.fan_out import FanOut, Leave, take_finished
from tasks.tracking import show

_SIDE_BY_SIDE = 2  # batches: one is fetched while the other is read
REFRESH_SECONDS = 1.0  # between two updates of the progress, 15 ms each
_SHOWN = 1000  # rows of the table of documents; a report shows them all


@flow(name="extract_all")
def extract_all(folder: str, room_id: int | None = None, company_id: int | None = None) -> dict[str, int]:
    """Read every document of a folder whose content has not been read before.

    Args:
        folder: its path under the drive's root, its id or its URL.
        room_id: the room that it was indexed as; without it, it is indexed first.
        company_id: the company of a run that the outcomes are written down for.

    Returns:
        How many documents ended with which status: read, unchanged, empty, failed, unsupported.
    """
    if room_id is None:
        room_id = index_folder(folder)
    with database.reading() as session:
        listed = documents.room_documents(session, room_id)
        company = runs.get_company(session, company_id) if company_id else None
        since = runs.get_run(session, company.run_id).started_at if company else now()
    outcomes = load_known_outcomes(listed, company_id, since)
    known = {outcome.document_id for outcome in outcomes}
    to_read = [document for document in listed if document.document_id not in known]
    if to_read or company is None:
        key = company_key("documents", company.domain) if company else "documents"
        read = partial(read_documents.tracked, company_id=company_id, since=since)
        outcomes += _read(key, folder, to_read, read, room_id)
        others = f" ({len(known):,} more were known)" if known else ""
        show(
            create_table_artifact,
            _rows(to_read, outcomes),
            key=f"{key}-read",
            description=f"{company.name if company else folder}: what happened to the documents{others}",
        )
    by_id = {outcome.document_id: outcome for outcome in outcomes}
    if any(outcome.pages != outcome.pages_read for outcome in outcomes):
        scanned = recognise_scans.tracked(room_id, company_id=company_id, since=since)
        by_id |= {outcome.document_id: outcome for outcome in scanned}
    return dict(Counter(outcome.status.value for outcome in by_id.values()))


def _read(
    key: str, folder: str, to_read: Sequence[RoomDocument], read: Callable[..., list[DocumentOutcome]], room_id: int
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
                    progress = show(create_progress_artifact, 0.0, key=key, description=f"Documents of {folder}")
                if isinstance(progress, UUID):  # else Prefect could not make it
                    show(update_progress_artifact, progress, 100.0 * done / len(all_ids))


@cache
def _freeze_garbage_collector() -> None:
    """Exempt everything loaded so far from garbage collection: with Prefect a full collection takes 0.14 s."""
    gc.freeze()


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
