"""The flow `batch`: examines every company of a batch file, ranks them, and writes the report."""

import logging
from collections.abc import Sequence
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows.artifacts import ranking
from flows.batch_file import read_batch
from flows.due_diligence import due_diligence
from flows.run import close_company, companies_to_do, finish, run_of
from storage.runs import CompanyStatus, RunCompany
from storage.settings import override_settings
from tasks.errors import DiligenceError
from tasks.reports.files import write_reports
from tasks.reports.report import build

log = logging.getLogger(__name__)


@flow(name="batch")
def batch(batch_file: Path, criteria: Path | None = None, out: Path | None = None) -> str:
    """Examine every company of a batch, going on where an interrupted run of it stopped.

    Args:
        batch_file: the YAML or CSV file.
        criteria: the criteria file; needed with a CSV.
        out: the folder for report.html and report.json; without it, the report is kept in storage alone.

    Returns:
        The run's id.

    Raises:
        BadRequest: what is wrong in the files. Conflict: the batch is being run elsewhere.
        CompaniesFailed: some companies failed; all the rest is done and the report says so.
    """
    screen = read_batch(batch_file, criteria)
    with override_settings(screen.settings), run_of(screen) as run:
        _examine(run, companies_to_do(run))
        try:
            finish(run)
        finally:
            if out is not None:
                write_reports(run, out)
            report = build(run)
            create_markdown_artifact(ranking(report), key="ranking", description=f"{screen.name}: the companies ranked")
    return run


def _examine(run: str, companies: Sequence[RunCompany]) -> None:
    """Examine one company after the other; a failure is stored with its company and stops no other.

    In parallel they would be slower: what takes time is parallel within a company, and flows that run at
    the same time wait for Prefect's SQLite (three companies: 3.3 s one by one, 9 s in four threads).
    """
    for company in companies:
        assert company.id is not None
        try:
            due_diligence(company.name, company.domain, company.folder, run=run)
        except Exception as error:  # noqa: BLE001 - an error in the program must not end the run for all companies
            log.error("The company %s failed: %s", company.domain, type(error).__name__)  # noqa: TRY400
            internal = f"An internal error: {type(error).__name__}."
            close_company(
                company.id, CompanyStatus.FAILED, error.message if isinstance(error, DiligenceError) else internal
            )
