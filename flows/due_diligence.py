"""The flow `due_diligence`: index one company's data room, extract its texts, fetch its facts, score it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Final

from flows.artifacts import IfGiven, flow, name_company_run, prefix_keys, show_outcome
from flows.batch_definition import DeployedBatch, in_its_folder
from flows.company_facts import company_facts
from flows.extract_all import extract_all
from flows.index_folder import assign_room, index_folder
from flows.prefect_server import is_embedded
from flows.run import (
    add_warnings,
    close_company,
    count_pdfs,
    find_known_company,
    find_run_company,
    finish,
    new_company,
    resume_or_start,
    single,
)
from flows.scheduling import set_worker_secrets
from flows.score_company import score_company
from storage import database, documents
from storage.runs import CompanyStatus
from storage.settings import override_settings
from tasks.ai.registry import current_answerer
from tasks.documents.drive.registry import open_run_drive
from tasks.documents.kinds.room import find_company_kinds
from tasks.errors import DiligenceError
from tasks.evidence.company import draw_evidence
from tasks.figures.ledger import build_ledger, ledger_warnings
from tasks.operation import concerning
from tasks.prefect_setup import untracked
from tasks.reports.report import load_results
from tasks.table.cells import ask_table

_SMALL: Final = 100, 5_000_000
"""Documents, and bytes of all of them, that are read and scored without a model in some two seconds."""
_FEW_PDFS: Final = 20
"""PDFs whose cited pages are drawn in less than a second."""

_places: ContextVar[AbstractContextManager[object] | None] = ContextVar("places", default=None)
_turns: ContextVar[AbstractContextManager[object] | None] = ContextVar("turns", default=None)


@contextmanager
def examining_in_turns(scored_at_once: int, read_at_once: int) -> Iterator[None]:
    """Limit how many companies in the block are examined at the same time, and how many of them are being read.

    Reading needs cores, judging needs the model's time. When rooms are read one after the other, the first can be
    judged while the next are read; read side by side, all would be ready late and at once. Drawing pages happens in
    its own processes and holds up no other company.
    """
    places, turns = _places.set(BoundedSemaphore(scored_at_once)), _turns.set(BoundedSemaphore(read_at_once))
    try:
        yield
    finally:
        _turns.reset(turns)
        _places.reset(places)


@flow(name="due_diligence", flow_run_name=name_company_run)
def due_diligence(
    name: Annotated[str | None, IfGiven] = None,
    domain: Annotated[str | None, IfGiven] = None,
    folder: Annotated[str | None, IfGiven] = None,
    criteria: Annotated[Path | None, IfGiven] = None,
    batch_file: Annotated[Path | None, IfGiven] = None,
    out: Annotated[Path | None, IfGiven] = None,
    reports: Annotated[Path | None, IfGiven] = None,
    definition: DeployedBatch | None = None,
    company: Annotated[str | None, IfGiven] = None,
) -> str:
    """Examine one company.

    Args:
        name: what it is called.
        domain: its web domain, as registered.
        folder: its data room: a path under the drive's root, or a folder's id or URL.
        criteria: the criteria file.
        batch_file: a batch whose settings hold here too, and whose criteria where `criteria` is not given.
        out: the folder that the report is written to.
        reports: a folder in which each run gets its own folder, named by its id; without it and without `out`, the
            report is kept in storage alone.
        definition: the batch as it was deployed, which then counts; `batch_file` says where it came from.
        company: the name of a company of the batch, in the place of name, domain and folder.

    Returns:
        The run's id.

    Raises:
        BadRequest: the company, the domain or a file is wrong, or there are no criteria.
        NotConfigured, NotLoggedIn: the drive's account or the model's server is missing. Nothing is begun.
        CompaniesFailed: the data room could not be read, or a judgement failed; all the rest is done.
    """
    with in_its_folder(definition), set_worker_secrets(is_deployed=definition is not None):
        chosen = (
            find_known_company(company, batch_file, definition)
            if company is not None
            else new_company(name, domain, folder)
        )
        screen = single(chosen, criteria, batch_file, definition)
        with (
            override_settings(screen.settings),
            resume_or_start(screen, is_deployed=definition is not None) as run,
            prefix_keys(screen.part_of),
        ):
            if out is None and reports is not None:
                out = reports / run.id
            with concerning(chosen.name):
                examine(run.id, chosen.domain, chosen.folder)
            try:
                database.retry_if_cut(lambda: finish(run, out))
            finally:
                show_outcome(load_results(run.id), out)
    return run.id


def examine(run: str, domain: str, folder: str, room_id: int | None = None) -> None:
    """Index, extract, fetch facts and score one company of a run. A failure is stored with the company.

    Args:
        run: the run's id.
        domain: the company's domain, as the run has it.
        folder: its data room.
        room_id: the room as it was indexed just now; without it, it is indexed first.
    """
    company_id = find_run_company(run, domain).id
    assert company_id is not None
    # A step that finds its work done, or next to none, costs Prefect more than it costs us: Prefect is not told of it.
    # Nor is it told of those of a small room where its server ends with this command, so that nobody looks at them.
    try:
        with _places.get() or nullcontext(), ExitStack() as small:
            if _turns.get() is not None and is_embedded() and _is_done_here():
                small.enter_context(untracked())
            with _turns.get() or nullcontext():
                if room_id is None:
                    room_id = index_folder(folder, company_id=company_id)
                else:
                    assign_room(company_id, room_id)
                if not _is_small(room_id):
                    small.close()  # its steps take long enough to be looked at
                extract_all(folder, room_id=room_id, company_id=company_id)
                build_ledger.tracked(company_id)
                add_warnings(company_id, ledger_warnings(company_id))
                find_company_kinds(company_id)
            company_facts(domain, company_id=company_id)
            is_complete = score_company(domain, run=run)
            add_warnings(company_id, ask_table(company_id))
        pdfs = count_pdfs(company_id)
        if pdfs:
            is_quick = pdfs <= _FEW_PDFS or find_run_company(run, domain).carried_from is not None
            add_warnings(company_id, (draw_evidence if is_quick else draw_evidence.tracked)(company_id))
    except DiligenceError as error:
        close_company(company_id, CompanyStatus.FAILED, error.message)
        return
    problem = None if is_complete else "A judgement failed; the criteria marked unscored say why."
    close_company(company_id, CompanyStatus.FINISHED if is_complete else CompanyStatus.FAILED, problem)


def _is_done_here() -> bool:
    """Whether neither the drive nor a model is waited for. A source of facts may be: mostly its answer is stored."""
    return not current_answerer().judges and not open_run_drive().remote


def _is_small(room_id: int) -> bool:
    most, most_bytes = _SMALL
    with database.reading() as session:
        count, size = documents.measure_room(session, room_id)
    return count <= most and size <= most_bytes
