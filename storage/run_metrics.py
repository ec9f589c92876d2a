"""What runs are at, as numbers for those who watch them: no name of a batch, a company or a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import Session, col, select

from storage.run_documents import DocumentStatus, RunDocument
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus


@dataclass(frozen=True, slots=True)
class RunMetrics:
    """Runs by status; those under way (or killed), their companies and documents by status; USD of all runs."""

    runs: Mapping[RunStatus, int]
    under_way: Sequence[Run]
    companies: Mapping[CompanyStatus, int]
    documents: Mapping[DocumentStatus, int]
    usd: float


def read_run_metrics(session: Session) -> RunMetrics:
    """The numbers as they are now; four queries that read the rows of runs under way and one row of each other run."""
    is_running = col(Run.status) == RunStatus.RUNNING
    counted = session.exec(select(Run.status, func.count(), func.sum(Run.usd)).group_by(col(Run.status))).all()
    companies = (
        select(RunCompany.status, func.count())
        .join(Run, col(RunCompany.run_id) == col(Run.id))
        .where(is_running)
        .group_by(col(RunCompany.status))
    )
    documents = (
        select(RunDocument.status, func.count())
        .join(RunCompany, col(RunDocument.company_id) == col(RunCompany.id))
        .join(Run, col(RunCompany.run_id) == col(Run.id))
        .where(is_running)
        .group_by(col(RunDocument.status))
    )
    return RunMetrics(
        runs={RunStatus(status): count for status, count, _ in counted},
        under_way=session.exec(select(Run).where(is_running)).all(),
        companies={CompanyStatus(status): count for status, count in session.exec(companies)},
        documents={DocumentStatus(status): count for status, count in session.exec(documents)},
        usd=sum(usd or 0.0 for _, _, usd in counted),
    )
