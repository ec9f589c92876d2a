"""The flow `due_diligence`: index one company's data room, extract its texts, fetch its facts, score it."""

from pathlib import Path
from typing import Annotated, Final

from flows.artifacts import prefix_keys
from flows.batch_definition import DeployedBatch, in_its_folder
from flows.company_facts import company_facts
from flows.engine import IfGiven, flow, name_company_run, set_worker_secrets, show_outcome
from flows.extract_all import extract_all
from flows.index_folder import index_folder
from flows.run import find_known_company, find_run_company, finish, new_company, resume_or_start, single
from flows.score_company import score_company
from flows.steps import Steps
from flows.work import examine
from storage import database
from storage.settings import override_settings
from tasks.operation import concerning
from tasks.reports.report import load_results
from tasks.tracking import wait_for_server

_FLOWS: Final = Steps(index_folder, extract_all, company_facts, score_company)


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
                examine(find_run_company(run.id, chosen.domain).id or 0, _FLOWS)
            try:
                database.retry_if_cut(lambda: finish(run, out))
            finally:
                if run.is_deployed:
                    wait_for_server()
                show_outcome(load_results(run.id), out, run.unwritten)
    return run.id
