"""What a run came to, a line a company: for the terminal, Prefect and the log, which need no whole report."""

from dataclasses import dataclass, field
from typing import NamedTuple

from storage import database, run_documents, runs
from storage.companies import warnings_of_profiles
from storage.model_calls import count_unanswered
from storage.run_documents import DocumentStatus
from storage.runs import Run, RunCompany
from storage.scores import ScoreStatus, remarkable_outcomes
from tasks.ai.money import dollars
from tasks.errors import NotFound
from tasks.language.normalise import one_line
from tasks.reports.company import why_pending
from tasks.reports.criteria import criteria_of_run
from tasks.reports.models import Cost
from tasks.reports.report import cost_of, in_reports_order
from tasks.reports.wording import trial_in_words


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
        documents = run_documents.remarkable_documents(session, run.id)
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


def result_lines(results: RunResults) -> list[str]:
    """The ranking, a line a company, what speaks against the model, how many had not changed, and what the run cost."""
    lines = []
    for company in (result.company for result in results.companies):
        if company.total is None:
            result = "nothing could be scored"
        else:
            result = f"{company.total:.0%} of what could be scored, coverage {company.coverage or 0:.0%}"
        failed = f"; failed: {company.problem}" if company.problem else ""
        lines.append(f"{company.rank or '–':<7} {one_line(company.name)}: {result}{failed}")
    carried = sum(result.company.carried_from is not None for result in results.companies)
    if carried:
        companies = "all companies" if carried == len(lines) else f"{carried} of {len(lines)} companies"
        lines.append(f"same    {companies}: nothing has changed, the scores are those of the run before")
    if trial := trial_in_words(results.run.model_trial):
        lines.append(f"model   {trial}")
    cost = results.cost
    parts = [f"{cost.calls:,} call{'' if cost.calls == 1 else 's'}"]
    if cost.calls:
        parts.append(f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out")
        parts.append("price not known" if cost.usd is None else dollars(cost.usd))
    if cost.unknown_calls:
        parts.append(f"{cost.unknown_calls:,} more whose answers were lost and that may have been billed")
    return [*lines, f"cost    {', '.join(parts)}"]


def warning_lines(results: RunResults) -> list[str]:
    """Every warning of the report: those of the companies, and those of their documents."""
    return [
        f"{one_line(result.company.name)}: {one_line(warning)}"
        for result in results.companies
        for warning in result.warnings
    ]
