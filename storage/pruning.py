"""Garbage collection of the database: deletes old runs and the rows that only they needed.

Each deletion is a short transaction of its own, so a service can keep working, and each checks again that what it
deletes is no longer needed. A run is deleted completely or not at all; whatever a killed process leaves is deleted next
time.
"""

import sqlite3
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    Table,
    cast,
    delete,
    func,
    inspect,
    literal_column,
    make_url,
    select,
    text,
    union,
)
from sqlmodel import Session, SQLModel

from storage import database
from storage.columns import find_table, in_parts
from storage.documents import Content, RoomDocument, RunDocument
from storage.logins import AuditedCall
from storage.model_calls import USE_STEP, StoredAnswer, TextVector, UnansweredCall
from storage.runs import Run, RunCompany, delete_definitions, prunable_runs
from storage.scores import CriterionOutcome, Quote, StoredClaim, StoredProfile
from storage.texts import (
    Passage,
    SpanPages,
    StoredCells,
    StoredFigure,
    StoredLedger,
    StoredSigns,
    StoredText,
    delete_pages_without_text,
)

KINDS = ("runs", "texts", "vectors", "evidence", "profiles", "answers", "calls")
_AT_ONCE = 100  # texts, profiles or answers in a transaction
_CALLS_AT_ONCE = 5000  # rows of the record in a transaction: 20 ms
_PAUSE = 0.02  # seconds in which others may write

_RUNS, _COMPANIES, _DOCUMENTS = find_table(Run), find_table(RunCompany), find_table(RunDocument)
_OUTCOMES, _QUOTES, _TEXTS = find_table(CriterionOutcome), find_table(Quote), find_table(StoredText)
_CONTENTS, _PROFILES, _ANSWERS = find_table(Content), find_table(StoredProfile), find_table(StoredAnswer)
_CALLS = find_table(AuditedCall)
_BELONGING: dict[Table, list[tuple[str, type[SQLModel]]]] = {
    _TEXTS: [
        *(("texts", model) for model in (Passage, StoredLedger, StoredFigure, StoredSigns, StoredCells)),
        ("vectors", TextVector),
        ("evidence", SpanPages),
    ],
    _PROFILES: [("profiles", StoredClaim)],
}
"""What goes with a row of a table, by the kind that it is counted as."""


@dataclass
class Pruned:
    """What was or would be deleted: rows and bytes by kind, runs, and the ids of texts.

    `since` is the start of the oldest run that is kept for being among the newest. `is_dry`: nothing is deleted.
    """

    rows: Counter[str] = field(default_factory=Counter)
    size: Counter[str] = field(default_factory=Counter)
    runs: list[str] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)
    since: datetime | None = None
    is_dry: bool = field(default=False, compare=False)


