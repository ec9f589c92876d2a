"""Puts the report of a run together from what is stored; the shape of it is in shape.py.

Nothing is computed here that a run has not written down, except what a run leaves to reading: the
conflicts between sources, and the changes since the last run.

A report's criteria: what a run asked, how each came out for a company, and what to ask the company for.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlmodel import Session

from flows.reports.changes import (
    Causes,
    Change,
    criteria_changes,
    document_changes,
    redefined_criteria,
    score_moves,
)
from flows.reports.models import (
    Company,
    Contradiction,
    Cost,
    Criterion,
    CriterionAsked,
    Document,
    Nearest,
    PreviousRun,
    Quote,
    Report,
    RunSummary,
    Sensitivity,
)
from storage.companies import get_profile, profile_claims
from storage.database import reading
from storage.runs import (
    CompanyStatus,
    DocumentStatus,
    Run,
    RunCompany,
    RunDocument,
    RunStatus,
    company_documents,
    find_run,
    previous_run,
    run_companies,
)
from storage.scores import CriterionOutcome, ScoreStatus, company_outcomes, outcome_quotes
from storage.scores import Quote as StoredQuote
from tasks.companies.claims import Claim, ClaimConflict, find_conflicts
from tasks.errors import NotFound
from tasks.scoring.score import DRAWS, stability

__all__ = ["Report", "build"]


def asked(run: Run) -> list[CriterionAsked]:
    """The run's criteria in the words of its batch."""
    return [
        CriterionAsked(
            id=criterion["id"],
            kind=criterion["kind"],
            weight=criterion.get("weight", 1),
            label=_label(criterion),
            guide=criterion.get("guide"),
        )
        for criterion in run.criteria["criteria"]
    ]


def _label(criterion: Mapping[str, Any]) -> str:
    """What the criterion asks, in the words of the batch."""
    if criterion["kind"] == "fact":
        return f"{criterion['fact']} {criterion['rule']}"
    return str(criterion["ask"] if criterion["kind"] == "judged" else criterion["document"])


def criteria_of(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[StoredQuote]],
) -> list[Criterion]:
    """Every criterion of the run, in its order; one that the company did not come to is `unscored`."""
    found = {outcome.criterion_id: outcome for outcome in outcomes}
    return [
        _criterion(each, found[each.id], quotes.get(found[each.id].id or 0, ()))
        if each.id in found
        else _untouched(each, _not_reached(run, company))
        for each in asked(run)
    ]


def _criterion(asks: CriterionAsked, outcome: CriterionOutcome, quotes: Sequence[StoredQuote]) -> Criterion:
    return Criterion(
        id=asks.id,
        kind=asks.kind,
        weight=asks.weight,
        label=asks.label,
        score=outcome.score,
        status=outcome.status,
        reason=outcome.reason,
        quotes=[Quote.model_validate(quote, from_attributes=True) for quote in quotes],
        confidence=outcome.confidence,
        agreement=outcome.agreement,
        contradictions=[Contradiction.model_validate(contradiction) for contradiction in outcome.contradictions],
        missing=(outcome.missing or asks.label) if outcome.status is ScoreStatus.MISSING else None,
        nearest=[Nearest.model_validate(each) for each in outcome.nearest],
    )


def _untouched(asks: CriterionAsked, why: str) -> Criterion:
    return Criterion(
        id=asks.id,
        kind=asks.kind,
        weight=asks.weight,
        label=asks.label,
        score=None,
        status=ScoreStatus.UNSCORED,
        reason=why,
        quotes=[],
    )


def _not_reached(run: Run, company: RunCompany) -> str:
    if company.status is CompanyStatus.FAILED:
        return "Not judged: the company's run failed before it came to this criterion."
    if run.status is RunStatus.RUNNING:
        return "Not judged yet: the run has not come to this criterion."
    return "Not judged: the run ended before it came to this criterion."


def missing(criteria: Sequence[Criterion]) -> list[str]:
    """What to ask the company for, each thing once."""
    return list(dict.fromkeys(criterion.missing for criterion in criteria if criterion.missing is not None))


def build(run_id: str, domain: str | None = None) -> Report:
    """The report of a run, finished or not. `run_id` is its id, its batch's name (the latest run) or `latest`.

    With `domain`, of that company alone.

    Raises:
        tasks.errors.NotFound: there is no such run.
        storage.database.DatabaseUnavailable: the database cannot be opened.
    """
    with reading() as session:
        run = find_run(session, run_id)
        if run is None:
            raise NotFound("There is no such run. Give a run's id, a batch's name or `latest`.")
        before = previous_run(session, run)
        earlier = {company.domain: company for company in run_companies(session, before.id)} if before else {}
        companies = [
            _company(session, run, company, before, earlier.get(company.domain))
            for company in run_companies(session, run.id)
            if domain in {None, company.domain}
        ]
    companies.sort(key=lambda company: (company.rank is None, company.rank or 0))
    summary = _summary(run, before)
    if domain is None:
        summary.sensitivity = _try_weights(companies, run)
    return Report(run=summary, companies=companies)


