"""What must be the same after a fault and a second run as in a run without faults, and what must not be left behind."""

import json
import re
import sqlite3
import time
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Engine, MetaData, Table, create_engine, select

from tests.faults.scenario import Bill

_PATIENCE: Final = 3.0
"""Seconds in which what a killed process has started may end."""
_OF_RUNS: Final = {
    "runs", "run_companies", "run_documents", "criterion_outcomes", "quotes", "unanswered_calls",
}  # fmt: skip
"""Tables whose rows belong to a run: those of the last one are compared."""
_NOT_COMPARED: Final = {
    "alembic_version",
    "definitions",
    "source_budgets",
    "source_answers",
    "audited_calls",
    "unanswered_calls",
}
_MAY_GROW: Final = {"answers"}
"""A run that could not read a document asks about the others, and its answers are kept too."""
_CHANGING: Final = re.compile(
    r"(^id$|_id$|_at$|^mark$|^sequence$|^fingerprint$|^last_updated$|^used$|^drive$|^evidence$|^carried_from$)"
)
"""Columns that differ between any two runs, and those that refer to them."""

_TOLD: Final = (
    "SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0) FROM runs"
)


@dataclass(frozen=True)
class Left:
    """What is there after a run: the report, the names of the files beside it, and the rows of all tables."""

    report: dict[str, Any]
    files: frozenset[str]
    rows: dict[str, Counter[str]]


def report_of(out: Path) -> dict[str, Any]:
    """A run's report without what differs between any two runs: ids and times, and what compares it with another."""
    content: dict[str, Any] = json.loads((out / "report.json").read_text())
    for name in ("id", "started_at", "finished_at", "previous", "cost"):
        del content["run"][name]
    for company in content["companies"]:
        del company["compared_with"], company["changes"]
        for document in company["documents"]:
            document["status"] = {"unchanged": "read"}.get(document["status"], document["status"])
        _without_times(company)
    return content


def _without_times(value: Any) -> None:
    if isinstance(value, dict):
        for name in ("retrieved_at", "last_updated"):
            value.pop(name, None)
        for part in value.values():
            _without_times(part)
    elif isinstance(value, list):
        for part in value:
            _without_times(part)


