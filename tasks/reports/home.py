"""What the service's home page says about each run: state, progress, ranking, cost, and what changed."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlmodel import Session

from storage import database, run_documents, runs, scores
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from tasks.documents.drive.drive import Drive
from tasks.documents.drive.registry import choose_drive, open_drive
from tasks.errors import DiligenceError
from tasks.remote.fan_out import FanOut
from tasks.reports.report import in_reports_order
from tasks.review.state import decided_companies
from tasks.scoring.standing import Standing

_AT_ONCE = 8


class CompanyRow(NamedTuple):
    """A company of a run; `rank` and `proven` are None if only the viewer's own report can tell them."""

    number: int
    name: str
    rank: int | None
    proven: float | None
    status: CompanyStatus


class RunRow(NamedTuple):
    """A run in the list on the home page.

    `progress` is how many documents it has finished, and how many it has; None once it has ended. `moved` is how many
    scores differ from the batch's previous run; None if there is none.
    """

    run: Run
    companies: Sequence[CompanyRow]
    progress: tuple[int, int] | None
    moved: int | None
    is_unfinished: bool


def list_runs(most: int = 20) -> list[RunRow]:
    """The newest runs, as far as the viewer may see them; if the drive has accounts, what it shows this account.

    Raises:
        NotLoggedIn: the drive has accounts, and nobody is logged in.
    """
    has_accounts = choose_drive().accounts is not None
    with database.reading() as session:
        listed = [(run, decided_companies(session, run)) for run in runs.newest_runs(session, most)]
    visible = _visible_folders(open_drive(), listed) if has_accounts else None
    with database.reading() as session:
        rows = [_row(session, run, companies, visible) for run, companies in listed]
    return [row for row in rows if row.companies or not has_accounts]


def _row(session: Session, run: Run, companies: Sequence[RunCompany], visible: Mapping[str, bool] | None) -> RunRow:
    done = run_documents.documents_done(session, run.id)
    is_running = run.status is RunStatus.RUNNING
    progress = (sum(row[0] for row in done.values()), sum(row[1] for row in done.values())) if is_running else None
    shown = [
        CompanyRow(number, company.name, company.rank, Standing.of(company).proven, company.status)
        for number, company in enumerate(sorted(companies, key=in_reports_order), 1)
    ]
    if visible is not None:
        shown = [
            CompanyRow(number, company.name, None, None, company.status)
            for number, company in enumerate(companies, 1)
            if visible.get(company.folder_id or "")
        ]
    return RunRow(run, shown, progress, None if visible is not None else _moved(session, run), run.reported_at is None)


def _visible_folders(drive: Drive, listed: Sequence[tuple[Run, Sequence[RunCompany]]]) -> dict[str, bool]:
    folders = {company.folder_id for _, companies in listed for company in companies if company.folder_id}
    with FanOut(_AT_ONCE, "home") as threads:
        looked = {folder: threads.submit(_is_visible, drive, folder) for folder in folders}
    return {folder: result.result() for folder, result in looked.items()}


def _is_visible(drive: Drive, folder_id: str) -> bool:
    try:
        drive.find_folder(folder_id)
    except DiligenceError:
        return False
    return True


def _moved(session: Session, run: Run) -> int | None:
    before = runs.previous_run(session, run)
    if before is None or run.reported_at is None:
        return None
    now, then = _scores(session, run.id), _scores(session, before.id)
    return sum(now.get(cell) != then.get(cell) for cell in now.keys() | then.keys())


def _scores(session: Session, run_id: str) -> dict[tuple[str, str], float]:
    domains = {company.id: company.domain for company in runs.run_companies(session, run_id)}
    return {
        (domains[company_id], criterion): score
        for company_id, criterion, score in scores.list_counted_scores(session, run_id)
    }
