"""Garbage collection of the database: deletes old runs and the rows that only they needed.

Each deletion is a short transaction of its own, so that a service goes on beside it, and looks anew whether what it
deletes is needed still. A run goes as a whole or stays whole; whatever a killed process leaves is deleted by the next.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    Table,
    cast,
    delete,
    func,
    literal_column,
    select,
    text,
    union,
)
from sqlmodel import Session, SQLModel

from storage import database
from storage.caches import USE_STEP, StoredAnswer, TextVector
from storage.calls import UnansweredCall
from storage.companies import StoredClaim, StoredProfile
from storage.documents import Content, RoomDocument
from storage.evidence import SpanPages
from storage.figures import Ledger, StoredFigure
from storage.keys import AuditedCall
from storage.run_documents import RunDocument
from storage.runs import Run, RunCompany, prunable_runs
from storage.scores import CriterionOutcome, Quote
from storage.texts import Passage, StoredText
from storage.upserts import table_of

KINDS = ("runs", "texts", "vectors", "evidence", "profiles", "answers", "calls")
_AT_ONCE = 100  # texts, profiles or answers in a transaction
_CALLS_AT_ONCE = 5000  # rows of the record in a transaction: 20 ms
_PAUSE = 0.02  # seconds in which others may write

_RUNS, _COMPANIES, _DOCUMENTS = table_of(Run), table_of(RunCompany), table_of(RunDocument)
_OUTCOMES, _QUOTES, _TEXTS = table_of(CriterionOutcome), table_of(Quote), table_of(StoredText)
_CONTENTS, _PROFILES, _ANSWERS = table_of(Content), table_of(StoredProfile), table_of(StoredAnswer)
_CALLS = table_of(AuditedCall)
_OF_TEXTS: dict[str, tuple[type[SQLModel], ...]] = {
    "texts": (Passage, Ledger, StoredFigure),
    "vectors": (TextVector,),
    "evidence": (SpanPages,),
}


@dataclass
class Pruned:
    """What was deleted, or would be: rows and their bytes by kind, runs, and which texts.

    `since` is when the first run began that is kept for its newness.
    """

    rows: Counter[str] = field(default_factory=Counter)
    size: Counter[str] = field(default_factory=Counter)
    runs: list[str] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    since: datetime | None = None


def prune(keep: int, *, calls_before: datetime | None = None, dry_run: bool = False) -> Pruned:
    """Delete all but what the newest `keep` runs need, the newest run of each batch, and runs that can go on.

    Of texts stay those that a run needs or that a document of an indexed folder has, with all that is kept of them; of
    profiles those that a run needs and the newest of each company; of answers those that were used since the first of
    the kept runs.

    Args:
        keep: how many runs that came to their report are kept, at least one.
        calls_before: since when the record of calls with keys is kept; None keeps all of it.
        dry_run: whether only to count.

    Raises:
        DatabaseUnavailable: the database cannot be used.
    """
    with database.reading() as session:
        runs, since = prunable_runs(session, keep)
        doomed = [run.id for run in runs]
        if dry_run:
            _sort_in_memory(session)
            pruned = Pruned(runs=doomed, since=since)
            for run in doomed:
                _count_run(session, run, pruned)
            for drive, document_ids in _gone_contents(session, doomed).items():
                _count_contents(session, drive, document_ids, pruned)
            for table, ids in _unneeded(session, doomed, since):
                _count_rows(session, table, ids, pruned)
            if calls_before is not None:
                _count(session, "calls", _CALLS, _CALLS.c.at < calls_before, pruned)
            return pruned
    pruned = Pruned(since=since)
    for run in doomed:
        with database.writing() as session:
            _count_run(session, run, pruned)
            session.connection().execute(delete(_RUNS).where(_RUNS.c.id == run))  # its companies and scores go with it
        pruned.runs.append(run)
        time.sleep(_PAUSE)
    _delete_contents(pruned)
    with database.reading() as session:
        unneeded = list(_unneeded(session, None, since))
    for table, ids in unneeded:
        for start in range(0, len(ids), _AT_ONCE):
            _delete_rows(table, ids[start : start + _AT_ONCE], since, pruned)
            time.sleep(_PAUSE)
    if calls_before is not None:
        _delete_calls(calls_before, pruned)
    return pruned


def _sort_in_memory(session: Session) -> None:
    """Let PostgreSQL look rows up in memory that are not a few."""
    if session.connection().dialect.name == "postgresql":
        session.connection().execute(text("SET LOCAL work_mem = '256MB'"))


def _unneeded(
    session: Session, doomed: Sequence[str] | None, since: datetime | None
) -> Iterator[tuple[Table, list[Any]]]:
    """The keys of texts, profiles and answers that are not needed, without the runs `doomed`; None: those are gone."""
    yield _TEXTS, list(session.connection().execute(_texts(doomed)).scalars())
    yield _PROFILES, list(session.connection().execute(_profiles(doomed)).scalars())
    if since is not None:
        yield _ANSWERS, list(session.connection().execute(_answers(since)).scalars())


def _texts(doomed: Sequence[str] | None) -> Select[Any]:
    documents = select(1).where(_DOCUMENTS.c.text_id == _TEXTS.c.id)
    quotes = select(1).where(_QUOTES.c.text_id == _TEXTS.c.id)
    contents = select(1).where(_CONTENTS.c.content_hash == _TEXTS.c.content_hash)
    if doomed:
        documents = documents.where(_DOCUMENTS.c.company_id.not_in(_companies(doomed)))
        companies = select(_OUTCOMES.c.id).where(_OUTCOMES.c.company_id.in_(_companies(doomed)))
        quotes = quotes.where(_QUOTES.c.outcome_id.not_in(companies))
    if doomed is not None:
        contents = contents.where(_CONTENTS.c.document_id.in_(_listed(doomed)))
    return select(_TEXTS.c.id).where(~documents.exists(), ~quotes.exists(), ~contents.exists()).order_by(_TEXTS.c.id)


def _companies(doomed: Sequence[str]) -> Select[Any]:
    return select(_COMPANIES.c.id).where(_COMPANIES.c.run_id.in_(doomed))


def _listed(doomed: Sequence[str]) -> Any:
    """The ids of the documents that an indexed folder or a run has."""
    room, run = table_of(RoomDocument).c.document_id, select(_DOCUMENTS.c.document_id)
    if doomed:
        run = run.where(_DOCUMENTS.c.company_id.not_in(_companies(doomed)))
    return union(select(room), run)


def _profiles(doomed: Sequence[str] | None) -> Select[Any]:
    newer = _PROFILES.alias()
    is_newer = (newer.c.retrieved_at > _PROFILES.c.retrieved_at) | (
        (newer.c.retrieved_at == _PROFILES.c.retrieved_at) & (newer.c.id > _PROFILES.c.id)
    )
    has_newer = select(1).where(newer.c.domain == _PROFILES.c.domain, is_newer).exists()
    used = select(1).where(_COMPANIES.c.profile_id == _PROFILES.c.id)
    if doomed:
        used = used.where(_COMPANIES.c.run_id.not_in(doomed))
    return select(_PROFILES.c.id).where(has_newer, ~used.exists()).order_by(_PROFILES.c.id)


def _answers(since: datetime) -> Select[Any]:
    return select(_ANSWERS.c.key).where(_ANSWERS.c.used_at < since - USE_STEP).order_by(_ANSWERS.c.key)


def _gone_contents(session: Session, doomed: Sequence[str]) -> dict[str, list[str]]:
    """The documents, by drive, that no indexed folder and no run has, of which it is known what they held."""
    gone = select(_CONTENTS.c.drive, _CONTENTS.c.document_id).where(_CONTENTS.c.document_id.not_in(_listed(doomed)))
    by_drive: dict[str, list[str]] = {}
    for drive, document_id in session.connection().execute(gone):
        by_drive.setdefault(drive, []).append(document_id)
    return by_drive


def _delete_contents(pruned: Pruned) -> None:
    with database.reading() as session:
        _sort_in_memory(session)
        gone = _gone_contents(session, [])
    for drive, document_ids in gone.items():
        for start in range(0, len(document_ids), _AT_ONCE):
            some = document_ids[start : start + _AT_ONCE]
            with database.writing() as session:
                _count_contents(session, drive, some, pruned)
                session.connection().execute(delete(_CONTENTS).where(_of_drive(drive, some)))
            time.sleep(_PAUSE)


def _count_contents(session: Session, drive: str, document_ids: Sequence[str], pruned: Pruned) -> None:
    for start in range(0, len(document_ids), _AT_ONCE):
        rows = _of_drive(drive, document_ids[start : start + _AT_ONCE])
        _count(session, "texts", _CONTENTS, rows, pruned)


def _of_drive(drive: str, document_ids: Sequence[str]) -> ColumnElement[bool]:
    return (_CONTENTS.c.drive == drive) & _CONTENTS.c.document_id.in_(document_ids)


def _delete_calls(before: datetime, pruned: Pruned) -> None:
    """Delete the rows of the record that are older, the oldest first."""
    oldest = select(_CALLS.c.id).where(_CALLS.c.at < before).order_by(_CALLS.c.at).limit(_CALLS_AT_ONCE)
    while True:
        with database.writing() as session:
            counted = pruned.rows["calls"]
            some = _CALLS.c.id.in_(oldest)
            _count(session, "calls", _CALLS, some, pruned)
            session.connection().execute(delete(_CALLS).where(some))
        if pruned.rows["calls"] - counted < _CALLS_AT_ONCE:
            return
        time.sleep(_PAUSE)


def _delete_rows(table: Table, ids: Sequence[Any], since: datetime | None, pruned: Pruned) -> None:
    key = table.primary_key.columns[0]
    with database.writing() as session:
        if table is _ANSWERS:
            assert since is not None
            unneeded = _answers(since)
        else:
            unneeded = _texts(None) if table is _TEXTS else _profiles(None)
        still = list(session.connection().execute(unneeded.where(key.in_(ids))).scalars())
        _count_rows(session, table, still, pruned)
        session.connection().execute(delete(table).where(key.in_(still)))


def _count_run(session: Session, run: str, pruned: Pruned) -> None:
    companies = _companies([run])
    outcomes = select(_OUTCOMES.c.id).where(_OUTCOMES.c.company_id.in_(companies))
    calls = table_of(UnansweredCall)
    for table, rows in (
        (_RUNS, _RUNS.c.id == run),
        (_COMPANIES, _COMPANIES.c.run_id == run),
        (_DOCUMENTS, _DOCUMENTS.c.company_id.in_(companies)),
        (_OUTCOMES, _OUTCOMES.c.company_id.in_(companies)),
        (_QUOTES, _QUOTES.c.outcome_id.in_(outcomes)),
        (calls, calls.c.run_id == run),
    ):
        _count(session, "runs", table, rows, pruned)


def _count_rows(session: Session, table: Table, ids: Sequence[Any], pruned: Pruned) -> None:
    key = table.primary_key.columns[0]
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        _count(session, table.name, table, key.in_(some), pruned)
        if table is _TEXTS:
            pruned.texts.extend(some)
            for kind, models in _OF_TEXTS.items():
                for model in models:
                    _count(session, kind, table_of(model), table_of(model).c.text_id.in_(some), pruned)
        elif table is _PROFILES:
            _count(session, table.name, table_of(StoredClaim), table_of(StoredClaim).c.profile_id.in_(some), pruned)


def _count(session: Session, kind: str, table: Table, rows: ColumnElement[bool], pruned: Pruned) -> None:
    connection = session.connection()
    size: Any
    if connection.dialect.name == "postgresql":
        size = func.pg_column_size(literal_column(f'"{table.name}"'))
    else:
        size = reduce(add, (func.coalesce(func.length(cast(column, LargeBinary)), 0) for column in table.c))
    count, total = connection.execute(select(func.count(), func.sum(size)).select_from(table).where(rows)).one()
    pruned.rows[kind] += count
    pruned.size[kind] += int(total or 0)