def _summary(run: Run, before: Run | None) -> RunSummary:
    low, high = run.criteria["scale"]
    return RunSummary(
        id=run.id,
        name=run.batch,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        cost=Cost(calls=run.calls, input_tokens=run.input_tokens, output_tokens=run.output_tokens, usd=run.usd),
        budget=run.budget,
        answerer=run.answerer,
        scale=(low, high),
        criteria=asked(run),
        previous=PreviousRun(id=before.id, started_at=before.started_at) if before else None,
        sensitivity=None,
    )


def _try_weights(companies: Sequence[Company], run: Run) -> Sensitivity | None:
    """Say of each ranked company how often it keeps its place when the weights vary."""
    low, high = run.criteria["scale"]
    ranked = [company for company in companies if company.rank is not None]
    standings = [
        {
            criterion.id: (criterion.score - low) / (high - low)
            for criterion in company.criteria
            if criterion.status is ScoreStatus.SCORED and criterion.score is not None
        }
        for company in ranked
    ]
    shares = stability(standings, {each.id: each.weight for each in asked(run)}) if all(standings) else None
    if shares is None:
        return None
    for company, share in zip(ranked, shares, strict=True):
        company.stability = share
    return Sensitivity(draws=DRAWS, varied="multiplied by a factor between a half and twice")


def _company(
    session: Session, run: Run, company: RunCompany, before: Run | None, earlier: RunCompany | None
) -> Company:
    assert company.id is not None
    documents = company_documents(session, company.id)
    outcomes = company_outcomes(session, company.id)
    quotes = outcome_quotes(session, company.id)
    criteria = criteria_of(run, company, outcomes, quotes)
    return Company(
        name=company.name,
        domain=company.domain,
        folder_id=company.folder_id,
        total=company.total,
        coverage=company.coverage,
        rank=company.rank,
        criteria=criteria,
        missing=missing(criteria),
        conflicts=_conflicts(session, company),
        documents=[_document(run, document) for document in documents],
        changes=_changes(_Side(run, company, documents, outcomes), _side(session, before, earlier), quotes)
        if before and earlier
        else [],
        status=company.status,
        problem=company.problem,
        warnings=_warnings(session, company),
        compared_with=before.id if before and earlier else None,
    )


def _conflicts(session: Session, company: RunCompany) -> list[ClaimConflict]:
    if company.profile_id is None:
        return []
    return find_conflicts([Claim.model_validate(claim) for claim in profile_claims(session, company.profile_id)])


def _warnings(session: Session, company: RunCompany) -> list[str]:
    """The company's own warnings and those of its profile's sources, each once."""
    profile = get_profile(session, company.profile_id).warnings if company.profile_id is not None else []
    return list(dict.fromkeys([*company.warnings, *profile]))


def _document(run: Run, document: RunDocument) -> Document:
    """A document that the run never came to counts as failed: its text is not in the scores."""
    status, warning = document.status, document.warning
    if status is DocumentStatus.PENDING:
        status = DocumentStatus.FAILED
        warning = "Not reached yet." if run.status is RunStatus.RUNNING else "Not reached: the run ended before it."
    return Document(
        document_id=document.document_id,
        document_name=document.name,
        status=status.value,
        characters=document.characters,
        warning=warning,
        path=document.path,
        document_url=document.url,
    )


class _Side(NamedTuple):
    """One of two runs that are compared, for one company."""

    run: Run
    company: RunCompany
    documents: Sequence[RunDocument]
    outcomes: Sequence[CriterionOutcome]


def _side(session: Session, run: Run, company: RunCompany) -> _Side:
    assert company.id is not None
    return _Side(run, company, company_documents(session, company.id), company_outcomes(session, company.id))


def _changes(now: _Side, earlier: _Side, quotes: Mapping[int, Sequence[StoredQuote]]) -> list[Change]:
    """Since the earlier run. Scores on another scale are not compared."""
    documents = (
        document_changes(earlier.documents, now.documents) if _looked_into(now) and _looked_into(earlier) else []
    )
    criteria = criteria_changes(earlier.run.criteria, now.run.criteria)
    if now.run.criteria["scale"] != earlier.run.criteria["scale"]:
        return criteria + documents
    causes = Causes(
        redefined=redefined_criteria(earlier.run.criteria, now.run.criteria),
        answerers=(earlier.run.answerer, now.run.answerer),
        documents=documents,
        quoted={
            outcome.criterion_id: {quote.document_id for quote in quotes.get(outcome.id or 0, ())}
            for outcome in now.outcomes
        },
    )
    return score_moves(earlier.outcomes, now.outcomes, causes) + criteria + documents


def _looked_into(side: _Side) -> bool:
    """Whether the run saw the data room; one that was out of reach has not lost its documents."""
    return bool(side.documents) or side.company.status is CompanyStatus.FINISHED
