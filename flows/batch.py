"""The flow `batch`: every company of a batch file examined, ranked, and the report written."""

import logging
from collections.abc import Sequence
from pathlib import Path

from prefect import flow
from prefect.artifacts import create_markdown_artifact

from flows.batch_file import read_batch
from flows.due_diligence import due_diligence
from flows.reports.artifacts import ranking
from flows.reports.files import write_reports
from flows.reports.report import build
from flows.run import close_company, companies_to_do, finish, run_of
from storage.runs import CompanyStatus, RunCompany
from storage.settings import override_settings
from tasks.errors import DiligenceError

log = logging.getLogger(__name__)


@flow(name="batch")
def batch(batch_file: Path, criteria: Path | None = None, out: Path | None = None) -> str:
    """Examine every company of a batch, going on where an earlier run of it was broken off.

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
    asked = read_batch(batch_file, criteria)
    with override_settings(asked.settings), run_of(asked) as run:
        _examine(run, companies_to_do(run))
        try:
            finish(run)
        finally:
            if out is not None:
                write_reports(run, out)
            report = build(run)
            create_markdown_artifact(ranking(report), key="ranking", description=f"{asked.name}: the companies ranked")
    return run


def _examine(run: str, waiting: Sequence[RunCompany]) -> None:
    """One company after the other; what goes wrong with one is written down and stops no other.

    Side by side they would be slower: what costs time runs in parallel within a company, and flows
    at the same time make Prefect's SQLite wait for itself (three companies: 3.3 s so, 9 s in four threads).
    """
    for company in waiting:
        assert company.id is not None
        try:
            due_diligence(company.name, company.domain, company.folder, run=run)
        except Exception as error:  # noqa: BLE001 - a mistake of ours in one company must not end the night's run
            log.error("The company %s failed: %s", company.domain, type(error).__name__)  # noqa: TRY400
            ours = f"An internal error: {type(error).__name__}."
            close_company(
                company.id, CompanyStatus.FAILED, error.message if isinstance(error, DiligenceError) else ours
            )
