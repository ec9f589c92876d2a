"""A report's criteria: what a run asked, how each came out for a company, and what to ask the company for."""

from collections.abc import Mapping, Sequence
from typing import Any

from flows.reports.shape import Contradiction, Criterion, CriterionAsked, Nearest, Quote
from storage.runs import CompanyStatus, Run, RunCompany, RunStatus
from storage.scores import CriterionOutcome, ScoreStatus
from storage.scores import Quote as StoredQuote


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
        contradictions=[Contradiction.model_validate(each) for each in outcome.contradictions],
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
    return list(dict.fromkeys(each.missing for each in criteria if each.missing is not None))
