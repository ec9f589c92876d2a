"""Runs: which is meant, how far each company and document has come, what was spent."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import delete
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from storage import database, documents, runs, texts
from storage.documents import DocumentOutcome, DocumentStatus, RunDocument
from storage.runs import CompanyStatus, Run, RunStatus
from tests.storage import processes, rows
from tests.waiting import wait_for


def store(run_id: str, hours: int = 0, **given: object) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(run_id, started_at=rows.MORNING + timedelta(hours=hours), **given), [])


def found(wanted: str) -> str | None:
    with database.reading() as session:
        run = runs.find_run(session, wanted)
    return run.id if run else None


def test_a_run_by_id_by_batch_or_the_latest(database_url: str) -> None:
    store("r1", hours=3)
    store("r2", hours=1)  # the clock was set back
    store("r3", hours=2, batch="Other")
    assert found("r1") == "r1"
    assert found("Screen") == "r2"
    assert found("latest") == "r3"
    assert found("nothing") is None


def test_an_id_comes_before_a_batch_of_that_name(database_url: str) -> None:
    store("r1", hours=1)
    store("r2", hours=2, batch="r1")
    assert found("r1") == "r1"


def test_the_run_that_was_broken_off(database_url: str) -> None:
    store("r1", hours=1, status=RunStatus.FINISHED, reported_at=rows.MORNING)
    store("r2", hours=2)
    store("r3", hours=3)
    store("r4", hours=4, batch="Other")
    with database.reading() as session:
        run = runs.find_unfinished(session, "Screen")
        assert run is not None
        assert run.id == "r3"
    with database.writing() as session:
        runs.finish_run(session, "r3", RunStatus.SUPERSEDED)
        runs.finish_run(session, "r2", RunStatus.FAILED)
    with database.reading() as session:
        run = runs.find_unfinished(session, "Screen")
        assert run is not None
        assert run.id == "r2", "its report is not written yet"
    with database.writing() as session:
        runs.note_report(session, "r2")
    with database.reading() as session:
        assert runs.find_unfinished(session, "Screen") is None
        assert runs.get_run(session, "r2").finished_at is not None


def test_a_run_is_under_way_while_a_process_that_works_on_it_lives(database_url: str) -> None:
    with database.writing() as session:
        alpha = runs.RunCompany(run_id="r1", ordinal=0, name="Alpha", domain="alpha.example", folder="alpha")
        runs.add_run(session, rows.run("r1"), [alpha])

    def is_under_way() -> bool:
        with database.reading() as session:
            return runs.is_under_way(session, runs.get_run(session, "r1"))

    assert not is_under_way()
    for name in ("batch Screen", "company r1 alpha.example"):  # its leader; another process whose leader is gone
        held = f"with database.locked({name!r}): print('held', flush=True); time.sleep(600)"
        holder = processes.start(f"import time\nfrom storage import database\n{held}")
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert is_under_way()
        with database.locked(name, wait=False) as is_free:
            assert not is_free
        holder.terminate()
        holder.wait()
        holder.stdout.close()
        wait_for(lambda: not is_under_way())
    with ThreadPoolExecutor() as threads:
        asked = threads.submit(lambda: [is_under_way() for _ in range(200)])
        while not asked.done():  # whoever starts it meanwhile is not refused
            with database.locked("batch Screen", wait=False) as is_free:
                assert is_free
    with database.locked("batch Screen"):
        with database.writing() as session:
            runs.finish_run(session, "r1", RunStatus.FINISHED)
        assert not is_under_way()


def test_the_previous_run_is_the_last_that_came_to_its_end(database_url: str) -> None:
    ended = {"reported_at": rows.MORNING}
    store("r1", hours=9, status=RunStatus.FINISHED, **ended)  # the clock was set back after it
    store("r2", hours=2, status=RunStatus.FAILED, **ended)
    store("r3", hours=3, status=RunStatus.SUPERSEDED)
    store("r4", hours=4, batch="Other", status=RunStatus.FINISHED, **ended)
    store("killed before its report", hours=4, status=RunStatus.FINISHED)
    store("r5", hours=5)
    store("r6", hours=6, status=RunStatus.FINISHED, **ended)

    def previous(run_id: str) -> str | None:
        with database.reading() as session:
            run = runs.previous_run(session, runs.get_run(session, run_id))
        return run.id if run else None

    assert previous("r5") == "r2"
    assert previous("r2") == "r1"
    assert previous("r1") is None


def test_runs_are_listed_in_the_order_of_their_starts_whatever_the_clock_said(database_url: str) -> None:
    for run_id, hours in (("r1", 3), ("r2", 1), ("r3", 2)):
        store(run_id, hours=hours)
    with database.reading() as session:
        assert [run.id for run in runs.newest_runs(session, 2)] == ["r3", "r2"]


def test_the_newest_run_of_a_text_began_last_whatever_the_clock_said(database_url: str) -> None:
    with database.writing() as session:
        session.add(text := rows.text())
        session.flush()
        for run_id, hours in (("r1", 1), ("r2", 0)):  # the first leader's clock was an hour fast
            runs.add_run(
                session, rows.run(run_id, started_at=rows.MORNING + timedelta(hours=hours)), [rows.company(run_id)]
            )
            (company,) = runs.run_companies(session, run_id)
            read = RunDocument(company_id=company.id or 0, document_id="d", name="d", path="", url="", text_id=text.id)
            session.add(read)
        session.flush()
        assert documents.newest_run_with(session, "d", text.id or 0) == "r2"


def test_costs_add_up(database_url: str) -> None:
    store("r1")
    store("r2")
    for usd in (None, 0.5, 0.25):
        with database.writing() as session:
            runs.add_cost(session, "r1", 1, 100, 7, usd)
    with database.reading() as session:
        run = runs.get_run(session, "r1")
        assert (run.calls, run.input_tokens, run.output_tokens, run.usd) == (3, 300, 21, 0.75)
        assert runs.get_run(session, "r2").calls == 0


def test_companies_come_in_the_order_of_the_batch(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [rows.company(ordinal=ordinal) for ordinal in (2, 0, 1)])
        runs.add_run(session, rows.run("r2"), [rows.company("r2")])
    with database.reading() as session:
        assert [company.ordinal for company in runs.run_companies(session, "r1")] == [0, 1, 2]


def test_a_company_is_changed_in_place(database_url: str) -> None:
    company_id = rows.stored_company()
    with database.writing() as session:
        company = runs.get_company(session, company_id)
        company.status, company.total, company.warnings = CompanyStatus.FINISHED, 0.75, ["one"]
    with database.reading() as session:
        kept = runs.get_company(session, company_id)
        assert (kept.status, kept.total, kept.warnings) == (CompanyStatus.FINISHED, 0.75, ["one"])
        assert len(runs.run_companies(session, "r1")) == 1


def test_a_company_is_changed_without_its_other_values(database_url: str) -> None:
    company_id = rows.stored_company()
    with database.reading() as session:
        earlier, run = runs.company_and_run(session, company_id)
        assert runs.is_pending(session, company_id)
    assert run.id == earlier.run_id
    with database.writing() as session:
        runs.change_company(session, company_id, warnings=["one"])
        runs.change_company(session, company_id, "two", "one", "two", status=CompanyStatus.FAILED, problem="Why.")
    earlier.total = 0.75
    with database.writing() as session:
        runs.save_companies(session, [earlier])
    with database.reading() as session:
        kept = runs.get_company(session, company_id)
        assert (kept.status, kept.problem, kept.warnings) == (CompanyStatus.FAILED, "Why.", ["one", "two"])
        assert (kept.total, kept.name, kept.folder) == (0.75, earlier.name, earlier.folder)
        assert not runs.is_pending(session, company_id)


def test_two_companies_of_one_domain_do_not_fit_into_a_run(database_url: str) -> None:
    with pytest.raises(IntegrityError), database.writing() as session:
        runs.add_run(session, rows.run(), [rows.company(), rows.company()])
    assert found("r1") is None


def place(company_id: int, *names: str, url: str = "u") -> None:
    listed = [RunDocument(company_id=company_id, document_id=name, name=name, path="p", url=url) for name in names]
    with database.writing() as session:
        documents.place_documents(session, company_id, listed)


def note(company_id: int, document_id: str, status: DocumentStatus, text_id: int | None = None) -> None:
    with database.writing() as session:
        outcome = DocumentOutcome(document_id, status, "c0", text_id, characters=13, warning="look")
        documents.save_document_outcomes(session, company_id, [outcome])


def test_outcomes_of_many_documents_are_written_down_together(database_url: str) -> None:
    company_id = rows.stored_company()
    place(company_id, "a", "b", "c")
    with database.writing() as session:
        text_id = texts.save_text(session, rows.text()).id
        outcomes = [
            DocumentOutcome("b", DocumentStatus.FAILED, warning="It is damaged."),
            DocumentOutcome("a", DocumentStatus.READ, "c0", text_id, 13),
            DocumentOutcome("unknown", DocumentStatus.READ),
        ]
        documents.save_document_outcomes(session, company_id, outcomes)
        documents.save_document_outcomes(session, company_id, [])
    with database.reading() as session:
        kept = documents.company_documents(session, company_id)
        assert [row.document_id for row in documents.remarkable_documents(session, "r1")] == ["b", "c"]
        assert documents.remarkable_documents(session, "another") == []
    assert [(each.document_id, each.status, each.text_id, each.characters, each.warning) for each in kept] == [
        ("a", DocumentStatus.READ, text_id, 13, None),
        ("b", DocumentStatus.FAILED, None, 0, "It is damaged."),
        ("c", DocumentStatus.PENDING, None, 0, None),
    ]


def test_a_resumed_run_keeps_outcomes_adds_what_is_new_and_drops_what_is_gone(database_url: str) -> None:
    company_id = rows.stored_company()
    place(company_id, "a", "b", "c")
    note(company_id, "b", DocumentStatus.READ)
    place(company_id, "b", "c", "d", url="moved")
    with database.reading() as session:
        left = documents.company_documents(session, company_id)
    assert [(each.document_id, each.status, each.url) for each in left] == [
        ("b", DocumentStatus.READ, "moved"),
        ("c", DocumentStatus.PENDING, "moved"),
        ("d", DocumentStatus.PENDING, "moved"),
    ]


def test_an_outcome_is_written_down_for_its_company_alone(database_url: str) -> None:
    with database.writing() as session:
        runs.add_run(session, rows.run(), [rows.company(), rows.company(ordinal=1)])
        text_id = texts.save_text(session, rows.text()).id
    with database.reading() as session:
        first, second = (company.id for company in runs.run_companies(session, "r1"))
    assert first is not None
    assert second is not None
    place(first, "a", "b")
    place(second, "a")
    note(first, "a", DocumentStatus.EMPTY, text_id)
    with database.reading() as session:
        done, waiting = documents.company_documents(session, first)
        assert (done.status, done.content_hash, done.text_id, done.characters, done.warning) == (
            DocumentStatus.EMPTY,
            "c0",
            text_id,
            13,
            "look",
        )
        assert waiting.status is DocumentStatus.PENDING
        assert documents.count_documents(session, first) == {DocumentStatus.EMPTY: 1, DocumentStatus.PENDING: 1}
        assert documents.count_documents(session, second) == {DocumentStatus.PENDING: 1}


def test_documents_come_in_one_order_on_every_database(database_url: str) -> None:
    company_id = rows.stored_company()
    names = ["b", "A", "ä", "Z", "a b", "a-b"]
    place(company_id, *names)
    with database.reading() as session:
        assert [document.name for document in documents.company_documents(session, company_id)] == sorted(names)


def test_a_deleted_run_takes_its_rows_with_it(database_url: str) -> None:
    company_id = rows.stored_company()
    place(company_id, "a")
    with database.writing() as session:
        session.exec(delete(Run).where(col(Run.id) == "r1"))
    with database.reading() as session:
        assert documents.company_documents(session, company_id) == []
        assert runs.run_companies(session, "r1") == []
