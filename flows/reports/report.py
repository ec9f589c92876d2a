"""Puts the report of a run together from what is stored; the shape of it is in shape.py.

Nothing is computed here that a run has not written down, except what a run leaves to reading: the
conflicts between sources, and the changes since the last run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlmodel import Session

from flows.reports.changes import Change, document_changes, redefined_criteria, score_moves
from flows.reports.shape import (
    Company,
    Cost,
    Criterion,
    CriterionAsked,
    Document,
    PreviousRun,
    Quote,
    Report,
    RunSummary,
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
from tasks.companies.merge import Conflict, find_conflicts
from tasks.companies.sources import Claim
from tasks.errors import NotFound

__all__ = ["Report", "build"]


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
    return Report(run=_summary(run, before), companies=companies)


def _summary(run: Run, before: Run | None) -> RunSummary:
    low, high = run.criteria["scale"]
    return RunSummary(
        id=run.id,
        name=run.batch,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        cost=Cost(calls=run.calls, input_tokens=run.input_tokens, output_tokens=run.output_tokens),
        answerer=run.answerer,
        scale=(low, high),
        criteria=_asked(run),
        previous=PreviousRun(id=before.id, started_at=before.started_at) if before else None,
    )


def _asked(run: Run) -> list[CriterionAsked]:
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


def _company(
    session: Session, run: Run, company: RunCompany, before: Run | None, earlier: RunCompany | None
) -> Company:
    assert company.id is not None
    documents = company_documents(session, company.id)
    outcomes = company_outcomes(session, company.id)
    criteria = _criteria(run, company, outcomes, outcome_quotes(session, company.id))
    return Company(
        name=company.name,
        domain=company.domain,
        folder_id=company.folder_id,
        total=company.total,
        coverage=company.coverage,
        rank=company.rank,
        criteria=criteria,
        missing=_missing(outcomes, criteria),
        conflicts=_conflicts(session, company),
        documents=[_document(run, document) for document in documents],
        changes=_changes(session, run, before, company=company, earlier=earlier, documents=documents, outcomes=outcomes)
        if before and earlier
        else [],
        status=company.status,
        problem=company.problem,
        warnings=_warnings(session, company),
        compared_with=before.id if before and earlier else None,
    )


def _criteria(
    run: Run,
    company: RunCompany,
    outcomes: Sequence[CriterionOutcome],
    quotes: Mapping[int, Sequence[StoredQuote]],
) -> list[Criterion]:
    """Every criterion of the run, in its order; one that the company did not come to is `unscored`."""
    found = {outcome.criterion_id: outcome for outcome in outcomes}
    criteria: list[Criterion] = []
    for asked in _asked(run):
        outcome = found.get(asked.id)
        criteria.append(
            Criterion(
                id=asked.id,
                kind=asked.kind,
                weight=asked.weight,
                label=asked.label,
                score=outcome.score if outcome else None,
                status=outcome.status if outcome else ScoreStatus.UNSCORED,
                reason=outcome.reason if outcome else _not_reached(run, company),
                quotes=[Quote.model_validate(quote, from_attributes=True) for quote in quotes.get(outcome.id or 0, ())]
                if outcome
                else [],
            )
        )
    return criteria


def _not_reached(run: Run, company: RunCompany) -> str:
    if company.status is CompanyStatus.FAILED:
        return "Not judged: the company's run failed before it came to this criterion."
    if run.status is RunStatus.RUNNING:
        return "Not judged yet: the run has not come to this criterion."
    return "Not judged: the run ended before it came to this criterion."


def _missing(outcomes: Sequence[CriterionOutcome], criteria: Sequence[Criterion]) -> list[str]:
    """What to ask the company for, each thing once."""
    labels = {criterion.id: criterion.label for criterion in criteria}
    return list(
        dict.fromkeys(
            outcome.missing or labels.get(outcome.criterion_id, outcome.criterion_id)
            for outcome in outcomes
            if outcome.status is ScoreStatus.MISSING
        )
    )


def _conflicts(session: Session, company: RunCompany) -> list[Conflict]:
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


def _changes(
    session: Session,
    run: Run,
    before: Run,
    *,
    company: RunCompany,
    earlier: RunCompany,
    documents: Sequence[RunDocument],
    outcomes: Sequence[CriterionOutcome],
) -> list[Change]:
    """Since the earlier run. Scores on another scale are not compared."""
    assert earlier.id is not None
    changes: list[Change] = []
    if run.criteria["scale"] == before.criteria["scale"]:
        redefined = redefined_criteria(before.criteria, run.criteria)
        changes += score_moves(company_outcomes(session, earlier.id), outcomes, redefined=redefined)
    earlier_documents = company_documents(session, earlier.id)
    if _looked_into(company, documents) and _looked_into(earlier, earlier_documents):
        changes += document_changes(earlier_documents, documents)
    return changes


def _looked_into(company: RunCompany, documents: Sequence[RunDocument]) -> bool:
    """Whether the run saw the data room; one that was out of reach has not lost its documents."""
    return bool(documents) or company.status is CompanyStatus.FINISHED
