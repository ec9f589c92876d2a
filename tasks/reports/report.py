"""Builds the report of a run, the object described in `models`, from the database.

Scores, totals and ranks are those that the run stored. Three things are computed here and in the modules below:
conflicts between sources, changes since the last run, and how stable the ranking is.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, Self

from sqlmodel import Session

from storage import database
from storage.database import reading
from storage.documents import DocumentStatus, remarkable_documents
from storage.model_calls import count_unanswered
from storage.runs import Run, RunCompany, find_company, previous_run, run_companies
from storage.scores import ScoreStatus, decisions_of, list_counted_scores, load_profile_warnings, remarkable_outcomes
from tasks.language.normalise import join_first, one_line
from tasks.reports.company import Seen, company_report, why_pending
from tasks.reports.criteria import summarise_criteria
from tasks.reports.models import CompanyReport, Cost, PreviousRun, Report, ReportInParts, RunSummary, Sensitivity
from tasks.reports.wording import percent, trial_in_words, why_not_ranked
from tasks.review import applicable_overrides, decided_companies, named_run
from tasks.scoring.results import Standing, rank
from tasks.scoring.score import DRAWS, stability
from tasks.spending.money import dollars


def build(
    run_id: str,
    domain: str | None = None,
    seen: Mapping[str, Seen] | None = None,
    *,
    scores_alone: bool = False,
    tables: bool = True,
) -> Report:
    """The report of a run, finished or not. `run_id` is its id, its batch's name (the latest run) or `latest`.

    With `domain`, of that company alone. With `seen`, which says by its domain what a viewer sees of each company, only
    what rests on that: companies are ranked by what the viewer sees of all of them, and one alone has no rank. With
    `scores_alone` and without `tables` as `company_report`.

    Raises:
        tasks.errors.NotFound: there is no such run.
        storage.DatabaseUnavailable: the database cannot be opened.
    """
    with reading() as session:
        rows = _RunRows.of(session, run_id, domain)
        companies = list(rows.companies(session, seen, scores_alone=scores_alone, tables=tables))
        report = Report(run=rows.summary, companies=companies)
    if seen is not None:
        _rank_again(report, is_whole=domain is None)
    return report


def _rank_again(report: Report, *, is_whole: bool) -> None:
    """Rank companies by what is shown of them; the ranking's stability is only known if all scores are."""
    if is_whole:
        for company, place in zip(report.companies, rank([one.standing for one in report.companies]), strict=True):
            company.rank = place
        report.companies.sort(key=in_reports_order)
    if any(criterion.status is ScoreStatus.WITHHELD for company in report.companies for criterion in company.criteria):
        report.run.sensitivity = None
        for company in report.companies:
            company.stability = None


