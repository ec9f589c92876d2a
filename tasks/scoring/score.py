"""Scoring one company of a run: every criterion looked into, written down at once, and added up."""

import hashlib
import json
from collections.abc import Sequence

from storage import companies, database, runs, scores
from storage.companies import StoredClaim, StoredProfile
from storage.runs import RunCompany
from storage.scores import CriterionOutcome, Quote, ScoreStatus
from tasks.ai.answerer import Answerer, current
from tasks.operation import operation
from tasks.scoring.checks import check_document, check_fact
from tasks.scoring.criteria import Criteria, Criterion, DocumentCheck, FactRule
from tasks.scoring.evidence import Evidence
from tasks.scoring.finding import Finding
from tasks.scoring.judge import judge


@operation(name="score_criteria")
def score_criteria(company_id: int) -> bool:
    """Score a run's company on all the run's criteria; gives False when a judgement failed.

    What was written down before an interruption is kept when it rests on the same evidence.
    """
    with database.reading() as session:
        company = runs.get_company(session, company_id)
        criteria = Criteria.from_json(runs.get_run(session, company.run_id).criteria)
        profile = companies.get_profile(session, company.profile_id) if company.profile_id else None
        claims = companies.profile_claims(session, company.profile_id) if company.profile_id else []
        kept = {each.criterion_id: each for each in scores.company_outcomes(session, company_id)}
    evidence, answerer = Evidence(company_id), current()
    outcomes: list[CriterionOutcome] = []
    for ordinal, criterion in enumerate(criteria.criteria):
        rests_on = _rests_on(criterion, criteria.scale, evidence, profile, claims, answerer)
        outcome = kept.get(criterion.id)
        if outcome is None or outcome.evidence != rests_on or outcome.failed:
            finding = _look_into(criterion, criteria.scale, company, evidence, profile, claims, answerer)
            outcome = _write_down(company, ordinal, criterion, finding, rests_on)
        outcomes.append(outcome)
    company.total, company.coverage = add_up(outcomes, criteria.scale)
    with database.writing() as session:
        runs.save_company(session, company)
    return not any(outcome.failed for outcome in outcomes)


def add_up(outcomes: Sequence[CriterionOutcome], scale: tuple[float, float]) -> tuple[float | None, float]:
    """The weighted total (0 to 1, of what could be scored; None when nothing was) and the share of weight scored."""
    low, high = scale
    scored = [each for each in outcomes if each.status is ScoreStatus.SCORED and each.score is not None]
    weight = sum(each.weight for each in scored)
    everything = sum(each.weight for each in outcomes)
    if not weight:
        return None, 0.0
    total = sum(each.weight * ((each.score or 0) - low) / (high - low) for each in scored) / weight
    return round(total, 12), weight / everything  # rounded, so that equal scores give equal totals in any order


def rank_companies(listed: Sequence[RunCompany]) -> None:
    """Give each company its rank by total, equal totals the same one; without a total there is none."""
    totals = sorted((each.total for each in listed if each.total is not None), reverse=True)
    for each in listed:
        each.rank = None if each.total is None else totals.index(each.total) + 1


def _look_into(
    criterion: Criterion,
    scale: tuple[float, float],
    company: RunCompany,
    evidence: Evidence,
    profile: StoredProfile | None,
    claims: Sequence[StoredClaim],
    answerer: Answerer,
) -> Finding:
    if isinstance(criterion, FactRule):
        return check_fact(criterion, scale, profile, claims)
    if isinstance(criterion, DocumentCheck):
        return check_document(criterion, scale, evidence)
    return judge(criterion, scale, company.name, evidence, answerer)


def _rests_on(
    criterion: Criterion,
    scale: tuple[float, float],
    evidence: Evidence,
    profile: StoredProfile | None,
    claims: Sequence[StoredClaim],
    answerer: Answerer,
) -> str:
    """A hash of all that the outcome rests on: with the same one it need not be looked into again."""
    rest: list[object] = [criterion.model_dump_json(), scale]
    if isinstance(criterion, FactRule):
        rest += [profile and profile.profile, [(each.field, each.source, each.as_of) for each in claims]]
    elif isinstance(criterion, DocumentCheck):
        rest += [evidence.fingerprint()]
    else:
        rest += [evidence.fingerprint(), answerer.name, answerer.address]
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def _write_down(
    company: RunCompany, ordinal: int, criterion: Criterion, finding: Finding, rests_on: str
) -> CriterionOutcome:
    assert company.id is not None
    outcome = CriterionOutcome(
        company_id=company.id,
        ordinal=ordinal,
        criterion_id=criterion.id,
        kind=criterion.kind,
        weight=criterion.weight,
        score=finding.score,
        status=finding.status,
        reason=finding.reason,
        missing=finding.missing,
        evidence=rests_on,
        failed=finding.failed,
    )
    quotes = [
        Quote(
            outcome_id=0,
            ordinal=0,
            text=found.text,
            verified=True,
            document_id=found.document.document_id,
            document_name=found.document.name,
            document_url=found.document.url,
            place=found.place,
            text_id=found.text_id,
            start=found.start,
            end=found.end,
        )
        for found in finding.quotes
    ]
    quotes += [Quote(outcome_id=0, ordinal=0, text=text, verified=False) for text in finding.unverified]
    with database.writing() as session:
        scores.save_outcome(session, outcome, quotes)
        if finding.usage.calls:
            usage = finding.usage
            runs.add_cost(session, company.run_id, usage.calls, usage.input_tokens, usage.output_tokens)
    return outcome