def prune(keep: int, *, calls_before: datetime | None = None, dry_run: bool = False) -> Pruned:
    """Delete everything except what is needed by the newest `keep` runs, the newest run of each batch, and runs that
    can be resumed.

    Texts are kept with everything that belongs to them if such a run or a document of an indexed folder needs them;
    profiles if such a run needs them or they are their company's newest; answers if they were used since the first of
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
    pruned = Pruned(runs=[run.id for run in runs], since=since, is_dry=dry_run)
    doomed = pruned.runs if dry_run else None  # else they are deleted by the time that the others are looked for
    for run in pruned.runs:
        with _turn(pruned) as session:
            _drop_run(session, run, pruned)
    _drop_contents(doomed or [], pruned)
    unneeded = {_TEXTS: _texts(doomed), _PROFILES: _profiles(doomed)}
    if since is not None:
        old = _ANSWERS.c.used_at < since - USE_STEP
        unneeded[_ANSWERS] = select(_ANSWERS.c.key).where(old).order_by(_ANSWERS.c.key)
    for table, query in unneeded.items():
        _drop_rows(table, query, pruned)
    if calls_before is not None:
        _drop_calls(calls_before, pruned)
    if not dry_run:
        with database.writing() as session:
            delete_pages_without_text(session)
            delete_definitions(session)
    return pruned


@contextmanager
def _turn(pruned: Pruned) -> Iterator[Session]:
    """A transaction of its own, after which others may write."""
    with database.reading() if pruned.is_dry else database.writing() as session:
        yield session
    if not pruned.is_dry:
        time.sleep(_PAUSE)


def _sort_in_memory(session: Session) -> None:
    """Let PostgreSQL look up larger numbers of rows in memory."""
    if session.connection().dialect.name == "postgresql":
        session.connection().execute(text("SET LOCAL work_mem = '256MB'"))


def _texts(doomed: Sequence[str] | None) -> Select[Any]:
    documents = select(1).where(_DOCUMENTS.c.text_id == _TEXTS.c.id)
    quotes = select(1).where(_QUOTES.c.text_id == _TEXTS.c.id)
    contents = select(1).where(_CONTENTS.c.content_hash == _TEXTS.c.content_hash)
    if doomed:
        documents = documents.where(_DOCUMENTS.c.company_id.not_in(_companies(doomed)))
        companies = select(_OUTCOMES.c.id).where(_OUTCOMES.c.company_id.in_(_companies(doomed)))
        quotes = quotes.where(_QUOTES.c.outcome_id.not_in(companies))
    if doomed is not None:
        contents = contents.where(_CONTENTS.c.document_id.in_(_select_listed(doomed)))
    return select(_TEXTS.c.id).where(~documents.exists(), ~quotes.exists(), ~contents.exists()).order_by(_TEXTS.c.id)


def _companies(doomed: Sequence[str]) -> Select[Any]:
    return select(_COMPANIES.c.id).where(_COMPANIES.c.run_id.in_(doomed))


def _select_listed(doomed: Sequence[str]) -> Any:
    """The ids of the documents in indexed folders or runs."""
    room, run = find_table(RoomDocument).c.document_id, select(_DOCUMENTS.c.document_id)
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


def _gone_contents(session: Session, doomed: Sequence[str]) -> dict[str, list[str]]:
    """The documents, by drive, that are in no indexed folder and no run, although their content is known."""
    gone = select(_CONTENTS.c.drive, _CONTENTS.c.document_id).where(
        _CONTENTS.c.document_id.not_in(_select_listed(doomed))
    )
    by_drive: dict[str, list[str]] = {}
    for drive, document_id in session.connection().execute(gone):
        by_drive.setdefault(drive, []).append(document_id)
    return by_drive


def _drop_contents(doomed: Sequence[str], pruned: Pruned) -> None:
    with database.reading() as session:
        _sort_in_memory(session)
        gone = _gone_contents(session, doomed)
    for drive, document_ids in gone.items():
        for some in in_parts(document_ids, _AT_ONCE):
            with _turn(pruned) as session:
                of_drive = (_CONTENTS.c.drive == drive) & _CONTENTS.c.document_id.in_(some)
                _drop(session, "texts", _CONTENTS, of_drive, pruned)


def _drop_calls(before: datetime, pruned: Pruned) -> None:
    """Delete the older rows of the record, oldest first."""
    old = select(_CALLS.c.id).where(_CALLS.c.at < before).order_by(_CALLS.c.at)
    if pruned.is_dry:
        with database.reading() as session:
            _count(session, "calls", _CALLS, _CALLS.c.id.in_(old), pruned)
        return
    counted = -_CALLS_AT_ONCE
    while pruned.rows["calls"] - counted >= _CALLS_AT_ONCE:
        counted = pruned.rows["calls"]
        with _turn(pruned) as session:
            _drop(session, "calls", _CALLS, _CALLS.c.id.in_(old.limit(_CALLS_AT_ONCE)), pruned)


def _drop_run(session: Session, run: str, pruned: Pruned) -> None:
    """Delete a run; its companies and scores go with it."""
    companies = _companies([run])
    outcomes = select(_OUTCOMES.c.id).where(_OUTCOMES.c.company_id.in_(companies))
    calls = find_table(UnansweredCall)
    for table, rows in (
        (_COMPANIES, _COMPANIES.c.run_id == run),
        (_DOCUMENTS, _DOCUMENTS.c.company_id.in_(companies)),
        (_OUTCOMES, _OUTCOMES.c.company_id.in_(companies)),
        (_QUOTES, _QUOTES.c.outcome_id.in_(outcomes)),
        (calls, calls.c.run_id == run),
    ):
        _count(session, "runs", table, rows, pruned)
    _drop(session, "runs", _RUNS, _RUNS.c.id == run, pruned)


def _drop_rows(table: Table, unneeded: Select[Any], pruned: Pruned) -> None:
    """Delete the rows that are not needed, and what belongs to them."""
    key = table.primary_key.columns[0]
    with database.reading() as session:
        _sort_in_memory(session)
        found = list(session.connection().execute(unneeded).scalars())
    for some in in_parts(found, _AT_ONCE):
        with _turn(pruned) as session:
            still = list(session.connection().execute(unneeded.where(key.in_(some))).scalars())
            if table is _TEXTS:
                pruned.texts.extend(still)
            for kind, model in _BELONGING.get(table, ()):
                theirs = find_table(model)
                _count(session, kind, theirs, next(iter(theirs.foreign_keys)).parent.in_(still), pruned)
            _drop(session, table.name, table, key.in_(still), pruned)


def _drop(session: Session, kind: str, table: Table, rows: ColumnElement[bool], pruned: Pruned) -> None:
    """Count rows and, unless this is only to be told, delete them."""
    _count(session, kind, table, rows, pruned)
    if not pruned.is_dry:
        session.connection().execute(delete(table).where(rows))


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


_PAGES_AT_ONCE = 2000  # pages that SQLite gives back in a transaction: 8 MB
_TRIES = 10  # of writing the log back, each up to a second
_QUICKLY_REWRITTEN = 512 * 1024**2  # bytes: SQLite writes such a file anew in some 5 s, and a writer waits up to 30
_TOO_LARGE = (
    "The database is of an earlier release, and too large to be written anew beside others. To give its room back, "
    "have nobody use the home and call `sqlite3 diligence.db 'PRAGMA auto_vacuum=INCREMENTAL; VACUUM'`, once. Until "
    "then later rows take the room."
)


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The size of the database before and after, in bytes, and a sentence if not all free space could be released."""

    before: int
    after: int
    problem: str | None = None


