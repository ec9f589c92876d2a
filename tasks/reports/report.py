"""Builds the report of a run, the object described in `models`, from the database.

Scores, totals and ranks are read as the run stored them. Three things are computed here and below: the conflicts
between sources, the changes since the last run, and how stable the ranking is.
"""

from collections.abc import Sequence

from sqlmodel import Session

from storage.calls import count_unanswered
from storage.database import reading
from storage.runs import Run, RunCompany, find_company, find_run, previous_run, run_companies
from tasks.errors import NotFound
from tasks.reports.company import Rows, company_report, scores_report
from tasks.reports.criteria import criteria_of_run
from tasks.reports.models import CompanyReport, Cost, PreviousRun, Report, RunSummary, Sensitivity
from tasks.scoring.score import DRAWS, stability


def build(run_id: str, domain: str | None = None) -> Report:
    """The report of a run, finished or not. `run_id` is its id, its batch's name (the latest run) or `latest`.

    With `domain`, of that company alone.

    Raises:
        tasks.errors.NotFound: there is no such run.
        storage.DatabaseUnavailable: the database cannot be opened.
    """
    with reading() as session:
        run = find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        before = previous_run(session, run)
        unknown_calls = count_unanswered(session, run.id)
        earlier = {company.domain: company for company in _chosen(session, before, domain)} if before else {}
        companies = [
            company_report(session, run, company, before, earlier.get(company.domain))
            for company in _chosen(session, run, domain)
        ]
    companies.sort(key=in_reports_order)
    summary = _summary(run, before, unknown_calls)
    if domain is None:
        summary.sensitivity = _add_stability(companies, run)
    return Report(run=summary, companies=companies)


def _chosen(session: Session, run: Run, domain: str | None) -> Sequence[RunCompany]:
    if domain is None:
        return run_companies(session, run.id)
    company = find_company(session, run.id, domain)
    return [] if company is None else [company]


def build_scores(run_id: str, domain: str) -> Report:
    """The scores of one company of a run: its report without documents, figures and changes, which take most of it.

    Raises:
        As `build`.
    """
    with reading() as session:
        run = find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        companies = [
            scores_report(session, run, company, Rows.of(session, company)) for company in _chosen(session, run, domain)
        ]
        return Report(run=_summary(run, None, count_unanswered(session, run.id)), companies=companies)


def in_reports_order(company: CompanyReport | RunCompany) -> tuple[bool, int]:
    """The key by which a report sorts the companies of a batch: the ranked ones first."""
    return company.rank is None, company.rank or 0


def _summary(run: Run, before: Run | None, unknown_calls: int) -> RunSummary:
    low, high = run.criteria["scale"]
    return RunSummary(
        id=run.id,
        name=run.batch,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        cost=cost_of(run, unknown_calls),
        budget=run.budget,
        answerer=run.answerer,
        scale=(low, high),
        criteria=criteria_of_run(run),
        previous=PreviousRun(id=before.id, started_at=before.started_at) if before else None,
        sensitivity=None,
    )


def cost_of(run: Run, unknown_calls: int) -> Cost:
    """What a run asked of a model; `unknown_calls` have no answer."""
    return Cost(
        calls=run.calls,
        unknown_calls=unknown_calls,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        usd=run.usd,
    )


def _add_stability(companies: Sequence[CompanyReport], run: Run) -> Sensitivity | None:
    """Set how often each ranked company keeps its rank when the weights vary; gives how that was tried."""
    low, high = run.criteria["scale"]
    ranked = [company for company in companies if company.rank is not None]
    standings = [
        {
            criterion.id: (criterion.score - low) / (high - low)
            for criterion in company.criteria
            if criterion.status.counts and criterion.score is not None
        }
        for company in ranked
    ]
    shares = (
        stability(standings, {criterion.id: criterion.weight for criterion in criteria_of_run(run)})
        if all(standings)
        else None
    )
    if shares is None:
        return None
    for company, share in zip(ranked, shares, strict=True):
        company.stability = share
    return Sensitivity(draws=DRAWS, varied="multiplied by a factor between a half and twice")