def build_in_parts(run_id: str) -> ReportInParts:
    """The report of all companies of a run, each of which is built when it is read.

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
    """What is known about a run before its companies are built: both runs being compared, and the
    ranking's stability.
    """

    run: Run
    before: Run | None
    listed: Sequence[RunCompany]
    earlier: Mapping[str, RunCompany]
    stability: Mapping[str, float]
    summary: RunSummary

    @classmethod
    def of(cls, session: Session, run_id: str, domain: str | None) -> Self:
        run = named_run(session, run_id)
        before = previous_run(session, run)
        decided = (one for one in decided_companies(session, run) if domain in {None, one.domain})
        listed = sorted(decided, key=in_reports_order)
        earlier = {company.domain: company for company in _chosen(session, before, domain)} if before else {}
        stability = _stability(session, run, listed) if domain is None else {}
        summary = _summary(run, before, count_unanswered(session, run.id))
        if stability:
            summary.sensitivity = Sensitivity(draws=DRAWS, varied="multiplied by a factor between a half and twice")
        return cls(run, before, listed, earlier, stability, summary)

    def companies(
        self, session: Session, seen: Mapping[str, Seen] | None = None, **parts: bool
    ) -> Iterator[CompanyReport]:
        """Its companies in the report's order, or in the batch's if a viewer sees them; built on demand.

        `parts`: as the keywords of `company_report`.
        """
        for company in self.listed if seen is None else sorted(self.listed, key=lambda company: company.ordinal):
            shown = None if seen is None else seen.get(company.domain, Seen())
            earlier = self.earlier.get(company.domain)
            report = company_report(session, self.run, company, self.before, earlier, shown, **parts)
            report.stability = self.stability.get(company.domain)
            yield report


def _chosen(session: Session, run: Run, domain: str | None) -> Sequence[RunCompany]:
    if domain is None:
        return run_companies(session, run.id)
    company = find_company(session, run.id, domain)
    return [] if company is None else [company]


def in_reports_order(company: CompanyReport | RunCompany) -> tuple[bool, int, bool, float]:
    """The key by which a report sorts companies: ranked ones first, those that fail a gate last."""
    standing = Standing.of(company) if isinstance(company, RunCompany) else company.standing
    return company.rank is None, company.rank or 0, bool(standing.gates_failed), -standing.proven


def _summary(run: Run, before: Run | None, unknown_calls: int) -> RunSummary:
    low, high = run.criteria["scale"]
    return RunSummary(
        id=run.id,
        name=run.batch,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        cost=sum_cost(run, unknown_calls),
        budget=run.budget,
        answerer=run.answerer,
        model_trial=run.model_trial,
        scale=(low, high),
        criteria=summarise_criteria(run),
        previous=PreviousRun(id=before.id, started_at=before.started_at) if before else None,
        sensitivity=None,
    )


def sum_cost(run: Run, unknown_calls: int) -> Cost:
    """What a run asked of a model; `unknown_calls` are calls without an answer."""
    return Cost(
        calls=run.calls,
        unknown_calls=unknown_calls,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        usd=run.usd,
    )


def _stability(session: Session, run: Run, companies: Sequence[RunCompany]) -> dict[str, float]:
    """How often each ranked company keeps its rank when the weights vary, by domain; empty if that is meaningless."""
    low, high = run.criteria["scale"]
    weights = {criterion.id: criterion.weight for criterion in summarise_criteria(run)}
    scored: dict[int | None, dict[str, float]] = {company.id: {} for company in companies if company.rank is not None}
    for company_id, criterion, score in list_counted_scores(session, run.id):
        if company_id in scored and criterion in weights:
            scored[company_id][criterion] = (score - low) / (high - low)
    log = decisions_of(session, run.batch)
    for company in companies:
        if company.id in scored:
            own = applicable_overrides(run, [decision for decision in log if decision.domain == company.domain])
            scored[company.id] |= {criterion: (score - low) / (high - low) for criterion, score in own.items()}
    shares = stability(list(scored.values()), weights) if all(scored.values()) else None
    ranked = [company.domain for company in companies if company.rank is not None]
    return {} if shares is None else dict(zip(ranked, shares, strict=True))


_MOST_NAMED: Final = 3
"""Documents with the same warning that are named, of those that were read whole."""


@dataclass(frozen=True)
class CompanyResult:
    """The result of a company of a run. `missing` is what to ask it for, `warnings` is everything that the report warns
    of. `contested` are its contested scores in words: the criterion, both scores, and where the passages stand.
    """

    company: RunCompany
    missing: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    contested: list[str] = field(default_factory=list)


class RunResults(NamedTuple):
    """A run, what it cost, and its companies in the report's order."""

    run: Run
    cost: Cost
    companies: list[CompanyResult]


