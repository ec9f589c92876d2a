"""Processes that pull companies from one run: each company is examined once, and what a killed one had is taken up."""

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, create_engine, event, text

import flows.run
import flows.work
from flows.batch_file import read_batch
from flows.run import OpenRun, close_company, conclude, find_run_company, resume_or_start
from flows.steps import PLAIN, recognise_rest
from flows.work import _POLL, Turns, examine, examine_company, examine_pending
from storage import database, runs
from storage.errors import ConnectionLost, DatabaseUnavailable
from storage.locks import Claims, _key, _refuse_pooler
from storage.runs import CompanyStatus, Run, RunCompany
from storage.settings import override_settings
from tasks import cancellation
from tasks.errors import Unavailable
from tasks.prefect_setup import untracked
from tests.tasks.reading.ocr.scans import picture, scan
from tests.waiting import wait_for

RUN = "20261101-200000-abcd"
OUR_LOCKS = (
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()"
)


@pytest.fixture
def pending(database_url: str) -> list[str]:
    """The domains of a run's pending companies."""
    domains = [f"c{number}.example" for number in range(12)]
    run = Run(id=RUN, batch="Screen", fingerprint="f", answerer="extractive", criteria={})
    companies = [
        RunCompany(run_id=RUN, ordinal=number, name=domain, domain=domain, folder=domain)
        for number, domain in enumerate(domains)
    ]
    with database.writing() as session:
        runs.add_run(session, run, companies)
    return domains


def work(examine: Callable[[RunCompany], None], at_once: int = 2) -> None:
    """What one process does."""
    with database.claims() as claims:
        examine_pending(OpenRun(RUN, "Screen", claims), at_once, examine)


def finish(company: RunCompany) -> None:
    assert company.id is not None
    close_company(company.id, CompanyStatus.FINISHED)


def statuses() -> set[CompanyStatus]:
    with database.reading() as session:
        return {company.status for company in runs.run_companies(session, RUN)}