def left(out: Path, database: str) -> Left:
    """What the last run has left."""
    files = frozenset(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    engine = create_engine(database)
    try:
        return Left(report_of(out), files, dict(_rows(engine)))
    finally:
        engine.dispose()


def _rows(engine: Engine) -> Iterator[tuple[str, Counter[str]]]:
    tables = _tables(engine)
    with engine.connect() as connection:
        runs = tables.tables["runs"]
        last = connection.execute(select(runs.c.id).order_by(runs.c.sequence.desc())).scalar()
        companies = tables.tables["run_companies"]
        ours = set(connection.execute(select(companies.c.id).where(companies.c.run_id == last)).scalars())
        outcomes = tables.tables["criterion_outcomes"]
        scored = set(connection.execute(select(outcomes.c.id).where(outcomes.c.company_id.in_(ours))).scalars())
        belongs = {"id": {last}, "run_id": {last}, "company_id": ours, "outcome_id": scored}
        for table in tables.sorted_tables:
            if table.name in _NOT_COMPARED:
                continue
            rows = [dict(row) for row in connection.execute(select(table)).mappings()]
            if table.name in _OF_RUNS:
                of_run = next(name for name in ("run_id", "company_id", "outcome_id", "id") if name in table.c)
                rows = [row for row in rows if row[of_run] in belongs[of_run]]
            yield table.name, Counter(_plain(table, row) for row in rows)


_reflected: dict[str, MetaData] = {}


def _tables(engine: Engine) -> MetaData:
    """What tables there are; the same in every database of a kind, so that it is looked up once."""
    if engine.dialect.name not in _reflected:
        tables = MetaData()
        tables.reflect(engine)
        _reflected[engine.dialect.name] = tables
    return _reflected[engine.dialect.name]


def _plain(table: Table, row: Mapping[str, Any]) -> str:
    """A row in words, without what differs between any two runs."""
    values = {name: value for name, value in row.items() if not _CHANGING.search(name)}
    if table.name == "runs":
        values = {name: values[name] for name in ("batch", "status", "answerer", "criteria")}
    if table.name == "run_documents":
        values["status"] = {"unchanged": "read"}.get(values["status"], values["status"])
    if table.name in {"profiles", "claims"}:
        _without_times(values.get("profile"))
    return json.dumps(values, sort_keys=True, default=str)


def differences(expected: Left, found: Left) -> Iterator[str]:
    """What is not as it should be, a sentence each."""
    yield from (f"report: {difference}" for difference in report_differences(expected.report, found.report))
    for name in sorted(expected.files ^ found.files):
        yield f"file {name} is {'missing' if name in expected.files else 'too many'}"
    for table in sorted(expected.rows.keys() | found.rows.keys()):
        one, other = expected.rows.get(table, Counter()), found.rows.get(table, Counter())
        for row, number in (one - other).items():
            yield f"{number} row of {table} lost: {row[:200]}"
        for row, number in (other - one).items() if table not in _MAY_GROW else ():
            yield f"{number} row of {table} too many: {row[:200]}"


def report_differences(expected: Any, found: Any, path: str = "") -> Iterator[str]:
    """Where two reports differ."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in expected.keys() | found.keys():
            yield from report_differences(expected.get(name), found.get(name), f"{path}.{name}")
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found, strict=True)):
            yield from report_differences(one, other, f"{path}[{number}]")
    elif expected != found:
        yield f"{path}: {str(found)[:120]} in place of {str(expected)[:120]}"


def damage(database: str, out: Path) -> Iterator[str]:
    """What is not whole: SQLite's file, a reference between rows, an archive beside the report."""
    if database.startswith("sqlite:///"):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection:
            yield from (
                f"integrity: {row[0]}" for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"
            )
            yield from (f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check"))
    with zipfile.ZipFile(out / "report.zip") as archive:
        if broken := archive.testzip():
            yield f"report.zip is damaged at {broken}"
        inside = {name.removeprefix("report/") for name in archive.namelist()}
        for name in inside:
            if archive.read(f"report/{name}") != (out / name).read_bytes():
                yield f"report.zip has another {name} than the folder"


def wrong_bill(database: str, bill: Bill, *, may_repeat: bool, may_lose: bool) -> Iterator[str]:
    """Where what the tables tell is not what the model's server has billed.

    Args:
        database: its address.
        bill: what the server has billed.
        may_repeat: whether an answer that was billed may have been lost before it was kept, and billed again.
        may_lose: whether there may be calls whose answers are not known.
    """
    engine = create_engine(database)
    try:
        with engine.connect() as connection:
            ask = connection.exec_driver_sql
            calls, read, written = ask(_TOLD).one()
            unknown = ask("SELECT count(*) FROM unanswered_calls").scalar_one()
    finally:
        engine.dispose()
    if unknown and not may_lose:
        yield f"{unknown} calls have no known answer, and no fault that took one"
    if not calls <= bill.calls <= calls + unknown:
        yield f"{bill.calls} calls were billed, {calls} are told, and {unknown} more that may have been"
    if not unknown and (read, written) != (bill.input_tokens, bill.output_tokens):
        yield f"{(bill.input_tokens, bill.output_tokens)} tokens were billed, {(read, written)} are told"
    if read > bill.input_tokens or written > bill.output_tokens:
        yield f"{(read, written)} tokens are told, {(bill.input_tokens, bill.output_tokens)} were billed"
    again = sum(number - 1 for number in bill.prompts.values())
    if again > unknown and not may_repeat:
        yield f"{again} answers were paid for twice, and {unknown} lost"


def leftovers(folder: Path, readers: int) -> Iterator[str]:
    """Processes, folders and locks that a run has left. `folder` has the home, `out`, and `tmp` for temporary files."""
    until = time.monotonic() + _PATIENCE
    while (still := list(_processes(folder, readers))) and time.monotonic() < until:
        time.sleep(0.02)
    yield from (f"process {name}" for name in still)
    for name in sorted(path.name for path in (folder / "tmp").iterdir()):
        yield f"folder for temporary files: {name}"
    home = folder / "home"
    if (home / "spool").exists():
        yield from (f"spool: {path.name}" for path in (home / "spool").iterdir())
    for pattern in ("*.lock", "*-wal", "*-shm", "**/*.part", "**/*.new"):
        yield from (f"home: {path.name}" for path in home.glob(pattern))
    yield from (f"out: {path.name}" for path in (folder / "out").rglob("*.part"))


def _processes(folder: Path, readers: int) -> Iterator[str]:
    """Processes that have the folder in their environment, and reading processes of the warm fork server."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str(folder).encode() in (process / "environ").read_bytes():
                yield (process / "cmdline").read_text().replace("\0", " ")[:80]
        except OSError:
            continue
    for child in Path(f"/proc/{readers}/task/{readers}/children").read_text().split():
        yield f"{child}, a reader"