def load_results(run_id: str) -> RunResults:
    """The results of a run. `run_id` is its id, its batch's name (the latest run) or `latest`.

    Raises:
        NotFound: there is no such run.
    """
    with database.reading() as session:
        run = named_run(session, run_id)
        companies = sorted(decided_companies(session, run), key=in_reports_order)
        results = {
            company.id: CompanyResult(company, warnings=[*company.warnings, *company.search_warnings])
            for company in companies
        }
        profiles = load_profile_warnings(session, [company.profile_id for company in companies if company.profile_id])
        outcomes = remarkable_outcomes(session, run.id)
        documents = remarkable_documents(session, run.id)
        cost = sum_cost(run, count_unanswered(session, run.id))
    for company in companies:
        results[company.id].warnings.extend(profiles.get(company.profile_id or 0, []))
    criteria = {criterion.id: criterion for criterion in summarise_criteria(run)}
    for outcome in outcomes:
        result, criterion = results[outcome.company_id], criteria.get(outcome.criterion_id)
        if outcome.status is ScoreStatus.MISSING and criterion is not None:
            result.missing.append(outcome.missing or criterion.label)
        if outcome.contested is not None:
            result.contested.append(
                f"{result.company.name}, {outcome.criterion_id}: {_word_contest(outcome.contested, outcome.orders)}"
            )
        if outcome.warning:
            result.warnings.append(f"{criterion.name if criterion else outcome.criterion_id}: {outcome.warning}")
    alike: dict[tuple[int, str | None, bool], list[str]] = {}
    for document in documents:
        reason = why_pending(run) if document.status is DocumentStatus.PENDING else document.warning
        is_whole = bool(document.characters) and document.pages_read == document.pages
        alike.setdefault((document.company_id, reason, is_whole), []).append(document.name)
    for (company_id, reason, is_whole), names in alike.items():
        named = join_first(names, _MOST_NAMED if is_whole else len(names))
        results[company_id].warnings.append(f"{named}: {reason}")
    unique = [
        replace(result, missing=list(dict.fromkeys(result.missing)), warnings=list(dict.fromkeys(result.warnings)))
        for result in results.values()
    ]
    return RunResults(run, cost, unique)


def _word_contest(scores: Mapping[str, float | None], orders: Sequence[Mapping[str, Any]]) -> str:
    """The scores with and without the words that give orders to a model, and up to three places of these words."""
    one, other = ("no score" if score is None else f"{score:g}" for score in scores.values())
    places = "; ".join(f"{order['document_name']}, {order['place']}" for order in orders[:3])
    return f"{one} with, {other} without" + (f" ({places})" if places else "")


def result_lines(results: RunResults) -> list[str]:
    """The ranking, one line per company, reservations about the model, how many companies had not changed, and the
    cost.
    """
    lines = []
    names = {criterion.id: criterion.name for criterion in summarise_criteria(results.run)}
    for company in (result.company for result in results.companies):
        standing = Standing.of(company)
        best = "nothing open" if standing.high <= standing.proven else f"may reach {percent(standing.high)}"
        result = f"{percent(standing.proven)} proven, {best}"
        if why_not := why_not_ranked(standing, names):
            result += f". {why_not.rstrip('.')}"
        failed = f"; failed: {company.problem}" if company.problem else ""
        lines.append(f"{company.rank or '–':<7} {one_line(company.name)}: {result}{failed}")
    carried = sum(result.company.carried_from is not None for result in results.companies)
    if carried:
        companies = "all companies" if carried == len(lines) else f"{carried} of {len(lines)} companies"
        lines.append(f"same    {companies}: nothing has changed; the scores are those of the previous run")
    if trial := trial_in_words(results.run.model_trial):
        lines.append(f"model   {trial}")
    cost = results.cost
    parts = [f"{cost.calls:,} call{'' if cost.calls == 1 else 's'}"]
    if cost.calls:
        parts.append(f"{cost.input_tokens:,} tokens in, {cost.output_tokens:,} out")
        parts.append("price not known" if cost.usd is None else dollars(cost.usd))
    if cost.unknown_calls:
        parts.append(f"{cost.unknown_calls:,} more, whose answers were lost and which may have been billed")
    return [*lines, f"cost    {', '.join(parts)}"]


def list_warnings(results: RunResults) -> list[str]:
    """Every warning in the report: those about companies, and those about their documents."""
    return [
        f"{one_line(result.company.name)}: {one_line(warning)}"
        for result in results.companies
        for warning in result.warnings
    ]