def give_back() -> GivenBack:
    """Release the space of deleted rows: to the disk (SQLite), or for later rows (PostgreSQL).

    Raises:
        DatabaseUnavailable: the database cannot be used.
    """
    with database.reading() as session:
        if session.connection().dialect.name == "postgresql":
            before = _measure_tables(session)
            session.rollback()
            connection = session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
            connection.execute(text(f"VACUUM (ANALYZE) {', '.join(_tables(session))}"))  # beside all others
            return GivenBack(before, _measure_tables(session))
    return give_back_file(Path(make_url(database.url()).database or ""))


def give_back_file(path: Path) -> GivenBack:
    """As `give_back`, for an SQLite file."""
    before = _measure_file(path)
    problem = None
    try:
        with closing(sqlite3.connect(path, timeout=30, isolation_level=None)) as connection:
            if connection.execute("PRAGMA auto_vacuum").fetchone()[0]:
                while connection.execute("PRAGMA freelist_count").fetchone()[0]:
                    # As a script: it steps until the end, where `execute` stops after the first page.
                    connection.executescript(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})")
                    time.sleep(_PAUSE)
            elif before <= _QUICKLY_REWRITTEN:
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # from now on, a little at a time
                connection.execute("VACUUM")
            else:
                problem = _TOO_LARGE
        _empty_log(path)
    except sqlite3.OperationalError as error:
        problem = f"The room stays with the database for now ({error}); later rows take it."
    return GivenBack(before, _measure_file(path), problem)


def _empty_log(path: Path) -> None:
    """Checkpoint and truncate the write-ahead log, waiting for readers and writers without blocking them for long.

    A busy checkpoint raises nothing: its first column says so (https://www.sqlite.org/pragma.html#pragma_wal_checkpoint).
    """
    with closing(sqlite3.connect(path, timeout=1)) as connection:
        for _ in range(_TRIES):
            busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            if not busy:
                return
            time.sleep(_PAUSE)


def _measure_file(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, Path(f"{path}-wal")) if file.exists())


def _tables(session: Session) -> list[str]:
    return [f'"{name}"' for name in inspect(session.connection()).get_table_names()]


def _measure_tables(session: Session) -> int:
    size = text("SELECT pg_total_relation_size(CAST(:name AS regclass))")
    return sum(int(session.connection().execute(size, {"name": name}).scalar_one()) for name in _tables(session))
