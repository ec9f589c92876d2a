"""Builds the report of a run, the object described in `models`, from the database.

Scores, totals and ranks are read as the run stored them. Three things are computed here and below: the conflicts
between sources, the changes since the last run, and how stable the ranking is.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Self

from sqlmodel import Session

from storage.database import reading
from storage.model_calls import count_unanswered
from storage.runs import Run, RunCompany, find_company, find_run, previous_run, run_companies
from storage.scores import ScoreStatus, counted_scores
from tasks.errors import NotFound
from tasks.reports.company import Rows, company_report, scores_report
from tasks.reports.criteria import criteria_of_run
from tasks.reports.models import CompanyReport, Cost, PreviousRun, Report, ReportInParts, RunSummary, Sensitivity
from tasks.reports.rights import Seen
from tasks.scoring.score import DRAWS, rank_companies, stability


def build(run_id: str, domain: str | None = None, seen: Mapping[str, Seen] | None = None) -> Report:
    """The report of a run, finished or not. `run_id` is its id, its batch's name (the latest run) or `latest`.

    With `domain`, of that company alone. With `seen`, which says by its domain what a viewer sees of each company, only
    what rests on that: companies are ranked by what the viewer sees of all of them, and one alone has no rank.

    Raises:
        tasks.errors.NotFound: there is no such run.
        storage.DatabaseUnavailable: the database cannot be opened.
    """
    with reading() as session:
        rows = _RunRows.of(session, run_id, domain)
        report = Report(run=rows.summary, companies=list(rows.companies(session, seen)))
    if seen is not None:
        _rank_again(report, is_whole=domain is None)
    return report


def _rank_again(report: Report, *, is_whole: bool) -> None:
    """Rank companies by the totals that are shown; how stable the ranking is, is known only where all scores are."""
    if is_whole:
        rank_companies(report.companies)
        report.companies.sort(key=in_reports_order)
    if any(criterion.status is ScoreStatus.WITHHELD for company in report.companies for criterion in company.criteria):
        report.run.sensitivity = None
        for company in report.companies:
            company.stability = None


def build_in_parts(run_id: str) -> ReportInParts:
    """The same report of all companies of a run, of which one after the other is built while it is looked at.

    Raises:
        As `build`.
    """
    with reading() as session:
        rows = _RunRows.of(session, run_id, None)

    def companies() -> Iterator[CompanyReport]:
        with reading() as session:
            yield from rows.companies(session)

    return ReportInParts(rows.summary, [(company.name, company.domain) for company in rows.listed], companies)


class _RunRows(NamedTuple):
    """What is known of a run before a company is built: both runs that are compared, and how stable the ranking is."""

    run: Run
    before: Run | None
    listed: Sequence[RunCompany]
    earlier: Mapping[str, RunCompany]
    stability: Mapping[str, float]
    summary: RunSummary

    @classmethod
    def of(cls, session: Session, run_id: str, domain: str | None) -> Self:
        run = _found(session, run_id)
        before = previous_run(session, run)
        listed = sorted(_chosen(session, run, domain), key=in_reports_order)
        earlier = {company.domain: company for company in _chosen(session, before, domain)} if before else {}
        stability = _stability(session, run, listed) if domain is None else {}
        summary = _summary(run, before, count_unanswered(session, run.id))
        if stability:
            summary.sensitivity = Sensitivity(draws=DRAWS, varied="multiplied by a factor between a half and twice")
        return cls(run, before, listed, earlier, stability, summary)

    def companies(self, session: Session, seen: Mapping[str, Seen] | None = None) -> Iterator[CompanyReport]:
        """Its companies in the report's order, or in the batch's where a viewer sees them; built when asked for."""
        for company in self.listed if seen is None else sorted(self.listed, key=lambda company: company.ordinal):
            shown = None if seen is None else seen.get(company.domain, Seen())
            report = company_report(session, self.run, company, self.before, self.earlier.get(company.domain), shown)
            report.stability = self.stability.get(company.domain)
            yield report


def _found(session: Session, run_id: str) -> Run:
    run = find_run(session, run_id)
    if run is None:
        raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
    return run


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
        run = _found(session, run_id)
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
        model_trial=run.model_trial,
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


def _stability(session: Session, run: Run, companies: Sequence[RunCompany]) -> dict[str, float]:
    """How often each ranked company keeps its rank when the weights vary, by domain; empty where that says nothing."""
    low, high = run.criteria["scale"]
    weights = {criterion.id: criterion.weight for criterion in criteria_of_run(run)}
    scored: dict[int | None, dict[str, float]] = {company.id: {} for company in companies if company.rank is not None}
    for company_id, criterion, score in counted_scores(session, run.id):
        if company_id in scored and criterion in weights:
            scored[company_id][criterion] = (score - low) / (high - low)
    shares = stability(list(scored.values()), weights) if all(scored.values()) else None
    ranked = [company.domain for company in companies if company.rank is not None]
    return {} if shares is None else dict(zip(ranked, shares, strict=True))
