"""What a run came to, a line a company: for the terminal and for Prefect, which need no whole report."""

from dataclasses import dataclass, field
from typing import NamedTuple

from storage import database, runs
from storage.calls import count_unanswered
from storage.companies import warnings_of_profiles
from storage.runs import DocumentStatus, Run, RunCompany
from storage.scores import ScoreStatus, remarkable_outcomes
from tasks.errors import NotFound
from tasks.reports.models import Cost
from tasks.reports.report import cost_of, criteria_of_run, in_reports_order, why_pending


@dataclass(frozen=True)
class CompanyResult:
    """How a company of a run came out. `missing` is what to ask it for, `warnings` is all that the report warns of."""

    company: RunCompany
    missing: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class RunResults(NamedTuple):
    """A run, what it cost, and its companies in the report's order."""

    run: Run
    cost: Cost
    companies: list[CompanyResult]


def results_of(run_id: str) -> RunResults:
    """What a run came to. `run_id` is its id, its batch's name (the latest run) or `latest`.

    Raises:
        NotFound: there is no such run.
    """
    with database.reading() as session:
        run = runs.find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        companies = sorted(runs.run_companies(session, run.id), key=in_reports_order)
        results = {company.id: CompanyResult(company, warnings=list(company.warnings)) for company in companies}
        profiles = warnings_of_profiles(session, [company.profile_id for company in companies if company.profile_id])
        outcomes = remarkable_outcomes(session, run.id)
        documents = runs.remarkable_documents(session, run.id)
        cost = cost_of(run, count_unanswered(session, run.id))
    for company in companies:
        results[company.id].warnings.extend(profiles.get(company.profile_id or 0, []))
    criteria = {criterion.id: criterion for criterion in criteria_of_run(run)}
    for outcome in outcomes:
        result, criterion = results[outcome.company_id], criteria.get(outcome.criterion_id)
        if outcome.status is ScoreStatus.MISSING and criterion is not None:
            result.missing.append(outcome.missing or criterion.label)
        if outcome.warning:
            result.warnings.append(f"{criterion.name if criterion else outcome.criterion_id}: {outcome.warning}")
    for document in documents:
        is_pending = document.status is DocumentStatus.PENDING
        results[document.company_id].warnings.append(
            f"{document.name}: {why_pending(run) if is_pending else document.warning}"
        )
    unique = [
        CompanyResult(result.company, list(dict.fromkeys(result.missing)), list(dict.fromkeys(result.warnings)))
        for result in results.values()
    ]
    return RunResults(run, cost, unique)