def test_processes_share_the_companies_and_each_is_examined_once(pending: list[str]) -> None:
    examined: Counter[tuple[int, str]] = Counter()

    def process(number: int) -> None:
        def examine(company: RunCompany) -> None:
            examined[number, company.domain] += 1
            time.sleep(0.02)
            finish(company)

        work(examine)

    threads = [threading.Thread(target=process, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(domain for _, domain in examined.elements()) == sorted(pending)
    assert {number for number, _ in examined} == {0, 1, 2}


def test_who_has_nothing_left_waits_for_what_another_has_and_takes_it_up(pending: list[str]) -> None:
    examined: list[str] = []

    def examine(company: RunCompany) -> None:
        examined.append(company.domain)
        finish(company)

    with ExitStack() as other:
        claims = other.enter_context(database.claims())
        assert claims.take(f"company {RUN} {pending[3]}")
        helper = threading.Thread(target=work, args=(examine,))
        helper.start()
        helper.join(_POLL * 2)
        assert helper.is_alive()
        assert pending[3] not in examined
    helper.join(10)
    assert sorted(examined) == sorted(pending)


@pytest.mark.parametrize("leads", [False, True], ids=["helper", "deployed leader"])
def test_a_worker_whose_disk_is_full_leaves_the_companies_to_others(
    leads: bool, pending: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[int] = []
    monkeypatch.setattr("flows.work.close_company", lambda company_id, *_: closed.append(company_id))
    room = flows.run._ROOM
    with untracked(), database.claims() as claims:
        worker = OpenRun(RUN, "Screen", claims, is_deployed=leads)
        assert not leads or worker.take_lead()
        turns = Turns(BoundedSemaphore(1), BoundedSemaphore(1), worker)

        def examine(company: RunCompany) -> None:
            monkeypatch.setattr("flows.run._ROOM", 10**18)  # it fills meanwhile
            examine_company(company.name, company.id or 0, turns)  # and fails: there is no such folder

        for _ in range(2):  # what there is, and whatever else is tried
            with pytest.raises(Unavailable, match="DILIGENCE_HOME is full"):
                examine_pending(worker, 1, examine)
        assert closed == [], "once no company is pending, the leader may conclude the run"
        monkeypatch.setattr("flows.run._ROOM", room)
        examine_company(pending[0], 1, turns)
        assert closed == [1]
    with database.claims() as claims:
        leader = OpenRun(RUN, "Screen", claims)
        assert leader.take_lead()
        examine_pending(leader, 2, finish)
    assert statuses() == {CompanyStatus.FINISHED}


def test_a_company_whose_connection_breaks_is_begun_again_and_given_up_in_the_end(pending: list[str]) -> None:
    begun: Counter[str] = Counter()

    def examine(company: RunCompany) -> None:
        begun[company.domain] += 1
        if company.ordinal == 0 or (company.ordinal == 1 and begun[company.domain] == 1):
            raise ConnectionLost("The connection broke.")
        finish(company)

    work(examine)
    assert begun == {domain: {0: 3, 1: 2}.get(number, 1) for number, domain in enumerate(pending)}
    with database.reading() as session:
        first, second, *_ = runs.run_companies(session, RUN)
    assert (first.status, first.problem) == (CompanyStatus.FAILED, "The connection broke.")
    assert second.status is CompanyStatus.FINISHED


def test_locks_are_taken_again_on_a_new_connection(
    pending: list[str], database_url: str, request: pytest.FixtureRequest
) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("a file's lock ends with its process alone")
    admin: Engine = request.getfixturevalue("postgres_admin")
    lost = threading.Event()
    with database.claims() as claims, database.claims() as other:
        assert claims.take("company A", lost.set)
        with admin.connect() as connection:
            connection.execute(text(OUR_LOCKS))
        until = time.monotonic() + 60
        while not other.take("company B") or claims.take("company B"):  # asks the new connection
            assert time.monotonic() < until
        assert claims.holds("company A")
        assert not lost.is_set()
        assert not other.take("company A")


def test_a_lost_lock_is_told_before_anybody_asks(postgres_url: str, postgres_admin: Engine) -> None:
    engine, lost, key = create_engine(postgres_url), threading.Event(), {"key": _key("company A")}
    with Claims(engine) as claims, postgres_admin.connect() as thief, postgres_admin.connect() as admin:
        assert claims.take("company A", lost.set)
        lock = text("SELECT pg_advisory_lock(:key)")
        waiting = threading.Thread(target=lambda: thief.execute(lock, key))
        waiting.start()
        wait_for(lambda: admin.execute(text("SELECT 1 FROM pg_locks WHERE NOT granted")).first())
        admin.execute(text(OUR_LOCKS))
        assert lost.wait(8)  # sooner than the connection is asked whether it is there
        waiting.join()
    engine.dispose()


def test_a_lock_that_another_process_has_got_meanwhile_stops_the_work(
    pending: list[str], database_url: str, request: pytest.FixtureRequest
) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("a file's lock ends with its process alone")
    admin: Engine = request.getfixturevalue("postgres_admin")
    stopped: list[str] = []

    def cut() -> None:
        with admin.connect() as connection:
            connection.execute(text(OUR_LOCKS))

    def examine(company: RunCompany) -> None:
        if company.ordinal == 0 and not stopped:
            stopped.append(company.domain)
            threading.Timer(0.3, cut).start()
            with admin.connect() as thief:  # waits for the lock, and gets it when our session ends
                key = {"key": _key(f"company {RUN} {company.domain}")}
                thief.execute(text("SELECT pg_advisory_lock(:key)"), key)
                try:
                    cancellation.sleep(20)
                finally:
                    thief.execute(text("SELECT pg_advisory_unlock(:key)"), key)
        finish(company)

    work(examine)
    assert statuses() == {CompanyStatus.FINISHED}
    assert stopped == [pending[0]]


@pytest.mark.parametrize("first", [1, 5])
def test_a_connection_that_breaks_between_companies_does_not_end_the_run(
    first: int, pending: list[str], database_url: str, request: pytest.FixtureRequest
) -> None:
    if database_url.startswith("sqlite"):
        pytest.skip("a file has no connection that breaks")
    admin: Engine = request.getfixturevalue("postgres_admin")
    executed, cut = 0, first

    def cut_some(connection: Connection, cursor: Any, *_: Any) -> None:
        nonlocal executed, cut
        executed += connection.engine.url != admin.url
        if executed == cut:
            cut += 9  # the work that is begun again comes to its end
            with admin.connect() as other:
                pid = {"pid": cursor.connection.info.backend_pid}
                other.execute(text("SELECT pg_terminate_backend(:pid)"), pid)

    with database.claims() as claims:
        event.listen(Engine, "before_cursor_execute", cut_some)
        try:
            run = OpenRun(RUN, "Screen", claims)
            examine_pending(run, 1, finish)
            conclude(run, None)
        finally:
            event.remove(Engine, "before_cursor_execute", cut_some)
    assert cut > 30
    assert statuses() == {CompanyStatus.FINISHED}
    assert OpenRun(RUN, "Screen", claims).is_over()


class _Pooled:
    """A driver's connection behind a pooler in transaction mode, which gives it the session that is free."""

    def __init__(self, pids: list[int]) -> None:
        self._pids = pids

    def execute(self, _query: str) -> Any:
        return self

    def fetchone(self) -> tuple[int]:
        return (self._pids.pop(0),)


def test_a_session_that_changes_between_transactions_holds_no_lock(postgres_url: str) -> None:
    engine = create_engine(postgres_url)
    with pytest.raises(DatabaseUnavailable, match="pooler in transaction mode"):
        _refuse_pooler(engine, _Pooled([1, 2]))
    _refuse_pooler(engine, _Pooled([1, 1]))
    engine.dispose()


def test_a_room_gives_its_turn_away_before_its_scans_are_recognised(
    batch_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (batch_file.parent / "rooms/alpha/notes.pdf").unlink()
    scan(batch_file.parent / "rooms/alpha/lease.pdf", [picture("Lease")])
    reading = BoundedSemaphore(1)
    others_may_read: list[bool] = []

    def recognise(room_id: int, company_id: int) -> None:
        others_may_read.append(reading.acquire(timeout=1))
        reading.release()
        recognise_rest(room_id, company_id)

    monkeypatch.setattr(flows.work, "recognise_rest", recognise)
    monkeypatch.setenv("DILIGENCE_OCR", "off")
    screen = read_batch(batch_file)
    with untracked(), override_settings(screen.settings), resume_or_start(screen, retry_failed=False) as run:
        for name in ("alpha", "beta"):
            company_id = find_run_company(run.id, f"{name}.example").id or 0
            examine(company_id, PLAIN, turns=Turns(BoundedSemaphore(1), reading))
    assert others_may_read == [True]
